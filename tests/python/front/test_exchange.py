"""Arrays to and from other libraries: DLPack, the buffer protocol, __array__."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp

DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64",
          "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_both_ways_with_numpy(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    x = cnp.from_dlpack(array)
    array[0, 0] = 1
    np.testing.assert_array_equal(cnp.evaluate(x), array)  # the same memory
    np.testing.assert_array_equal(np.from_dlpack(x), array)
    assert x.__dlpack_device__() == (1, 0)


def test_dlpack_both_ways_with_torch():
    import torch

    theirs = torch.arange(6.0).reshape(2, 3)
    x = cnp.from_dlpack(theirs)
    theirs[1, 2] = 50
    np.testing.assert_array_equal(cnp.evaluate(x), theirs.numpy())
    back = torch.from_dlpack(x * 2)
    assert back.dtype == torch.float32 and back.tolist() == (theirs * 2).tolist()
    copy = cnp.from_dlpack(theirs, copy=True)
    theirs[0, 0] = -1
    assert cnp.evaluate(copy)[0, 0] == 0
    # Strides are not kept, values are.
    assert cnp.evaluate(cnp.from_dlpack(theirs.T)).tolist() == theirs.T.tolist()


def test_dlpack_shares_memory_with_who_takes_it():
    import jax
    import torch

    for make in (
        lambda: cnp.arange(2000.0) + 1, lambda: cnp.asarray(np.arange(1.0, 2001.0)),
        lambda: cnp.ones((3, 2)) * 2, lambda: cnp.zeros(0),
    ):  # fmt: skip
        x = make()
        known = np.array(np.asarray(x))
        theirs, again = torch.from_dlpack(x), np.from_dlpack(x)
        assert x.size == 0 or theirs.data_ptr() == again.ctypes.data
        assert jax.numpy.from_dlpack(x).shape == x.shape
        assert np.array_equal(np.asarray(x), known) and np.array_equal(theirs.numpy(), known)
        if x.size == 0:
            continue
        total = float(cnp.sum(x))
        theirs[...] += 1  # is read by what is computed from now on
        assert float(cnp.sum(x)) == total + x.size and np.array_equal(again, known + 1)
        x[0] = 70  # goes to memory of the tensor's own
        assert theirs.flatten()[0] == known.flat[0] + 1 and float(x.reshape(-1)[0]) == 70
        assert np.array_equal(np.asarray(x)[1:], (known + 1)[1:])


def test_dlpack_shares_nothing_that_others_may_see_or_that_is_not_to_be_written():
    x = cnp.arange(2000.0) + 1
    y = x * 2  # holds x, and was called before
    theirs = np.from_dlpack(x)
    theirs[...] = 0
    assert float(cnp.sum(y)) == 2 * 2001000.0 and float(cnp.sum(x)) == 0
    x = cnp.arange(2000.0) + 1
    for taken in (x[:1000], x.T, x.reshape(2, 1000)):
        np.from_dlpack(taken)[...] = 0
    assert float(cnp.sum(x)) == 2001000.0  # views are copied
    assert np.from_dlpack(x, copy=True).ctypes.data != np.from_dlpack(x).ctypes.data
    lent = np.arange(2000.0)
    lent.flags.writeable = False
    x = cnp.asarray(lent, copy=False)
    assert np.from_dlpack(x).ctypes.data != lent.ctypes.data


def test_dlpack_takes_memory_from_jax_and_torch_without_a_copy():
    import jax
    import torch

    theirs = torch.arange(2000.0)
    x = cnp.from_dlpack(theirs)
    theirs += 1
    assert float(cnp.sum(x)) == float(theirs.sum())
    values = jax.numpy.arange(2000.0)
    assert np.array_equal(np.asarray(cnp.from_dlpack(values)), np.asarray(values))


def test_dlpack_of_any_object_that_has_it():
    class Owner:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = np.arange(4.0)
    x = cnp.from_dlpack(Owner(array))
    array[1] = 7
    assert cnp.evaluate(x).tolist() == [0, 7, 2, 3]
    for odd in (3, "x", None, [1.0]):
        with pytest.raises((TypeError, AttributeError), match="from_dlpack"):
            cnp.from_dlpack(odd)


@pytest.mark.parametrize("dtype", DTYPES)
def test_buffers(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    x = cnp.asarray(array) if dtype == "bool" else cnp.asarray(array) + cnp.zeros((), dtype)
    view = memoryview(x)
    assert (view.shape, view.itemsize, view.contiguous) == ((2, 3), array.itemsize, True)
    assert view.tobytes() == array.tobytes()
    assert bytes(x) == array.tobytes()
    # The values are evaluated into memory of their own.
    np.asarray(view)[...] = 0
    np.testing.assert_array_equal(cnp.evaluate(x), array)


def test_buffers_of_what_cannot_be_evaluated():
    x = composit.placeholder("x", (2,)) + 1
    with pytest.raises(ValueError, match="'x' is a placeholder made at"):
        memoryview(x)


def test_arrays_of_tensors():
    x = cnp.arange(3.0) + 1
    made = np.asarray(x)
    assert type(made) is np.ndarray and made.flags.writeable
    made[0] = 9
    assert cnp.evaluate(x)[0] == 1
    assert np.asarray(x, dtype="int8").dtype == np.int8
    assert np.array(x, dtype="float32", copy=True).tolist() == [1, 2, 3]
    assert x.__array__(np.dtype("float16")).dtype == np.float16
    assert np.asarray([x, x * 2]).tolist() == [[1, 2, 3], [2, 4, 6]]
    constant = cnp.asarray([1.0, 2.0])
    assert constant.__array__(copy=True).tolist() == [1, 2]
