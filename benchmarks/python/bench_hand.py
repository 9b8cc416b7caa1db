"""Kernels of many fields, and their gradients, beside C++ written by hand (benchmarks/hand)."""

import ctypes
import functools
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import hand_kernels as kernels
import numpy as np
from group import main
from measure import ROOT, Probe, check, in_turns

sys.path.insert(0, str(ROOT / "examples/kernels"))
import bundle_adjustment
import by_hand
import gaussian_mixture
import lstm

HAND = ROOT / "benchmarks/hand"
ROUNDS = (9, 400)


@functools.cache
def library(name: str) -> ctypes.CDLL:
    """One of the files of benchmarks/hand, compiled for this machine; contraction is allowed."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / f"{name}.so"
        flags = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math"]
        command = [os.environ.get("CXX", "g++"), *flags, "-shared", "-fPIC", "-o", str(made)]
        subprocess.run([*command, str(HAND / f"{name}.cpp")], check=True)
        return ctypes.CDLL(str(made))


Sides = tuple[Callable[[], object], Callable[[], object], list]


def sides(ours: Callable[[], object], function: object, *given: object, made: list) -> Sides:
    """A call of a kernel, one of the function by hand, and the arrays that this fills; none: it
    returns the number."""
    if not made:
        function.restype = ctypes.c_double  # type: ignore[attr-defined]
    return ours, by_hand.prepared(function, *given, *made), made


def random() -> np.random.Generator:
    return np.random.default_rng(0)


def nbody() -> list[Sides]:
    x, m, g = random().normal(size=(500, 3)), random().random(500), random().normal(size=(500, 3))
    code, kernel = library("nbody"), kernels.accelerations
    return [
        sides(lambda: kernel(x, m), code.accelerations, x, m, 500, made=[np.empty_like(x)]),
        sides(lambda: kernel.vjp(x, m, g), code.accelerations_gradient, x, m, 500, g,
              made=[np.empty_like(x), np.empty_like(m)]),
    ]  # fmt: skip


def black_scholes() -> list[Sides]:
    n, more = 20_000, (100.0, 0.03, 0.2)
    given = [80 + 40 * random().random(n), 0.1 + random().random(n)]
    code, kernel = library("finance"), kernels.portfolio
    made = [np.empty(n), np.empty(n), np.empty(3)]
    return [
        sides(lambda: kernel(*given, *more), code.portfolio, *given, n, *more, made=[]),
        sides(lambda: with_numbers(kernel.grad(*given, *more), 2), code.portfolio_gradient,
              *given, n, *more, made=made),
    ]  # fmt: skip


def with_numbers(found: tuple, arrays: int) -> list:
    """The arrays, then all numbers as one."""
    return [*found[:arrays], np.array(found[arrays:])]


def american_put() -> list[Sides]:
    given = 100.0, 105.0, 0.03, 0.2, 1.0, 500
    code, kernel = library("finance"), kernels.american_put
    return [
        sides(lambda: kernel(*given), code.american_put, *given, made=[]),
        sides(lambda: [np.array(kernel.grad(*given))], code.american_put_gradient, *given,
              made=[np.empty(5)]),
    ]  # fmt: skip


def heat() -> list[Sides]:
    shape, steps = (100, 100), 100
    u, k = random().random(shape), 0.2 * random().random(shape)
    g = random().normal(size=shape)
    code, kernel = library("physics"), kernels.heat
    return [
        sides(lambda: kernel(u, k, steps), code.heat, u, k, *shape, steps,
              made=[np.empty(shape)]),
        sides(lambda: kernel.vjp(u, k, steps, g), code.heat_gradient, u, k, *shape, steps, g,
              made=[np.empty(shape), np.empty(shape)]),
    ]  # fmt: skip


def fourier() -> list[Sides]:
    n = 1 << 14
    a, b, da, db = random().normal(size=(4, n))
    code, kernel = library("physics"), kernels.fourier
    return [
        sides(lambda: kernel(a, b), code.fourier, a, b, n, made=[np.empty(n), np.empty(n)]),
        sides(lambda: kernel.vjp(a, b, da, db), code.fourier_gradient, da, db, n,
              made=[np.empty(n), np.empty(n)]),
    ]  # fmt: skip


def lambert() -> list[Sides]:
    n = 20_000
    x, g = 10 * random().random(n), random().normal(size=n)
    code, kernel = library("physics"), kernels.lambert
    return [
        sides(lambda: kernel(x), code.lambert, x, n, made=[np.empty(n)]),
        sides(lambda: kernel.vjp(x, g), code.lambert_gradient, x, g, n, made=[np.empty(n)]),
    ]  # fmt: skip


def warping() -> list[Sides]:
    x, y = random().normal(size=300), random().normal(size=400)
    code, kernel = library("series"), kernels.warping
    return [
        sides(lambda: kernel(x, y), code.warping, x, y, 300, 400, made=[]),
        sides(lambda: kernel.grad(x, y), code.warping_gradient, x, y, 300, 400,
              made=[np.empty(300), np.empty(400)]),
    ]  # fmt: skip


def markov() -> list[Sides]:
    s, v, t = 32, 20, 1000
    given = [random().random(s), random().random((s, s)), random().random((s, v)),
             random().integers(v, size=t)]  # fmt: skip
    code, kernel = library("series"), kernels.markov
    made = [np.empty_like(each) for each in given[:3]]
    return [
        sides(lambda: kernel(*given), code.markov, *given, s, v, t, made=[]),
        sides(lambda: kernel.grad(*given), code.markov_gradient, *given, s, v, t, made=made),
    ]


def matern() -> list[Sides]:
    n, d, scale = 400, 4, 1.5
    x, y = random().normal(size=(n, d)), random().normal(size=n)
    code, kernel = library("statistics"), kernels.matern
    return [
        sides(lambda: kernel(x, y, scale), code.matern, x, y, n, d, scale, made=[]),
        sides(lambda: kernel.grad(x, y, scale)[:2], code.matern_gradient, x, y, n, d, scale,
              made=[np.empty_like(x), np.empty_like(y)]),
    ]  # fmt: skip


def biquad() -> list[Sides]:
    n, more = 50_000, (0.2, 0.3, 0.1, -0.5, 0.2)
    x, g = random().normal(size=(2, n))
    code, kernel = library("series"), kernels.biquad
    return [
        sides(lambda: kernel(x, *more), code.biquad, x, n, *more, made=[np.empty(n)]),
        sides(lambda: with_numbers(kernel.vjp(x, *more, g), 1), code.biquad_gradient, x, n, *more,
              g, made=[np.empty(n), np.empty(5)]),
    ]  # fmt: skip


def smoother() -> list[Sides]:
    n, more = 20_000, (0.1, 0.5)
    z, g = random().normal(size=(2, n))
    code, kernel = library("series"), kernels.smoothed
    return [
        sides(lambda: kernel(z, *more), code.smoothed, z, n, *more, made=[np.empty(n)]),
        sides(lambda: with_numbers(kernel.vjp(z, *more, g), 1), code.smoothed_gradient, z, n,
              *more, g, made=[np.empty(n), np.empty(2)]),
    ]  # fmt: skip


def of_adbench(function: Callable, gradient: Callable, value, slope, given) -> list[Sides]:
    (hand, made), (hand_slope, made_slope) = value(*given), slope(*given)
    return [(lambda: function(*given), hand, made),
            (lambda: gradient(*given), hand_slope, made_slope)]  # fmt: skip


def bundle() -> list[Sides]:
    given = bundle_adjustment.example(random(), 49, 7776, 31843)
    return of_adbench(bundle_adjustment.errors, bundle_adjustment.jacobian_values,
                      by_hand.bundle_adjustment, by_hand.bundle_adjustment_jacobian,
                      given)  # fmt: skip


def mixture() -> list[Sides]:
    n, k, d = 1000, 25, 10
    given = [
        random().normal(size=k), random().normal(size=(k, d)),
        random().normal(size=(k, d * (d + 1) // 2)) / 3, random().normal(size=(n, d)), 0.7, 2,
    ]  # fmt: skip
    kernel = gaussian_mixture.gaussian_mixture
    return of_adbench(kernel, kernel.grad, by_hand.gaussian_mixture,
                      by_hand.gaussian_mixture_gradient, given)  # fmt: skip


def long_short() -> list[Sides]:
    given = lstm.example(random(), 1024, 2, 14)
    return of_adbench(lstm.lstm, lstm.lstm.grad, by_hand.lstm, by_hand.lstm_gradient, given)


PROBLEMS: dict[str, Callable[[], list[Sides]]] = {
    "N-body": nbody, "Black-Scholes": black_scholes, "American put by tree": american_put,
    "2-D heat": heat, "FFT by loops": fourier, "Lambert W": lambert, "DTW": warping,
    "HMM": markov, "Matern": matern, "biquad": biquad, "Kalman smoother": smoother,
    "bundle adjustment": bundle, "Gaussian mixture": mixture, "LSTM": long_short,
}  # fmt: skip
RATIOS: dict[tuple[str, bool], float] = {}


def over_hand(name: str, is_gradient: bool) -> Probe:
    """The time over that by hand, after the outputs were compared."""

    def measure(threads: int) -> tuple[float, dict[str, float]]:
        ours, hand, made = PROBLEMS[name]()[is_gradient]
        value = hand()
        found = ours()
        wanted = made or [value[0] if isinstance(value, tuple) else value]
        for each, other in zip(found if isinstance(found, (tuple, list)) else [found], wanted):
            check(name, each, np.asarray(other).reshape(np.shape(each)), 1e-8)
        times = in_turns([ours, hand], ROUNDS, rests=False)
        RATIOS[name, is_gradient] = ratio = statistics.median(a / b for a, b in times)
        own, other = (statistics.median(side) * 1e3 for side in zip(*times))
        return ratio, {"composit ms": own, "hand ms": other}

    what = "gradient" if is_gradient else "function"
    return Probe(f"{name}, {what} over hand", 1.2, 0.9, "x", measure, threads=(1,))


def mean_over_hand(threads: int) -> tuple[float, dict[str, float]]:
    for name in PROBLEMS:
        for is_gradient in (False, True):
            if (name, is_gradient) not in RATIOS:
                over_hand(name, is_gradient).measure(threads)
    return math.exp(statistics.mean(map(math.log, RATIOS.values()))), {}


def cases() -> Iterator[Probe]:
    if not shutil.which("g++"):
        return
    for name in PROBLEMS:
        for is_gradient in (False, True):
            yield over_hand(name, is_gradient)
    yield Probe("geometric mean over hand", 0.9, 0.9, "x", mean_over_hand, threads=(1,))


if __name__ == "__main__":
    notes = (
        "Hand is C++ of benchmarks/hand and examples/kernels/hand, compiled with -O3 "
        "-march=native, by the best algorithm that its authors know: analytic slopes, states that "
        "are kept, coordinates in arrays of their own. Results agree to 1e-8."
    )
    main("Kernels beside C++ written by hand", notes, cases)
