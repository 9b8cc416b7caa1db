"""A LazyTensor has the methods and attributes of an ndarray, as of a contiguous copy."""

import itertools

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn

SHAPES = [(), (0,), (5,), (2, 3), (3, 1, 4), (2, 0, 3)]


def both(shape, dtype="float64"):
    values = (np.arange(np.prod(shape, dtype=int)) % 7).reshape(shape).astype(dtype)
    return cnp.array(values), values


@pytest.mark.parametrize("shape", SHAPES)
def test_attributes_of_memory(shape):
    tensor, values = both(shape, "int16")
    assert tensor.strides == values.strides or 0 in shape
    assert str(tensor.flags) == str(np.empty_like(values).flags)
    assert tensor.device == "cpu" and tensor.base is None
    assert tensor.to_device("cpu") is tensor
    assert bytes(tensor.data) == values.tobytes()


def test_large_shapes_need_no_memory_for_attributes():
    tensor = cnp.broadcast_to(cnp.float32(1), (1 << 20, 1 << 20))
    assert tensor.strides == (1 << 22, 4)
    assert tensor.flags.c_contiguous and not tensor.flags.f_contiguous


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if 0 not in shape])
@pytest.mark.parametrize("order", ["C", "F", "A", "f"])
def test_orders(shape, order):
    tensor, values = both(shape)
    size = values.size
    targets = {(size,), (-1,), (1, size), *itertools.permutations(shape)}
    for target in targets:
        cnp.testing.assert_array_equal(
            tensor.reshape(target, order=order), values.reshape(target, order=order)
        )
    for name in ("ravel", "flatten"):
        cnp.testing.assert_array_equal(getattr(tensor, name)(order), getattr(values, name)(order))


@pytest.mark.parametrize("shape", [(2, 3), (6,)])
@pytest.mark.parametrize("target", [(3, 2), (6,)])
def test_column_order_copies_where_numpy_does(shape, target):
    tensor, values = both(shape)
    for x in (tensor, values):
        x.reshape(target, order="F")[0] = 9
        x.ravel("F")[1] = 8
        x.flatten("F")[2] = 8
    cnp.testing.assert_array_equal(tensor.ravel()[0], values.ravel()[0])
    with pytest.raises(ValueError, match="Unable to avoid creating a copy"):
        cnp.reshape(cnp.ones((2, 3)), (3, 2), order="F", copy=False)


@pytest.mark.parametrize("order", ["X", "", None, 3])
def test_orders_that_are_none(order):
    with pytest.raises(ValueError, match=r"reshape: order=.* is not known"):
        cnp.ones(4).reshape((2, 2), order=order)


def test_new_axes():
    tensor, values = both((2, 3))
    cnp.testing.assert_array_equal(tensor[None], values[None])
    tensor[None] = values[None] = 5
    cnp.testing.assert_array_equal(tensor, values)


def test_methods():
    tensor, values = both((4,), "int64")
    choices = [np.arange(4) * 10**k for k in range(7)]
    cnp.testing.assert_array_equal(tensor.choose(choices), values.choose(choices))
    keep = [True, False, True, True]
    cnp.testing.assert_array_equal(tensor.compress(keep), values.compress(keep))
    tensor.put([0, -1], [8, 9])
    values.put([0, -1], [8, 9])
    cnp.testing.assert_array_equal(tensor, values)
    assert tensor.conjugate() is tensor


def test_views():
    tensor, _ = both((3,))
    view = tensor.view()
    view[0] = 7
    assert tensor[0].item() == 7
    assert tensor.view("float64").dtype == tensor.view(np.float64).dtype == np.float64
    assert cnp.shares_memory(tensor.view(cnp.ndarray), tensor)
    assert type(tensor.view(np.ndarray)) is np.ndarray  # holds values
    with pytest.raises(TypeError, match="Type must be a sub-type of ndarray type"):
        tensor.view(type=list)


