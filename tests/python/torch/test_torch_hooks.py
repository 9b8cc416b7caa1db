"""composit.torch's hooks of gradients, of tensors and of modules, beside PyTorch's."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch


def in_both(function):
    """What the function returns, or raises, is the same in both libraries."""
    texts = []
    for library in (torch, peer):
        try:
            texts.append(repr(function(library)))
        except RuntimeError as error:
            texts.append(str(error).split(" [test_")[0])
    assert texts[0] == texts[1]
    return texts[0]


def test_hooks_that_are_registered_late_change_the_gradient():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        h = x * x
        k = h.exp()
        k.retain_grad()
        h.retain_grad()
        y = (k * h).sum()
        seen = []
        h.register_hook(lambda g: (seen.append(g.tolist()), g * 2)[1])
        k.register_hook(lambda g: (seen.append(g.tolist()), g + 1)[1])
        k.register_hook(lambda g: (seen.append(g.tolist()), None)[1])
        y.backward()
        return x.grad, seen, h.grad, k.grad

    in_both(values)


def test_second_derivatives_go_through_hooks():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        h = x * x
        h.register_hook(lambda g: g * g)
        (g,) = t.autograd.grad((h**3).sum(), x, create_graph=True)
        (gg,) = t.autograd.grad(g.sum(), x)
        return g.detach(), gg

    in_both(values)


def test_hooks_of_the_output_of_leaves_and_removed_ones():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = (x * 2).sum()
        y.register_hook(lambda g: g * 3)
        handle = y.register_hook(lambda g: g * 100)
        x.register_hook(lambda g: g + 1)
        handle.remove()
        (g,) = t.autograd.grad(y, x, retain_graph=True)
        y.backward()
        return g, x.grad

    in_both(values)


def test_only_hooks_that_gradients_go_through_are_called():
    def values(t):
        seen = []
        x = t.tensor([1.0, 2.0], requires_grad=True)
        a, b = x * 2, x * 3
        a.register_hook(lambda g: seen.append(1))
        b.register_hook(lambda g: seen.append(2))
        (g,) = t.autograd.grad((a * b).sum(), a, retain_graph=True)
        a.sum().backward(inputs=[x])
        return g, seen, x.grad

    in_both(values)


def test_clipping_and_infinities():
    """A hook takes the gradient's place: nothing of what it was is left."""

    def values(t):
        x = t.tensor([0.0, 2.0], requires_grad=True)
        r = x.sqrt()
        r.register_hook(lambda g: g.clamp(-0.5, 0.5))
        s = r.log()
        s.register_hook(lambda g: t.nan_to_num(g, posinf=1.0))
        (s * t.tensor([float("inf"), 3.0])).sum().backward()
        return x.grad

    in_both(values)


def test_hooks_among_functions():
    def values(t):
        class Double(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 5

        x = t.tensor([1.0, 2.0], requires_grad=True)
        a = x.sin()
        a.register_hook(lambda g: g + 1)
        b = Double.apply(a)
        b.register_hook(lambda g: g * 7)
        c = Double.apply(b * a)
        c.register_hook(lambda g: g - 2)
        (c * b).sum().backward()
        return x.grad

    in_both(values)


def test_in_place_operations_after_a_hook():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: g * 10)
        y.mul_(3)
        y.register_hook(lambda g: g + 1)
        y.sum().backward()
        return x.grad

    in_both(values)


def test_errors():
    def no_gradient(t):
        t.tensor([1.0]).register_hook(print)

    def not_a_leaf(t):
        (t.tensor([1.0], requires_grad=True) * 2).register_post_accumulate_grad_hook(print)

    def other_shape(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.register_hook(lambda g: g[:1])
        y.sum().backward()

    assert "cannot register a hook" in in_both(no_gradient)
    assert "non-leaf" in in_both(not_a_leaf)
    assert "has changed the size of value" in in_both(other_shape)


def test_hooks_after_gradients_were_added():
    def values(t):
        x, w = t.tensor([2.0]), t.nn.Parameter(t.tensor([3.0]))
        optimizer = t.optim.SGD([w], 0.5)

        def update(parameter):
            optimizer.step()
            optimizer.zero_grad()

        w.register_post_accumulate_grad_hook(update)
        for _ in range(3):
            (w * x).sum().backward()
        return w.detach(), w.grad

    in_both(values)


def modules(t):
    layer = t.nn.Linear(2, 2)
    with t.no_grad():
        layer.weight.copy_(t.tensor([[1.0, 2.0], [3.0, -4.0]]))
        layer.bias.copy_(t.tensor([0.5, -0.5]))
    return layer


@pytest.mark.parametrize("needs", [True, False])
def test_hooks_of_modules(needs):
    def values(t):
        layer, seen = modules(t), []
        outer = t.nn.Sequential(layer, t.nn.Tanh())

        def keep(module, grad_input, grad_output):
            texts = [None if g is None else g.tolist() for g in (*grad_input, *grad_output)]
            seen.append((type(module).__name__, [np.round(x, 5).tolist() for x in texts if x]))

        for module in (layer, outer):
            module.register_full_backward_hook(keep)
        layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 2,))
        if needs:
            layer.register_full_backward_hook(lambda module, gi, go: (gi[0] + 1,))
        x = t.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=needs)
        outer(x).sum().backward()
        with t.no_grad():
            outer(x)
        found = [layer.weight.grad, layer.bias.grad, x.grad]
        return sorted(seen), [None if g is None else np.round(g.numpy(), 5) for g in found]

    in_both(values)


