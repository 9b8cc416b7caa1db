"""Parameters that few programs give: like=, axes=, ndmax=, buffers, odd reflections."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy_agreement import assert_agree

import composit
import composit.numpy as cnp
from composit.types import LazyTensor

A = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "name, arguments",
    [("array", ([1, 2],)), ("asarray", ([1, 2],)), ("ones", (3,)), ("zeros", (3,)), ("eye", (2,)),
     ("full", (2, 5)), ("arange", (4,)), ("identity", (2,)), ("tri", (3,)),
     ("fromfunction", (lambda i: i, (3,))), ("fromiter", ([1, 2], "int64"))],
)  # fmt: skip
def test_like(name, arguments):
    ours, theirs = getattr(cnp, name), getattr(np, name)
    for like in (cnp.ones(2), np.ones(2)):
        made = ours(*arguments, like=like)
        assert isinstance(made, LazyTensor)
        np.testing.assert_array_equal(np.asarray(made), theirs(*arguments))
    assert isinstance(theirs(*arguments, like=cnp.ones(2)), LazyTensor)
    for function in (ours, theirs):
        with pytest.raises(TypeError):
            function(*arguments, like=3)


AXES = [
    [(-2, -1), -1, -1], [(-2, -1), (-1,), (-1,)], [(0, 1), 0, 0], (1,), [1], [(0, 1), (0, 1)],
    [(0, 1), (0,), (5,)], [0, 0], [0, 0, ()], [(0, 0), 0, 0], [(0, 1), (0, 1), (0, 1)],
    [(0, 2), (1, 0), (2, 0)], ["x", 0, 0], [1.5, 0, 0], [(0,), (0,)], [-1, (-2, -1), 0],
    [0, (1, 2), 1], [(1, 2), -1, 0], [(0, 2), -1, -1], [(2, 0), 0, 1], [1, 1], [-2, 1], 3,
    [(1, 0), (0, 1), (0, 1)], [(0, 2), (1, 0), (0, 1)], [(1, 2), (0, 1), (2, 0)], [1, 1, 0],
]  # fmt: skip


@pytest.mark.parametrize("name, arguments", [
    ("matvec", (A, np.ones(4))), ("matvec", (A, np.ones((2, 4)))), ("matvec", (A, np.ones(2))),
    ("vecmat", (np.arange(3.0), A)), ("vecmat", (np.ones((3, 4)), A)), ("vecdot", (A, A + 1)),
    ("matmul", (A, np.arange(8.0).reshape(4, 2))), ("matmul", (A, np.ones(3))),
    ("matmul", (np.ones((3, 2)), np.ones((3, 5)))),
])  # fmt: skip
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_axes(name, arguments, axes):
    function = getattr(np, name)
    assert_agree(getattr(cnp, name), function, arguments, {"axes": axes}, ulps=4)
    if name == "vecdot":
        options = {"axes": axes, "keepdims": True}
        assert_agree(cnp.vecdot, np.vecdot, arguments, options, ulps=4)


def test_axis_and_axes_are_one_too_many():
    assert_agree(cnp.vecdot, np.vecdot, (A, A), {"axes": [0, 0], "axis": 1})


@pytest.mark.parametrize("ndmax", [0, 1, 2, 3, 64, -1, 65, 1.5])
@pytest.mark.parametrize("value", [A, [[1, 2], [3, 4]], 3.0, [1, 2], [[[1]]]], ids=str)
def test_ndmax(ndmax, value):
    assert_agree(cnp.array, np.array, (value,), {"ndmax": ndmax})


def test_values_of_a_buffer():
    memory = np.arange(8, dtype="int16")
    made = cnp.ndarray((3,), "int16", memory, 2, (4,))
    assert made.dtype == np.int16 and np.asarray(made).tolist() == [1, 3, 5]
    assert np.asarray(cnp.ndarray((2, 2), "uint8", b"abcd")).tolist() == [[97, 98], [99, 100]]
    with pytest.raises(TypeError):
        cnp.ndarray((9,), "int64", memory)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=2), st.data(),
    st.sampled_from(["reflect", "symmetric"]), st.sampled_from(["odd", "even"]),
    st.sampled_from(["float64", "float32", "int8", "bool", "uint8", "complex64"]),
)  # fmt: skip
def test_odd_reflections(shape, data, mode, kind, dtype):
    width = [(data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9))) for _ in shape]
    x = (np.random.default_rng(sum(shape)).standard_normal(shape) * 50).astype(dtype)
    assert_agree(cnp.pad, np.pad, (x, width, mode), {"reflect_type": kind})


def test_odd_reflections_have_slopes():
    slope = composit.grad(lambda x: cnp.sum(cnp.pad(x, 2, "reflect", reflect_type="odd")))
    assert np.asarray(slope(np.array([1.0, 2.0, 3.0]))).tolist() == [4, -1, 4]
