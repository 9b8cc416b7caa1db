"""Paired measurements, their JSON files under build/bench, and docs/performance.md from them."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from textwrap import fill

import numpy as np

# Threads that spin while they wait cost PyTorch a scheduler's time slice at each step if another
# program wants the core (100 times its time on a shared machine); sleeping ones cost it a few
# microseconds. This has to be set before PyTorch is loaded; programs import torch from here.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
import torch  # noqa: F401

LOAD = os.getloadavg()[0]  # of others: before anything is measured
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/bench"
PAGE = ROOT / "docs/performance.md"
Call = Callable[[], object]
INTRODUCTION = """# Performance

Written by `make bench`; not by hand. A ratio is the peer's time divided by composit's, so above 1
composit is faster; **cases that composit loses are in bold**. Both run in turns, in one process, on
the same data, after their results were compared; a ratio is the median over the pairs, a time the
median over the runs. composit is compiled (`composit.compile`), PyTorch is eager. Where the load
before the run is near the number of cores, others used them: rows of one thread still compare well,
rows of two threads say little. † marks a side that was slower with two threads than with one.
"""


@dataclass(frozen=True)
class Row:
    """One comparison: medians in microseconds, and the median of the pairs' ratios."""

    case: str
    peer: str
    threads: int
    composit_us: float
    peer_us: float
    ratio: float
    pairs: int


def compare(case: str, peer: str, threads: int, ours: Call, theirs: Call, pairs: int = 25) -> Row:
    """Runs the two in turns, each often enough to be measured."""
    counts = [_count(ours), _count(theirs)]
    times: list[tuple[float, float]] = []
    for i in range(pairs):
        sides = [(0, ours), (1, theirs)]
        pair = [0.0, 0.0]
        for side, call in sides if i % 2 == 0 else reversed(sides):
            pair[side] = _seconds(call, counts[side])
        times.append((pair[0], pair[1]))
    row = Row(
        case, peer, threads, 1e6 * statistics.median(a for a, _ in times),
        1e6 * statistics.median(b for _, b in times), statistics.median(b / a for a, b in times),
        pairs,
    )  # fmt: skip
    print(
        f"{case:34} {peer:9} {threads} thread{'s' if threads > 1 else ' '} "
        f"{row.composit_us:10.1f} us {row.peer_us:10.1f} us   ratio {row.ratio:6.2f}",
        flush=True,
    )
    return row


def _count(call: Call) -> int:
    call()
    call()
    return max(1, int(5e-3 / max(_seconds(call, 1), 1e-7)))


def _seconds(call: Call, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def thread_counts() -> list[int]:
    """1 and 2, as far as this process may use them."""
    return [count for count in (1, 2) if count <= len(os.sched_getaffinity(0))]


def check(case: str, ours: object, theirs: object, tolerance: float) -> None:
    """The same values, but for rounding; AssertionError tells where they are not."""
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=case)


def machine() -> dict[str, str]:
    """What the numbers depend on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    sets = [name for name in ("avx2", "fma", "avx512f") if name in flags]
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True).stdout
    return {
        "CPU": f"{names[0] if names else platform.processor()}, {len(names)} logical cores"
               f" ({', '.join(sets) or 'no vector extensions beyond the baseline'})",
        "load before the run": f"{LOAD:.1f}",
        "OMP_WAIT_POLICY": os.environ["OMP_WAIT_POLICY"],
        "compiler": compiler.splitlines()[0],
        "Python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "torch")},
    }  # fmt: skip


def write(name: str, title: str, notes: str, rows: list[Row]) -> None:
    """build/bench/NAME.json, and the page from all such files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = {"title": title, "notes": notes, "machine": machine(),
             "rows": [asdict(row) for row in rows]}  # fmt: skip
    (FOLDER / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    files = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    PAGE.write_text(page([file for file in files if "rows" in file and "notes" in file]))


def table_line(row: dict, rows: list[dict]) -> str:
    """One line of a table; a loss is bold, a side that threads made slower has a dagger."""
    alone = [r for r in rows if r["threads"] == 1 and all(r[k] == row[k] for k in ("case", "peer"))]

    def time_of(side: str) -> str:
        is_slower = any(row[side] > 1.25 * other[side] for other in alone)
        return f"{row[side]:.1f} us{' †' if is_slower else ''}"

    mark = "**" if row["ratio"] < 1 else ""
    cells = [row["case"], row["peer"], row["threads"], time_of("composit_us"), time_of("peer_us"),
             f"{mark}{row['ratio']:.2f}{mark}"]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def page(files: list[dict]) -> str:
    """The text of docs/performance.md."""
    parts = [INTRODUCTION]
    for file in files:
        about = "; ".join(f"{key} {value}" for key, value in file["machine"].items())
        lines = [f"\n## {file['title']}\n", f"{fill(file['notes'], 100)}\n",
                 f"{fill(f'Measured on {about}.', 100)}\n",
                 "| case | peer | threads | composit | peer's | ratio |",
                 "|---|---|---:|---:|---:|---:|"]  # fmt: skip
        lines += [table_line(row, file["rows"]) for row in file["rows"]]
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)
