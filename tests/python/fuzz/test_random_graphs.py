"""A small, always equal part of `make fuzz`: random graphs give the same bits in every way."""

import numpy as np
from fuzz.batches import differing_bits, draw_graphs, instruction_sets, run_batch, run_interpreted
from fuzz.graphs import GENE, Graph, decode
from fuzz.shrink import reproduction, shrunk


def explained(report):
    return "\n".join(
        f"{d.runner}: {d.bits} bits of {d.output} differ in\n{d.graph.source}"
        for d in report.differences[:3]
    )


def test_interpreted(tmp_path, capsys):
    report = run_interpreted(draw_graphs(40, 200, number=1), tmp_path)
    said(report, capsys)
    assert report.graphs == 40
    assert report.differing_bits == 0, explained(report)


def said(report, capsys):
    with capsys.disabled():
        print(f"\nfuzz: {report}")


def test_in_every_way(tmp_path, capsys):
    report = run_batch(draw_graphs(3, 24, number=2), tmp_path, optimised="-O0")
    said(report, capsys)
    assert report.graphs == 3
    assert len(report.runners) == 11 * len(instruction_sets())
    assert report.differing_bits == 0, explained(report)


def test_a_large_graph_compiled_and_exported(tmp_path, capsys):
    """As large as those of `make fuzz`."""
    graphs = draw_graphs(1, 200, number=6, least=200)
    report = run_batch(graphs, tmp_path, compiled_sets=1, optimised="-O0")
    said(report, capsys)
    assert (report.graphs, report.nodes) == (1, 200)
    assert len(report.runners) == 8 + 3 * len(instruction_sets())
    assert report.differing_bits == 0, explained(report)


def test_equal_operands_are_no_warning(tmp_path):
    names = ("logical_xor", "logical_and", "equal", "less", "subtract", "maximum", "remainder")
    lines = [(f"v{i}", f"cnp.{name}(x0, x0)") for i, name in enumerate(names)]
    graph = Graph({"x0": np.arange(-3, 3)}, lines, [name for name, _ in lines])
    report = run_batch([graph], tmp_path)
    assert report.differing_bits == 0, explained(report)


def test_the_same_bytes_are_the_same_graph():
    code = bytes(range(256)) * 4
    assert decode(code).source == decode(code).source
    assert len(decode(code).lines) > len(code) // GENE // 2
    first, again = draw_graphs(5, 20, number=3), draw_graphs(5, 20, number=3)
    assert [graph.source for graph in first] == [graph.source for graph in again]


def test_bits_are_counted():
    x = np.array([0.0, np.nan, 1.0], np.float32)
    assert differing_bits(x, np.array([0.0, -np.nan, 1.0], np.float32)) == 0
    assert differing_bits(x, np.array([-0.0, np.nan, 1.0], np.float32)) == 1
    assert differing_bits(x, x.astype(np.float64)) == 192
    assert differing_bits(x, x[:2]) == 96
    assert differing_bits(np.array([True]), np.array([False])) == 1


def test_differences_are_shrunk():
    lines = [("v0", "cnp.exp(x0)"), ("v1", "cnp.add(v0, x1)"), ("v2", "cnp.floor(v1)"),
             ("v3", "cnp.negative(v2)"), ("v4", "cnp.sin(v0)")]  # fmt: skip
    inputs = {"x0": np.zeros(3, np.float32), "x1": np.ones(3, np.float32)}
    graph = Graph(inputs, lines, ["v3", "v4"])
    small = shrunk(graph, "v3", lambda g: any("floor" in text for _, text in g.lines))
    assert small.lines == [("v2", "cnp.floor(v1)"), ("v3", "cnp.negative(v2)")]
    np.testing.assert_array_equal(small.inputs["v1"], np.full(3, 2, np.float32))
    scope = {}
    exec(reproduction(small), scope)
    result = scope["graph"](scope["v1"])
    np.testing.assert_array_equal(result[0].evaluated(), np.full(3, -2, np.float32))
