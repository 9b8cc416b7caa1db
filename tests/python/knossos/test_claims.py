"""What errors say that are found while a kernel runs: the construct, the values, Python's class."""

# ruff: noqa: F821

import numpy as np
import pytest

import composit
from composit import _core, knossos
from composit.knossos import Tensor


@knossos.register
def picked(x: "Tensor[float, n]", i: int) -> float:
    total = 0.0
    for k in range(i):
        total += x[k + 1] * x[-k]
    return total


@knossos.register
def fitted(x: "Tensor[float, n, m]", y: "Tensor[float, k, l]") -> "Tensor[float, n, l]":
    return x @ y + x


@knossos.register
def ends(x: "Tensor[float, n]") -> float:
    return np.max(x) + x[-2]


@knossos.register
def positive(x: "Tensor[float, n]", bound: float) -> float:
    assert x[0] > bound, "the first one {} must be larger"
    assert len(x) < 5
    return x[0] / bound


THREE = np.ones(3)
LINES = {each: each.__wrapped__.__code__.co_firstlineno
         for each in (picked, fitted, ends, positive)}  # fmt: skip
CASES = [
    (picked, (THREE, 7), IndexError, 4,
     "picked: index 3 lies outside of an axis of 3, in `x[k + 1]`. An index that it has is "
     "required."),
    (ends, (np.ones(0),), ValueError, 2,
     "ends: there is no element, in `np.max(x)`. At least one is required."),
    (ends, (np.ones(1),), IndexError, 2,
     "ends: index -2 lies outside of an axis of 1, in `x[-2]`. An index that it has is required."),
    (fitted, (np.ones((2, 3)), np.ones((4, 3))), ValueError, 2,
     "fitted: extents 3 and 4 do not fit, in `x @ y`. Equal extents are required."),
    (fitted, (np.ones((2, 3)), np.ones((3, 2))), ValueError, 2,
     "fitted: extents 2 and 3 do not fit, in `x @ y + x`. Equal extents are required."),
    (positive, (THREE, 2.0), AssertionError, 2,
     "positive: the assertion `x[0] > bound` does not hold: the first one { } must be larger."),
    (positive, (np.ones(5), 0.5), AssertionError, 3,
     "positive: the assertion `len(x) < 5` does not hold."),
]  # fmt: skip


@pytest.mark.parametrize("kernel, given, kind, line, text", CASES)
@pytest.mark.parametrize("way", ["compiled", "interpreted", "vjp", "jvp", "node", "rows"])
def test_say_what_is_wrong(kernel, given, kind, line, text, way):
    call = {"compiled": kernel, "interpreted": kernel, "vjp": kernel.vjp, "jvp": kernel.jvp,
            "node": lambda *a: composit.evaluate(kernel(composit.asarray(a[0]), *a[1:])),
            "rows": knossos.vmap(kernel)}[way]  # fmt: skip
    dy = np.ones((len(given[0]), given[-1].shape[-1])) if kernel is fitted else 1.0
    arrays = [each for each in given if not isinstance(each, int)]
    given = {"vjp": (*given, dy), "jvp": (*given, *arrays),
             "rows": [np.stack([each, each]) for each in given]}.get(way, given)  # fmt: skip
    name = f"v{text}" if way == "rows" else text
    code = _core.procedure.interpreted(kernel.procedure()) if way == "interpreted" else None
    if way == "interpreted":
        kernel._use(code)
    try:
        with pytest.raises(kind) as caught:
            call(*given)
    finally:
        kernel._use(None)
    assert str(caught.value).startswith(f"{name} [test_claims.py:{LINES[kernel] + line}]")


def test_what_would_take_long_is_said_in_general():
    count = 4_000_000
    with pytest.raises(IndexError) as caught:
        picked(np.ones(count), count + 1)
    assert "picked: an index lies outside of its array, or an assertion does not hold. " in str(
        caught.value
    )
