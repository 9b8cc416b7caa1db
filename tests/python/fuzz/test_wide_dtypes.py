"""Random graphs of complex numbers and of floats of 16 bits: the interpreter, compiled and exported
programs, any threads and instruction sets, and both compilers give the same bits."""

import numpy as np
import pytest
from fuzz import exported
from fuzz.batches import (
    compared,
    differing_bits,
    draw_graphs,
    instruction_sets,
    run_batch,
    run_interpreted,
    run_worker,
)
from fuzz.graphs import Graph, decode
from fuzz.steps import WIDE


def explained(report):
    return "\n".join(
        f"{d.runner}: {d.bits} bits of {d.output} differ in\n{d.graph.source}"
        for d in report.differences[:3]
    )


def dtypes_of(graphs):
    """Those of the values that the graphs compute."""
    found = set()
    for graph in graphs:
        tensors = graph.function()(*graph.inputs.values())
        found |= {tensor.dtype.name for tensor in tensors}
    return found


def test_interpreted(tmp_path):
    graphs = draw_graphs(30, 60, number=11, palette=WIDE)
    assert {"complex64", "complex128", "float16", "bfloat16"} <= dtypes_of(graphs)
    report = run_interpreted(graphs, tmp_path)
    assert report.graphs == 30
    assert report.differing_bits == 0, explained(report)


def test_in_every_way(tmp_path):
    report = run_batch(draw_graphs(2, 20, number=12, palette=WIDE), tmp_path, optimised="-O0")
    assert report.graphs == 2
    assert len(report.runners) == 11 * len(instruction_sets())
    assert report.differing_bits == 0, explained(report)


# What programs of these dtypes are made of: each step is one function of the exported project.
COMPLEX = [
    ("v0", "x0 * x1 + cnp.conjugate(x1)"),
    ("v1", "cnp.exp(cnp.sin(x0) / x1)"),
    ("v2", "x0 @ cnp.transpose(x1)"),
    ("v3", "cnp.sqrt(cnp.sum(v0 * v1, axis=-1))"),
    ("v4", "cnp.power(x0, 3) - cnp.abs(x1)"),
    ("v5", "cnp.sort(v4, axis=-1)"),
    ("v6", "cnp.fft.fft(x1, axis=-1)"),
    ("v7", "cnp.astype(v2, 'complex128') / 3"),
]
HALF = [
    ("v0", "x0 * x1 + cnp.sqrt(cnp.abs(x1))"),
    ("v1", "cnp.exp(x0) / x1"),
    ("v2", "x0 @ cnp.transpose(x1)"),
    ("v3", "cnp.sum(v0, axis=-1)"),
    ("v4", "cnp.astype(v2, 'bfloat16') * cnp.astype(v2, 'bfloat16')"),
    ("v5", "cnp.cumsum(v1, axis=0)"),
    ("v6", "cnp.nextafter(x0, x1)"),
    ("v7", "cnp.argmax(cnp.astype(x0, 'bfloat16'), axis=1)"),
]


def program(lines, dtype):
    draw = np.random.default_rng(5)

    def numbers():
        real = draw.standard_normal((9, 9)) + 1j * draw.standard_normal((9, 9))
        return (real if np.dtype(dtype).kind == "c" else real.real).astype(dtype)

    return Graph({"x0": numbers(), "x1": numbers()}, lines, [name for name, _ in lines])


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_exported_by_both_compilers(tmp_path, compiler):
    graphs = [program(COMPLEX, "complex64"), program(COMPLEX, "complex128"),
              program(HALF, "float16")]  # fmt: skip
    sets = instruction_sets()
    first = run_worker(graphs, tmp_path, sets[0], with_cpp=False)
    reference = first[f"interpreter, 1 threads, {sets[0]}"]
    folder = tmp_path / "exported"
    results = exported.run(graphs, reference, folder, sets, "-O1", compiler)
    report = compared(graphs, reference, results)
    assert len(report.runners) == 3 * len(sets)
    assert report.differing_bits == 0, explained(report)


def test_parts_are_compared():
    x = np.array([complex(np.nan, 1), 2], np.complex64)
    assert differing_bits(x, np.array([complex(-np.nan, 1), 2], np.complex64)) == 0
    assert differing_bits(x, np.array([complex(np.nan, -1), 2], np.complex64)) == 1


def test_the_same_bytes_are_the_same_graph():
    code = bytes(range(256)) * 2
    assert decode(code, palette=WIDE).source == decode(code, palette=WIDE).source
