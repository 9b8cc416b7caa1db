"""Runs graphs in a process of its own, as COMPOSIT_ISA and CXX say: python worker.py IN OUT.

IN holds pickled (graphs, with the cpp back end or not, a folder for its cache); OUT gets the
results: {runner's name: a list of arrays for each graph}.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
from typing import Any

from fuzz.graphs import Graph

import composit
from composit import numpy as cnp

THREADS = (1, 2, 4)


def together(graphs: list[Graph]) -> tuple[Any, list[Any]]:
    """All graphs as one function, and its arguments: one compilation instead of many."""
    functions = [graph.function() for graph in graphs]

    def all_graphs(*arguments: Any) -> list[Any]:
        results, at = [], 0
        for graph, function in zip(graphs, functions):
            end = at + len(graph.inputs)
            results += function(*arguments[at:end])
            at = end
        return results

    return all_graphs, [array for graph in graphs for array in graph.inputs.values()]


def apart(graphs: list[Graph], results: list[Any]) -> list[list[Any]]:
    rest = iter(results)
    return [[next(rest) for _ in graph.outputs] for graph in graphs]


def run(graphs: list[Graph], with_cpp: bool, cache: str) -> dict[str, list[list[Any]]]:
    results = {}
    for threads in THREADS:
        values = []
        for graph in graphs:
            tensors = graph.function()(*map(cnp.asarray, graph.inputs.values()))
            values.append(list(composit.evaluate(*tensors, always_return_tuple=True,
                                                 threads=threads)))  # fmt: skip
        results[f"interpreter, {threads} threads"] = values
    function, arguments = together(graphs)
    plain = composit.compile(function, *arguments, backend="interpreter", fuse=False,
                             reuse_buffers=False)  # fmt: skip
    results["interpreter without fusion"] = apart(graphs, plain(*arguments))
    parts = composit.compile(function, *arguments, backend="interpreter", bytes_of_part=64)
    results["interpreter in small parts"] = apart(graphs, parts(*arguments))
    for threads in THREADS if with_cpp else ():
        compiled = composit.compile(function, *arguments, threads=threads, cache_folder=cache)
        fallen_back = [place for place in compiled.placements if place[1] != "cpp"]
        assert not fallen_back, f"left to the interpreter: {fallen_back}"
        results[f"cpp, {threads} threads"] = apart(graphs, compiled(*arguments))
    for device in os.environ.get("COMPOSIT_FUZZ_DEVICES", "").split():
        there = composit.compile(function, *arguments, backend=device, cache_folder=cache)
        results[device] = apart(graphs, there(*arguments))
        # Each kernel somewhere, longer names last, as a name fits longer ones too.
        names = sorted((kernel.name for kernel in there.core.unscheduled.kernels), key=len)
        draw = random.Random(len(names))
        place = {name: draw.choice([device, "interpreter"]) for name in names}
        placed = composit.compile(function, *arguments, place=place, cache_folder=cache)
        results[f"{device} and interpreter"] = apart(graphs, placed(*arguments))
    isa = os.environ.get("COMPOSIT_ISA", "best")
    return {f"{name}, {isa}": values for name, values in results.items()}


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        graphs, with_cpp, cache = pickle.load(file)
    results = run(graphs, with_cpp, cache)
    with open(sys.argv[2], "wb") as file:
        pickle.dump(results, file)


if __name__ == "__main__":
    main()
