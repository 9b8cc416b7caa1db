"""numpy.linalg's products, and numpy.fft's frequencies and orders, against NumPy."""

import functools

import numpy as np
import pytest
from numpy_agreement import assert_agree

import composit
import composit.numpy as cnp

rng = np.random.default_rng(7)
DTYPES = ["float32", "float64", "int32", "uint8", "bool"]


def drawn(shape, dtype="float64"):
    return (rng.standard_normal(shape) * 3).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype):
    calls = [
        ("cross", [drawn((4, 3), dtype), drawn((4, 3), dtype)], [{}, {"axis": -1}, {"axis": 0}]),
        ("cross", [drawn((3, 4), dtype), drawn((3, 1), dtype)], [{"axis": 0}, {"axis": 2}]),
        ("cross", [drawn((2,), dtype), drawn((2,), dtype)], [{}]),
        ("outer", [drawn(3, dtype), drawn(4, "float32")], [{}]),
        ("outer", [drawn((3, 1), dtype), drawn(4, dtype)], [{}]),
        ("outer", [drawn((), dtype), drawn(4, dtype)], [{}]),
        ("vecdot", [drawn((5, 3), dtype), drawn((2, 1, 3), "float64")], [{}, {"axis": 0}]),
        ("matmul", [drawn((2, 3, 4), dtype), drawn((4, 5), dtype)], [{}]),
        ("matmul", [drawn((2, 3, 4), dtype), drawn((3, 5), dtype)], [{}]),
        ("tensordot", [drawn((3, 4, 5), dtype), drawn((4, 5, 2), dtype)],
         [{}, {"axes": 0}, {"axes": ([1, 2], [0, 1])}, {"axes": 3}]),
    ]  # fmt: skip
    for name, arguments, options in calls:
        for keywords in options:
            ours, theirs = getattr(cnp.linalg, name), getattr(np.linalg, name)
            assert_agree(ours, theirs, arguments, keywords, ulps=8)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 5), (0, 3), (4, 0, 2), (1, 1), (3,), ()], ids=str)
def test_of_one_array(dtype, shape):
    x = drawn(shape, dtype)
    assert_agree(cnp.linalg.matrix_transpose, np.linalg.matrix_transpose, [x])
    for offset in (-3, -1, 0, 2):
        assert_agree(cnp.linalg.diagonal, np.linalg.diagonal, [x], {"offset": offset})
        assert_agree(cnp.linalg.trace, np.linalg.trace, [x], {"offset": offset}, ulps=4)
        keywords = {"offset": offset, "dtype": "float32"}
        assert_agree(cnp.linalg.trace, np.linalg.trace, [x], keywords, ulps=4)


MATRICES = {
    "two": [(3, 4), (4, 5)],
    "three": [(2, 30), (30, 3), (3, 40)],
    "three the other way": [(40, 3), (3, 30), (30, 2)],
    "six": [(30, 35), (35, 15), (15, 5), (5, 10), (10, 20), (20, 25)],
    "row": [(4,), (4, 5), (5, 2)],
    "column": [(3, 4), (4, 5), (5,)],
    "row and column": [(4,), (4, 5), (5, 2), (2,)],
    "empty": [(3, 0), (0, 4), (4, 2)],
    "one": [(3, 3)],
    "batch": [(2, 3, 3), (3, 3), (3, 3)],
    "unfit": [(2, 3), (4, 5), (5, 2)],
}


@pytest.mark.parametrize("shapes", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_multi_dot(shapes, dtype):
    arrays = [drawn(shape, dtype) for shape in shapes]
    assert_agree(cnp.linalg.multi_dot, np.linalg.multi_dot, [arrays], ulps=64)


def test_multi_dot_multiplies_as_little_as_it_can():
    shapes = MATRICES["six"]
    compiled = composit.compile(lambda *x: cnp.linalg.multi_dot(x), *(drawn(s) for s in shapes))
    flops = sum(kernel.flops for kernel in compiled.program.kernels)
    assert flops == 2 * 15125  # Cormen, Leiserson, Rivest and Stein, 15.2


def test_multi_dot_writes_into_out():
    arrays = [drawn((3, 3)) for _ in range(4)]
    out = cnp.zeros((3, 3))
    assert cnp.linalg.multi_dot(arrays, out=out) is out
    np.testing.assert_allclose(cnp.evaluate(out), np.linalg.multi_dot(arrays), rtol=1e-13)


def test_numpys_functions_of_our_tensors_are_ours():
    x = cnp.asarray(drawn((3, 3)))
    for result in (np.linalg.trace(x), np.linalg.matrix_transpose(x), np.fft.fftshift(x)):
        assert isinstance(result, composit.types.LazyTensor)
    assert np.linalg.multi_dot([x, x, np.eye(3)]).shape == (3, 3)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, -3, 2.0, None])
