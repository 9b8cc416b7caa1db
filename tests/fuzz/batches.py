"""Batches of random graphs: drawn by Hypothesis, run in every way, compared bit by bit."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fuzz import exported
from fuzz.graphs import GENE, Graph, decode
from fuzz.steps import USUAL, Palette
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

Results = dict[str, list[list[np.ndarray]]]
# Drops the words of the back end's command that ask for more than a set: AVX2 is run where the CPU
# has AVX-512, and neither where it has both.
DROPPED = {"avx2": "-mavx512*|-mprefer-vector-width=512", "baseline": "-m*"}
COMPILER = """#!/bin/sh
for word; do
    shift
    case $word in DROPPED) ;; *) set -- "$@" "$word" ;; esac
done
exec c++ "$@"
"""


@dataclass
class Difference:
    """An output that one way of running computes otherwise."""

    graph: Graph
    runner: str
    output: str
    bits: int
    expected: Any
    got: Any


@dataclass
class Report:
    """What was compared, and what differed."""

    graphs: int = 0
    nodes: int = 0
    compared_bits: int = 0
    runners: set[str] = field(default_factory=set)
    differences: list[Difference] = field(default_factory=list)

    @property
    def differing_bits(self) -> int:
        return sum(difference.bits for difference in self.differences)

    def add(self, other: Report) -> None:
        self.graphs += other.graphs
        self.nodes += other.nodes
        self.compared_bits += other.compared_bits
        self.runners |= other.runners
        self.differences += other.differences

    def __str__(self) -> str:
        return (f"{self.graphs} graphs of {self.nodes} nodes in {len(self.runners)} ways: "
                f"{self.compared_bits} bits compared, {self.differing_bits} differ")  # fmt: skip


def draw_graphs(
    count: int, nodes: int, number: int, *, least: int = 1, palette: Palette = USUAL
) -> list[Graph]:
    """Graphs of `least` to `nodes` nodes, the same ones for the same number."""
    graphs: list[Graph] = []

    def bytes_for(n: int) -> Any:
        length = (n + n // 2 + 8) * GENE  # some steps are refused
        return st.tuples(st.just(n), st.binary(min_size=length, max_size=length))

    @seed(number)
    @settings(max_examples=2 * count + 10, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.integers(least, nodes).flatmap(bytes_for))
    def collect(drawn: tuple[int, bytes]) -> None:
        size, code = drawn
        if len(graphs) < count and any(code):  # Hypothesis begins with zeros: one step many times
            graph = decode(code, size, palette)
            if len(graph.lines) >= least:
                graphs.append(graph)

    collect()
    return graphs


def instruction_sets() -> list[str]:
    """What this CPU can run, the best first, as the interpreter knows them."""
    flags = Path("/proc/cpuinfo").read_text().split()
    known = {"avx512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}, "avx2": set()}
    has = [n for n, needed in known.items() if {"avx2", "fma", "bmi2", *needed} <= set(flags)]
    return [*has, "baseline"]


def run_interpreted(graphs: list[Graph], folder: Path) -> Report:
    """Runs the graphs on the interpreter alone: quick, so for many graphs."""
    results: Results = {}
    for isa in instruction_sets():
        results.update(run_worker(graphs, folder, isa, with_cpp=False))
    return compared(graphs, next(iter(results.values())), results)


def run_on_devices(graphs: list[Graph], folder: Path, devices: str) -> Report:
    """Runs the graphs on devices, whose names have spaces between them, as one program each."""
    results = run_worker(
        graphs, folder, instruction_sets()[0], with_cpp=False, COMPOSIT_FUZZ_DEVICES=devices
    )
    return compared(graphs, next(iter(results.values())), results)


def run_batch(
    graphs: list[Graph], folder: Path, *, compiled_sets: int | None = None, optimised: str = "-O2"
) -> Report:
    """Runs the graphs in every way and compares with the interpreter, one thread, best set.

    In less time: compiled for the best `compiled_sets` instruction sets only, and exported programs
    built with "-O0"; these hold kernels for all sets, and run on each."""
    sets = instruction_sets()
    first = run_worker(graphs, folder, sets[0], with_cpp=False)
    reference = first[f"interpreter, 1 threads, {sets[0]}"]
    tasks: list[Callable[[], Results]] = [
        lambda: exported.run(graphs, reference, folder / "exported", sets, optimised)
    ]
    for isa in sets[:compiled_sets]:
        compiler = {} if isa == sets[0] else {"CXX": str(write_compiler(folder, isa))}
        tasks.append(
            lambda isa=isa, compiler=compiler: run_worker(
                graphs, folder, isa, with_cpp=True, **compiler
            )
        )
    with ThreadPoolExecutor(int(os.environ.get("COMPOSIT_FUZZ_JOBS", "2"))) as pool:
        everything: Results = {}
        for results in pool.map(lambda task: task(), tasks):
            everything.update(results)
    return compared(graphs, reference, everything)


def write_compiler(folder: Path, isa: str) -> Path:
    """A compiler that builds for this instruction set, whatever better one is asked for."""
    path = folder / f"{isa}-c++"
    path.write_text(COMPILER.replace("DROPPED", DROPPED[isa]))
    path.chmod(0o755)
    return path


def run_worker(
    graphs: list[Graph], folder: Path, isa: str, *, with_cpp: bool, **variables: str
) -> Results:
    """The results of a process of its own, with one instruction set."""
    stem = folder / f"{isa}-{int(with_cpp)}"
    cache = folder / f"cache-{isa}"
    cache.mkdir(mode=0o700, exist_ok=True)
    stem.with_suffix(".in").write_bytes(pickle.dumps((graphs, with_cpp, str(cache))))
    command = [sys.executable, Path(__file__).with_name("worker.py"),
               stem.with_suffix(".in"), stem.with_suffix(".out")]  # fmt: skip
    environment = dict(os.environ, COMPOSIT_ISA=isa, **variables)
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{isa}: worker ended with {done.returncode}\n{done.stderr}"
    return pickle.loads(stem.with_suffix(".out").read_bytes())


def compared(graphs: list[Graph], reference: list[list[Any]], results: Results) -> Report:
    report = Report(len(graphs), sum(len(graph.lines) for graph in graphs))
    for runner, by_graph in results.items():
        report.runners.add(runner)
        for graph, expected, got in zip(graphs, reference, by_graph):
            assert len(expected) == len(got) == len(graph.outputs)
            for name, a, b in zip(graph.outputs, expected, got):
                bits = differing_bits(np.asarray(a), np.asarray(b))
                report.compared_bits += 8 * np.asarray(a).nbytes
                if bits:
                    report.differences.append(Difference(graph, runner, name, bits, a, b))
    return report


def differing_bits(a: np.ndarray, b: np.ndarray) -> int:
    """How many bits differ; NaN equals NaN, other types or shapes differ in all."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return 8 * max(a.nbytes, b.nbytes, 1)
    if a.dtype.kind == "c":  # part by part
        part = a.real.dtype
        a, b = (np.ascontiguousarray(x).reshape(-1).view(part) for x in (a, b))
    both_nan = (a != a) & (b != b)
    word = f"u{a.dtype.itemsize}"
    x, y = np.ascontiguousarray(a).view(word), np.ascontiguousarray(b).view(word)
    return int(np.bitwise_count(np.where(both_nan.reshape(x.shape), 0, x ^ y)).sum())
