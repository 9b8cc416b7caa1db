"""composit.torch beside PyTorch: modules forward and backward, and a step of training, through the
same lines for both. `bench_torch.py --page` writes docs/benchmarks.md."""

import sys

import numpy as np
import torch_training
from group import main, run
from measure import ROOT, Case, Sides, check


def arrays(shape, kind, count=10):
    drawn = np.random.default_rng(0)
    if kind == "places":
        return drawn.integers(0, count, shape)
    return drawn.standard_normal(shape).astype(np.float32)


class Side:
    """A module in one of the libraries, with a gradient for its output."""

    def __init__(self, torch, make, inputs, weights, materialize):
        self.torch, self.module = torch, make(torch)
        if weights is not None:
            self.module.load_state_dict({k: torch.tensor(v) for k, v in weights.items()})
        self.inputs = [torch.tensor(x) for x in inputs]
        for x in self.inputs:
            if x.is_floating_point():
                x.requires_grad_()
        self.leaves = [x for x in (*self.inputs, *self.module.parameters()) if x.requires_grad]
        self.gradient = None
        self.materialize = materialize

    def computed(self, *tensors):
        self.materialize(*tensors)
        return tensors

    def call(self):
        result = self.module(*self.inputs)
        return result[0] if isinstance(result, tuple) else result

    def forward(self):
        with self.torch.no_grad():
            return self.computed(self.call())

    def both(self):
        for leaf in self.leaves:
            leaf.grad = None
        out = self.call()
        out.backward(self.gradient)
        return self.computed(*[leaf.grad for leaf in self.leaves])


def sides_of(make, inputs):
    import torch as peer

    import composit.torch as torch
    from composit.torch.materializing import materialize

    theirs = Side(peer, make, inputs, None, lambda *tensors: None)
    weights = {k: v.detach().numpy() for k, v in theirs.module.state_dict().items()}
    ours = Side(torch, make, inputs, weights, materialize)
    shape = tuple(theirs.call().shape)
    upstream = arrays(shape, "floats")
    ours.gradient, theirs.gradient = torch.tensor(upstream), peer.tensor(upstream)
    return ours, theirs


def prepare(name, make, inputs, is_backward):
    def prepared(threads):
        import torch as peer

        import composit
        from composit.torch import steps

        peer.set_num_threads(threads)
        composit.set_threads(threads)
        steps.compile_after[0] = 20
        ours, theirs = sides_of(make, inputs())
        one = ours.both if is_backward else ours.forward
        other = theirs.both if is_backward else theirs.forward
        for _ in range(40):
            one()
        torch_training.wait_for_compilers()
        for mine, yours in zip(one(), other()):
            found, expected = mine.detach().numpy(), yours.detach().numpy()
            check(name, found, expected, 1e-3, 1e-3 * max(1.0, float(np.abs(expected).max())))
        return Sides(one, {"PyTorch": other})

    return prepared


