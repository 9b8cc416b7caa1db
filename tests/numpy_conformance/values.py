"""Arrays that functions are tried with: by dtype, shape and kind of values; the same each time."""

import functools
import zlib

import numpy as np

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64", "complex64", "complex128",
)  # fmt: skip
FLOATS = ("float16", "float32", "float64")
FEW = ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64",
       "complex128")  # fmt: skip
SHAPES = ((), (1,), (7,), (0,), (3, 4), (2, 3, 4), (0, 3))

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 3.0, 1e-7, -60.0)


def array(dtype, shape=(), kind="plain", seed=0):
    """An array whose values are plain (small, of both signs), positive, special (with zeros,
    infinities and NaN), extreme (special, with the largest and the smallest), or distinct."""
    return drawn(np.dtype(dtype), shape, kind, seed).copy()


# Of a hundred that are asked for, one is new.
@functools.cache
def drawn(dtype, shape, kind, seed):
    """The one array of these words; nobody writes it."""
    count = int(np.prod(shape))
    key = f"{dtype}{shape}{kind}{seed}".encode()
    draw = np.random.default_rng(zlib.crc32(key))
    if dtype.kind == "c":
        part = np.empty(0, dtype).real.dtype
        made = np.empty(shape, dtype)
        made.real = drawn(part, shape, kind, seed)
        made.imag = drawn(part, shape, kind, seed + 1)
        return made
    if dtype.kind == "b":
        return np.asarray(draw.integers(0, 2, shape).astype(bool))
    if dtype.kind in "iu":
        low = 1 if kind == "positive" else 0 if dtype.kind == "u" else -9
        values = draw.integers(low, 10, count)
        if kind == "distinct":
            values = draw.permutation(max(count, 1))[:count]
        values = values.astype(dtype)
        if kind in ("special", "extreme"):
            limits = np.iinfo(dtype)
            odd = np.array([limits.min, limits.max, 0, 1], dtype)[:count]
            values[: odd.size] = odd
        return draw.permutation(values).reshape(shape)
    values = draw.normal(0, 2, count)
    if kind == "positive":
        values = np.abs(values) + 0.125
    if kind == "distinct":
        values = draw.permutation(max(count, 1))[:count] - count / 2
    values = values.astype(dtype)
    odd = list(SPECIAL)
    if kind == "extreme":
        limits = np.finfo(dtype)
        tiny = limits.smallest_subnormal
        odd = [limits.max, -limits.max, limits.tiny, -tiny, 4 * tiny, *odd, 1 + limits.eps]
    if kind in ("special", "extreme"):
        odd = np.array(odd, dtype)[:count]
        values[: odd.size] = odd
    return draw.permutation(values).reshape(shape)


def symmetric(dtype, n, seed=0):
    """A symmetric (Hermitian) positive definite matrix."""
    a = array(dtype, (n, n), seed=seed)
    a = a.astype(np.result_type(dtype, np.float32))
    return (a @ a.T.conj() + n * np.eye(n)).astype(a.dtype)


def mask_like(value, seed=7):
    """A mask of the shape of an argument."""
    return array("bool", np.shape(value), seed=seed)
