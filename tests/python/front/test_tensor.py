"""LazyTensor: properties, operators, identity, cells and views."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import composit as cnp
from composit.evaluation import Cache
from composit.types import LazyTensor

LIST = [1, 2, 3]


def make(*shape, dtype="float32"):
    return cnp.asarray(np.arange(np.prod(shape)).reshape(shape).astype(dtype))


def test_properties():
    x = cnp.ones((2, 3), dtype="float32")
    assert (x.shape, x.dtype, x.rank, x.ndim, x.size) == ((2, 3), np.dtype("float32"), 2, 2, 6)
    assert (x.itemsize, x.nbytes, len(x), x.output_index) == (4, 24, 2, 0)
    assert cnp.exp(x).describe() == "LazyTensor(exp: float32[2, 3])"


def test_operators_agree_with_numpy():
    a, b = np.array([1.5, -2.0, 3.0], "float32"), np.array([2.0, 0.5, -1.0], "float32")
    x, y = cnp.asarray(a), cnp.asarray(b)
    pairs = [
        (x + y, a + b), (x - 1, a - 1), (2 * x, 2 * a), (1 / x, 1 / a), (x // y, a // b),
        (x % y, a % b), (-x, -a), (abs(x), abs(a)), (x @ y, a @ b), (x < y, a < b),
        (x == y, a == b), (x != 1.5, a != 1.5), (a + x, a + a),
        (np.float64(2) * x, np.float64(2) * a),
        (x + np.ones(3), a + np.ones(3)), (LIST + x, LIST + a),
    ]  # fmt: skip
    for lazy, eager in pairs:
        value = cnp.evaluate(lazy)
        assert value.dtype == np.asarray(eager).dtype
        np.testing.assert_array_equal(value, eager)
    np.testing.assert_array_equal([cnp.evaluate(t) for t in divmod(x, y)], divmod(a, b))


def test_python_scalars_are_weak_and_numpy_scalars_are_not():
    x = cnp.ones(3, dtype="float32")
    assert (x + 1).dtype == "float32"
    assert (x + 1.5).dtype == "float32"
    assert (x + np.float64(1.5)).dtype == "float64"
    assert (cnp.ones(3, dtype="int32") + 1.5).dtype == "float64"


def test_one_live_object_per_node_and_output():
    x = cnp.ones((4,))
    y = cnp.exp(x)
    assert y.node.operands[0] is x
    parts = cnp.split(x, 2)
    assert [part.output_index for part in parts] == [0, 1]
    assert parts[0].node.outputs[1] is parts[1]
    assert {x: 1}[y.node.operands[0]] == 1


def test_conversions_evaluate():
    x = cnp.asarray(2.5)
    assert (float(x), int(x), bool(x), x.item()) == (2.5, 2, True, 2.5)
    assert [10, 11, 12][cnp.asarray(2)] == 12
    assert cnp.arange(3).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(np.asarray(cnp.arange(3)), [0, 1, 2])
    with pytest.raises(ValueError, match="truth value of an array with more than one element"):
        bool(cnp.ones(2))


def test_in_place_operators_are_seen_through_every_name():
    x = make(3)
    other = x
    x += 1
    assert other is x
    np.testing.assert_array_equal(other, [1, 2, 3])
    with pytest.raises(TypeError, match="Cannot cast ufunc 'divide' output from dtype"):
        y = cnp.arange(3)
        y /= 2
    with pytest.raises(ValueError, match="non-broadcastable output operand with shape"):
        x += cnp.ones((2, 3), dtype="float32")


def test_nodes_made_before_a_write_keep_their_values():
    x = make(3)
    y = x * 2
    x[0] = 100
    np.testing.assert_array_equal(y, [0, 2, 4])
    np.testing.assert_array_equal(x, [100, 1, 2])


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[1],
        lambda a: a[:, ::-1],
        lambda a: a.T,
        lambda a: a.reshape(-1),
        lambda a: a[1:][0][::2],
        lambda a: a.reshape(2, 2, 3)[1].T,
    ],
)
def test_views_alias_their_base(view):
    eager, lazy = np.arange(12.0).reshape(3, 4), make(3, 4, dtype="float64")
    v, w = view(eager), view(lazy)
    if v.base is None or not np.shares_memory(v, eager):
        pytest.skip("NumPy copies here")
    v *= 10
    w *= 10
    np.testing.assert_array_equal(lazy, eager)
    np.testing.assert_array_equal(w, v)
    eager[1, 2] = -7
    lazy[1, 2] = -7
    np.testing.assert_array_equal(w, v)
    v[...] = 0.5
    w[...] = 0.5
    np.testing.assert_array_equal(lazy, eager)


def test_augmented_item():
    eager, lazy = np.arange(6.0).reshape(2, 3), make(2, 3, dtype="float64")
    eager[1] += 1
    lazy[1] += 1
    eager[:, [0, 2]] *= 3
    lazy[:, [0, 2]] *= 3
    np.testing.assert_array_equal(lazy, eager)


def test_copies_do_not_alias():
    x = make(3)
    for other in (copy.copy(x), copy.deepcopy(x), x.copy(), x.astype("float32"), x.flatten()):
        other += 1
    np.testing.assert_array_equal(x, [0, 1, 2])
    array = np.zeros(3)
    y = cnp.asarray(array)
    array[0] = 5
    np.testing.assert_array_equal(y, [0, 0, 0])


def test_broadcast_views_are_read_only():
    x = cnp.broadcast_to(make(3), (2, 3))
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        x[0] = 1


def test_out():
    x = make(3)
    result = cnp.exp(make(3), out=x)
    assert result is x
    np.testing.assert_allclose(x, np.exp(np.arange(3, dtype="float32")), rtol=2e-7)


def test_pickle():
    x = cnp.asarray(np.arange(3), name="values")
    y = pickle.loads(pickle.dumps(x * 2))
    np.testing.assert_array_equal(y, [0, 2, 4])
    assert pickle.loads(pickle.dumps(x)).name == "values"


def test_iteration_and_unpacking():
    a, b = make(2, 2)
    np.testing.assert_array_equal(a + b, [2, 4])
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        iter(cnp.asarray(1.0))


def test_numpy_functions_on_tensors_make_nodes():
    x = make(2, 3)
    for lazy in (np.exp(x), np.maximum(x, 0), np.sum(x, axis=0), np.concatenate([x, x]),
                 np.where(x > 1, x, 0), np.add.reduce(x)):  # fmt: skip
        assert isinstance(lazy, LazyTensor)
    assert np.array2string(x) == np.array2string(np.asarray(x))  # no graph's business


def test_no_warnings_on_import_and_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cnp.evaluate(cnp.exp(make(3)))


def test_other_values_for_one_evaluation():
    x = cnp.ones((2, 3), name="x")
    y = cnp.exp(x) @ cnp.ones(3)
    values = np.arange(6.0).reshape(2, 3)
    expected = np.exp(values) @ np.ones(3)
    for options in ({"inputs": {x: values}}, {"inputs": {x: values}, "backend": "cpp"}):
        np.testing.assert_allclose(cnp.evaluate(y, **options), expected, rtol=1e-14)
    np.testing.assert_allclose(cnp.evaluate(y, {x: values.astype(int)}), expected, rtol=1e-14)
    _, two = cnp.evaluate(y, x, {x: values})
    np.testing.assert_array_equal(two, values)
    inner = y + 1
    assert cnp.evaluate(inner, {y: [1, 2]}).tolist() == [2, 3]
    assert cnp.evaluate(x).tolist() == [[1] * 3] * 2
    for odd in (np.ones(3), values + 1j):
        with pytest.raises(
            ValueError, match=r"evaluate: LazyTensor\(.*\) is given .* Its shape, and"
        ):
            cnp.evaluate(y, {x: odd})
    with pytest.raises(TypeError, match=r"evaluate: 'x' is given a value. A tensor is required"):
        cnp.evaluate(y, {"x": values})
    with pytest.raises(TypeError, match=r"evaluate: inputs is 3. A mapping from tensors is"):
        cnp.evaluate(y, inputs=3)


def test_a_cache_over_evaluations():
    x = cnp.ones(3)
    y = cnp.exp(x)
    cache = Cache()
    assert cnp.evaluate(y, cache=cache) is cache[y]
    cache[y] = np.array([1.0, 2.0, 3.0])  # what is known is not computed
    total, same = cnp.evaluate(y + 1, cache=cache, return_cache=True)
    assert same is cache and total.tolist() == [2, 3, 4] and len(cache) == 2
    z = x * 3
    cnp.evaluate(z, cache=cache)
    z[0] = 9  # what is known of z is known no longer
    assert cnp.evaluate(z + 0, cache=cache).tolist() == [9, 3, 3]
