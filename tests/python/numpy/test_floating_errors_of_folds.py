"""Folds of ufuncs name themselves where an error of floating point comes up, as NumPy's do."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import composit.numpy as cnp

LONG = 40  # longer than the folds that are unrolled
BINARY = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power",
    "hypot", "arctan2", "logaddexp", "maximum", "minimum",
]  # fmt: skip
METHODS = {
    "reduce": lambda ufunc, x: ufunc.reduce(x),
    "accumulate": lambda ufunc, x: ufunc.accumulate(x),
    "reduceat": lambda ufunc, x: ufunc.reduceat(x, [0, x.shape[0] // 2]),
    "outer": lambda ufunc, x: ufunc.outer(x, x),
    "reduce with an initial value": lambda ufunc, x: ufunc.reduce(x, initial=7),
    "reduce where": lambda ufunc, x: ufunc.reduce(x, initial=7, where=np.ones(x.shape, bool)),
    "at": lambda ufunc, x: _at(ufunc, x),
}
FLOATS = {
    "large": [3e38, 3e38, 2.0],
    "zeros": [1.0, 0.0, 3.0],
    "no numbers": [np.nan, 1.0, 2.0],
    "infinities": [np.inf, np.inf, -np.inf],
    "usual": [1.5, 2.0, 1.0],
}


def _at(ufunc, x):
    changed = x.copy()
    ufunc.at(changed, [0], x[1:2])
    return changed


def kinds_and_names(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.asarray(call())
    return {str(each.message).partition(" [")[0] for each in caught}


def same(name, method, array):
    theirs = kinds_and_names(lambda: METHODS[method](getattr(np, name), array))
    ours = kinds_and_names(lambda: METHODS[method](getattr(cnp, name), cnp.asarray(array)))
    return ours == theirs, (ours, theirs)


@pytest.mark.parametrize("values", FLOATS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", BINARY)
def test_warnings_of_floats(name, method, values):
    if method == "at" and name in ("maximum", "minimum") and values == "no numbers":
        return  # only this loop of NumPy's warns of a NaN that it hands on
    for array in (np.float32(FLOATS[values]), np.float32(FLOATS[values] + [1.0] * LONG)):
        agree, both = same(name, method, array)
        assert agree, both


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
def test_warnings_of_integers(dtype, name, method):
    info = np.iinfo(dtype)
    lists = [[5, 0, 3], [info.min, info.max, 1], [info.min, 1, info.max], [7, 2, 1]]
    if info.min:
        lists.append([info.min, -1])
    for values in lists:
        for array in (np.array(values, dtype), np.array(values + [1] * LONG, dtype)):
            agree, both = same(name, method, array)
            assert agree, (array, both)


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=24))
def test_integers_of_any_values(method, values):
    agree, both = same("floor_divide", method, np.array(values))
    assert agree, both


@pytest.mark.parametrize("method", ["reduce", "accumulate", "reduceat"])
def test_what_raises_says_so_too(method):
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError) as error:
        METHODS[method](cnp.floor_divide, cnp.array([5, 0, 3, 0]))
    assert str(error.value).startswith(f"divide by zero encountered in {method} [")
    made = cnp.divide(cnp.ones(2), cnp.zeros(2))  # what follows has its own name again
    assert kinds_and_names(lambda: made) == {"divide by zero encountered in divide"}


def test_a_cast_within_is_a_cast():
    def folded(module):
        x = module.asarray(np.array([1e300, 2.0, 3.0]))
        return module.subtract.accumulate(x, dtype="float32")

    assert kinds_and_names(lambda: folded(np)) == kinds_and_names(lambda: folded(cnp))
