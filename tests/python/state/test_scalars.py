"""What NumPy returns as a scalar is a value: nothing changes it, and Python's protocols take it."""

import copy
import math
import numbers
import pickle
import statistics
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import composit
import composit.numpy as cnp


def test_elements_are_no_views():
    a = cnp.array([10.0, 20.0, 30.0, 40.0])
    a[0], a[3] = a[3], a[0]
    assert a.tolist() == [40, 20, 30, 10]
    first = a[0]
    a[0] = 1.0
    a *= 2
    assert float(first) == 40
    for element in a:
        element += 1
    assert a.tolist() == [2, 40, 60, 20]


@pytest.mark.parametrize("operator", ["+=", "-=", "*=", "/=", "//=", "**=", "%="])
def test_augmented_assignment_binds_the_name_again(operator):
    for make in ("x[1]", "x.sum()", "x.sum() * 2", "next(iter(x))"):
        x = cnp.array([3.0, 5.0])
        scope = {"x": x}
        exec(f"s = {make}\nbest = s\ns {operator} 2.0", scope)
        assert scope["s"] is not scope["best"]
        expected = {"x": np.array([3.0, 5.0])}
        exec(f"s = {make}\nbest = s\ns {operator} 2.0", expected)
        assert float(scope["best"]) == float(expected["best"])
        assert float(scope["s"]) == float(expected["s"])
        assert x.tolist() == [3, 5]


def test_the_class_is_numpys():
    """What is an array of no dimension for NumPy, and what a scalar."""
    x, z = np.arange(6.0).reshape(2, 3), np.array(5.0)
    programs = [
        "x.sum()", "x[1, 2]", "x[1][2]", "x[..., 0]", "x[1, 2, ...]", "z[()]", "z[...]", "z + 1",
        "-z", "np.exp(z)", "z.copy()", "z.reshape(())", "np.where(True, 1, 2)", "np.zeros(())",
        "np.full((), 3)", "np.ones_like(z)", "np.asarray(x[0, 0])", "np.array(x[0, 0])", "x.mean()",
        "np.dot(x[0], x[0])", "np.linalg.norm(x)", "x.max()", "np.argmax(x)", "np.clip(z, 0, 1)",
        "np.select([z > 0], [z])", "np.median(x)", "np.trace(x)", "x.std()", "np.take(x, 0)",
        "np.squeeze(x[:1, :1])", "x[0, 0].T", "np.abs(x[0, 0])", "x[0, 0].copy()",
        "np.copy(x[0, 0])",
        "np.inner(x[0], x[0])", "np.count_nonzero(x)", "z.T", "np.round(x[0, 0], 1)",
        "np.isclose(x[0, 0], 1)", "x[0, 0].astype(int)", "z.astype(int)", "x.any()", "np.ptp(x)",
        "np.einsum('ij->', x)", "np.vdot(x, x)", "np.interp(0.5, x[0], x[0])",
        "np.percentile(x, 50)", "np.searchsorted(x[0], 1)", "np.broadcast_to(z, ())",
    ]  # fmt: skip
    lazy = {"x": cnp.asarray(x), "z": cnp.asarray(z), "np": cnp}
    for text in programs:
        expected, found = eval(text, {"x": x, "z": z, "np": np}), eval(text, lazy)
        is_array = isinstance(expected, np.ndarray)
        if not isinstance(found, composit.LazyTensor):
            assert not is_array, text
            continue
        is_scalar = isinstance(found, composit._core.LazyScalar)
        assert is_scalar != is_array, (text, type(expected), type(found))
        assert np.asarray(found).dtype == np.asarray(expected).dtype, text
        assert np.allclose(np.asarray(found), expected), text


def test_protocols_of_numbers():
    x, n = cnp.array([2.5, -1.25])[0], cnp.array([7, 2])[0]
    assert (round(x), round(x, 1), math.trunc(x), math.floor(x), math.ceil(x)) == (2, 2.5, 2, 2, 3)
    assert isinstance(round(x), int) and divmod(n, 3) == (2, 1) and abs(-n) == 7
    assert [10, 20, 30][cnp.array([1])[0]] == 20 and list(range(n)) == list(range(7))
    assert f"{x:.2f} {n:03d} {x}" == "2.50 007 2.5" and format(x, ".1f") == "2.5"
    assert isinstance(x, numbers.Real) and isinstance(n, numbers.Integral)
    assert isinstance(x + 1j, numbers.Complex) and not isinstance(x, float)
    assert statistics.fmean(cnp.array([1.0, 2.0, 4.0])) == pytest.approx(7 / 3)
    assert Fraction(*x.as_integer_ratio()) == Fraction(5, 2) and x.is_integer() is False
    assert repr([x, n, n > 3]) == "[np.float64(2.5), np.int64(7), np.True_]"
    assert math.hypot(x, n) == math.hypot(2.5, 7) and complex(x) == 2.5


def test_nobody_writes_into_a_scalar():
    x = cnp.array([1.0, 2.0])
    for s in (x[0], x.sum()):
        with pytest.raises(
            TypeError, match=r"'numpy\.float64' object does not support item assign"
        ):
            s[...] = 3
        with pytest.raises(TypeError, match="return arrays must be of ArrayType"):
            cnp.add(s, 1, out=s)
        with pytest.raises(TypeError, match=r"object of type 'numpy.float64' has no len\(\)"):
            len(s)
        with pytest.raises(TypeError, match=r"'numpy\.float64' object is not iterable"):
            iter(s)
        with pytest.raises(IndexError, match="invalid index to scalar variable"):
            s[0]
        s.fill(7)
        assert float(s) in (1, 3)
    array = cnp.asarray(x.sum())
    array += 1
    assert float(array) == 4 and float(x.sum()) == 3


def test_hashes_of_values_and_of_objects():
    x = cnp.array([1.5, 2.5, 1.5])
    n = cnp.array([3, 1, 3, 2])
    assert len(set(n)) == 3 and len(set(x)) == 2 and {1.5: "a"}[x[0]] == "a"
    assert Counter(n)[3] == 2 and hash(n[0] > 2) == hash(True)
    loss = x.sum()
    assert hash(loss) == hash(loss) and loss in {loss: 1}
    assert not loss.node.is_constant


def test_copies_and_pickles():
    s = cnp.array([1.5])[0]
    assert copy.copy(s) is s and copy.deepcopy(s) is s and s.copy() is s
    again = pickle.loads(pickle.dumps(s))
    assert type(again) is type(s) and float(again) == 1.5


def test_gradients_go_through_scalars():
    x = cnp.array([1.0, 2.0, 3.0])
    total = cnp.array([0.0])[0]
    for element in x:
        total += element * element
    float(total)
    (gradient,) = composit.nn.chain_rule({total: total}, [x])
    assert np.asarray(gradient).tolist() == [2, 4, 6]
