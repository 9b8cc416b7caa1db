"""take of slices whose elements lie apart: more of them than are copied at a time, and out of
bounds."""

import itertools

import numpy as np
import pytest

import composit
import composit.numpy as cnp

rng = np.random.default_rng(8)
LENGTHS = [(5, 3, 7), (40, 33, 16), (2, 300, 17), (19, 1, 290), (260, 2, 31)]


@pytest.mark.long_tail
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


def test_slices_of_any_length_that_lie_together():
    # Shorter than a vector, whole vectors, the rest after them, and those a copy of memory takes.
    for dtype, lengths in {
        "uint8": (1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 256, 257, 321, 4096, 4097),
        "float32": (3, 4, 5, 16, 20, 61, 64, 67, 1024, 1025),
        "complex128": (1, 2, 3, 4, 5, 16, 17, 19, 256, 257, 300),
    }.items():
        for length in lengths:
            x = rng.integers(0, 100, (50, length)).astype(dtype)
            indices = rng.integers(-50, 50, 300)
            found = np.asarray(cnp.take(cnp.asarray(x), cnp.asarray(indices), axis=0))
            np.testing.assert_array_equal(found, np.take(x, indices, axis=0))


@pytest.mark.parametrize("length", [5, 64, 75, 1030])
def test_slices_that_lie_together_compiled(length):
    x = rng.standard_normal((40, length)).astype("float32")
    indices = rng.integers(-40, 40, (3, 200))

    def take(x, i):
        return cnp.concatenate([cnp.take(x, i, axis=0), cnp.take(x * 2, i, axis=0)], axis=2)

    found = composit.compile(take, x, indices, threads=2)(x, indices)
    wanted = np.concatenate([x[indices], 2 * x[indices]], axis=2)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.long_tail
@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("shape", [(2, 3, 9, 7), (3, 2, 40, 300), (2, 70, 6, 8), (1, 5, 3, 270)])
def test_what_is_taken_along_an_inner_axis_is_written_in_its_order(shape, axis):
    """One kernel, without a copy that changes the order of axes."""
    x = rng.standard_normal(shape).astype("float32")
    indices = rng.integers(-shape[axis], shape[axis], 50)
    wanted = np.take(x, indices, axis)
    assert np.array_equal(cnp.take(cnp.asarray(x), cnp.asarray(indices), axis=axis), wanted)
    for threads in (1, 2):
        take = composit.compile(lambda x, i: cnp.take(x, i, axis=axis), x, indices, threads=threads)
        assert [kernel.kind for kernel in take.program.kernels] == ["Gather"]
        assert np.array_equal(take(x, indices), wanted)


def test_what_is_used_in_another_order_too_stays():
    x = rng.standard_normal((4, 6, 5)).astype("float32")
    indices = rng.integers(0, 5, 9)

    def both(x, i):
        taken = cnp.take(cnp.transpose(x, (2, 0, 1)), i, axis=0)  # index, 4, 6
        return cnp.transpose(taken, (1, 2, 0)), taken, cnp.transpose(taken, (2, 1, 0)) * 2

    wanted = np.take(x, indices, 2)
    for found in (both(cnp.asarray(x), indices), composit.compile(both, x, indices)(x, indices)):
        a, b, c = (np.asarray(each) for each in found)
        assert np.array_equal(a, wanted) and np.array_equal(b, wanted.transpose(2, 0, 1))
        assert np.array_equal(c, 2 * wanted.transpose(1, 0, 2))
