"""autograd.Functions with jvp, vmap and generate_vmap_rule through torch.func, beside PyTorch's."""

import re

import pytest
import torch as peer

import composit.torch as torch


def functions(t):
    """Functions whose rules are not those of their forward, so that it shows which one was used."""

    class Scaled(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, factor, y):
            return x * factor + y, (x * y).sum()

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.factor, y = inputs
            ctx.save_for_backward(x, y, output[0])
            ctx.save_for_forward(x, output[1])

        @staticmethod
        def backward(ctx, g, h):
            x, y, z = ctx.saved_tensors
            return g * ctx.factor * 7 + h * y, None, g * x + z.sin() * h

        @staticmethod
        def jvp(ctx, a, nothing, b):
            assert nothing is None
            x, total = ctx.saved_tensors
            return a * ctx.factor * 5 + b * x, (a + b).sum() * total

    class Exp(t.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, g):
            return Times.apply(g * 3, ctx.saved_tensors[0])

        @staticmethod
        def jvp(ctx, a):
            return a * ctx.saved_tensors[0] * 2

        @staticmethod
        def vmap(info, in_dims, x):
            assert info.randomness == "error"
            return Exp.apply(x.movedim(in_dims[0], -1)) + info.batch_size, -1

    class Times(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x * 2

        @staticmethod
        def jvp(ctx, a, b):
            x, y = ctx.saved_tensors
            return a * y + b * x * 4

    class Same(t.autograd.Function):
        """The same for all of a batch."""

        @staticmethod
        def forward(x, y):
            return y.cos(), x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, g, h):
            assert g is not None or h is None
            return None, g

        @staticmethod
        def vmap(info, in_dims, x, y):
            assert in_dims == (0, None), in_dims
            return (y.cos(), x * 2), (None, 0)

    return Scaled, Exp, Times, Same


def scaled(t):
    apply = functions(t)[0].apply
    return lambda x, y: apply(x, 3.0, y)


def exp(t):
    return functions(t)[1].apply


def times(t):
    return functions(t)[2].apply


def same(t):
    return functions(t)[3].apply


CASES = {
    "jvp": lambda t, x, y: t.func.jvp(scaled(t), (x, y), (y, x)),
    "jvp of one": lambda t, x, y: t.func.jvp(exp(t), (x,), (y,)),
    "jvp with what has no tangent": lambda t, x, y: t.func.jvp(
        lambda x: times(t)(x, y.detach()) * x, (x,), (y,)),
    "jacfwd": lambda t, x, y: t.func.jacfwd(exp(t))(x),
    "jacfwd of two": lambda t, x, y: t.func.jacfwd(scaled(t), (0, 1))(x, y),
    "jacrev of two": lambda t, x, y: t.func.jacrev(lambda x, y: (x * y, x + y), (0, 1))(x, y * y),
    "jacrev": lambda t, x, y: t.func.jacrev(times(t))(x, y * y),
    "jacfwd of jacfwd": lambda t, x, y: t.func.jacfwd(t.func.jacfwd(times(t)))(x, y),
    "hessian": lambda t, x, y: t.func.hessian(lambda x: (times(t)(x, x) * x).sum())(x),
    "hessian of saved results": lambda t, x, y: t.func.hessian(
        lambda x: (exp(t)(x) * x).sum())(x),
    "linearize": lambda t, x, y: t.func.jvp(lambda x: exp(t)(x) + x, (x,), (y,))[1],
    "vmap": lambda t, x, y: t.func.vmap(exp(t))(x),
    "vmap, generated": lambda t, x, y: t.func.vmap(scaled(t))(x, y),
    "vmap of one of two": lambda t, x, y: t.func.vmap(scaled(t), (0, None))(x, y[0]),
    "vmap of the other": lambda t, x, y: t.func.vmap(times(t), (None, 1), 1)(x[:, 0], y),
    "vmap, the same for all": lambda t, x, y: t.func.vmap(same(t), (0, None))(x, y),
    "vmap of vmap": lambda t, x, y: t.func.vmap(t.func.vmap(exp(t)), 1)(x),
    "vmap of vmap, generated": lambda t, x, y: t.func.vmap(t.func.vmap(times(t)), 1)(x, y),
    "vmap of what is not batched": lambda t, x, y: t.func.vmap(
        lambda a: exp(t)(y) + a)(x),
    "vmap in another dimension": lambda t, x, y: t.func.vmap(exp(t), -1, -1)(x),
    "vmap of grad": lambda t, x, y: t.func.vmap(
        t.func.grad(lambda x: exp(t)(x).sum()))(x),
    "vmap of grad, generated": lambda t, x, y: t.func.vmap(
        t.func.grad(lambda x, y: sum(r.sum() for r in scaled(t)(x, y)), (0, 1)))(x, y),
    "grad of vmap": lambda t, x, y: t.func.grad(
        lambda x: (t.func.vmap(exp(t))(x) * x).sum())(x),
    "grad of vmap, generated": lambda t, x, y: t.func.grad(
        lambda x, y: t.func.vmap(times(t), (0, None))(x, y).exp().sum(), (0, 1))(x, y[0]),
    "grad of vmap beside a call": lambda t, x, y: t.func.grad(
        lambda x: (t.func.vmap(times(t))(x, y) * times(t)(x, x)).sum())(x),
    "grad of vmap of grad": lambda t, x, y: t.func.grad(lambda x: t.func.vmap(
        t.func.grad(lambda x, y: times(t)(x, y).sum(), 1))(x, y).sum())(x),
    "vjp of vmap": lambda t, x, y: t.func.vjp(t.func.vmap(times(t)), x, y)[1](x),
    "jvp of vmap": lambda t, x, y: t.func.jvp(t.func.vmap(exp(t)), (x,), (y,)),
    "jvp of vmap, generated": lambda t, x, y: t.func.jvp(
        t.func.vmap(scaled(t), (0, None)), (x, y[0]), (y, x[0])),
    "vmap of jvp": lambda t, x, y: t.func.vmap(
        lambda x, y: t.func.jvp(times(t), (x, y), (y, x)))(x, y),
    "jvp of grad": lambda t, x, y: t.func.jvp(
        t.func.grad(lambda x: times(t)(x, x).sum()), (x,), (y,)),
    "grad of jvp": lambda t, x, y: t.func.grad(
        lambda x: t.func.jvp(exp(t), (x,), (y,))[1].sum())(x),
    "grad, the same for all": lambda t, x, y: t.func.grad(
        lambda y: t.func.vmap(same(t), (0, None))(x, y)[0].sum())(y),
    "no jvp": lambda t, x, y: t.func.jvp(same(t), (x, y), (y, x)),
}  # fmt: skip


