"""Random graphs as plain C and C++: the bits of the interpreter, without a warning.

Ten seeds, of which `make test` takes the one of its share; COMPOSIT_SEED gives others."""

import os

import numpy as np
import plain_batches
import pytest
from fuzz.batches import draw_graphs
from plain_exports import leaves, same_bits

import composit

FIRST = int(os.environ.get("COMPOSIT_SEED", "0"))
COMPILERS = [("c", "gcc"), ("cpp", "clang++"), ("cpp", "g++"), ("c", "clang")]


def has_plain_text(graph):
    """Whether none of its operations is a library's."""
    compiled = composit.compile(
        graph.function(), *graph.inputs.values(), name="run", backend="interpreter"
    )
    foreign = [kernel for kernel in compiled.kernels if kernel.kind == "Foreign"]
    return not foreign


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(10))
def test_random_graphs(number, tmp_path):
    graphs = [each for each in draw_graphs(12, 24, FIRST + number) if has_plain_text(each)]
    assert len(graphs) >= 8
    functions = [(graph.function(), list(graph.inputs.values())) for graph in graphs]
    with np.errstate(all="ignore"):
        expected = [
            leaves(composit.compile(function, backend="interpreter")(*inputs))
            for function, inputs in functions
        ]
    language, compiler = COMPILERS[number % len(COMPILERS)]
    found = plain_batches.exported(functions, expected, tmp_path, language, compiler, ("-O2",))
    for graph, wanted, values in zip(graphs, expected, found, strict=True):
        for name, one, other in zip(graph.outputs, wanted, values, strict=True):
            assert same_bits(one, other), f"{name} of\n{graph.source}"
