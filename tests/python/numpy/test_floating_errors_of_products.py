"""Errors of floating point in products, determinants and transforms are NumPy's."""

import warnings

import numpy as np
import pytest

import composit
import composit.numpy as cnp

INF, NAN = np.inf, np.nan
LARGE = {"float16": 6e4, "float32": 3e38, "float64": 1e308}
KINDS = ["large", "infinite", "nan", "one nan", "fine"]


def operands(dtype, kind, n):
    """Two matrices: sums of products overflow, are invalid, are NaN already, …"""
    ones = np.ones((n, n), dtype)
    if kind == "large":
        return ones * np.array(LARGE[dtype], dtype), ones * np.array(LARGE[dtype], dtype)
    if kind == "infinite":
        return ones * np.array(INF, dtype), 0 * ones
    if kind == "nan":
        return ones * np.array(NAN, dtype), 0 * ones
    a = np.array(ones)
    if kind == "one nan":  # in a row beside one that is infinite
        a[0, 0], a[-1] = NAN, INF
        return a, 0 * ones
    return a, ones


def report(function, xp, answer, *arguments):
    """The kinds and functions that are reported, however errstate answers; and the value."""
    calls = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with np.errstate(all=answer, call=lambda kind, flag: calls.append(kind), under="ignore"):
            try:
                value = function(xp, *arguments)
                if xp is cnp:
                    composit.evaluate(value)
            except FloatingPointError as error:
                return [str(error).partition(" [")[0]]
    return sorted({str(each.message) for each in caught} | set(calls))


PRODUCTS = {
    "matmul": lambda xp, a, b: xp.matmul(a, b),
    "operator": lambda xp, a, b: xp.asarray(a) @ xp.asarray(b),
    "in place": lambda xp, a, b: xp.matmul(a, b, out=xp.array(a)),
    "batches": lambda xp, a, b: xp.matmul(np.stack([a, a]), np.stack([b, b])),
    "one matrix": lambda xp, a, b: xp.matmul(np.stack([a, a]), b),
    "row": lambda xp, a, b: xp.matmul(a[-1], b),
    "column": lambda xp, a, b: xp.matmul(a, b[0]),
    "number": lambda xp, a, b: xp.matmul(a[-1], b[0]),
    "dot": lambda xp, a, b: xp.dot(a, b),
    "dot of vectors": lambda xp, a, b: xp.dot(a[-1], b[0]),
    "dot of a number": lambda xp, a, b: xp.dot(a, b[0, 0]),
    "method": lambda xp, a, b: xp.asarray(a).dot(b),
    "inner": lambda xp, a, b: xp.inner(a, b),
    "inner of a number": lambda xp, a, b: xp.inner(a, b[0, 0]),
    "tensordot": lambda xp, a, b: xp.tensordot(a, b),
    "tensordot 1": lambda xp, a, b: xp.tensordot(a, b, 1),
    "tensordot 0": lambda xp, a, b: xp.tensordot(a[0], b[0], 0),
    "multi_dot": lambda xp, a, b: xp.linalg.multi_dot([a, b]),
    "vecdot": lambda xp, a, b: xp.vecdot(a, b),
    "matvec": lambda xp, a, b: xp.matvec(a, b[0]),
    "vecmat": lambda xp, a, b: xp.vecmat(a[-1], b),
    "matrix_power": lambda xp, a, b: xp.linalg.matrix_power(a, 2),
    "vdot": lambda xp, a, b: xp.vdot(a, b),
    "einsum": lambda xp, a, b: xp.einsum("ij,jk->ik", a, b),
    "einsum of all": lambda xp, a, b: xp.einsum("ij,ij->", a, b),
    "einsum of pairs": lambda xp, a, b: xp.einsum("i,j->ij", a[0], b[0]),
    "convolve": lambda xp, a, b: xp.convolve(a[-1], b[0]),
    "correlate": lambda xp, a, b: xp.correlate(a[-1], b[0], "full"),
    "outer": lambda xp, a, b: xp.outer(a[-1], b[0]),
}


# BLAS skips factors of 0, or multiplies an infinite product by 0 more; and where a sum has an
# operand that is NaN it is not asked what else is in it.
NOT_COMPARED = {
    "dot of a number": {"infinite", "one nan"},
    "inner of a number": {"infinite", "one nan"},
    "matrix_power": {"infinite", "one nan"},
    "tensordot": {"one nan"},
}


