"""Exported programs with fused rows and packed weights return the interpreter's bits."""

import numpy as np
from fuzz import exported

import composit
import composit.numpy as cnp
from composit import nn

DRAW = np.random.default_rng(0)
WEIGHT = DRAW.standard_normal((400, 70)).astype("float32")


class Layers:
    """What exported.run takes for a graph: named inputs and a function of them."""

    def __init__(self):
        self.inputs = {
            "x": DRAW.standard_normal((300, 400)).astype("float32"),
            "query": DRAW.standard_normal((2, 3, 64, 16)).astype("float32"),
            "key": DRAW.standard_normal((2, 3, 64, 16)).astype("float32"),
        }

    def function(self):
        def layers(x, query, key):
            scores = query @ cnp.swapaxes(key, -1, -2)
            return nn.softmax(x, axis=-1), x @ WEIGHT, nn.softmax(scores, axis=-1) @ query

        return layers


def test_bits(tmp_path):
    graph = Layers()
    arguments = list(graph.inputs.values())
    compiled = composit.compile(graph.function(), *arguments, backend="interpreter")
    kinds = [kernel.kind for kernel in compiled.kernels]
    assert kinds.count("Fused") == 2 and kinds.count("Pack") == 1
    expected = [np.asarray(result) for result in compiled(*arguments)]
    plain = composit.compile(graph.function(), *arguments, fuse=False)(*arguments)
    for a, b in zip(plain, expected, strict=True):
        assert a.tobytes() == b.tobytes()
    results = exported.run(
        [graph], [expected], tmp_path / "project", ["avx512", "avx2", "baseline"]
    )
    assert len(results) == 9
    for way, values in results.items():
        for a, b in zip(values[0], expected, strict=True):
            assert a.tobytes() == b.tobytes(), way
