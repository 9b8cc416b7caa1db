"""composit.numpy's functions against NumPy's: equal shapes, dtypes and values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composit.numpy as cnp

A = np.arange(24.0).reshape(2, 3, 4)
M = np.array([[3.0, -1.0, 2.0], [0.0, 5.0, -4.0]], "float32")
I = np.array([[3, -1, 2], [0, 5, -4]])

CASES = {
    "sum": [(A,), (A, 1), (A, (0, -1)), (I.astype("int8"),), (M, 0, "float64")],
    "prod": [(M,), (I, 1)],
    "max": [(A,), (M, 1)],
    "min": [(A, 0)],
    "mean": [(A,), (M, 0), (I,)],
    "var": [(A,), (M, 1)],
    "std": [(A, (0, 1))],
    "argmax": [(A,), (M, 1)],
    "argmin": [(M, 0)],
    "any": [(I,), (I == 5, 1)],
    "all": [(I, 0)],
    "count_nonzero": [(I,), (I, 1)],
    "cumsum": [(A,), (I, 1)],
    "cumprod": [(I, 0)],
    "ptp": [(A, 1)],
    "average": [(A, 1)],
    "reshape": [(A, (4, -1)), (A, -1)],
    "ravel": [(A,)],
    "transpose": [(A,), (A, (1, 2, 0))],
    "swapaxes": [(A, 0, 2)],
    "moveaxis": [(A, 0, -1), (A, (0, 1), (1, 2))],
    "expand_dims": [(A, 0), (A, (0, -1))],
    "squeeze": [(A[:1],), (A[:, :1], 1)],
    "broadcast_to": [(M, (4, 2, 3))],
    "concatenate": [([M, M * 2],), ([M, I], 1), ([M, M], None)],
    "stack": [([M, M], 1)],
    "hstack": [([M, M],)],
    "vstack": [([M, I],)],
    "dstack": [([M, M],)],
    "append": [(M, M), (M, M, 0)],
    "flip": [(A,), (A, 1)],
    "roll": [(A, 5), (A, (1, -2), (0, 2))],
    "rot90": [(M,), (M, 3)],
    "repeat": [(M, 2), (M, [1, 2], 0)],
    "tile": [(M, 2), (M, (2, 1, 2))],
    "pad": [(M, 1), (M, ((1, 0), (2, 1)), "edge"), (M, 1, "reflect"), (A, ((1, 1),) * 3, "wrap")],
    "take": [(M, [2, -1], 1), (M, 4)],
    "take_along_axis": [(M, np.array([[0, 2], [1, 1]]), 1)],
    "diff": [(A,), (A, 2), (I, 1, 0)],
    "matmul": [(M, M.T), (A, A.transpose(0, 2, 1))],
    "dot": [(M, M.T), (M[0], M[1])],
    "inner": [(M, M)],
    "outer": [(M[0], M[1])],
    "vdot": [(M, M)],
    "tensordot": [(A, A, 3), (A, A, ([0, 1], [0, 1]))],
    "einsum": [("ij,kj->ik", M, M), ("ijk->k", A), ("ii->i", A[0, :3, :3])],
    "diagonal": [(A,), (M, 1)],
    "trace": [(M,)],
    "diag": [(M[0],), (M, -1)],
    "zeros": [((2, 3),), (3, "int8")],
    "ones": [((2, 3), "float32")],
    "full": [((2, 2), 7), (3, 0.5, "float32")],
    "zeros_like": [(I,), (M, "int32")],
    "ones_like": [(M,)],
    "full_like": [(I, 3)],
    "arange": [(5,), (1, 8, 3), (0.0, 1.0, 0.25), (3, 0, -1, "float32"), (2.5,)],
    "linspace": [(0, 1, 5), (1, 2, 4, False), (3, -1)],
    "eye": [(3,), (2, 4, 1)],
    "identity": [(3,)],
    "tri": [(3,), (2, 4, 1)],
    "tril": [(M,), (A, -1)],
    "triu": [(M, 1)],
    "clip": [(M, -1, 2), (I, None, 3)],
    "where": [(M > 0, M, 0), (I > 0, I, M)],
    "atleast_2d": [(M[0],)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments"), [(name, case) for name, cases in CASES.items() for case in cases]
)
def test_agrees(name, arguments):
    expected = np.asarray(getattr(np, name)(*arguments))
    value = cnp.evaluate(getattr(cnp, name)(*arguments))
    assert (value.shape, value.dtype) == (expected.shape, expected.dtype)
    if expected.dtype.kind == "f":
        rtol = 4 * np.finfo(expected.dtype).eps
        np.testing.assert_allclose(value, expected, rtol=rtol, atol=rtol)
    else:
        np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("split", (A, 2, 2)), ("split", (A, [1, 3], 2)), ("array_split", (A, 3, 2)),
     ("broadcast_arrays", (M, I[0])), ("meshgrid", (M[0], I[:, 0])), ("nonzero", (I,)),
     ("divmod", (I, 3)), ("frexp", (M,)), ("modf", (M,))],
)  # fmt: skip
def test_several_results(name, arguments):
    ours, theirs = getattr(cnp, name)(*arguments), getattr(np, name)(*arguments)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        np.testing.assert_array_equal(cnp.evaluate(a), b)


def indices(rank):
    """Index tuples of basic and integer entries."""
    entry = st.one_of(
        st.integers(-2, 1),
        st.slices(3),
        st.just(slice(None)),
        st.lists(st.integers(-2, 1), min_size=1, max_size=3),
    )
    return st.lists(entry, min_size=1, max_size=rank).map(tuple)


@settings(max_examples=60, deadline=None)
@given(indices(3), st.sampled_from(["plain", "ellipsis", "newaxis"]))
def test_indexing(index, extra):
    index = {"plain": index, "ellipsis": (..., *index), "newaxis": (None, *index)}[extra]
    x = cnp.asarray(A)
    try:
        expected = A[index]
    except IndexError:
        with pytest.raises(IndexError):
            x[index]
        return
    np.testing.assert_array_equal(cnp.evaluate(x[index]), expected)
    changed = A.copy()
    changed[index] = -1
    x = x.copy()
    x[index] = -1
    np.testing.assert_array_equal(cnp.evaluate(x), changed)


@pytest.mark.parametrize("index", [M > 0, (I > 0, 0), ([0, 1], slice(None)), (slice(None), [2, 0])])
def test_masks_and_lists(index):
    if isinstance(index, tuple) and getattr(index[0], "ndim", 0) == 2:
        index = index[0]
    np.testing.assert_array_equal(cnp.evaluate(cnp.asarray(M)[index]), M[index])


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["int8", "int32", "int64", "uint8", "float32", "float64", "bool"]),
    st.sampled_from(["int8", "int32", "uint64", "float32", "float64", "bool", 1, 2.5, True]),
    st.sampled_from(["add", "multiply", "maximum", "less", "divide"]),
)
def test_promotion(a, b, name):
    x = np.ones(3, a)
    y = np.ones(3, b) if isinstance(b, str) else b
    expected = getattr(np, name)(x, y)
    assert getattr(cnp, name)(cnp.asarray(x), y).dtype == expected.dtype


@pytest.mark.parametrize("name", ["random", "standard_normal", "uniform", "normal", "exponential"])
def test_random_numbers_are_numpys(name):
    ours, theirs = cnp.random.RandomState(7), np.random.RandomState(7)
    size = {"size": (3, 5)}
    np.testing.assert_array_equal(
        cnp.evaluate(getattr(ours, name)(**size)), getattr(theirs, name)(**size)
    )


@pytest.mark.parametrize("decimals", [0, 1, 2, 9, 25, -1, -2, -9, -25])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint16", "uint64"])
def test_round(dtype, decimals):
    x = (np.random.RandomState(3).randn(50, 4) * [1, 10, 1000, 0.01] * 50).astype(dtype)
    with np.errstate(all="ignore"):
        expected = np.round(x, decimals)
    tensor = cnp.asarray(x)
    for made in (cnp.round(x, decimals), cnp.around(x, decimals), tensor.round(decimals),
                 np.round(tensor, decimals)):  # fmt: skip
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(cnp.evaluate(made), expected)


def test_global_random_state():
    cnp.random.seed(3)
    theirs = np.random.RandomState(3)
    np.testing.assert_array_equal(cnp.evaluate(cnp.random.rand(4)), theirs.rand(4))
    np.testing.assert_array_equal(cnp.evaluate(cnp.random.randn(3)), theirs.randn(3))
    places = cnp.random.randint(0, 9, 5)
    np.testing.assert_array_equal(cnp.evaluate(places), theirs.randint(0, 9, 5))
    draw = cnp.random.random((2,))
    np.testing.assert_array_equal(cnp.evaluate(draw), cnp.evaluate(draw))
    state = theirs.get_state()
    cnp.random.set_state(state)
    np.testing.assert_array_equal(cnp.evaluate(cnp.random.permutation(6)), theirs.permutation(6))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("exponent", [2, 0.5, 1, -1, 2.0, 3])
def test_powers_of_literals_are_numpys(dtype, exponent):
    x = np.random.RandomState(5).uniform(0.1, 9, 4000).astype(dtype) + np.array(1, dtype)
    if dtype == "int32" and exponent == -1:
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            cnp.asarray(x) ** exponent
        return
    expected, got = x**exponent, cnp.evaluate(cnp.asarray(x) ** exponent)
    assert got.dtype == expected.dtype
    if (exponent in (2, 0.5, 1, -1) and np.dtype(dtype).kind == "f") or dtype == "int32":
        np.testing.assert_allclose(got, expected, rtol=0 if exponent != 0.5 else 1e-15)
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64"])
def test_literal_cube(dtype):
    specials = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-20, -3e-13, 1e13, 2e25]
    x = np.arange(-6, 7) if "int" in dtype else np.array([*np.linspace(-9, 9, 201), *specials])
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
        expected = x**3
    result = np.asarray(cnp.asarray(x) ** 3)
    assert result.dtype == expected.dtype
    if "int" in dtype:
        np.testing.assert_array_equal(result, expected)
    else:
        np.testing.assert_array_max_ulp(result, expected, 2)
        np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))