def test_dlpack_and_the_array_api():
    tensor, values = both((2, 3))
    np.testing.assert_array_equal(np.from_dlpack(tensor), values)
    assert tensor.__dlpack_device__() == values.__dlpack_device__()
    assert tensor.__array_namespace__() is cnp
    assert tensor.__array_namespace__(api_version="2023.12") is cnp
    with pytest.raises(ValueError, match="version '1999' of the array API is not known"):
        tensor.__array_namespace__(api_version="1999")
    with pytest.raises(ValueError, match=r"device: there is no 'tpu'\. Available: cpu"):
        tensor.to_device("tpu")


def test_numpys_assertions_take_tensors():
    tensor, values = both((2, 3))
    cnp.testing.assert_equal({"a": [tensor, 1]}, {"a": [values, 1]})
    cnp.testing.assert_allclose(actual=tensor, desired=values)
    cnp.testing.assert_array_less(tensor, tensor + 1)
    with pytest.raises(AssertionError, match="Mismatched elements: 6 / 6"):
        cnp.testing.assert_array_equal(tensor, tensor + 1)
    assert cnp.testing.suppress_warnings is np.testing.suppress_warnings
    cnp.testing.assert_raises(ValueError, cnp.asarray([1, 2]).reshape, 3)
    cnp.testing.assert_raises(np.linalg.LinAlgError, cnp.linalg.inv, cnp.zeros((2, 2)))
    outside = cnp.arange(3) + 3
    cnp.testing.assert_raises(IndexError, cnp.zeros(3).__setitem__, outside, 0)
    cnp.testing.assert_raises(IndexError, cnp.add.at, cnp.zeros(3), outside, 1)
    with cnp.testing.assert_raises_regex(ValueError, "cannot reshape"):
        cnp.asarray([1, 2]).reshape(3)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2), (40, 50)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "float64", "complex128", "float16"])
def test_str_and_repr_print_what_numpy_prints(shape, dtype):
    values = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) / 3).astype(dtype)
    x = cnp.asarray(values)
    assert str(x) == f"{x}" == str(values)
    assert repr(x) == f"{x!r}" == repr(values)
    assert repr([x]) == repr([values])
    made, of_numpy = x * cnp.ones((), dtype), values * np.ones((), dtype)
    with np.printoptions(precision=3):
        assert str(made) == str(of_numpy)
        assert repr(made) == repr(of_numpy)
    assert made.describe() == f"LazyTensor(multiply: {values.dtype}{list(shape)})"


def test_texts_of_a_parameter_say_what_it_is():
    seen = []

    def function(x):
        seen.append((str(x * 2), f"{x}"))
        seen.append((repr(x * 2), x._repr_html_().partition("<details>")[0]))
        return cnp.sum(x * 2)

    composit.compile(function)(np.ones(3))
    assert seen == [
        ("LazyTensor(multiply: float64[3])", "LazyTensor(x: float64[3])"),
        ("LazyTensor(multiply: float64[3])", "<pre>LazyTensor(x: float64[3])</pre>"),
    ]


def test_repr_of_what_cannot_be_evaluated_says_why():
    rows = repr(nn.embedding(cnp.asarray([7]) + 0, cnp.zeros((2, 2))))
    assert rows.startswith("LazyTensor(gather: float64[1, 2]) without values: IndexError: ")


def test_manners_that_numpys_own_tests_ask_for():
    x = cnp.asarray([0, 1, 0])
    np.testing.assert_array_equal(x.choose([1, 2, 3], [4, 5, 6]), [1, 5, 3])
    np.testing.assert_array_equal(x.choose([7, 8]), [7, 8, 7])
    out = cnp.zeros(3, dtype="int64")
    assert x.conjugate(out) is out and x.conj() is x
    np.testing.assert_array_equal(out, x)
    with pytest.raises(TypeError, match="unsupported format string"):
        format(x, "30")
    assert format(x, "") == "[0 1 0]" and format(x[1], "3d") == "  1"
    with pytest.raises(TypeError):
        x.partition(2, axis=None)
    np.testing.assert_array_equal(cnp.arange(2, dtype=bool), np.arange(2, dtype=bool))
    np.testing.assert_array_equal(cnp.arange(1, 2, dtype=bool), [True])
    with pytest.raises(TypeError, match="at most length 2"):
        cnp.arange(3, dtype=bool)
