"""view(dtype): NumPy's bits, the same compiled; writing bits, or parts of complex numbers, writes
the tensor."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp

DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
SHAPES = [(), (8,), (3, 16), (0,), (2, 0, 16), (3,)]


def values_of(dtype, shape):
    draw = np.random.default_rng(len(dtype) + sum(shape))
    if dtype == "bool":
        return np.asarray(draw.integers(0, 2, size=shape)).astype(dtype)
    x = np.asarray(draw.integers(-100, 100, size=shape)).astype(dtype)
    return x * np.asarray(1.5 - 0.5j).astype(dtype) if dtype.startswith("c") else x


def assert_same_bits(ours, theirs):
    if theirs.dtype == bool:
        theirs = theirs.view("uint8") != 0
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    if theirs.dtype.kind in "fc":
        np.testing.assert_array_equal(ours, theirs)  # any NaN equals any
    else:
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_numpys(dtype, to):
    for shape in SHAPES:
        x = values_of(dtype, shape)
        try:
            expected = x.view(to)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error).split(",")[0].split(".")[0][:30]):
                cnp.asarray(x).view(to)
            continue
        assert_same_bits(cnp.evaluate(cnp.asarray(x).view(to)), expected)


def test_bits_are_the_same_compiled():
    x = values_of("float64", (3, 16))
    z = values_of("complex64", (4, 2))

    def f(x, z):
        return (
            x.view("uint8"), x.view("float16"), x.view("complex64"), x.view("int64") ^ 5,
            z.view("uint64"), z.view("float32") * 2, x.view("bool"),
        )  # fmt: skip

    tensors = f(cnp.asarray(x), cnp.asarray(z))
    compiled = composit.compile(f, x, z)(x, z)
    for lazy, found in zip(tensors, compiled, strict=True):
        assert_same_bits(np.asarray(found), cnp.evaluate(lazy))


def test_batches_and_gradients():
    x = values_of("float32", (5, 4))
    each = composit.vmap(lambda row: row.view("uint16"))(cnp.asarray(x))
    assert_same_bits(cnp.evaluate(each), x.view("uint16"))
    z = values_of("complex128", (3,))
    slope = composit.grad(lambda z: cnp.sum(z.view("float64") ** 2))(z)
    np.testing.assert_array_equal(cnp.evaluate(slope), 2 * z)
    slope = composit.grad(lambda x: cnp.sum(x * (x.view("int32") > 0)))(x)
    np.testing.assert_array_equal(cnp.evaluate(slope), (x > 0).astype("float32"))


@pytest.mark.parametrize("make", [cnp.asarray, np.copy])
def test_writing_what_shows_a_tensor_writes_the_tensor(make):
    x, z = make(np.arange(6.0).reshape(2, 3)), make(np.arange(4) + 1j)
    x.view("int64")[0, 1] = 0x3FF0000000000000
    x.T.view("float64")[2] = -1
    x[1:].view("uint64")[...] ^= np.uint64(1 << 63)
    z.real = 7
    z.imag[1:3] = 5
    z.view("float64")[0] = 9
    z[::2].real += 1
    part = z.imag
    z[3] = 2 - 2j
    np.testing.assert_array_equal(x, [[0, 1, -1], [-3, -4, 1]])
    np.testing.assert_array_equal(z, [10 + 1j, 7 + 5j, 8 + 5j, 2 - 2j])
    np.testing.assert_array_equal(part, [1, 5, 5, -2])
    y = make(np.arange(3.0))
    y.real = 4
    np.testing.assert_array_equal(y, [4, 4, 4])
    with pytest.raises(TypeError, match="does not have imaginary part to set"):
        y.imag = 1


@pytest.mark.parametrize("dtype", ["int16", "uint32", "float64", "complex64", "bool", "int8"])
@pytest.mark.parametrize("to", [">f8", ">u2", ">c8", "<i4", "=i2", ">i1"])
def test_the_other_byte_order_is_other_numbers(dtype, to):
    bits = np.random.default_rng(3).integers(0, 2 if dtype == "bool" else 256, 48, "uint8")
    x = bits.view(dtype)
    expected, ours = x.view(to), cnp.asarray(x).view(to)
    native = np.dtype(to).newbyteorder("=")
    assert_same_bits(cnp.evaluate(ours), expected.astype(native))
    turned = x.view(x.dtype.newbyteorder()).byteswap()
    ours = cnp.asarray(x).view(x.dtype.newbyteorder()).byteswap()
    assert_same_bits(cnp.evaluate(ours), turned.astype(x.dtype))


def test_writing_through_the_other_byte_order():
    x = np.arange(4.0)
    ours = cnp.asarray(x)
    x.view(">f8")[1:3] = [5, -1]
    ours.view(">f8")[1:3] = [5, -1]
    assert_same_bits(cnp.evaluate(ours), x)