def said(case):
    texts = []
    for library in (torch, peer):
        x = library.tensor([[1.0, 0.5], [0.25, 2.0], [-1.0, 0.125]])
        y = library.tensor([[0.5, 1.0], [3.0, -0.5], [2.0, 1.5]])
        try:
            texts.append(re.sub(r"grad_fn=<\w+>", "", repr(case(library, x, y))))
        except RuntimeError as error:
            text = re.sub(r" \[[^\[\]]+:\d+\]$", "", str(error))
            texts.append(text.replace("composit.torch.tensor.Tensor", "torch.Tensor"))
    return texts


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_their_rules_are_used(name):
    mine, theirs = said(CASES[name])
    assert mine == theirs


def one(t, generate=False, **given):
    """A Function with some of the rules."""

    def setup_context(ctx, inputs, output):
        pass

    def forward(x):
        return x * 2

    rules = {"forward": forward, "setup_context": setup_context, **given}
    body = {name: staticmethod(function) for name, function in rules.items() if function}
    return type("One", (t.autograd.Function,), {"generate_vmap_rule": generate, **body}).apply


REFUSED = {
    "no vmap": lambda t, x, y: t.func.vmap(one(t))(x),
    "two vmaps": lambda t, x, y: t.func.vmap(
        one(t, True, vmap=lambda info, dims, x: (x, 0)))(x),
    "no setup_context": lambda t, x, y: t.func.vmap(one(t, setup_context=None))(x),
    "no setup_context for jvp": lambda t, x, y: t.func.jvp(
        one(t, setup_context=None), (x,), (y,)),
    "vmap returns one": lambda t, x, y: t.func.vmap(
        one(t, vmap=lambda info, dims, x: x))(x),
    "vmap returns three": lambda t, x, y: t.func.vmap(
        one(t, vmap=lambda info, dims, x: (x, 0, 0)))(x),
    "no jvp": lambda t, x, y: t.func.jvp(one(t), (x,), (y,)),
    "two tangents": lambda t, x, y: t.func.jvp(
        one(t, jvp=lambda ctx, x: (x, x)), (x,), (y,)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses(name):
    mine, theirs = said(REFUSED[name])
    assert mine == theirs


@pytest.mark.parametrize("returned, text", [
    (lambda t: (t.ones(2),) * 2, "function OneBackward returned an incorrect number of gradients"),
    (lambda t: t.ones(3), "Function OneBackward returned an invalid gradient at index 0 - got [3]"),
])  # fmt: skip
def test_errors_of_rules_name_no_transform(returned, text):
    function = one(torch, True, backward=lambda ctx, gradient: returned(torch))
    gradient = torch.func.grad(lambda x: function(x).sum())
    for call in (lambda x: gradient(x[0]), torch.func.vmap(gradient)):
        with pytest.raises(RuntimeError) as caught:
            call(torch.ones(2, 2))
        assert str(caught.value).startswith(text)


def test_randomness_is_told():
    def vmap(info, dims, x):
        return x if info.randomness == "different" else -x, 0

    for t in (torch, peer):
        x = t.tensor([1.0, 2.0])
        found = t.func.vmap(one(t, vmap=vmap), randomness="different")(x)
        assert found.tolist() == [1.0, 2.0]


def test_writing_into_an_argument_refuses():
    def forward(x):
        x.mul_(2)
        return x

    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(*inputs)

    x = torch.tensor([1.0, 2.0])
    with pytest.raises(NotImplementedError, match="One: writes into an argument"):
        torch.func.vmap(one(torch, True, forward=forward, setup_context=setup_context))(x)


def test_what_is_made_is_found_by_its_structure():
    """No rules are left in what transforms return."""
    f = torch.func.vmap(torch.func.grad(lambda x: times(torch)(x, x) * x))
    x = torch.tensor([1.0, 2.0])
    operations = [{n.label for n in f(x)._lazy.graph.nodes} for _ in range(2)]
    assert operations[0] == operations[1] and "Times" not in operations[0]


def test_rules_are_let_go():
    import gc
    import weakref

    class Kept:
        pass

    kept = Kept()
    seen = weakref.ref(kept)
    f = one(torch, True, jvp=lambda ctx, a, kept=kept: a)
    torch.func.jvp(f, (torch.ones(2),), (torch.ones(2),))[1].tolist()
    del f, kept
    gc.collect()
    assert seen() is None
