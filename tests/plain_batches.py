"""Many functions exported as one source of plain C or C++, which runs them all: one call of a
compiler instead of many."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  (names of dtypes of 8 bits)
import numpy as np
from plain_exports import STANDARD, TYPES, WARNINGS, leaves

import composit

# Floats narrower than float32 are the integers of their bits.
SHORT_FLOATS = {
    name: f"uint{8 * composit.dtype(name).itemsize}_t" for name in composit._core.short_floats
}
KINDS = {**TYPES, **SHORT_FLOATS}
MAIN = """#include "batch.HEADER"

#include <stdio.h>

static void read_array(FILE *file, void *array, size_t bytes) {
    if (fread(array, 1, bytes, file) != bytes) perror("inputs");
}

FUNCTIONS
int main(void) {
    FILE *const in = fopen("inputs", "rb");
    FILE *const out = fopen("outputs", "wb");
    int status = 0;
CALLS
    fclose(out);
    return status != 0 ? 1 : SCOPEbatch_selfcheck();
}
"""


def exported(
    functions: Sequence[tuple[Any, Sequence[Any]]],
    results: Sequence[list[np.ndarray]],
    folder: Path,
    language: str = "cpp",
    compiler: str = "g++",
    flags: Sequence[str] = ("-O1",),
) -> list[list[np.ndarray]]:
    """The results of functions, each with its inputs; `results` have their shapes and dtypes. The
    recorded calls have given the same bits, too."""
    made = []
    for i, (function, inputs) in enumerate(functions):
        compiled = composit.compile(function, name=f"case_{i}", backend="interpreter")
        compiled.specialise(*inputs)
        made.append(compiled)
    composit.export(folder, "batch", made, style="plain", language=language)
    header = "h" if language == "c" else "hpp"
    declared = (folder / f"batch.{header}").read_text()
    callers = [
        _caller(i, f"int case_{i}(" in declared, language, leaves(list(inputs)), like)
        for i, ((_, inputs), like) in enumerate(zip(functions, results, strict=True))
    ]
    calls = "\n".join(f"    status += call_{i}(in, out);" for i in range(len(made)))
    main = MAIN.replace("HEADER", header).replace("FUNCTIONS", "\n".join(callers))
    main = main.replace("CALLS", calls).replace("SCOPE", "batch::" if language == "cpp" else "")
    (folder / f"main.{language}").write_text(main)
    arrays = [array for _, inputs in functions for array in leaves(list(inputs))]
    (folder / "inputs").write_bytes(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays))
    common = [compiler, STANDARD[language], *flags]
    for command in (
        [*common, *WARNINGS, "-ffreestanding", "-c", f"batch.{language}"],
        [*common, f"main.{language}", "batch.o", "-o", "run"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{folder}: {done.stderr[:8000]}"
    assert subprocess.run([folder / "run"], cwd=folder).returncode == 0, folder
    return _read((folder / "outputs").read_bytes(), results)


def _caller(
    number: int,
    can_fault: bool,
    language: str,
    inputs: list[np.ndarray],
    outputs: list[np.ndarray],
) -> str:
    """A function that reads the inputs of a call, makes it, and writes the outputs."""
    lines, names = [], []
    for way, arrays in (("in", inputs), ("out", outputs)):
        for i, array in enumerate(arrays):
            kind = KINDS.get(array.dtype.name, f"{array.dtype.name}_t")
            extents = "".join(f"[{max(n, 1)}]" for n in array.shape) or "[1]"
            # C takes no array of arrays of variables for one of constants.
            names.append(f"(void *){way}_{i}" if language == "c" else f"{way}_{i}")
            lines.append(f"static {kind} {way}_{i}{extents};")
    lines += [f"read_array(in, in_{i}, {array.nbytes});" for i, array in enumerate(inputs)]
    scope = "batch::" if language == "cpp" else ""
    call = f"{scope}case_{number}({', '.join(names)})"
    lines.append(f"if ({call} != 0) return 1;" if can_fault else f"{call};")
    lines += [f"fwrite(out_{i}, 1, {array.nbytes}, out);" for i, array in enumerate(outputs)]
    body = "".join(f"    {line}\n" for line in lines)
    return f"static int call_{number}(FILE *in, FILE *out) {{\n{body}    return 0;\n}}\n"


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
