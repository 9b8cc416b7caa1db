"""Random programs of composit.torch with autograd.Functions that may return None and hooks on
results: gradients, second gradients and grads of leaves, beside PyTorch's."""

import random

import pytest
import torch as peer

import composit.torch as torch


def written_derivatives(t):
    """Functions of two arguments with two results that give gradients to none, the first, the
    second, or both."""

    def made(gives_first, gives_second):
        class Written(t.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(x, y)
                return x * y, x + y

            @staticmethod
            def backward(ctx, g, h):
                x, y = ctx.saved_tensors
                return (g * y + h if gives_first else None), (g * x + h if gives_second else None)

        return Written.apply

    return [made(first, second) for second in (False, True) for first in (False, True)]


def listed(gradients):
    """A gradient that is missing is one of zeros: PyTorch makes one of the other where an operation
    with two results lies between."""
    return [[0.0] * 3 if g is None else g.detach().tolist() for g in gradients]


def gradients_of(t, seed):
    """The gradients of a random program of that seed, three lists of numbers."""
    draw = random.Random(seed)
    functions = written_derivatives(t)
    values = [(1.0, 2.0, 0.5), (2.0, 0.5, 1.5), (0.5, 1.5, 1.5)]
    tensors = [t.tensor(value, requires_grad=True) for value in values]
    leaves = tuple(tensors)
    halved = []
    for _ in range(draw.randint(2, 9)):
        a, b = draw.choice(tensors), draw.choice(tensors)
        kind = draw.randrange(8)
        if kind < 4:
            tensors += functions[kind](a, b)
        elif kind == 4:
            tensors.append(a * b)
        elif kind == 5:
            tensors.append(t.stack([a, b])[draw.randrange(2)])
        else:
            tensors.append(a * 1.5)
            halves = kind == 7
            tensors[-1].register_hook(
                lambda g, halves=halves: g * 0.5 if halves and g is not None else None
            )
            halved += tensors[-1:] * halves
            if draw.random() < 0.5:
                tensors[-1].retain_grad()
    out = (tensors[-1] * draw.choice(tensors)).sum()
    # PyTorch's grad() gives a gradient as it is before the hooks where another wanted tensor lies
    # below, and behind the hooks elsewhere.
    wanted = draw.sample([x for x in tensors if not any(x is y for y in halved)], 2)
    options = {"allow_unused": True, "retain_graph": True}
    first = t.autograd.grad(out, wanted, create_graph=True, **options)
    found = listed(first)
    recorded = [g for g in first if g is not None and g.requires_grad]
    second = [None] * 3
    if recorded:
        second = t.autograd.grad(sum((g * g).sum() for g in recorded), leaves, **options)
    found += listed(second)
    out.backward()
    return found + listed(leaf.grad for leaf in leaves)


@pytest.mark.parametrize("seed", range(40))
def test_gradients_of_gradients_are_pytorchs(seed):
    found, wanted = gradients_of(torch, seed), gradients_of(peer, seed)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-5, abs=1e-6)


def test_a_hook_before_a_function_keeps_the_second_derivative():
    """The gradient holds the function's result itself, at which the next gradient stops."""

    def values(t):
        class Square(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                return 2 * g * ctx.saved_tensors[0]

        x = t.tensor([3.0], requires_grad=True)
        h = x * 1.5
        h.register_hook(lambda g: None)
        k = Square.apply(h)
        (g,) = t.autograd.grad((k * k).sum(), x, create_graph=True)
        return t.autograd.grad((g * g).sum(), x)[0].tolist()

    assert values(torch) == values(peer) == [597871.125]
