"""Functions of known numbers, which compilers of drivers compute themselves."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp

ROUNDING = ["floor", "ceil", "rint", "trunc"]
OF_TWO = ["fmod", "remainder", "floor_divide", "divmod_quotient"]
NUMBERS = [np.nan, np.inf, -np.inf, 1e30, 8388609.5, -0.0, 0.0, 2.5]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_at_the_ends(device, dtype):
    """PoCL's compiler dropped the stores of floor(NaN)."""
    x = np.array([3, -2, 0.0, -0.0, np.inf, np.nan], dtype)
    known = [np.array(number, dtype) for number in NUMBERS]

    def function(x):
        made = [cnp.where(x > -1, getattr(cnp, name)(k), x) for name in ROUNDING for k in known]
        for name in OF_TWO:
            of = getattr(cnp, name)
            made += [of(x, k) for k in known] + [of(k, x) for k in known]
        return made

    expected = composit.compile(function, backend="interpreter")(x)
    found = composit.compile(function, device=device)(cnp.asarray(x, device=device))
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        one, other = np.asarray(one), np.asarray(other)
        np.testing.assert_array_equal(one, other, err_msg=str(place))
        there = ~np.isnan(other)
        assert (np.signbit(one) == np.signbit(other))[there].all(), place