@pytest.mark.parametrize("d", [1.0, 0.1, -2, 0])
def test_frequencies(n, d):
    assert_agree(cnp.fft.fftfreq, np.fft.fftfreq, [n, d])
    assert_agree(cnp.fft.rfftfreq, np.fft.rfftfreq, [n, d])


@pytest.mark.parametrize("shape", [(0,), (5,), (6,), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("axes", [None, 0, -1, (0, 1), [2, 0], (), (0, 0), 3])
def test_shifts(shape, axes):
    x = np.arange(np.prod(shape), dtype=int).reshape(shape)
    assert_agree(cnp.fft.fftshift, np.fft.fftshift, [x, axes])
    assert_agree(cnp.fft.ifftshift, np.fft.ifftshift, [x, axes])


def test_frequencies_of_numpys_numbers():
    assert_agree(cnp.fft.fftfreq, np.fft.fftfreq, [np.int64(5), np.float64(0.3)])
    assert_agree(cnp.fft.rfftfreq, np.fft.rfftfreq, [np.int16(8)])


@pytest.mark.parametrize("shape", [(0, 3, 3, 0), (2, 3, 3, 0), (0, 3, 3, 2), (2, 0, 0, 2)])
def test_tensordot_of_nothing(shape):
    a = np.zeros(shape)
    b = np.transpose(a, (3, 1, 2, 0))
    for axes in (2, ([1, 2], [1, 2]), ([3, 1], [0, 1])):
        try:
            expected = np.tensordot(a, b, axes=axes)
        except ValueError:
            with pytest.raises(ValueError):
                cnp.tensordot(cnp.asarray(a), cnp.asarray(b), axes=axes)
            continue
        found = cnp.tensordot(cnp.asarray(a), cnp.asarray(b), axes=axes)
        np.testing.assert_array_equal(np.asarray(found), expected, strict=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int8"])
@pytest.mark.parametrize("shape", [(), (1,), (8,), (8, 1), (1, 8), (2, 4), (2, 2, 2)])
@pytest.mark.parametrize("of_one", [(), (1,), (1, 1), (1, 1, 1)])
def test_products_with_one_number_treat_zeros_and_infinities_as_blas(dtype, shape, of_one):
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5.0, -7.0, 2.0]
    if dtype.startswith("complex"):  # NumPy's own products of complex infinities differ by rank
        special = [0.0, -0.0, 3.0, -4.0, 5.0, 5.0, -7.0, 2.0]
    if dtype == "int8":
        special = [0, 1, 2, -3, 4, 5, -7, 2]
    others = np.array(special if np.prod(shape) > 1 else special[5:6], dtype).reshape(shape)
    for number in (0.0, -0.0, 2.0, -3.0) if dtype != "int8" else (0, 2):
        one = np.full(of_one, number, dtype)
        for pair in ((one, others), (others, one)):
            for call in (lambda m, *x: m.dot(*x), lambda m, *x: m.inner(*x),
                         lambda m, *x: m.tensordot(*x, axes=0)):  # fmt: skip
                assert_agree(functools.partial(call, cnp), named(functools.partial(call, np)), pair)


def named(call):
    call.__name__ = "product"
    return call


def test_a_factor_of_zero_has_its_slope():
    slope = composit.grad(lambda factor, x: cnp.sum(cnp.dot(factor, x)), (0, 1))
    factor, x = slope(np.zeros(()), np.array([1.0, np.inf, 3.0]))
    assert float(factor) == 4 and np.asarray(x).tolist() == [0, 0, 0]
