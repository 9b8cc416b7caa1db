"""Sorting and searching against NumPy, compiled, and through gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp
from composit import nn

SHAPES = [(), (0,), (1,), (7,), (3, 0), (4, 17), (2, 3, 40), (1000,)]
DTYPES = ["float32", "float64", "int8", "uint16", "int64", "bool"]


def drawn(shape, dtype, seed=0):
    """Many equals, and in floats NaN, infinities and both zeros."""
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(shape) * 5).round().astype(dtype)
    if np.dtype(dtype).kind == "f" and x.size > 4:
        x.flat[:5] = np.nan, -np.inf, np.inf, 0.0, -0.0
    return x


def outcome(function, *arguments):
    try:
        return np.asarray(composit.evaluate(function(*arguments)))
    except Exception as error:
        return type(error).__name__


def agree(ours, theirs):
    if isinstance(ours, str) or isinstance(theirs, str):
        assert ours == theirs
        return
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    np.testing.assert_array_equal(ours, theirs)


def numpys(function, *arguments):
    try:
        return np.asarray(function(*arguments))
    except Exception as error:
        return type(error).__name__


FUNCTIONS = {
    "sort": (cnp.sort, np.sort),
    "argsort": (cnp.argsort, lambda x, axis: np.argsort(x, axis, kind="stable")),
    "median": (cnp.median, np.median),
}


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_orders(name, dtype, shape):
    x = drawn(shape, dtype)
    ours, theirs = FUNCTIONS[name]
    for axis in (None, -1, 0, 1, 2):
        agree(outcome(ours, cnp.asarray(x), axis), numpys(theirs, x, axis))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_searchsorted(dtype, side):
    for length in (0, 1, 2, 3, 8, 100):
        a = np.sort(drawn(length, dtype, 1))
        for shape in ((), (0,), (5,), (4, 30)):
            v = drawn(shape, dtype, 2)
            agree(outcome(cnp.searchsorted, cnp.asarray(a), v, side), np.searchsorted(a, v, side))
    a = drawn(50, dtype, 3)
    sorter = np.argsort(a, kind="stable")
    agree(
        outcome(cnp.searchsorted, a, drawn(20, "float64", 4), side, sorter),
        np.searchsorted(a, drawn(20, "float64", 4), side, sorter),
    )


def test_lexsort():
    keys = [drawn((3, 50), dtype, i) for i, dtype in enumerate(("int8", "float32", "bool"))]
    for axis in (-1, 0):
        agree(outcome(cnp.lexsort, keys, axis), np.lexsort(keys, axis))
    agree(outcome(cnp.lexsort, np.stack([keys[0], keys[0]])), np.lexsort([keys[0], keys[0]]))
    agree(outcome(cnp.lexsort, []), numpys(np.lexsort, []))


def test_partitions():
    x = drawn((4, 30), "float32")
    for kth in (0, 7, -1, [3, 20]):
        found = np.asarray(cnp.partition(cnp.asarray(x), kth, 1))
        for k in np.atleast_1d(kth):
            np.testing.assert_array_equal(found[:, k], np.sort(x, 1)[:, k])
        positions = np.asarray(cnp.argpartition(cnp.asarray(x), kth))
        np.testing.assert_array_equal(np.take_along_axis(x, positions, 1), found)
    for kth in (30, -31, 1.5):
        agree(outcome(cnp.partition, cnp.asarray(x), kth), numpys(np.partition, x, kth))


def test_wrong_calls():
    x = cnp.asarray([3.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=r"sort: sort kind must be one of"):
        cnp.sort(x, kind="bubble")
    with pytest.raises(ValueError, match=r"can't be provided at the same time"):
        cnp.argsort(x, kind="stable", stable=True)
    with pytest.raises(ValueError, match=r"side must be 'left' or 'right' \(got 'top'\)"):
        cnp.searchsorted(x, 1.0, "top")
    with pytest.raises(ValueError, match=r"One dimension is required"):
        cnp.searchsorted(cnp.zeros((2, 2)), 1.0)
    with pytest.raises(ValueError, match=r"kth\(=3\) out of bounds \(3\)"):
        cnp.partition(x, 3)
    with pytest.raises(np.exceptions.AxisError):
        cnp.sort(x, 1)


def test_methods_sort_in_place_and_through_views():
    x = np.array([[3.0, 1.0, 2.0], [9.0, 8.0, 7.0]], "float32")
    lazy = cnp.asarray(x.copy())
    lazy[1].sort()
    x[1].sort()
    agree(np.asarray(lazy), x)
    lazy.sort(0)
    x.sort(0)
    agree(np.asarray(lazy), x)
    agree(np.asarray(lazy.argsort()), x.argsort())
    assert lazy[0].searchsorted(2.5).item() == x[0].searchsorted(2.5)
    lazy.partition(1)
    agree(np.asarray(lazy)[:, 1], np.sort(x)[:, 1])


def everything(x, v):
    ordered = cnp.sort(x * 2 - 1, 0)
    return (
        ordered, cnp.argsort(-x), cnp.median(x, 1), cnp.lexsort([x, cnp.floor(x)]),
        cnp.searchsorted(cnp.sort(x[0]), v, "right"),
    )  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 70), st.integers(1, 6))
def test_every_way_returns_the_same_bits(seed, columns, rows):
    x, v = drawn((rows, columns), "float32", seed), drawn((3, 4), "float32", seed + 1)
    expected = composit.evaluate(*everything(cnp.asarray(x), cnp.asarray(v)))
    for backend in ("interpreter", "cpp"):
        for threads in (1, 2):
            if backend == "cpp" and (seed + columns) % 5:
                continue  # compiling takes its time
            compiled = composit.compile(everything, x, v, backend=backend, threads=threads)
            for ours, known in zip(compiled(x, v), expected, strict=True):
                assert np.asarray(ours).tobytes() == np.asarray(known).tobytes()


def test_many_rows_in_threads():
    x = drawn((512, 300), "float32", 5)
    compiled = composit.compile(lambda x: cnp.argsort(x, 0), x, threads=2)
    np.testing.assert_array_equal(compiled(x), np.argsort(x, 0, kind="stable"))


def test_gradient_goes_where_each_value_came_from():
    x = cnp.asarray(np.array([[3.0, 1.0, 2.0], [1.0, 5.0, 4.0]]))
    weights = np.array([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]])
    (gradient,) = nn.chain_rule({cnp.sort(x): cnp.asarray(weights)}, [x])
    np.testing.assert_array_equal(gradient, [[100.0, 1.0, 10.0], [2.0, 200.0, 20.0]])
    (gradient,) = nn.chain_rule({cnp.median(x, 1): cnp.asarray([1.0, 3.0])}, [x])
    np.testing.assert_array_equal(gradient, [[0.0, 0.0, 1.0], [0.0, 0.0, 3.0]])


def test_vmap_sorts_each():
    x = drawn((3, 4, 5), "float32", 6)
    found = composit.vmap(lambda row: cnp.sort(row, 0))(x)
    np.testing.assert_array_equal(found, np.sort(x, 1))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float32", "float64"])
def test_complex_sorts(dtype):
    for shape in ((5,), (3, 4), (0,)):
        x = np.asarray(np.arange(np.prod(shape)).reshape(shape)[..., ::-1].astype(dtype))
        expected = np.sort_complex(x)
        made = cnp.sort_complex(cnp.asarray(x))
        assert (made.shape, made.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_searchsorted_of_complex_numbers_with_nan(dtype, side):
    """Each has a place of its own in the order that sort gives them."""
    parts = [0, 1, -np.inf, np.inf, np.nan]
    values = np.array([complex(real, imag) for real in parts for imag in parts], dtype)
    ordered = np.sort(values)
    found = np.asarray(cnp.searchsorted(cnp.asarray(ordered), values, side))
    np.testing.assert_array_equal(found, np.searchsorted(ordered, values, side))
