"""All floats narrower than float32 of the table of dtypes against ml_dtypes: their values,
roundings, arithmetic, in every way to run."""

import itertools
import shutil

import ml_dtypes
import numpy as np
import plain_exports
import pytest
import torch

import composit
import composit.numpy as cnp
from composit import _core

DTYPES = [np.dtype(_core.dtype_of(name)) for name in sorted(_core.short_floats)]
EIGHT_BITS = [dtype for dtype in DTYPES if dtype.itemsize == 1]


def whole(dtype):
    return np.dtype(f"uint{8 * dtype.itemsize}")


def all_values(dtype):
    return np.arange(1 << (8 * dtype.itemsize)).astype(whole(dtype)).view(dtype)


def numbers(dtype):
    """All finite values, each once."""
    values = all_values(dtype)
    return values[np.isfinite(values.astype("float32"))]


def same(found, expected):
    found = np.asarray(found)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    is_nan = np.isnan(expected.astype("float64"))
    np.testing.assert_array_equal(np.isnan(found.astype("float64")), is_nan)
    if expected.dtype.kind != "b":
        found, expected = found[~is_nan], expected[~is_nan]
        found, expected = found.view(whole(found.dtype)), expected.view(whole(expected.dtype))
    np.testing.assert_array_equal(found, expected)


def same_compiled(function, *arrays):
    """That the compiled function returns the interpreter's bits."""
    interpreted = function(*[cnp.asarray(each) for each in arrays])
    compiled = composit.compile(function, *arrays)(*arrays)
    is_one = not isinstance(interpreted, tuple)
    for one, other in zip(*([x] if is_one else x for x in (compiled, interpreted))):
        same(one, np.asarray(other))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_value_there_and_back(dtype):
    values = all_values(dtype)
    x = cnp.asarray(values)
    for wide in ("float32", "float64"):
        same(x.astype(wide), values.astype(wide))
        same(x.astype(wide).astype(dtype), values)
        compiled = composit.compile(lambda x, wide=wide: (x.astype(wide), x.astype(wide) + 0), x)
        same(compiled(x)[0], values.astype(wide))
    same(composit.compile(lambda x: x.astype(dtype), values.astype("float32"))(
        values.astype("float32")), values)  # fmt: skip
    same(x == x, values == values)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_between_two_values(dtype, wide):
    """Just below, at and above the middle of neighbours, where ties go to even."""
    values = numbers(dtype)
    positive = values[~np.signbit(values.astype("float32"))]
    exact, odd = positive.astype(wide), positive.view(whole(dtype)) % 2
    middle = exact[:-1] / 2 + exact[1:] / 2
    for sign in (1, -1):
        for x, expected in (
            (np.nextafter(middle, -np.inf, dtype=wide), positive[:-1]),
            (middle, np.where(odd[:-1], positive[1:], positive[:-1])),
            (np.nextafter(middle, np.inf, dtype=wide), positive[1:]),
        ):
            expected = (expected.astype(wide) * sign).astype(dtype)
            same(cnp.asarray(x * sign).astype(dtype), expected)
            cast = composit.compile(lambda x: x.astype(dtype), x)
            same(cast(x * sign), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_beyond_the_greatest(dtype):
    info = ml_dtypes.finfo(dtype)
    step = float(info.max) - float(np.sort(numbers(dtype).astype("float64"))[-2])
    tie = float(info.max) + step / 2
    is_even = int(np.array(info.max, dtype).view(whole(dtype))) % 2 == 0
    x = np.array([tie, np.nextafter(tie, 0), np.nextafter(tie, np.inf), 2 * tie, np.inf, np.nan])
    x = np.concatenate([x, -x])
    found = np.asarray(cnp.asarray(x).astype(dtype)).astype("float64")
    has_infinity = bool(np.isinf(all_values(dtype).astype("float32")).any())
    beyond = np.inf if has_infinity else np.nan
    top = float(info.max)
    row = [top if is_even else beyond, top, beyond, beyond, beyond, np.nan]
    np.testing.assert_array_equal(found, [*row, *(-each for each in row)])


@pytest.mark.parametrize("dtype", EIGHT_BITS, ids=str)
def test_floats_of_all_sizes(dtype):
    draw = np.random.default_rng(0)
    x = draw.integers(0, 1 << 32, 200000, dtype="uint32").view("float32")
    near = (draw.standard_normal(200000) * 2.0 ** draw.integers(-20, 18, 200000)).astype("float32")
    for each in (x, near):
        with np.errstate(all="ignore"):
            same(cnp.asarray(each).astype(dtype), each.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_integers_round_once(dtype):
    x = np.concatenate([np.arange(-600, 600), [2**k + d for k in range(9, 62) for d in (-1, 0, 1)]])
    with np.errstate(all="ignore"):
        exact = x.astype("float64").astype("float32")
        is_exact = np.abs(x) < 1 << 24
        same(cnp.asarray(x[is_exact]).astype(dtype), exact[is_exact].astype(dtype))
    beyond = np.asarray(cnp.asarray(x[-3:]).astype(dtype)).astype("float32")
    if float(ml_dtypes.finfo(dtype).max) < 2**60:
        assert not np.isfinite(beyond).any()


@pytest.mark.parametrize("dtype", EIGHT_BITS, ids=str)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "less", "equal",
                                  "maximum", "copysign"])  # fmt: skip
