"""torch.func through autograd.Functions: their backward is honoured, or the transform refuses."""

import pytest
import torch as peer

import composit.torch as torch


def odd(t):
    """A Function whose backward is not the derivative of its forward."""

    class Odd(t.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return (g * 10).clamp(-50, 50) * ctx.saved_tensors[0]

    return Odd.apply


def loss(t):
    f = odd(t)
    return lambda x: (f(x) * x).sum()


TRANSFORMS = {
    "grad": lambda t, x: t.func.grad(loss(t))(x),
    "grad_and_value": lambda t, x: t.func.grad_and_value(loss(t))(x),
    "grad of grad": lambda t, x: t.func.grad(lambda x: t.func.grad(loss(t))(x).sum())(x),
    "aux": lambda t, x: t.func.grad(lambda x: (loss(t)(x), x * 3), has_aux=True)(x),
    "vjp": lambda t, x: t.func.vjp(lambda x: odd(t)(x) * x, x)[1](x),
    "vjp's value": lambda t, x: t.func.vjp(lambda x: odd(t)(x) * x, x)[0],
    "jacrev": lambda t, x: t.func.jacrev(lambda x: odd(t)(x) * x.sum())(x),
    "jacrev by two": lambda t, x: t.func.jacrev(lambda x, y: odd(t)(x) * y, (0, 1))(x, x + 1),
    "jacrev of grad": lambda t, x: t.func.jacrev(t.func.grad(loss(t)))(x),
    "dictionary": lambda t, x: t.func.grad(lambda d: (odd(t)(d["a"]) * d["b"]).sum())(
        {"a": x, "b": x + 1}),
    "outer variable": lambda t, x: t.func.grad(
        lambda y: t.func.grad(lambda x: (odd(t)(x) * y).sum())(x).sum())(x),
    "of a module": lambda t, x: t.func.grad(
        lambda p: odd(t)(t.func.functional_call(t.nn.Linear(2, 2), p, (x,))).sum())(
        {"weight": t.ones(2, 2), "bias": x}),
    "used otherwise": lambda t, x: t.func.grad(lambda x: (x.exp() + odd(t)(x.detach())).sum())(x),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TRANSFORMS)
def test_their_backward_is_honoured(name):
    texts = []
    for library in (torch, peer):
        x = library.tensor([1.0, 7.0])
        texts.append(repr(TRANSFORMS[name](library, x)).replace("grad_fn=", ""))
    assert texts[0] == texts[1]


def test_gradients_through_a_module_with_hooks():
    """PyTorch refuses this: its hooks' Function has no setup_context."""
    layer, x = torch.nn.Tanh(), torch.tensor([1.0, 2.0])
    layer.register_full_backward_hook(lambda m, gi, go: (gi[0] * 3,))
    expected = torch.func.grad(lambda x: x.tanh().sum())(x) * 3
    assert torch.func.grad(lambda x: layer(x).sum())(x).tolist() == expected.tolist()
