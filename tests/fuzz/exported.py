"""Runs graphs as an exported C++ project: written, built without a warning, run, read."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.graphs import Graph
from fuzz.worker import THREADS

import composit

COMMAND = "{} {} -std=c++17 -Wall -Wextra -Werror -include sets.hpp fuzzed*.cpp main.cpp -o program"
# A project holds its kernels for each instruction set; FUZZ_SET names the best one to admit, so
# that one program runs them all. (A macro's own name in its text is not replaced again.)
SETS = """#pragma once
#include <cstdlib>
#include <cstring>

inline bool is_admitted(const char* feature) {
    const char* set = std::getenv("FUZZ_SET");
    if (std::strcmp(set, "avx512") == 0) return true;
    return std::strcmp(set, "avx2") == 0 && std::strncmp(feature, "avx512", 6) != 0;
}
#define __builtin_cpu_supports(feature) (is_admitted(feature) && __builtin_cpu_supports(feature))
"""
MAIN = """// Runs every function of one batch: program INPUTS OUTPUTS THREADS.
#include "fuzzed.hpp"

#include <cstdlib>
#include <fstream>
#include <memory>

template <class T>
std::unique_ptr<T[]> make(std::size_t count) {
    return std::unique_ptr<T[]>(new T[count + 1]());
}

template <class T>
std::unique_ptr<T[]> read(std::istream& in, std::size_t count) {
    auto values = make<T>(count);
    in.read(reinterpret_cast<char*>(values.get()), static_cast<std::streamsize>(count * sizeof(T)));
    return values;
}

template <class T>
void write(std::ostream& out, const std::unique_ptr<T[]>& values, std::size_t count) {
    out.write(reinterpret_cast<const char*>(values.get()),
              static_cast<std::streamsize>(count * sizeof(T)));
}

int main(int, char** words) {
    std::ifstream in(words[1], std::ios::binary);
    std::ofstream out(words[2], std::ios::binary);
    const int threads = std::atoi(words[3]);
FUNCTIONS    return in && out.flush() ? 0 : 1;
}
"""


def type_name(dtype: Any) -> str:
    names = {
        "float32": "float", "float64": "double", "bool": "bool", "complex64": "float",
        "complex128": "double", "float16": "std::uint16_t", "bfloat16": "std::uint16_t",
    }  # fmt: skip
    return names.get(dtype.name, f"std::{dtype.name}_t")


def count(array: Any) -> int:
    """How many numbers of its type an array is: complex ones are pairs."""
    return array.size * (2 if array.dtype.kind == "c" else 1)


def call(number: int, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> str:
    lines, names = [], []
    for i, array in enumerate(inputs):
        names.append(f"in_{i}.get()")
        lines.append(f"const auto in_{i} = read<{type_name(array.dtype)}>(in, {count(array)});")
    for i, array in enumerate(outputs):
        names.append(f"out_{i}.get()")
        lines.append(f"const auto out_{i} = make<{type_name(array.dtype)}>({count(array)});")
    lines.append(f"fuzzed::g{number}({', '.join(names)}, threads);")
    lines += [f"write(out, out_{i}, {count(array)});" for i, array in enumerate(outputs)]
    return "".join(f"    {line}\n" for line in ["{", *[f"    {line}" for line in lines], "}"])


def run(
    graphs: list[Graph],
    shapes: list[list[np.ndarray]],
    folder: Path,
    sets: list[str],
    optimised: str = "-O2",
    compiler: str = "c++",
) -> dict[str, list[list[np.ndarray]]]:
    """The results by thread count and instruction set; `shapes` are arrays like the results."""
    folder.mkdir(parents=True)
    functions = [
        composit.compile(graph.function(), *graph.inputs.values(), backend="interpreter",
                         name=f"g{i}")
        for i, graph in enumerate(graphs)
    ]  # fmt: skip
    calls = [call(i, list(graph.inputs.values()), like)
             for i, (graph, like) in enumerate(zip(graphs, shapes))]  # fmt: skip
    composit.export(folder, "fuzzed", functions, MAIN.replace("FUNCTIONS", "".join(calls)))
    assert "__builtin_cpu_supports(" in (folder / "fuzzed.cpp").read_text()
    (folder / "sets.hpp").write_text(SETS)
    shell(folder, COMMAND.format(compiler, optimised))
    arrays = [array for graph in graphs for array in graph.inputs.values()]
    (folder / "inputs").write_bytes(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays))
    results = {}
    for isa in sets:
        for threads in THREADS:
            shell(folder, f"FUZZ_SET={isa} ./program inputs outputs {threads}")
            data = (folder / "outputs").read_bytes()
            results[f"exported, {threads} threads, {isa}"] = read(data, shapes)
    return results


def read(data: bytes, shapes: list[list[np.ndarray]]) -> list[list[np.ndarray]]:
    at, results = 0, []
    for like in shapes:
        arrays = []
        for array in like:
            values = np.frombuffer(data, array.dtype, array.size, at)
            arrays.append(values.reshape(array.shape))
            at += array.nbytes
        results.append(arrays)
    assert at == len(data), f"{len(data)} bytes were written, {at} were expected"
    return results


def shell(folder: Path, command: str) -> None:
    done = subprocess.run(command, cwd=folder, shell=True, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, f"{folder}: {command}\n{done.stderr[:4000]}"
