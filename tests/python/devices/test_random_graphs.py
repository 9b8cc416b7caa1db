"""Random graphs have the interpreter's bits on OpenCL."""

from fuzz.batches import draw_graphs, run_on_devices


def test_random_graphs(opencl, tmp_path):
    graphs = draw_graphs(6, 30, number=11)
    report = run_on_devices(graphs, tmp_path, opencl)
    assert opencl in " ".join(report.runners)
    differing = [(d.output, d.graph.source) for d in report.differences[:2]]
    assert report.differing_bits == 0, differing
