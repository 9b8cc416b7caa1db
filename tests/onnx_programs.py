"""ONNX's backend cases as programs: many of them compiled as one function, or exported as one
source of plain C++ with a function for each."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx_backend
from plain_exports import STANDARD, TYPES, WARNINGS, leaves

import composit
import composit.onnx

# float16 and bfloat16 are the integers of their bits.
KINDS = {**TYPES, "float16": "uint16_t", "bfloat16": "uint16_t"}
MAIN = """#include "cases.hpp"

#include <cstdio>

namespace {

template <class T>
void read(std::FILE* file, T& array, std::size_t bytes) {
    if (std::fread(&array, 1, bytes, file) != bytes) std::perror("inputs");
}

template <class T>
void write(std::FILE* file, const T& array, std::size_t bytes) {
    std::fwrite(&array, 1, bytes, file);
}

FUNCTIONS
}  // namespace

int main() {
    std::FILE* const in = std::fopen("inputs", "rb");
    std::FILE* const out = std::fopen("outputs", "wb");
    int status = 0;
CALLS
    std::fclose(out);
    return status != 0 ? 1 : cases::cases_selfcheck();
}
"""


class Call(NamedTuple):
    """One call of a case's model: a function of the inputs that are given, to which those whose
    values decide shapes do not belong."""

    case: str
    name: str
    function: Any
    inputs: list[Any]

    def expected(self) -> list[np.ndarray]:
        """The interpreter's results."""
        return leaves(onnx_backend.values_of(self.function(*self.inputs)))


def calls_of(name: str) -> list[Call]:
    """The calls of the case of that name."""
    case = onnx_backend.node_cases()[name]
    model = composit.onnx.load(case.model)
    found = []
    for number, (inputs, _) in enumerate(onnx_backend.expected(case)):
        given = [_in_carrier(value) for value in inputs]
        deciding = set(model.deciding_inputs(*given))
        free = [i for i, info in enumerate(model.inputs[: len(given)]) if info.name not in deciding]
        function = functools.partial(_called, model, given, free)
        found.append(Call(name, f"{name}, call {number}", function, [given[i] for i in free]))
    return found


def _called(model: Any, given: list[Any], free: list[int], *values: Any) -> Any:
    every = list(given)
    for place, value in zip(free, values, strict=True):
        every[place] = value
    return model(*every)


def _in_carrier(value: Any) -> Any:
    """Types that composit has no dtype for are held in wider ones."""
    if isinstance(value, np.ndarray) and value.dtype.name in composit.onnx.model._carriers:
        return value.astype(composit.onnx.model._carriers[value.dtype.name])
    return value


def compiled(calls: Sequence[Call]) -> list[list[np.ndarray]]:
    """The results of the calls as one compiled function."""

    def together(*inputs: Any) -> Any:
        return tuple(call.function(*part) for call, part in zip(calls, inputs, strict=True))

    every = [call.inputs for call in calls]
    return [leaves(each) for each in composit.compile(together, *every, name="cases")(*every)]


def exported(
    calls: Sequence[Call], results: Sequence[list[np.ndarray]], folder: Path
) -> list[list[np.ndarray]]:
    """The results of the calls as functions of one source of plain C++; `results` are like them."""
    functions = []
    for i, call in enumerate(calls):
        function = composit.compile(call.function, name=f"case_{i}", backend="interpreter")
        function.specialise(*call.inputs)
        functions.append(function)
    composit.export(folder, "cases", functions, style="plain")
    header = (folder / "cases.hpp").read_text()
    made = [
        _main_of(i, f"int case_{i}(" in header, leaves(call.inputs), like)
        for i, (call, like) in enumerate(zip(calls, results))
    ]
    main = MAIN.replace("FUNCTIONS", "\n".join(made))
    calls_text = "\n".join(f"    status += case_{i}(in, out);" for i in range(len(calls)))
    (folder / "main.cpp").write_text(main.replace("CALLS", calls_text))
    arrays = [array for call in calls for array in leaves(call.inputs)]
    (folder / "inputs").write_bytes(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays))
    command = ["g++", STANDARD["cpp"], "-O1", *WARNINGS, "main.cpp", "cases.cpp", "-o", "run"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:8000]
    assert subprocess.run([folder / "run"], cwd=folder).returncode == 0
    return _read((folder / "outputs").read_bytes(), results)


def _main_of(
    number: int, can_fault: bool, inputs: list[np.ndarray], outputs: list[np.ndarray]
) -> str:
    """A function that reads the inputs of a call, makes it, and writes the outputs."""
    lines, names = [], []
    for way, arrays in (("in", inputs), ("out", outputs)):
        for i, array in enumerate(arrays):
            kind = KINDS.get(array.dtype.name, f"{array.dtype.name}_t")
            extents = "".join(f"[{max(n, 1)}]" for n in array.shape) or "[1]"
            names.append(f"{way}_{i}")
            lines.append(f"static {kind} {way}_{i}{extents};")
    lines += [f"read(in, in_{i}, {array.nbytes});" for i, array in enumerate(inputs)]
    call = f"cases::case_{number}({', '.join(names)})"
    lines.append(f"if ({call} != 0) return 1;" if can_fault else f"{call};")
    lines += [f"write(out, out_{i}, {array.nbytes});" for i, array in enumerate(outputs)]
    body = "".join(f"    {line}\n" for line in lines)
    ins = "std::FILE* in" if inputs else "std::FILE*"
    out = "std::FILE* out" if outputs else "std::FILE*"
    return f"int case_{number}({ins}, {out}) {{\n{body}    return 0;\n}}\n"


def _read(data: bytes, like: Sequence[list[np.ndarray]]) -> list[list[np.ndarray]]:
    at, results = 0, []
    for arrays in like:
        results.append([])
        for array in arrays:
            values = np.frombuffer(data, array.dtype, array.size, at)
            results[-1].append(values.reshape(array.shape))
            at += array.nbytes
    assert at == len(data), f"{len(data)} bytes were written, {at} are required"
    return results
