"""What follows a product is done with its sums: the bits of two kernels, however they run."""

import numpy as np
import pytest
from fuzz import exported

import composit
import composit.numpy as cnp
from composit import mosaic, nn

WAYS = [
    {"backend": "interpreter"},
    {"backend": "interpreter", "threads": 3, "bytes_of_part": 64},
    {"threads": 1, "bytes_of_part": 64},
    {"threads": 2, "bytes_of_part": 64},
    {"threads": 3},
]


def is_finished(kernel):
    return kernel.kind == "Contract" and len(kernel.fields["finish"]["values"]) > 0


class Products:
    """One random product and what follows it; what exported.run takes for a graph."""

    def __init__(self, seed, *, is_large=False):
        self.seed = seed
        draw = np.random.default_rng(seed)
        self.dtype = [np.float32, np.float32, np.float64, np.int32][draw.integers(4)]
        rows, depth, columns = draw.integers([20, 40, 65], [200, 600, 400])
        depth = depth % 120 + 8 if draw.random() < 0.5 else depth
        rows = 1 if draw.random() < 0.2 else rows
        if is_large:  # several blocks of depth, and more sums than any cache holds
            rows, depth, columns, self.dtype = 1030, 300, 1100, np.float32
        self.columns = int(columns) // 64 * 64 if draw.random() < 0.5 else int(columns)
        self.rows, self.depth = int(rows), max(int(depth), 65536 // (rows * self.columns) + 1)
        self.on_the_left = draw.random() < 0.4
        self.steps = list(draw.integers(0, 7, draw.integers(1, 4)))
        shape = (rows, self.columns)
        self.inputs = {
            "x": self.array(draw, (self.columns if self.on_the_left else rows, self.depth))
        }
        if self.on_the_left:
            self.inputs["x"] = np.ascontiguousarray(self.inputs["x"].T)
        self.weight = self.array(
            draw, (rows, self.depth) if self.on_the_left else (self.depth, self.columns)
        )
        self.inputs["residual"] = self.array(draw, shape)
        self.bias = self.array(draw, self.columns)
        self.scale = self.array(draw, (rows, 1))

    def array(self, draw, shape):
        if self.dtype == np.int32:
            return draw.integers(-9, 9, shape).astype(self.dtype)
        return draw.standard_normal(shape).astype(self.dtype)

    def function(self):
        def product(x, residual):
            y = self.weight @ x if self.on_the_left else x @ self.weight
            for step in self.steps:
                y = [
                    lambda y: y + self.bias,
                    lambda y: cnp.maximum(y, 0),
                    lambda y: y * self.scale,
                    lambda y: y + residual,
                    lambda y: y if self.dtype == np.int32 else nn.gelu(y),
                    lambda y: cnp.where(y > residual, y, residual),
                    lambda y: y - cnp.arange(self.columns, dtype=self.dtype),
                ][step](y)
            return y, y > 0

        return product


@pytest.mark.long_tail
@pytest.mark.parametrize("seed", range(24))
def test_random_products(seed):
    graph = Products(seed)
    arguments = list(graph.inputs.values())
    plain = composit.compile(graph.function(), *arguments, backend="interpreter", fuse=False)
    assert not any(is_finished(kernel) for kernel in plain.kernels)
    expected = [np.asarray(result) for result in plain(*arguments)]
    for options in WAYS:
        compiled = composit.compile(graph.function(), *arguments, **options)
        for found, wanted in zip(compiled(*arguments), expected, strict=True):
            assert np.asarray(found).tobytes() == wanted.tobytes(), (graph.steps, options)


@pytest.mark.long_tail
def test_exported_for_each_instruction_set(tmp_path):
    graphs = [Products(seed, is_large=seed < 102) for seed in range(100, 110)]
    expected = []
    for graph in graphs:
        arguments = list(graph.inputs.values())
        plain = composit.compile(graph.function(), *arguments, backend="interpreter", fuse=False)
        expected.append([np.asarray(result) for result in plain(*arguments)])
    results = exported.run(graphs, expected, tmp_path / "project", ["avx512", "avx2", "baseline"])
    assert len(results) == 9
    for way, values in results.items():
        for graph, found, wanted in zip(graphs, values, expected, strict=True):
            for a, b in zip(found, wanted, strict=True):
                assert a.tobytes() == b.tobytes(), (way, graph.seed)


DRAW = np.random.default_rng(0)
WEIGHTS = [DRAW.standard_normal((96, 96)).astype("float32") for _ in range(2)]
X = DRAW.standard_normal((64, 96)).astype("float32")


def layers(x):
    return nn.relu(nn.relu(x @ WEIGHTS[0] + 1.0) @ WEIGHTS[1] - x)


def test_programs_show_it():
    x = composit.placeholder("x", X.shape)
    fused, apart = (mosaic.compile(layers(x), fuse=fuse, threads=1) for fuse in (True, False))
    assert [kernel.kind for kernel in fused.kernels] == ["Contract"] * 2
    assert all("\n    sum = sum for " in str(kernel) for kernel in fused.kernels)
    assert not any("\n    sum = sum for " in str(kernel) for kernel in apart.kernels)
    assert np.asarray(fused(X)).tobytes() == np.asarray(apart(X)).tobytes()
    # What was between a product and what followed it is no buffer any more.
    temporaries = [[b for b in p.buffers if b.kind == "temporary"] for p in (fused, apart)]
    assert len(temporaries[0]) == 1 and len(temporaries[1]) > 2
    assert fused.memory.arena == X.nbytes < apart.memory.arena
    first = fused.kernels[0]
    values = {"x": X, **fused.constants}
    alone = first(*[values[operand.name] for operand in first.inputs])
    wanted = nn.relu(cnp.asarray(X) @ WEIGHTS[0] + 1.0)
    assert np.asarray(alone).tobytes() == np.asarray(wanted).tobytes()
    assert all(kernel.name in str(fused.explain(X)) for kernel in fused.kernels)


@pytest.mark.parametrize("options", WAYS)
def test_in_loops(options):
    def repeated(x):
        return composit.fori_loop(0, 3, lambda i, x: cnp.tanh(x @ WEIGHTS[0] + x), x)

    expected = X
    for _ in range(3):
        expected = np.asarray(cnp.tanh(cnp.asarray(expected) @ WEIGHTS[0] + expected))
    compiled = composit.compile(repeated, X, **options)
    assert np.asarray(compiled(X)).tobytes() == expected.tobytes()
