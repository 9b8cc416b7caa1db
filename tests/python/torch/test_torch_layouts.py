"""Strides: of what programs put in a parameter's place, of gradients and of results of `out=`."""

import pytest
import torch

import composit.torch as ours


def put_a_result(t, w, x):
    w.data = x.t() * 0.5


def put_a_part(t, w, x):
    w.data = (w.data * 2)[1:]


def put_every_second(t, w, x):
    w.data = t.ones(4, 6)[::2, ::3]


def put_twice(t, w, x):
    w.data = w.data * 2
    w.data = w.data * 2


def write(t, w, x):
    with t.no_grad():
        w.copy_(w * 3).mul_(2)


def step(t, w, x):
    (w * w).sum().backward()
    t.optim.Adam([w], lr=0.1).step()


@pytest.mark.parametrize(
    "program", [put_a_result, put_a_part, put_every_second, put_twice, write, step]
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_look_leaves_the_strides(program, turned):
    def outcome(t):
        x = t.tensor([[-2.0, -1.5, -1.5], [-2.0, -1.0, -1.5]])
        w = t.nn.Parameter(x.t() if turned else x.t().contiguous())
        program(t, w, x)
        before = w.stride()
        w.sum().item()
        # Whether reshape is a view decides what is written.
        w.data.reshape(-1)[1:].mul_(-0.5)
        return before, w.stride(), w.tolist()

    assert outcome(ours) == outcome(torch)


@pytest.mark.parametrize(
    "function",
    [
        lambda t, w: w.sum(),
        lambda t, w: (w * w).sum(),
        lambda t, w: (w @ w.transpose(0, 1)).sum(),
        lambda t, w: (w[1:] * 2).sum(),
    ],
)
@pytest.mark.parametrize(
    "leaf",
    [
        lambda t: t.ones(2, 3).t(),
        lambda t: t.ones(2, 3),
        lambda t: t.ones(4, 6)[::2, ::2],
        lambda t: t.ones(2, 3, 4).permute(2, 0, 1)[..., 0],
    ],
    ids=["turned", "row-major", "with gaps", "a part"],
)
def test_gradients_lie_as_their_leaves(function, leaf):
    def outcome(t):
        strides = []
        for hooked in (False, True):
            w = leaf(t).requires_grad_()
            if hooked:
                w.register_hook(lambda g: g * 2)
            for _ in range(3):  # the second is added; recorded steps say the same
                function(t, w).backward()
                strides.append((w.grad.stride(), float(w.grad.sum())))
            w.grad.zero_()
            strides.append(w.grad.stride())
        return strides

    assert outcome(ours) == outcome(torch)


def test_out_that_is_resized_lies_as_the_result():
    def outcome(t):
        out = t.empty(0)
        t.mul(t.ones(2, 3).t(), 2, out=out)
        kept = t.ones(3, 2)
        t.mul(t.ones(2, 3).t(), 2, out=kept)
        return out.stride(), kept.stride()

    assert outcome(ours) == outcome(torch)


LAID = {
    "clamp": lambda t, x, y: x.clamp(0.1, 0.4), "relu": lambda t, x, y: t.relu(x),
    "gelu": lambda t, x, y: t.nn.functional.gelu(x), "long": lambda t, x, y: x.long(),
    "double": lambda t, x, y: x.double(), "sinc": lambda t, x, y: t.sinc(x),
    "softplus": lambda t, x, y: t.nn.functional.softplus(x), "xlogy": lambda t, x, y: t.xlogy(x, y),
    "sub": lambda t, x, y: x - y, "other first": lambda t, x, y: y - x,
    "where": lambda t, x, y: t.where(x > 0.3, x, y), "lerp": lambda t, x, y: t.lerp(x, y, 0.3),
    "masked": lambda t, x, y: x.masked_fill(x > 0.3, 1.0), "row": lambda t, x, y: x + y[0, 0],
    "column": lambda t, x, y: x[:, :, :1] * x, "dropout": lambda t, x, y: t.dropout(x, 0.3, True),
    "softmax": lambda t, x, y: x.softmax(0), "tril": lambda t, x, y: x.tril(),
    "normalize": lambda t, x, y: t.nn.functional.normalize(x), "sort": lambda t, x, y: x.sort()[0],
    "ones_like": lambda t, x, y: t.ones_like(x), "rand_like": lambda t, x, y: t.rand_like(x),
    "full_like": lambda t, x, y: t.full_like(x, 2.0), "flip": lambda t, x, y: x.flip(0),
    "cumsum": lambda t, x, y: x.cumsum(0), "clone": lambda t, x, y: x.clone(),
    "contiguous": lambda t, x, y: x.contiguous(), "ceil": lambda t, x, y: x.long().ceil(),
    "alias_copy": lambda t, x, y: t.alias_copy(x), "real": lambda t, x, y: x.real,
    "one_hot":
    lambda t, x, y: t.nn.functional.one_hot(x.long()), "logsigmoid":
    lambda t, x, y: t.nn.functional.logsigmoid(x), "isreal": lambda t, x, y: x.isreal(),
}  # fmt: skip


# A constant is row-major on a device.
NAMES = [pytest.param(n, marks=pytest.mark.on_cpu) if n == "isreal" else n for n in LAID]


@pytest.mark.parametrize("part", [slice(None), slice(None, None, 2)], ids=["whole", "with gaps"])
@pytest.mark.parametrize("name", NAMES)
def test_results_lie_as_pytorchs(name, part):
    """However often the operations are met: with nodes, learnt, and by structure."""

    def outcome(t):
        strides = []
        for _ in range(3):
            values = t.linspace(0.0, 1.0, 24).reshape(2, 3, 4)
            turned, rows = values.permute(2, 0, 1)[part], values.reshape(4, 2, 3)[part]
            x = turned + 0.0
            made = LAID[name](t, x, rows)
            strides.append((x.stride(), made.stride(), LAID[name](t, turned, rows).stride()))
        return strides

    assert outcome(ours) == outcome(torch)


def test_a_result_that_lies_otherwise_is_copied_by_reshape():
    def outcome(t):
        x = t.arange(6.0).reshape(2, 3).t().clamp(1, 4)
        x.reshape(-1)[0] = 9.0
        return x.tolist()

    assert outcome(ours) == outcome(torch)