@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_report_as_numpy(name, dtype):
    for kind in KINDS:
        if kind in NOT_COMPARED.get(name, set()):
            continue
        for n in (2, 5, 16):
            a, b = operands(dtype, kind, n)
            for answer in ("warn", "raise", "call"):
                said = [report(PRODUCTS[name], xp, answer, a, b) for xp in (np, cnp)]
                assert said[1] == said[0], (kind, n, answer)


def test_differences_of_infinities_overflow_and_are_invalid():
    row = np.array([1e308, -1e308, 1e308, -1e308])
    expected = ["overflow encountered in matmul", "invalid value encountered in matmul"]
    left, right = row[None] * 1.0, np.array([[1e10], [1e10], [-1e10], [-1e10]])
    said = report(lambda xp: xp.matmul(left, right), cnp, "warn")
    assert set(said) <= set(expected) and expected[0] in said


SQUARE = np.eye(4) * 1e200
WHOLE = {
    "det": lambda xp: xp.linalg.det(SQUARE.astype("float64")),
    "det of inf": lambda xp: xp.linalg.det(np.full((3, 3), INF)),
    "det of nan": lambda xp: xp.linalg.det(np.full((3, 3), NAN)),
    "det of zero": lambda xp: xp.linalg.det(np.zeros((3, 3))),
    "slogdet": lambda xp: xp.linalg.slogdet(np.full((3, 3), INF))[1],
    "slogdet of zero": lambda xp: xp.linalg.slogdet(np.zeros((3, 3)))[1],
    "norm": lambda xp: xp.linalg.norm(SQUARE),
    "norm of rows": lambda xp: xp.linalg.norm(SQUARE, axis=1),
    "cond": lambda xp: xp.linalg.cond(np.zeros((3, 3))),
    "fft": lambda xp: xp.fft.fft(np.full(6, INF)),
    "fft of one": lambda xp: xp.fft.fft(np.full(1, INF)),
    "ifft": lambda xp: xp.fft.ifft(np.full(6, INF)),
    "rfft even": lambda xp: xp.fft.rfft(np.full(6, INF)),
    "rfft odd": lambda xp: xp.fft.rfft(np.full(5, INF)),
    "irfft": lambda xp: xp.fft.irfft(np.full(6, INF)),
    "fft2": lambda xp: xp.fft.fft2(np.full((6, 3), INF)),
    "hfft": lambda xp: xp.fft.hfft(np.full(6, INF)),
    "ihfft": lambda xp: xp.fft.ihfft(np.full(6, INF)),
    "fft of nan": lambda xp: xp.fft.fft(np.full(6, NAN)),
    "cov": lambda xp: xp.cov(SQUARE),
}


@pytest.mark.parametrize("answer", ["warn", "raise", "call"])
@pytest.mark.parametrize("name", WHOLE)
def test_determinants_and_transforms_report_as_numpy(name, answer):
    assert report(WHOLE[name], cnp, answer) == report(WHOLE[name], np, answer)


def test_an_overflow_in_a_transform_is_reported_in_its_name():
    said = report(lambda xp: xp.fft.rfft(np.full(6, 1e308)), cnp, "warn")
    assert "overflow encountered in rfft_n_even" in said


def test_underflow_in_products():
    x = cnp.array([1e-200, 1e-200])
    with np.errstate(under="warn"):
        tiny, exact = cnp.dot(x, x), cnp.dot(x, cnp.array([1.0, -1.0]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        composit.evaluate(tiny)
        composit.evaluate(exact)
    assert [str(each.message) for each in caught] == ["underflow encountered in dot"]


@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
@pytest.mark.parametrize("threads", [1, 2])
def test_compiled_products_and_gradients_report_their_line(backend, threads):
    def function(x):
        return cnp.sum(x @ x)

    x = np.full((200, 200), 1e160)
    compiled = composit.compile(function, x, backend=backend, threads=threads)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(x)
    assert [str(each.message) for each in caught] == ["overflow encountered in matmul"]
    assert caught[0].lineno == function.__code__.co_firstlineno + 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        composit.evaluate(composit.grad(lambda x: cnp.sum(cnp.dot(x, x) * 1e300))(x / 1e10))
    assert {str(each.message).rpartition(" ")[2] for each in caught} <= {
        "dot",
        "multiply",
        "reduce",
    }
