"""Functions whose backward gives None: no gradient comes, as in PyTorch, which is not zeros."""

import pytest
import torch as peer

import composit.torch as torch


def functions_of(t):
    """Two Functions: none() gives no gradient, second() only that of its second argument."""

    class NoGradient(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    class SecondGradient(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x)
            return x * y

        @staticmethod
        def backward(ctx, g):
            return None, g * ctx.saved_tensors[0]

    return NoGradient.apply, SecondGradient.apply


def values_of(found):
    return [None if each is None else each.detach().tolist() for each in found]


def leaf_alone(t, none, second, x, y):
    return none(x)


def one_of_two(t, none, second, x, y):
    return second(x, y)


def both_are_one(t, none, second, x, y):
    return second(x, x) * y


def middle(t, none, second, x, y):
    return none(x * 3 * 2) * y


def beside_another_way(t, none, second, x, y):
    return none(x * 3) + x * y


def above_another(t, none, second, x, y):
    return none(second(x, y))


def below_another(t, none, second, x, y):
    return second(none(x), none(x) * y)


def of_views(t, none, second, x, y):
    return none(x[:1]) + second(x[1:], y[1:])


def written_over(t, none, second, x, y):
    z = x * y
    z[:1] = none(x)[:1]
    return z


PROGRAMS = [
    leaf_alone, one_of_two, both_are_one, middle, beside_another_way, above_another,
    below_another, of_views, written_over,
]  # fmt: skip


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_grad_is_left_as_it_was(program, create_graph):
    found = []
    for t in (torch, peer):
        x, y = (t.tensor([1.0, 2.0 + i], requires_grad=True) for i in range(2))
        y.grad = t.ones(2)
        program(t, *functions_of(t), x, y).sum().backward(create_graph=create_graph)
        found.append(values_of([x.grad, y.grad]))
        x, y = (t.tensor([1.0, 2.0 + i], requires_grad=True) for i in range(2))
        out = program(t, *functions_of(t), x, y).sum()
        given = t.autograd.grad(out, [x, y], allow_unused=True, create_graph=create_graph)
        found[-1] += values_of(given)
    assert found[0] == found[1]


def test_second_derivatives_come_through_the_gradient_that_is_there():
    found = []
    for t in (torch, peer):
        _, second = functions_of(t)
        x, y = (t.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        (first,) = t.autograd.grad((second(x, y) * y).sum(), y, create_graph=True)
        found.append(values_of(t.autograd.grad((first * first).sum(), [x, y], allow_unused=True)))
    assert found[0] == found[1]


def test_a_result_that_retains_its_gradient_and_inner_tensors_have_none():
    found = []
    for t in (torch, peer):
        none, _ = functions_of(t)
        x = t.tensor([1.0, 2.0], requires_grad=True)
        h = x * 3
        h.retain_grad()
        out = none(h)
        out.retain_grad()
        out.sum().backward()
        found.append(values_of([x.grad, h.grad, out.grad]))
        h = x * 3
        out = none(h)
        found[-1] += values_of(t.autograd.grad(out.sum(), [x, h, out], allow_unused=True))
    assert found[0] == found[1] == [None, None, [1.0, 1.0], None, None, [1.0, 1.0]]


def test_unused_tensors_are_refused_or_zeros():
    for t in (torch, peer):
        none, _ = functions_of(t)
        x = t.tensor([1.0, 2.0], requires_grad=True)
        with pytest.raises(RuntimeError, match=r"appears? to not have been used in the graph"):
            t.autograd.grad(none(x).sum(), x)
        (zeros,) = t.autograd.grad(none(x).sum(), x, materialize_grads=True)
        assert zeros.tolist() == [0.0, 0.0]


def test_an_optimizer_leaves_what_has_no_gradient():
    for t in (torch, peer):
        none, _ = functions_of(t)
        x = t.tensor([1.0, 2.0], requires_grad=True)
        none(x).sum().backward()
        t.optim.SGD([x], lr=0.1, weight_decay=0.5).step()
        assert x.tolist() == [1.0, 2.0]


def test_hooks_are_given_none():
    found = []
    for t in (torch, peer):
        seen = []
        none, _ = functions_of(t)
        x = t.tensor([1.0, 2.0], requires_grad=True)
        x.register_hook(lambda g, seen=seen: seen.append(("leaf", g)))
        x.register_post_accumulate_grad_hook(lambda x, seen=seen: seen.append("accumulated"))
        h = x * 3
        h.register_hook(lambda g, seen=seen: seen.append(("result", g)))
        none(h).sum().backward()
        t.autograd.grad(none(x).sum(), x, allow_unused=True)
        found.append(seen)
    assert found[0] == found[1]
    assert found[0] == [("result", None), ("leaf", None), "accumulated", ("leaf", None)]


@pytest.mark.parametrize("hook_on_leaf", [False, True])
def test_a_hook_gives_no_gradient_where_there_was_none(hook_on_leaf):
    for t in (torch, peer):
        none, _ = functions_of(t)
        x = t.tensor([1.0, 2.0], requires_grad=True)
        h = x * 3
        (x if hook_on_leaf else h).register_hook(lambda g, t=t: t.ones(2))
        with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None"):
            none(h).sum().backward()


def test_a_function_that_is_called_in_a_loop():
    found = []
    for t in (torch, peer):
        none, second = functions_of(t)
        x, y = (t.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        seen = []
        for step in range(4):
            x.grad = y.grad = None
            (none(x * 2) if step % 2 else second(x * 2, y)).sum().backward()
            seen += values_of([x.grad, y.grad])
        found.append(seen)
    assert found[0] == found[1]


def two_results(t):
    """A Function with two results."""

    class Two(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x)
            return x * 2, y * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 * ctx.saved_tensors[0], h * 3

    return Two.apply


def unused_sibling(t, x, y):
    first, second = two_results(t)(x, y)
    return t.autograd.grad((first * y).sum(), [second, first, x, y], allow_unused=True)


def below_an_unused_sibling(t, x, y):
    first, second = two_results(t)(x * 1, y)
    return t.autograd.grad(first.sum(), [second, second * 2, x], allow_unused=True)


def sibling_of_a_second_gradient(t, x, y):
    first, second = two_results(t)(x, y)
    (g,) = t.autograd.grad((first * first).sum(), [x], create_graph=True)
    return t.autograd.grad(g.sum(), [second, first, x], allow_unused=True)


def result_that_a_gradient_does_not_need(t, x, y):
    first, _ = two_results(t)(x, y)
    (g,) = t.autograd.grad((first * y).sum(), [x], create_graph=True)
    return t.autograd.grad(g.sum(), [first, y, x], allow_unused=True)


def hooks_of_siblings(t, x, y):
    first, second = two_results(t)(x, y)
    seen = []
    for one in (second, first):
        one.register_hook(lambda g: seen.append(g))
    second.retain_grad()
    first.sum().backward()
    return [*sorted(seen, key=lambda g: g is None), second.grad, x.grad]


@pytest.mark.parametrize("program", [
    unused_sibling, below_an_unused_sibling, sibling_of_a_second_gradient,
    result_that_a_gradient_does_not_need, hooks_of_siblings,
])  # fmt: skip
def test_a_result_through_which_nothing_flows_has_no_gradient(program):
    def run(t):
        x, y = (t.tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 4.0]))
        return values_of(program(t, x, y))

    assert run(torch) == run(peer)