def test_arithmetic_of_all_pairs(dtype, name):
    values = all_values(dtype)
    if name in ("maximum", "copysign"):  # of zeros, and of signs of NaN, either may be taken
        values = values[values.astype("float32") != 0]
        values = values[~np.isnan(values.astype("float32"))]
    a, b = values[:, None], values[None, :]
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
    same(getattr(cnp, name)(a, b), expected)
    same_compiled(lambda x, y: getattr(cnp, name)(x, y), a, b)


@pytest.mark.parametrize("dtype", EIGHT_BITS, ids=str)
@pytest.mark.parametrize("name", ["negative", "absolute", "sqrt", "square", "exp", "tanh", "floor",
                                  "rint", "isnan", "isfinite", "sign"])  # fmt: skip
def test_functions_of_all_values(dtype, name):
    values = all_values(dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(values.astype("float32"))
        expected = expected if expected.dtype.kind == "b" else expected.astype(dtype)
    same(getattr(cnp, name)(values), expected)


@pytest.mark.parametrize("dtype", EIGHT_BITS, ids=str)
def test_neighbours_and_what_the_table_says(dtype):
    info = ml_dtypes.finfo(dtype)
    values = np.sort(numbers(dtype).astype("float32"))
    values = np.unique(values).astype(dtype)
    up = cnp.nextafter(cnp.asarray(values[:-1]), cnp.asarray(values[-1:]))
    np.testing.assert_array_equal(np.asarray(up).astype("float32"), values[1:].astype("float32"))
    one = cnp.asarray(np.ones((), dtype))
    assert float(cnp.nextafter(one, one * 2)) - 1 == float(info.eps)
    assert repr(np.asarray(cnp.spacing(one)).astype("float32")) == repr(
        np.asarray(info.eps, "float32")
    )


@pytest.mark.parametrize("dtype", EIGHT_BITS, ids=str)
def test_sums_products_and_sorting(dtype):
    draw = np.random.default_rng(1)
    x = draw.standard_normal((12, 12)).astype(dtype)
    wide = x.astype("float32")
    same(cnp.matmul(x, x), (wide @ wide).astype(dtype))
    same(cnp.sum(x, axis=1), wide.sum(axis=1).astype(dtype))
    same(cnp.sort(x, axis=1), np.sort(wide, axis=1).astype(dtype))
    same(cnp.max(x), wide.max().astype(dtype))
    same(cnp.concatenate([x, x])[3:, 1], np.concatenate([x, x])[3:, 1])
    same(cnp.where(wide > 0, x, x * 2), np.where(wide > 0, wide, wide * 2).astype(dtype))
    same_compiled(lambda x: (x @ x + x * 0.3, x.sum(axis=0), cnp.sort(x)), x)


def test_two_floats_become_the_first_that_holds_both():
    wanted = {
        ("float8_e4m3fn", "float8_e5m2"): "float16", ("float8_e4m3fn", "float16"): "float16",
        ("float8_e4m3fn", "bfloat16"): "bfloat16", ("float8_e5m2", "bfloat16"): "bfloat16",
        ("float8_e4m3fn", "float32"): "float32", ("float8_e4m3fn", "int64"): "float8_e4m3fn",
        ("float8_e5m2", "complex64"): "complex64", ("float16", "bfloat16"): "float32",
    }  # fmt: skip
    for (one, other), both in wanted.items():
        for a, b in itertools.permutations((one, other)):
            assert (cnp.ones(2, a) + cnp.ones(2, b)).dtype.name == both, (a, b)
    assert (cnp.ones(2, "float8_e4m3fn") + 1.5).dtype.name == "float8_e4m3fn"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensors_of_torch_are_taken(dtype):
    values = numbers(dtype)[::3]
    given = torch.from_numpy(values.astype("float32")).to(getattr(torch, dtype.name))
    same(cnp.asarray(given), values)


@pytest.mark.parametrize("dtype", EIGHT_BITS, ids=str)
def test_gradients_are_of_the_dtype(dtype):
    x = np.array([0.5, 1, 2, -3], dtype)
    slope = composit.grad(lambda x: cnp.sum(x * x * 0.5))(x)
    same(slope, x)


@pytest.mark.parametrize("dtype", EIGHT_BITS, ids=str)
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_exports_have_the_same_bits(dtype, language, tmp_path):
    compiler = plain_exports.COMPILERS[language][0]
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not there")
    bits = np.arange(256, dtype="uint8")

    def function(bits):
        x = bits.view(dtype)
        y = x * x + 0.3
        return cnp.where(y == y, y, 0).view("uint8"), x.astype("float32")

    plain_exports.check(function, (bits,), tmp_path, language, compiler)
