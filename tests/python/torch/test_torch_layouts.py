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
