"""divmod, frexp and modf: two results, and what ufuncs of NumPy take with them."""

import pickle
import warnings

import numpy as np
import pytest

import composit
from composit import numpy as cnp

X = np.array([0.0, -0.0, 1.5, -6.25, 5e-324, 1e300, np.inf, -np.inf, np.nan])
PAIRS = {"divmod": (np.array([7.5, -7.5, 2.0]), 2.0), "frexp": (X,), "modf": (X,)}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint64"])
def test_agrees_with_numpy(name, dtype):
    with np.errstate(all="ignore"):
        operands = [np.nan_to_num(x) if dtype[0] in "iu" else x for x in PAIRS[name]]
        operands = [
            np.asarray(np.clip(x, 0, 9) if dtype[0] == "u" else x).astype(dtype) for x in operands
        ]
        theirs = getattr(np, name)(*operands)
    ours = [cnp.evaluate(y) for y in getattr(cnp, name)(*operands)]
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
        if a.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(a)[~np.isnan(b)], np.signbit(b)[~np.isnan(b)])


@pytest.mark.parametrize("name", PAIRS)
def test_out_and_where(name):
    operands = PAIRS[name]
    theirs, ours = [[np.full(operands[0].shape, 9.0) for _ in range(2)] for _ in range(2)]
    where = np.arange(operands[0].size) % 2 == 0
    with np.errstate(all="ignore"):
        getattr(np, name)(*operands, out=tuple(theirs), where=where)
    returned = getattr(cnp, name)(*operands, out=tuple(ours), where=where)
    assert returned[0] is ours[0] and returned[1] is ours[1]
    np.testing.assert_array_equal(ours, theirs)
    tensor = cnp.zeros(operands[0].shape)
    first, second = getattr(cnp, name)(*operands, tensor)
    assert first is tensor and second is not tensor


def test_results_may_replace_their_operand():
    x = cnp.asarray([2.5, -3.75])
    cnp.modf(x, out=(x, None))
    assert cnp.evaluate(x).tolist() == [0.5, -0.75]


def test_they_are_compiled_and_differentiated():
    x = np.array([0.3, 5.5, -20.0])
    compiled = composit.compile(lambda x: cnp.frexp(x), x)
    for ours, theirs in zip(compiled(x), np.frexp(x)):
        np.testing.assert_array_equal(ours, theirs)
    slope = composit.grad(lambda x: cnp.sum(cnp.frexp(x)[0] + cnp.modf(x)[0]))
    np.testing.assert_array_equal(cnp.evaluate(slope(x)), 1 + np.ldexp(1.0, -np.frexp(x)[1]))


def test_mistakes_are_named():
    with pytest.raises(TypeError, match=r"frexp\(\) takes from 1 to 3 positional arguments but 4"):
        cnp.frexp(X, None, None, None)
    with pytest.raises(
        TypeError, match=r"modf: out is ndarray. A tuple of two, tensors or None, is"
    ):
        cnp.modf(X, out=X.copy())
    with pytest.raises(ValueError, match="exactly one entry per ufunc output"):
        cnp.modf(X, out=(X.copy(),))
    with pytest.raises(NotImplementedError, match=r"frexp: dtype=.* is not supported yet"):
        cnp.frexp(X, dtype="float32")


def test_elements_that_where_leaves_out_are_zero():
    quotient, rest = cnp.divmod(X, 2, where=X > 1)
    np.testing.assert_array_equal(np.where(X > 1, X // 2, 0), quotient)
    np.testing.assert_array_equal(np.where(X > 1, X % 2, 0), rest)


def test_they_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(cnp.frexp)) is cnp.frexp
    assert (cnp.frexp.nin, cnp.frexp.nout, cnp.divmod.nargs) == (1, 2, 4)


def test_gaps_of_where_are_warned_of_as_numpy_does():
    mask = np.array([True, False, True])
    for module in (np, cnp):
        x = module.asarray([1.0, 2.0, 3.0])
        for call in (
            lambda m=module, x=x: m.add(x, 1, where=mask),
            lambda m=module, x=x: m.divmod(x, 2, where=mask),
            lambda m=module, x=x: m.add(x, 1, None, where=mask),
        ):
            with pytest.warns(UserWarning, match="'where' used without 'out'"):
                call()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            module.add(x, 1, where=mask, out=None)
            module.add(x, 1, where=mask, out=module.zeros(3))
