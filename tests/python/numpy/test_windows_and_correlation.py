"""Windows within 4 ulp of 1 and i0 within 8 ulp of NumPy's; correlations of integers exactly, of
floats within 16 ulp of the sum of the magnitudes that they add; cross products within 4 ulp."""

import numpy as np
import pytest
from against_numpy import agrees, same_bits_compiled
from differences import check_derivatives

import composit.numpy as cnp

DTYPES = ["bool", "int8", "int32", "uint8", "uint64", "float32", "float64"]
SPECIAL = [0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, -2.5]


def drawn(dtype, shape, seed=0, special=False):
    draw = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return draw.integers(0 if dtype.kind == "u" else -90, 90, shape).astype(dtype)
    if dtype.kind == "b":
        return draw.random(shape) < 0.5
    values = draw.uniform(-3, 3, shape)
    if special:
        values = np.where(draw.random(shape) < 0.3, draw.choice(SPECIAL, shape), values)
    return values.astype(dtype)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name):
    for size in (-3, 0, 0.5, 1, 2, 3, 8, 51, 5.5, 1024, np.int32(7), np.float32(6.5), True):
        agrees(name, size, ulp=4, scale=1.0)
    agrees(name, "5")


def test_kaiser():
    for size in (-3, 0, 1, 2, 3, 8, 51, 5.5, 1000):
        for beta in (0, 0.5, 5, 8.6, 14.0, 100):
            agrees("kaiser", size, beta, ulp=32, scale=1.0)


def test_i0():
    x = np.concatenate([np.linspace(-30, 30, 5001), np.geomspace(1e-8, 700, 2000), [8.0, -8.0]])
    agrees("i0", x, ulp=8)
    agrees("i0", x[np.abs(x) < 80].astype("float32"), ulp=8)
    agrees("i0", np.array(SPECIAL), ulp=8)
    for dtype in DTYPES:
        for shape in ((), (0,), (3, 4)):
            agrees("i0", drawn(dtype, shape), ulp=8)
    for number in (2, True, 0.5, [1, 2.5]):
        agrees("i0", number, ulp=8)
    with pytest.raises(TypeError, match="i0: i0 not supported for complex values"):
        cnp.i0(np.array([1j]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", DTYPES)
def test_sliding(dtype, other):
    for name in ("convolve", "correlate"):
        for mode in ("full", "same", "valid", "none"):
            for n, m in ((1, 1), (5, 1), (1, 4), (5, 3), (4, 4), (3, 6), (300, 41), (0, 2), (2, 0)):
                a, v = drawn(dtype, (n,)), drawn(other, (m,), 1)
                agrees(name, a, v, mode, ulp=16, scale=90.0 * 9 * max(1, min(n, m)))
        agrees(name, drawn(dtype, ()), drawn(other, (3,)), ulp=4, scale=90.0)
        agrees(name, drawn(dtype, (2, 3)), drawn(other, (3,)))


def test_sliding_over_special_values():
    for seed in range(20):
        a, v = drawn("float64", (9,), seed, True), drawn("float64", (4,), seed + 50, True)
        for mode in ("full", "same", "valid"):
            agrees("convolve", a, v, mode, ulp=16, scale=40.0)
            agrees("correlate", v, a, mode, ulp=16, scale=40.0)
    agrees("convolve", [1, 2, 3], [0, 1, 0.5])
    agrees("correlate", [1, 2, 3], [0, 1, 0.5])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_cross(dtype):
    options = {"ulp": 4, "scale": 8100.0}
    shapes = [
        ((3,), (3,)), ((4, 3), (3,)), ((2, 1, 3), (5, 3)), ((2,), (3,)), ((3,), (2,)),
        ((4, 2), (2,)), ((0, 3), (3,)), ((4,), (3,)), ((), (3,)), ((2, 3), (5, 3)),
    ]  # fmt: skip
    for a, b in shapes:
        agrees("cross", drawn(dtype, a), drawn(dtype, b, 1), **options)
        agrees("cross", drawn(dtype, a), drawn("float64", b, 1), **options)
    x, y = drawn(dtype, (3, 4, 3)), drawn(dtype, (3, 3, 4), 1)
    for axes in ({"axisb": 1}, {"axisa": 0, "axisb": 0, "axisc": 0}, {"axis": 0}, {"axis": 5}):
        agrees("cross", x, y, **options, **axes)
        agrees("cross", x, x, **options, **axes)
    with pytest.warns(DeprecationWarning, match="cross: vectors of two elements"):
        cnp.cross([1.0, 2], [3, 4])


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64"])
def test_compiled(dtype):
    def all_of_them(a, v):
        vectors = () if dtype == "bool" else (cnp.cross(a.reshape(-1, 3), v[:3]),)
        return (
            *(cnp.convolve(a, v, mode) for mode in ("full", "same", "valid")),
            *(cnp.correlate(a, v, mode) for mode in ("full", "same", "valid")),
            cnp.i0(a), *vectors,
        )  # fmt: skip

    same_bits_compiled(all_of_them, drawn(dtype, (60,)), drawn(dtype, (13,), 1))
    same_bits_compiled(lambda x: (x * cnp.hanning(9), x * cnp.kaiser(9, 5)), np.arange(9.0))


def test_derivatives():
    a, v = drawn("float64", (6,)), drawn("float64", (3,), 1)
    for mode in ("full", "same", "valid"):
        check_derivatives(lambda a, v, mode=mode: cnp.convolve(a, v, mode), a, v)
        check_derivatives(lambda a, v, mode=mode: cnp.correlate(v, a, mode), a, v)
    check_derivatives(lambda a, v: cnp.cross(a.reshape(2, 3), v), a, v)
    check_derivatives(cnp.i0, np.array([0.3, -2.0, 7.5, 8.5, -9.0]), tolerance=1e-5)
