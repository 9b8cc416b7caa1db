"""Gradients of what torch.vmap maps: by its arguments, and by what its function uses."""

import sys
from pathlib import Path

import torch as peer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, torch


def test_gradients_reach_arguments_and_what_the_function_uses():
    def program(t):
        x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        w = t.tensor([0.5, -1.0], requires_grad=True)
        middle = w * 2
        made = t.vmap(lambda row, k: (row * middle).sum() * k)(x, t.tensor([2.0, 3.0]))
        made.sum().backward()
        return made, made.requires_grad, x.grad, w.grad

    check_same(program)


def test_gradients_go_through_maps_of_maps():
    def program(t):
        x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        bias = t.tensor([0.5, -1.0, 2.0], requires_grad=True)
        inner = t.vmap(lambda a, b: a * a + b, in_dims=(0, None))
        made = t.vmap(t.vmap(inner, in_dims=(None, 0)), in_dims=(0, None))(x, bias)
        (made * t.arange(12.0).reshape(2, 3, 2)).sum().backward()
        return made, x.grad, bias.grad

    check_same(program)


def test_what_is_detached_has_no_gradient():
    def program(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        w = t.tensor(3.0, requires_grad=True)
        with t.no_grad():
            still = w * 2
        made = t.vmap(lambda a: (a * still * w, a.detach() * 2, a.detach() * w))(x)
        sum(part.sum() for part in made).backward()
        with t.no_grad():
            none = t.vmap(lambda a: a * w)(x)
        return [part.requires_grad for part in made], none.requires_grad, x.grad, w.grad

    check_same(program)


def test_gradients_of_gradients():
    def program(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        made = t.vmap(lambda a: a**3)(x).sum()
        (first,) = t.autograd.grad(made, x, create_graph=True)
        (second,) = t.autograd.grad(first.sum(), x)
        return first, second

    check_same(program)


def test_transforms_of_maps_are_as_before():
    def program(t):
        w = t.tensor([2.0, 3.0], requires_grad=True)
        x = t.tensor([1.0, 2.0])
        of = t.func.grad(lambda y: t.vmap(lambda a, b: a * a * b)(y, w).sum())
        return of(x), t.vmap(t.func.grad(lambda a: a**2))(x).requires_grad

    mine, theirs = program(torch), program(peer)
    assert mine[0].tolist() == theirs[0].tolist() and mine[1] == theirs[1]


def test_a_module_within_a_map_is_trained():
    def program(t):
        layer = t.nn.Linear(2, 1)
        with t.no_grad():
            layer.weight.copy_(t.tensor([[1.0, -1.0]]))
            layer.bias.zero_()
        optimizer = t.optim.SGD(layer.parameters(), 0.01)
        x = t.tensor([[1.0, 2.0], [3.0, 5.0], [0.5, 1.0]])
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = t.vmap(lambda row: layer(row).square().sum())(x).mean()
            loss.backward()
            optimizer.step()
            losses.append(round(loss.item(), 4))
        return losses

    check_same(program)


def check_new_leaf(requires_grad):
    torch.manual_seed(0)
    table = torch.randn(3, 4, requires_grad=requires_grad)
    found = torch.vmap(lambda i: table[i].sum())(torch.tensor([2, 0]))
    assert found.tolist() == [table[2].sum().item(), table[0].sum().item()]


def test_new_leaves_are_used_within_maps():
    """Their values are computed when they are first used, and those of the map's own numbers are
    not."""
    check_new_leaf(True)
    check_new_leaf(False)


def test_numbers_of_a_map_are_indices():
    def program(t):
        table = t.arange(12.0).reshape(3, 4)
        rows, columns = t.tensor([2, 0, 1]), t.tensor([1, 3, 0])
        one = t.vmap(lambda r, c: table[r, c])(rows, columns)
        return one if t is torch else table[rows, columns]

    check_same(program)
