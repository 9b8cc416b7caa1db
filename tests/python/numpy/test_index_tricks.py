"""What NumPy makes by indexing, and its names that are no functions: NumPy's values and errors."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit.types import LazyTensor

X, Y, Z = np.arange(3.0), np.arange(6, dtype="int8").reshape(2, 3), np.float32(4)


def assert_alike(call):
    try:
        expected = call(np)
    except Exception as error:
        with pytest.raises(type(error)):
            call(cnp)
        return
    found = call(cnp)
    assert isinstance(found, (list, tuple)) == isinstance(expected, (list, tuple))
    some = zip(found, expected) if isinstance(expected, (list, tuple)) else [(found, expected)]
    for ours, theirs in some:
        assert isinstance(ours, LazyTensor)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_array_equal(np.asarray(ours), theirs)


KEYS = [
    np.s_[0:5], np.s_[:5], np.s_[5:], np.s_[1:9:2], np.s_[9:1:-3], np.s_[0:1:5j], np.s_[2:3:1j],
    np.s_[0.5:3], np.s_[0:1:0.25], np.s_[0:5, 0:3], np.s_[0:1:3j, 1:4], np.s_[-1:1:0.5, 0:2:2j],
    np.s_[3:0, 0:2], np.s_[0:2, 1:3, 0:1:2j], np.s_[0:2,], np.s_[0:3:np.float32(0.5), 0:2],
    np.s_[np.float32(0):2, 0:2], 3, (3, 4), np.s_[0:3:0], np.s_[0:1:1j, 0:2],
]  # fmt: skip


@pytest.mark.parametrize("name", ["mgrid", "ogrid"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_grids(name, key):
    assert_alike(lambda m: getattr(m, name)[key])


PARTS = [
    (X,), (X, 0, 0, 4, X), (1, 2, 3), (slice(1, 5),), (slice(-1, 1, 6j), [0] * 3, 5, 6), (Y, Y),
    ("0,2", X, X), ("1,2", X, X), ("0,2,0", X, X), ("1,2,0", X, X), ("1", Y, Y), ("-1", Y, Y),
    ("0,3,1", Y, Y), ("0,3,-1", Y, Y), ("0,3,0", X, X), ("1,3,1", X, X), ("0,2", slice(0, 3), X),
    (Z, X), (Y[0], 1), (Y[0], 1.5), (Y[0], 300), (True, 2), (1j, 2), ([1, 2], [3.5]), (Y, X),
    (X, "1"), ("nonsense", X), ("1,x", X), (), (np.array(2.0), 1), (slice(0, 4), slice(2)),
    (slice(0, 3, 0.5),), (slice(0, 1, 3j), slice(0, 2)), ("0,1,2,3", X), ("5", X),
]  # fmt: skip


@pytest.mark.parametrize("name", ["r_", "c_"])
@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("of_tensors", [True, False])
def test_rows_and_columns(name, parts, of_tensors):
    def call(m):
        some = parts
        if m is cnp and of_tensors:
            some = tuple(cnp.asarray(p) if isinstance(p, np.ndarray) else p for p in parts)
        return getattr(m, name)[some if len(some) != 1 else some[0]]

    assert_alike(call)
    assert len(getattr(cnp, name)) == len(getattr(np, name)) == 0


def test_rows_are_graphs():
    slope = composit.grad(lambda x: cnp.sum(cnp.r_[x, 1, 2 * x] * cnp.arange(7.0)))(X)
    assert np.asarray(slope).tolist() == [8, 11, 14]
    compiled = composit.compile(lambda x: cnp.c_[x, x], X)
    np.testing.assert_array_equal(compiled(X), np.c_[X, X])


def test_matrices_are_refused():
    with pytest.raises(TypeError, match="r_: 'c' makes a matrix"):
        cnp.r_["c", X]


def test_names_that_are_no_functions():
    assert cnp.s_[1:2, ...] == np.s_[1:2, ...] and cnp.index_exp[1] == (1,)
    assert cnp.euler_gamma == np.euler_gamma and cnp.True_ is np.True_
    assert isinstance(cnp.add, cnp.ufunc) and not isinstance(cnp.sum, cnp.ufunc)
    y = cnp.asarray(Y)
    assert list(cnp.ndindex(y.shape)) == list(np.ndindex(Y.shape))
    assert list(cnp.ndenumerate(y)) == list(np.ndenumerate(Y))
    p = cnp.poly1d([1, 2, 3])
    value = p(cnp.asarray(X))
    assert isinstance(value, LazyTensor)
    np.testing.assert_array_equal(np.asarray(value), np.poly1d([1, 2, 3])(X))


EMPTY = [
    (slice(None), ()), (slice(None), []), ((),), ([],), ([], ()), (0, ()), (slice(None), [[]]),
    ((),) * 2, (slice(None), np.array([])),
]  # fmt: skip


@pytest.mark.parametrize("key", EMPTY, ids=str)
def test_empty_sequences_are_indices_and_empty_arrays_of_floats_are_not(key):
    def written(n):
        x = n.asarray(np.arange(6.0).reshape(3, 2)).copy()
        x[key] = 5
        return x

    assert_alike(lambda n: n.asarray(np.arange(6.0).reshape(3, 2))[key])
    assert_alike(written)
