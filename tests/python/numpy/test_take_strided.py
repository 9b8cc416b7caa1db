"""take of slices whose elements lie apart: more of them than are copied at a time, and out of
bounds."""

import itertools

import numpy as np
import pytest

import composit
import composit.numpy as cnp

rng = np.random.default_rng(8)
LENGTHS = [(5, 3, 7), (40, 33, 16), (2, 300, 17), (19, 1, 290), (260, 2, 31)]


@pytest.mark.parametrize("shape", LENGTHS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_any_axis_of_any_order(shape, dtype):
    x = rng.integers(-100, 100, shape).astype(dtype)
    for order, axis in itertools.product(itertools.permutations(range(3)), range(3)):
        moved = x.transpose(order)
        indices = rng.integers(-moved.shape[axis], moved.shape[axis], 300)
        wanted = np.take(moved, indices, axis)

        def take(x, i, order=order, axis=axis):
            return cnp.take(cnp.transpose(x, order), i, axis=axis)

        evaluated = np.asarray(take(cnp.asarray(x), cnp.asarray(indices)))
        np.testing.assert_array_equal(evaluated, wanted)
        if order == (2, 0, 1) and dtype != "int8":
            compiled = composit.compile(take, x, indices, threads=2)(x, indices)
            np.testing.assert_array_equal(compiled, wanted)


def test_the_first_index_out_of_bounds_is_named():
    x = rng.standard_normal((30, 40, 50)).astype("float32")
    indices = rng.integers(0, 30, 600)
    indices[[310, 570]] = 30, -31
    take = composit.compile(lambda x, i: cnp.take(cnp.transpose(x), i, axis=2), x, indices)
    with pytest.raises(IndexError, match="index 30 is out of bounds for axis 2 with size 30"):
        take(x, indices)
