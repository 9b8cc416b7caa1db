"""numpy.emath against NumPy: values, dtypes and errors."""

import itertools

import numpy as np
import pytest

import composit
import composit.numpy as cnp

pytestmark = pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
ONE = ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"]
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128",
]  # fmt: skip
VALUES = [
    [0, 1], [2, 9, 4], [0.5, -0.25], [-4, 1], [-1.0, 3.0], [1.5], [-0.0], [np.nan, -2.0], [np.inf],
    [-np.inf, 0.5], [1j, -1.0], [-4 + 0j], [],
]  # fmt: skip


def made(values, dtype):
    with np.errstate(all="ignore"):
        array = np.array(values)
        return array.real.astype(dtype) if np.dtype(dtype).kind != "c" else array.astype(dtype)


def compare(name, *operands):
    expected = getattr(np.emath, name)(*operands)
    got = getattr(cnp.emath, name)(*[cnp.asarray(x) for x in operands])
    assert isinstance(got, cnp.LazyTensor)
    assert (got.dtype, got.shape) == (np.asarray(expected).dtype, np.shape(expected)), operands
    tolerance = {2: 2e-3, 4: 1e-6, 8: 1e-6 if got.dtype.kind == "c" else 1e-14}
    rtol = tolerance.get(got.dtype.itemsize, 1e-14)
    for part in ("real", "imag"):  # where one is infinite the other may differ by an ulp
        ours, theirs = getattr(got.evaluated(), part), getattr(expected, part)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-300)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_operand(name, dtype):
    for values in VALUES:
        compare(name, made(values, dtype))
    compare(name, made(-3, dtype))


@pytest.mark.parametrize("name", ["logn", "power"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "complex128"])
def test_functions_of_two_operands(name, dtype):
    for a, b in itertools.product(([2.0, 3.0], [-2.0, 3.0], [4.0]), repeat=2):
        compare(name, made(a, dtype), made(b, dtype))
        compare(name, made(a, dtype), made(b, "int64"))


def test_it_is_scimath_of_lib_and_takes_lists():
    assert cnp.lib.scimath is cnp.emath
    assert sorted(cnp.emath.__all__) == sorted(np.emath.__all__)
    assert cnp.emath.sqrt([-4.0, 9.0]).evaluated().tolist() == [2j, 3]


def test_gradients_go_through():
    def squared(x):
        return cnp.sum(abs(cnp.emath.sqrt(cnp.asarray([-4.0, 9.0])) * x) ** 2)

    assert composit.evaluate(composit.grad(squared)(np.float64(1))) == 26


def test_what_depends_on_placeholders_is_refused():
    with pytest.raises(composit.errors.NotSupported, match="log2: whether the result is"):
        composit.compile(cnp.emath.log2, np.ones(3))
