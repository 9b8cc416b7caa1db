"""Cases of work that composit and its peers do in turns, and the rows that measuring them makes."""

from __future__ import annotations

import os
import statistics
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/bench"
Call = Callable[[], object]
LEAST_SECONDS = 20e-3  # of one timing: shorter calls are repeated
WARM_CALLS = 6  # until arrays that the side before pushed out of the L3 cache are there again
SECONDS = 4.0  # of a case, about
ROUNDS = (5, 25)


@dataclass
class Sides:
    """composit's call, its peers' by name, and what any of them must do at least: floating-point
    operations, and bytes that it reads or writes."""

    ours: Call
    peers: dict[str, Call]
    flops: float = 0
    bytes: float = 0
    # Of a case that is_share: does `least_work` times what the machine must do at least.
    least: Call | None = None
    least_work: float = 1


@dataclass
class Case:
    """Work to compare. `prepare(threads)` checks that the sides' results are equal but for
    rounding. A call does `per_call` units of the work that the row is about."""

    name: str
    must: float | None
    aim: float | None
    prepare: Callable[[int], Sides]
    per_call: int = 1
    threads: tuple[int, ...] = (1, 2)
    rounds: tuple[int, int] = ROUNDS
    is_share: bool = False  # the row is about the share of `sides.least`, not the ratio


@dataclass
class Probe:
    """A row that is not composit's time beside a peer's: `measure()` returns its value, and by
    name what is shown beside it. None says that composit cannot do this yet."""

    name: str
    must: float | None
    aim: float | None
    unit: str
    measure: Callable[[int], tuple[float | None, dict[str, float]]]
    less_is_better: bool = True
    threads: tuple[int, ...] = (1, 2)


@dataclass
class Row:
    """What the JSON holds. `value` is the ratio of the best peer's time to composit's, or what
    `unit` says; times are in microseconds; `percent` is of the limit, None where there is none."""

    case: str
    threads: int
    value: float | None
    unit: str
    must: float | None
    aim: float | None
    less_is_better: bool = False
    percent: float | None = None
    composit_us: float | None = None
    peers_us: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    beside: dict[str, float] = field(default_factory=dict)
    rounds: int = 0
    load: float = 0


@dataclass
class Failure:
    """In place of a row: a side failed, or results differ."""

    failed: str


@dataclass(frozen=True)
class Limits:
    """Of the threads of this run: floating-point operations and bytes per second."""

    flops: float
    bandwidth: float

    def seconds(self, flops: float, moved: float) -> float:
        return max(flops / self.flops, moved / self.bandwidth)


def rows_of(cases: Iterable[Case | Probe], threads: int, limits: Limits) -> Iterator[Row | Failure]:
    for case in cases:
        try:
            yield measure(case, threads, limits)
        except Exception as error:
            traceback.print_exc()
            reason = str(error).strip().partition("\n")[0]
            yield Failure(f"{case.name}, {threads} threads: {type(error).__name__}: {reason}")


def measure(case: Case | Probe, threads: int, limits: Limits) -> Row:
    if isinstance(case, Case) and case.is_share:
        return measure_share(case, threads)
    if isinstance(case, Case):
        return measure_case(case, threads, limits)
    value, beside = case.measure(threads)
    return Row(case.name, threads, value, case.unit, case.must, case.aim, case.less_is_better,
               beside=beside, load=os.getloadavg()[0])  # fmt: skip


def measure_case(case: Case, threads: int, limits: Limits) -> Row:
    sides = case.prepare(threads)
    peers = sides.peers
    times = in_turns([sides.ours, *peers.values()], case.rounds)
    medians = [statistics.median(side) for side in zip(*times)]
    scale = 1e6 / case.per_call
    ratios = {
        name: statistics.median(side[i] / side[0] for side in times)
        for i, name in enumerate(peers, 1)
    }
    row = Row(case.name, threads, min(ratios.values(), default=None), "x", case.must, case.aim,
              composit_us=medians[0] * scale, rounds=len(times), ratios=ratios,
              peers_us={name: scale * m for name, m in zip(peers, medians[1:])},
              load=os.getloadavg()[0])  # fmt: skip
    least = limits.seconds(sides.flops, sides.bytes)
    if least:
        row.percent = 100 * least / medians[0]
    return row


def measure_share(case: Case, threads: int) -> Row:
    """What the machine must do at least is a side of its own: what it can do changes with what
    others do on it. Two threads must be 1.7 times as fast as one."""
    sides = case.prepare(threads)
    assert sides.least and case.must
    times = in_turns([sides.ours, sides.least, *sides.peers.values()], case.rounds)
    medians = [statistics.median(side) for side in zip(*times)]
    shares = [
        statistics.median(side[1] / sides.least_work / side[i] for side in times)
        for i in range(len(sides.peers) + 2)
    ]
    must = case.must if threads == 1 else case.must * 1.7 / threads
    return Row(case.name, threads, shares[0], "share", must, case.aim,
               percent=100 * shares[0], composit_us=1e6 * medians[0], rounds=len(times),
               beside=dict(zip(sides.peers, shares[2:])), load=os.getloadavg()[0])  # fmt: skip


def in_turns(
    calls: list[Call], rounds: tuple[int, int] = ROUNDS, rests: bool = True
) -> list[list[float]]:
    """Seconds of each call, round by round; each round starts with the next call. Calls that start
    no threads need no rests, behind which a processor is slow at first."""
    counts = []
    for call in calls:
        call()
        alone = min(seconds(call, 1) for _ in range(2))
        counts.append(max(1, int(LEAST_SECONDS / max(alone, 1e-7))))
    times: list[list[float]] = []
    start = time.perf_counter()
    while len(times) < rounds[0] or (
        len(times) < rounds[1] and time.perf_counter() - start < SECONDS
    ):
        found = [0.0] * len(calls)
        for k in range(len(calls)):
            i = (k + len(times)) % len(calls)
            if rests:
                rest()
            if rests and counts[i] > 1:  # a sleeping processor takes a while to wake
                seconds(calls[i], min(counts[i], WARM_CALLS))
            found[i] = seconds(calls[i], counts[i])
        times.append(found)
    return times


def rest() -> None:
    """Until the threads of the side before are asleep: OpenBLAS's, for one, keep a core busy for
    some milliseconds after each call, in the hope of the next."""
    for _ in range(50):
        before = time.process_time()
        time.sleep(12e-3)  # what other threads take is counted every 4 ms
        if time.process_time() - before < 2e-3:
            return


def seconds(call: Call, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def check(case: str, ours: object, theirs: object, tolerance: float, floor: float = 0) -> None:
    """The same values but for rounding, relative to the largest, or of at most `floor`;
    AssertionError says where not."""
    expected = np.asarray(theirs)
    allowed = tolerance * float(np.abs(expected).max(initial=0)) + floor
    np.testing.assert_allclose(ours, expected, 0, allowed, err_msg=case)
