"""Runs a group of cases (a bench_*.py) in a child process per number of threads.

JAX's threads, and others', can only be chosen before a process loads it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from measure import FOLDER, Case, Probe, rows_of
from selection import is_short

Cases = Callable[[], Iterable[Case | Probe]]


def thread_counts() -> list[int]:
    """1 and 2, as far as this process may use them."""
    return [count for count in (1, 2) if count <= len(os.sched_getaffinity(0))]


def environment(threads: int) -> dict[str, str]:
    """Of a child. OpenMP's threads that spin while they wait cost PyTorch a scheduler's time slice
    at each step if another program wants the core; sleeping ones cost it a few microseconds."""
    libraries = ("OMP", "OPENBLAS", "MKL")
    return {
        **os.environ,
        **{f"{library}_NUM_THREADS": str(threads) for library in libraries},
        "OMP_WAIT_POLICY": "passive",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={str(threads > 1).lower()}",
        "COMPOSIT_CACHE": str(FOLDER / "cache"),
        "TOKENIZERS_PARALLELISM": "false",
    }


def run(
    program: Path, word: str, done: Iterable[str] = (), only_short: bool = False
) -> Iterator[dict]:
    """What the children print, as it comes: {"limits": …}, rows, {"failed": …}. Rows with keys of
    `done` are not measured again, and of a short run only those of selection.py."""
    group = program.stem.removeprefix("bench_")
    skipped = [key for key in done if key.startswith(f"{group}: ")]
    for threads in thread_counts():
        command = [sys.executable, str(program), "--child", str(threads), word]
        start = time.monotonic()
        process = subprocess.Popen(
            command, env=environment(threads), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps({"skipped": skipped, "is_short": only_short}))
        process.stdin.close()
        lines = 0
        for text in process.stdout:
            lines += 1
            try:
                yield json.loads(text)
            except json.JSONDecodeError:
                print(text, end="", file=sys.stderr)
        if process.wait():
            yield {"failed": f"{program.name} with {threads} thread(s), exit {process.returncode}"}
        if lines:
            print(f"    {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def main(title: str, notes: str, cases: Cases) -> None:
    """Of a bench_*.py, which is run as `bench_x.py [WORD]` to measure the cases with WORD in
    their names, and by run.py with `--child THREADS WORD` in front."""
    from page import printed

    program = Path(sys.argv[0]).resolve()
    if sys.argv[1:2] == ["--child"]:
        child(program.stem, title, notes, cases, int(sys.argv[2]), sys.argv[3])
    else:
        word = "".join(sys.argv[1:2])
        failed, is_missed = False, bool(word)
        for found in run(program, word):
            print(printed(found), end="", flush=True)
            failed |= "failed" in found
            is_missed = False
        if is_missed:
            print(f"No row has {word!r} in its name or its group's; nothing was measured.")
        sys.exit(failed or is_missed)


def child(name: str, title: str, notes: str, cases: Cases, threads: int, word: str) -> None:
    """Measures, and prints each row as a line of JSON."""
    from limits import limits

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    wanted = json.loads(sys.stdin.read())
    group = name.removeprefix("bench_")
    chosen = [
        case for case in cases()
        if threads in case.threads and word.lower() in f"{name}: {case.name}".lower()
        and f"{group}: {case.name}, {threads}" not in wanted["skipped"]
        and (not wanted["is_short"] or is_short(group, case.name))
    ]  # fmt: skip
    if not chosen:
        return
    found = limits(threads)
    about = {"title": title, "notes": notes, "limits": {"threads": threads, **asdict(found)}}
    print(json.dumps(about), flush=True)
    for row in rows_of(chosen, threads, found):
        print(json.dumps(asdict(row)), flush=True)
