"""What exercises in NumPy stopped at, with both libraries as `np`."""

import numpy
import pytest

import composit.numpy


@pytest.mark.parametrize("np", [numpy, composit.numpy], ids=["numpy", "composit"])
def test_shapes_are_counted_off_iterators(np):
    def product(arrays):
        arrays = [np.asarray(one) for one in arrays]
        shape = (len(one) for one in arrays)
        numbers = np.indices(shape, dtype=int).reshape(len(arrays), -1).T
        for n in range(len(arrays)):
            numbers[:, n] = arrays[n][numbers[:, n]]
        return numbers

    made = product(([1, 2], [4, 5], [6]))
    assert made.tolist() == [[1, 4, 6], [1, 5, 6], [2, 4, 6], [2, 5, 6]]