def attention(width, heads):
    def make(t):
        class Self(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = t.nn.MultiheadAttention(width, heads, batch_first=True)

            def forward(self, x):
                return self.inner(x, x, x, need_weights=False)

        return Self()

    return make


def rows():
    """(name, how the module is made, the inputs' shapes and kinds)"""
    for batch, n, m in ((32, 64, 128), (64, 1024, 2048), (128, 2048, 4096)):
        yield f"Linear {batch}x{n} to {m}", lambda t, n=n, m=m: t.nn.Linear(n, m), [(batch, n)]
    images = ((4, 3, 32, 16), (8, 32, 64, 64), (8, 64, 128, 128))
    for b, c, size, out in images:
        shape = (b, c, size, size)
        text = "x".join(map(str, shape))
        yield f"Conv2d {text} to {out}", lambda t, c=c, o=out: t.nn.Conv2d(c, o, 3), [shape]
        yield f"MaxPool2d {text}", lambda t: t.nn.MaxPool2d(2), [shape]
        yield f"AvgPool2d {text}", lambda t: t.nn.AvgPool2d(2), [shape]
        yield f"BatchNorm2d {text}", lambda t, c=c: t.nn.BatchNorm2d(c), [shape]
    for shape in ((128, 64), (512, 256), (1024, 512)):
        n, text = shape[1], "x".join(map(str, shape))
        yield f"BatchNorm1d {text}", lambda t, n=n: t.nn.BatchNorm1d(n), [shape]
        yield f"LayerNorm {text}", lambda t, n=n: t.nn.LayerNorm(n), [shape]
        yield f"ReLU {text}", lambda t: t.nn.ReLU(), [shape]
        yield f"Sigmoid {text}", lambda t: t.nn.Sigmoid(), [shape]
        yield f"Softmax {text}", lambda t: t.nn.Softmax(-1), [shape]
        yield f"CrossEntropyLoss {text}", lambda t: t.nn.CrossEntropyLoss(), [
            shape, (shape[:1], "places", n)
        ]  # fmt: skip
        yield f"Embedding {text}", lambda t: t.nn.Embedding(1000, 64), [(shape, "places", 1000)]
    for b, length, width, heads in ((16, 32, 64, 4), (32, 64, 128, 8), (32, 128, 256, 8)):
        yield (
            f"MultiheadAttention {b}x{length}x{width}", attention(width, heads),
            [(b, length, width)],
        )  # fmt: skip


def drawn(inputs):
    def made():
        return [
            arrays(*given) if isinstance(given[0], tuple) else arrays(given, "floats")
            for given in inputs
        ]

    return made


def cases():
    yield from torch_training.cases()
    for name, make, inputs in rows():
        for is_backward in (False, True):
            kind = "forward and backward" if is_backward else "forward"
            full = f"{name}, {kind}"
            yield Case(full, 1, 2.5, prepare(full, make, drawn(inputs), is_backward),
                       rounds=(5, 9))  # fmt: skip


INTRODUCTION = """# Benchmarks of composit.torch

Written by `benchmarks/python/bench_torch.py --page`; not by hand. Modules of composit.torch beside
PyTorch's, through the same lines, in turns in one process, after their results were compared. A
**ratio** is PyTorch's time divided by composit's, so above 1 composit is faster; **rows below 1 are
bold**. Backward is measured with its forward: composit computes both at once. Everything runs as it
does after its thousandth call, when programs of known steps are compiled; before it the interpreter
runs them.

Steps of training are a `Module`, a loss and an optimiser of `optim` (SGD for XOR; for MNIST Adam
with `fused=True`, PyTorch's fastest), the models tensorgrad's without dropout. Losses agree to 1e-5
(XOR's to 1e-4), gradients to 1e-3 of each weight's largest. JAX's step is a jitted function of
weights and state, without running statistics of the normalisations.
"""


def write_page(word):
    """docs/benchmarks.md, of all rows, with their geometric mean."""
    from pathlib import Path

    from page import printed, table_line

    found = []
    for item in run(Path(sys.argv[0]).resolve(), word):
        print(printed(item), end="", flush=True)
        found.append(item)
    measured = [item for item in found if "case" in item]
    parts = [INTRODUCTION]
    for threads in sorted({row["threads"] for row in measured}):
        chosen = [row for row in measured if row["threads"] == threads]
        mean = float(np.exp(np.mean([np.log(row["value"]) for row in chosen])))
        worst = min(chosen, key=lambda row: row["value"])
        below = sum(row["value"] < 1 for row in chosen)
        parts.append(
            f"\n## {threads} thread{'s' * (threads > 1)}\n\nGeometric mean {mean:.2f}; worst row "
            f"{worst['case']} at {worst['value']:.2f}; {below} of {len(chosen)} rows below 1. Load "
            f"{min(r['load'] for r in chosen):.1f} to {max(r['load'] for r in chosen):.1f}.\n\n"
            "| case | threads | composit | peers | ratio | must | aim | of limit |\n"
            "|---|---:|---:|---|---:|---:|---:|---:|\n"
        )
        parts.append("\n".join(table_line(row) for row in chosen) + "\n")
    parts += [f"\n**Failed: {item['failed']}.**\n" for item in found if "failed" in item]
    (ROOT / "docs/benchmarks.md").write_text("".join(parts))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--page"]:
        write_page("".join(sys.argv[2:3]))
    else:
        notes = (
            "The same lines with PyTorch and with composit.torch; docs/benchmarks.md says more. "
            "Backward is measured with its forward."
        )
        main("composit.torch", notes, cases)