def test_modules_of_several_arguments_and_results():
    def values(t):
        class Two(t.nn.Module):
            def forward(self, x, factor, y):
                return x * factor, y * x, "text"

        module, seen = Two(), []
        module.register_full_backward_hook(
            lambda m, gi, go: seen.append([None if g is None else g.tolist() for g in (*gi, *go)])
        )
        first = module.register_full_backward_hook(lambda m, gi, go: (gi[0], None, gi[2] * 9))
        x, y = (t.tensor([v], requires_grad=True) for v in (2.0, 3.0))
        a, b, text = module(x, 4.0, y)
        (a + b * 2).sum().backward()
        first.remove()
        a, b, text = module(x, 4.0, y)
        (a * 3 + b).sum().backward()
        return seen, x.grad, y.grad, text

    in_both(values)


def test_training_with_hooks_of_modules_is_pytorchs():
    def losses(t):
        model = t.nn.Sequential(modules(t), t.nn.Sigmoid(), modules(t))
        norms = []
        for module in model:
            module.register_full_backward_hook(
                lambda m, gi, go: norms.append(round(float(go[0].norm()), 4))
            )
        optimizer = t.optim.SGD(model.parameters(), 0.1)
        x = t.tensor([[0.1, 0.2], [0.3, 0.4]])
        for _ in range(5):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        return norms

    in_both(losses)


def test_hooks_stand_in_the_order_that_was_asked_for():
    def values(t):
        layer, seen = modules(t), []
        for i in range(3):
            layer.register_forward_hook(lambda m, x, y, i=i: seen.append(i), prepend=i == 2)
            layer.register_forward_pre_hook(lambda m, x, i=i: seen.append(10 + i), prepend=i == 1)
            layer.register_full_backward_hook(lambda m, x, y, i=i: seen.append(20 + i),
                                              prepend=i == 1)  # fmt: skip
        layer(t.ones(1, 2)).sum().backward()
        return seen

    in_both(values)


RETURNED = [lambda g: [g], lambda g: ([g],), lambda g: "a", lambda g: 3, lambda g: (2.5,),
            lambda g: [None], lambda g: g.detach().numpy(), lambda g: {}, lambda g: True,
            lambda g: (g,), lambda g: (g, None), lambda g: (g, 3), lambda g: (None,)]  # fmt: skip


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("returned", RETURNED)
def test_a_backward_returns_tensors_and_none(returned, create_graph):
    def gradient(t):
        class Given(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return returned(g)

        x = t.tensor([1.0, 2.0], requires_grad=True)
        Given.apply(x).sum().backward(create_graph=create_graph)
        return None if x.grad is None else x.grad.detach()

    in_both(gradient)


@pytest.mark.parametrize("returned", RETURNED[:6])
def test_a_backward_under_func_returns_tensors_and_none(returned):
    def gradient(t):
        class Given(t.autograd.Function):
            @staticmethod
            def forward(x):
                return x * 2

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

            @staticmethod
            def backward(ctx, g):
                return returned(g)

        return t.func.grad(lambda x: Given.apply(x).sum())(t.tensor([1.0, 2.0]))

    assert in_both(gradient).startswith("expected Variable or None (got ")


@pytest.mark.parametrize("on_leaf", [False, True])
@pytest.mark.parametrize("returned", [3, 2.5, "a", [1], (1,), {}, True, np.ones(2), object()])
def test_a_hook_returns_a_tensor_or_none(returned, on_leaf):
    texts = []
    for t in (torch, peer):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        (x if on_leaf else y).register_hook(lambda g: returned)
        with pytest.raises(TypeError, match=r"^expected Variable, but hook returned '") as raised:
            y.sum().backward()
        texts.append(str(raised.value).split(" [test_")[0])
    assert texts[0] == texts[1]
