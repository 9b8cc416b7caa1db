"""x ** 1.5 of kernels: pow's special values, within a unit in the last place, and its slope."""

import math

import numpy as np

from composit import knossos


@knossos.register
def power(x: float) -> float:
    return x**1.5


def test_values():
    x = np.array(
        [-np.inf, -2.0, -0.0, 0.0, 5e-324, 1e-200, 0.3, 1.0, 2.5, 1e20, 1e200, 1e300, np.inf,
         np.nan]
    )  # fmt: skip
    with np.errstate(all="ignore"):
        wanted = np.power(x, 1.5)
    found = power(x)
    np.testing.assert_array_equal(found, [power(each) for each in x.tolist()])
    np.testing.assert_array_max_ulp(found[1:], wanted[1:], 1)
    assert found[0] == np.inf and math.copysign(1, found[2]) == 1
    single = x[6:10].astype("float32")
    np.testing.assert_array_max_ulp(power(single), np.power(single, np.float32(1.5)), 1)


def test_slopes():
    assert power.grad(4.0) == 3.0 and power.grad(0.0) == 0.0 and power.jvp(9.0, 2.0) == 9.0
    assert "three_halves_float64(x)" in power.source and "power_float64" not in power.vjp.source
