"""Kernels of the audit (tests/python/knossos/audited_*.py) beside C++ written by hand."""

import shutil
import statistics
import sys
from collections.abc import Callable, Iterator

import numpy as np
from bench_hand import Sides, library, random, sides
from group import main
from measure import ROOT, Probe, check, in_turns

from composit import knossos

sys.path.insert(0, str(ROOT / "tests/python/knossos"))
import audited_models as models
import audited_sciences as sciences


def poisson() -> Sides:
    f, kernel = random().normal(size=(100, 100)), knossos.register(models.poisson)
    given = 0.01, 1.7, 50
    return sides(lambda: kernel(f, *given), library("audited").poisson, f, 100, 100, *given,
                 made=[np.empty((100, 100))])  # fmt: skip


def gotoh() -> Sides:
    a, b = (random().integers(4, size=n) for n in (300, 400))
    scores, kernel = random().normal(size=(4, 4)) + 2 * np.eye(4), knossos.register(models.gotoh)
    return sides(lambda: kernel(a, b, scores, 1.1, 0.3), library("audited").gotoh, a, 300, b, 400,
                 scores, 1.1, 0.3, made=[])  # fmt: skip


def garch() -> Sides:
    r, kernel = random().normal(size=20_000), knossos.register(models.garch)
    return sides(lambda: kernel(r, 0.1, 0.2, 0.6), library("audited").garch, r, len(r), 0.1, 0.2,
                 0.6, made=[])  # fmt: skip


def garch_gradient() -> Sides:
    r, kernel = random().normal(size=20_000), knossos.register(models.garch)

    def ours() -> list:
        dr, *rest = kernel.grad(r, 0.1, 0.2, 0.6)
        return [dr, np.array(rest)]

    return sides(ours, library("audited").garch_gradient, r, len(r), 0.1, 0.2, 0.6,
                 made=[np.empty_like(r), np.empty(3)])  # fmt: skip


def kmeans_step() -> Sides:
    points, centers = random().normal(size=(5000, 8)), random().normal(size=(10, 8))
    kernel = knossos.register(sciences.kmeans_step)
    return sides(lambda: kernel(points, centers), library("audited").kmeans_step, points, 5000, 8,
                 centers, 10, made=[np.empty((10, 8))])  # fmt: skip


def lu_solve() -> Sides:
    a, b, kernel = random().normal(size=(100, 100)), random().normal(size=100), sciences.lu_solve
    kernel = knossos.register(kernel)
    return sides(lambda: kernel(a, b), library("audited").lu_solve, a, 100, b,
                 made=[np.empty(100)])  # fmt: skip


def hodgkin_huxley() -> Sides:
    given, kernel = (9.0, 120.0, 36.0, 0.3, 0.01, 20_000), sciences.hodgkin_huxley
    kernel = knossos.register(kernel)
    return sides(lambda: kernel(*given), library("audited").hodgkin_huxley, *given, made=[])


PROBLEMS: dict[str, Callable[[], Sides]] = {
    "Poisson by over-relaxation": poisson, "Gotoh's alignment": gotoh, "GARCH": garch,
    "GARCH, gradient": garch_gradient, "a step of k-means": kmeans_step, "LU": lu_solve,
    "Hodgkin and Huxley": hodgkin_huxley,
}  # fmt: skip


def over_hand(name: str) -> Probe:
    """The time over that by hand, after the outputs were compared."""

    def measure(threads: int) -> tuple[float, dict[str, float]]:
        ours, hand, made = PROBLEMS[name]()
        value, found = hand(), ours()
        for each, other in zip(found if isinstance(found, list) else [found], made or [value]):
            check(name, each, np.asarray(other).reshape(np.shape(each)), 1e-8)
        times = in_turns([ours, hand])
        own, other = (statistics.median(side) * 1e3 for side in zip(*times))
        return statistics.median(a / b for a, b in times), {"composit ms": own, "hand ms": other}

    return Probe(f"{name} over hand", 1.2, 0.9, "x", measure, threads=(1,))


def cases() -> Iterator[Probe]:
    if shutil.which("g++"):
        yield from map(over_hand, PROBLEMS)


if __name__ == "__main__":
    notes = (
        "Hand is C++ of benchmarks/hand/audited.cpp, compiled with -O3 -march=native; results "
        "agree to 1e-8."
    )
    main("Kernels of the audit beside C++ written by hand", notes, cases)
