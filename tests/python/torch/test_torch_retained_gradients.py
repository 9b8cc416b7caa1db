"""retain_grad beside PyTorch's: grad() and backward(inputs) fill the gradients of results that they
go through, and what was said stays after backward()."""

import pytest
import torch as peer

import composit.torch as torch


def asked_for_the_leaf(t, a, b):
    c = b * 3
    c.retain_grad()
    return [*t.autograd.grad(c.sum(), [a]), b.grad, c.grad, a.grad]


def asked_for_itself(t, a, b):
    return [*t.autograd.grad((b * 3).sum(), [b]), b.grad]


def another_way(t, a, b):
    c = a * 5
    return [*t.autograd.grad((b * 3 + c).sum(), [c]), b.grad]


def twice(t, a, b):
    z = (b * b).sum()
    t.autograd.grad(z, [a], create_graph=True)
    t.autograd.grad(z, [a])
    return [b.grad]


def the_output(t, a, b):
    z = b.sum()
    z.retain_grad()
    t.autograd.grad(z, [a])
    return [z.grad]


def through_a_hook(t, a, b):
    b.register_hook(lambda g: g * 10)
    return [*t.autograd.grad((b * 3).sum(), [a]), b.grad]


def backward_to_inputs(t, a, b):
    c = b * 2
    c.retain_grad()
    (c * b).sum().backward(inputs=[b])
    return [b.grad, c.grad, a.grad]


@pytest.mark.parametrize("program", [
    asked_for_the_leaf, asked_for_itself, another_way, twice, the_output, through_a_hook,
    backward_to_inputs,
])  # fmt: skip
def test_results_on_the_way_keep_their_gradients(program):
    def run(t):
        a = t.tensor([1.0, 2.0], requires_grad=True)
        b = a * 2
        b.retain_grad()
        found = program(t, a, b)
        return [None if x is None else x.tolist() for x in found], b.retains_grad, a.retains_grad

    assert run(torch) == run(peer)


def test_it_is_known_after_backward_and_is_not_passed_on():
    def run(t):
        a = t.tensor([1.0, 2.0], requires_grad=True)
        b = a * 2
        before = b.retains_grad
        b.retain_grad()
        (b * 2).sum().backward()
        return before, b.retains_grad, b.detach().retains_grad, (a * 2).retains_grad

    assert run(torch) == run(peer)


def test_a_gradient_of_a_graph_may_be_differentiated():
    def run(t):
        a = t.tensor([1.0, 2.0], requires_grad=True)
        b = a * 2
        b.retain_grad()
        t.autograd.grad((b * b).sum(), [a], create_graph=True)
        return b.grad.tolist(), b.grad.requires_grad

    assert run(torch) == run(peer)
