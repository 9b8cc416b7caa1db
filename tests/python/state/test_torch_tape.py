"""Gradients belong to the values that operations used, whatever was written since: whole programs
under PyTorch and composit.torch."""

import numpy as np
import pytest
import torch

import composit.torch as ours

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def leaf(t, values=(1.0, 2.0)):
    return t.tensor(list(values), requires_grad=True)


# ----- leaves that are written between forward and backward


WRITES = {
    "data_mul": lambda t, x: x.data.mul_(10),
    "data_copy": lambda t, x: x.data.copy_(t.tensor([5.0, 6.0])),
    "data_clamp": lambda t, x: x.data.clamp_(-1, 1),
    "data_element": lambda t, x: x.data.__setitem__(0, 7),
    "data_slice": lambda t, x: x.data[1:].mul_(3),
    "data_view_of_view": lambda t, x: x.data.view(2, 1)[0].add_(2),
    "data_out": lambda t, x: t.add(t.ones(2), 1, out=x.data),
    "detach": lambda t, x: x.detach().mul_(10),
    "detach_twice": lambda t, x: x.detach().detach().add_(1),
}


@pytest.mark.parametrize("operation", ["3 * x", "x * x", "x + 1", "x.exp()", "x[0] * x.sum()"])
@pytest.mark.parametrize("name", WRITES)
def test_writes_into_leaves(name, operation):
    def run(t):
        x = leaf(t)
        y = eval(operation, {"x": x})
        WRITES[name](t, x)
        try:
            y.sum().backward()
        except RuntimeError as error:
            return str(error).split(":")[0].split(" [")[0], x.tolist()
        return x.grad.tolist(), x.tolist(), y.tolist()

    assert run(ours) == run(torch)


@program
def assigned(t):
    x = leaf(t)
    y = x * 3
    x.data = t.tensor([9.0, 9.0])
    (y.sum() + (x * 5).sum()).backward()
    return x.grad, x


@program
def no_grad(t):
    x = leaf(t)
    y = x * 3
    with t.no_grad():
        x.mul_(10)
        x[0] = 4
    y.sum().backward()
    return x.grad, x


@program
def every_reading_counts(t):
    x = leaf(t)
    total = 0
    for step in range(4):
        total = total + (x * (step + 1)).sum()
        with t.no_grad():
            x += 1
    total.backward()
    return x.grad, x


@program
def by_autograd_grad(t):
    w = leaf(t)
    y = (w * 3).sum()
    w.data.add_(1)
    return t.autograd.grad(y, w)[0]


@program
def saved_value_and_second_derivative(t):
    x = leaf(t)
    y = (x * x * x).sum()
    x.data.mul_(2)
    (g,) = t.autograd.grad(y, x, create_graph=True)
    return g


# ----- results that autograd does not see written


@program
def result_by_data(t):
    x = leaf(t)
    h = x * 3
    h.data.mul_(10)
    y = h * 2
    y.sum().backward()
    return x.grad, y


@program
def result_by_data_after_use(t):
    x = leaf(t)
    h = x * 3
    y = h * 2
    h.data.mul_(10)
    y.sum().backward()
    return x.grad, y


@program
def result_saved(t):
    x = leaf(t)
    h = x.exp()
    y = h * h
    h.data.fill_(1)
    y.sum().backward()
    return x.grad, y


@program
def result_by_element(t):
    x = leaf(t)
    h = x * 3
    h.data[0] = 0
    y = (h * 2).sum()
    y.backward()
    return x.grad, y


@program
def result_by_detach(t):
    x = leaf(t, (-1.0, 2.0))
    h = x * 3
    h.detach().clamp_(min=0)
    y = (h * 2).sum()
    y.backward()
    return x.grad, y


@program
def result_under_no_grad(t):
    x = leaf(t)
    h = x * 3
    with t.no_grad():
        h.mul_(10)
    y = h + 1
    y.sum().backward()
    return x.grad, y, h.requires_grad


@program
def view_under_no_grad(t):
    x = leaf(t, (1.0, 2.0, 3.0))
    h = x * 3
    with t.no_grad():
        h[1:].zero_()
    (h * t.tensor([1.0, 2.0, 4.0])).sum().backward()
    return x.grad, h


@program
def result_assigned(t):
    x = leaf(t)
    h = x * 3
    h.data = t.tensor([7.0, 8.0])
    y = h + 1
    y.sum().backward()
    return x.grad, y


@program
def written_by_function(t):
    class Put(t.autograd.Function):
        @staticmethod
        def forward(ctx, buffer, value, place):
            ctx.place = place
            buffer.data[place] = value
            return buffer

        @staticmethod
        def backward(ctx, gradient):
            return gradient, gradient[ctx.place], None

    x = leaf(t)
    buffer = t.zeros(2)
    buffer = Put.apply(buffer, x[0] * 2, 0)
    buffer = Put.apply(buffer, x[1] * 5, 1)
    buffer.sum().backward()
    return x.grad, buffer


# ----- parameters that are stepped between forward and backward


@program
def stepped(t):
    b = leaf(t)
    sgd = t.optim.SGD([b], 0.1)
    y = (b + 1).sum()
    (b * 2).sum().backward()
    sgd.step()
    b.grad = None
    y.backward()
    return b.grad, b


@program
def bias_of_linear(t):
    layer = t.nn.Linear(2, 2)
    sgd = t.optim.SGD([layer.bias], 0.1)
    x = t.ones(1, 2)
    y1, y2 = layer(x).sum(), layer(x * 2).sum()
    y1.backward()
    sgd.step()
    sgd.zero_grad()
    layer.weight.grad = None
    y2.backward()
    return layer.bias.grad, layer.weight.grad


@program
def two_losses_two_optimizers(t):
    e = t.nn.Parameter(t.zeros(3))
    one, two = t.optim.SGD([e], 0.1), t.optim.SGD([e], 0.1)
    z = e + t.ones(3)
    a, b = (z * t.tensor([1.0, 2, 3])).sum(), (z * 5).sum()
    a.backward(retain_graph=True)
    one.step()
    one.zero_grad()
    b.backward()
    two.step()
    return e, e.grad


@program
def lagrangian(t):
    x, multiplier = leaf(t), t.tensor(0.5, requires_grad=True)
    total = (x * t.tensor([1.0, 3.0])).sum() + multiplier * 2
    total.backward(retain_graph=True)
    with t.no_grad():
        x -= 0.1 * x.grad
        x.grad.zero_()
    multiplier.grad = None
    total.backward()
    return x.grad, multiplier.grad


@program
def embedding(t):
    table = t.nn.Embedding(3, 2)
    sgd = t.optim.SGD(table.parameters(), 0.1)
    a, b = table(t.tensor([0])).sum(), table(t.tensor([1])).sum()
    a.backward()
    sgd.step()
    sgd.zero_grad()
    b.backward()
    return table.weight.grad


@program
def loaded(t):
    layer = t.nn.Linear(1, 1)
    y = layer(t.ones(1, 1)).sum()
    layer.load_state_dict({"weight": t.ones(1, 1), "bias": t.ones(1)})
    y.backward()
    return layer.weight.grad, layer.bias.grad, layer.weight


@program
def initialised(t):
    layer = t.nn.Linear(1, 1)
    y = layer(t.ones(1, 1)).sum()
    t.nn.init.zeros_(layer.bias)
    y.backward()
    return layer.weight.grad, layer.bias.grad


@program
def from_vector(t):
    layer = t.nn.Linear(1, 1)
    y = layer(t.ones(1, 1)).sum()
    t.nn.utils.vector_to_parameters(t.tensor([5.0, 6.0]), layer.parameters())
    y.backward()
    return layer.weight.grad, layer.bias.grad, layer.weight


@program
def average_of_weights(t):
    x = leaf(t)
    e = x.detach().clone()
    sgd = t.optim.SGD([x], 0.1)
    for _ in range(3):
        sgd.zero_grad()
        (x * x).sum().backward()
        sgd.step()
        e.data.mul_(0.9).add_(x.data, alpha=0.1)
        x.data.clamp_(-1.5, 1.5)
    return e, x, x.grad


def shown(value):
    if isinstance(value, (tuple, list)):
        return [shown(item) for item in value]
    if hasattr(value, "detach"):
        return np.asarray(value.detach().numpy()).tolist()
    return value


def same(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or abs(a - b) <= 1e-6 * max(abs(a), abs(b))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    expected, found = shown(PROGRAMS[name](torch)), shown(PROGRAMS[name](ours))
    assert same(found, expected), (found, expected)


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize(
    "update",
    [
        lambda p, t: p.data.add_(p.grad, alpha=-0.01),
        lambda p, t: p.data.sub_(0.01 * p.grad),
        lambda p, t: p.detach().sub_(0.01 * p.grad),
        lambda p, t: p.data.copy_(p.data - 0.01 * p.grad),
    ],
    ids=["add", "sub", "detach", "copy"],
)
def test_updates_by_hand_do_not_grow(update, looks):
    layer = ours.nn.Sequential(ours.nn.Linear(4, 8), ours.nn.Tanh(), ours.nn.Linear(8, 1))
    x = ours.ones(5, 4)
    for _ in range(20):
        for p in layer.parameters():
            p.grad = None
        loss = (layer(x) ** 2).mean()
        loss.backward()
        for p in layer.parameters():
            update(p, ours)
        if looks:
            loss.item()
    (layer(x) ** 2).mean().item()
    for p in layer.parameters():
        assert p.lazy_tensor.node.is_constant


# No gradient goes from what was there before to what that was made of.
PARTS = {
    "row": lambda t, d, x: d[0].copy_(x),
    "row assigned": lambda t, d, x: d.__setitem__(0, x),
    "elements": lambda t, d, x: d.view(-1)[:3].copy_(x),
    "column": lambda t, d, x: d[:, 0].mul_(x[0]),
    "twice": lambda t, d, x: (d.__setitem__(0, x), d[1].add_(d[0])),
    "two views": lambda t, d, x: (
        d.view(-1).__setitem__(1, x[0]), d.view(3, 2)[2].__setitem__(1, x[1])),
    "diagonal": lambda t, d, x: d.diagonal().copy_(x[:2]),
    "mask": lambda t, d, x: d.__setitem__(d > 2, x[0]),
    "index": lambda t, d, x: d.__setitem__(t.tensor([0]), x),
}  # fmt: skip
MADE = {
    "clone": lambda t, w: w.detach().clone(),
    "detached": lambda t, w: (w * 3).detach(),
    "product": lambda t, w: w.detach() * 2,
    "of a leaf": lambda t, w: w.detach(),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_recorded_leaves_the_rest_without_gradients(part, made):
    found = []
    for t in (torch, ours, ours):
        w = t.tensor([[1.5, 1.5, 0.0], [1.5, 2.5, -0.5]]).requires_grad_()
        v = t.tensor([-0.5, 1.5, -1.5]).requires_grad_()
        d = MADE[made](t, w)
        PARTS[part](t, d, v * 2)
        ((d * d).sum() + w.sum()).backward()
        found.append((v.grad.tolist(), w.grad.tolist()))
    assert found[1:] == [found[0]] * 2


COPIES = {
    "clone": lambda t, x: x.clone(),
    "copy": lambda t, x: t.zeros(3).copy_(x),
    "slice": lambda t, x: (made := t.empty(3)).__setitem__(slice(None), x) or made,
    "one part": lambda t, x: t.cat([x]),
    "new": lambda t, x: x.detach().clone(),
}


@pytest.mark.parametrize("copy", COPIES)
def test_copies_that_were_saved_are_told_apart(copy):
    found = []
    for t in (torch, ours, ours):
        w, x = leaf(t, [1.0, 2.0, 3.0]), t.tensor([2.0, -1.0, 0.5])
        y = (w * x).sum() + (w * COPIES[copy](t, x) * 10).sum()
        x.data.mul_(2)
        y.backward()
        found.append(w.grad.tolist())
    assert found == [[24, -12, 6]] * 3


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_a_view_that_became_a_leaf_is_refused_as_a_view(shape):
    for t in (torch, ours):
        x = leaf(t, [1.0, 2.0, 3.0]).detach().view(shape).requires_grad_()
        for write in (
            lambda x: x.fill_(1),
            lambda x: x.__setitem__(0, 1.0),
            lambda x: x.__setitem__(0, x.sum()),
            lambda x: x.contiguous().__setitem__(slice(1), x.sum() * 0.1),
            lambda x: x[1:].mul_(x[:2].detach()),
        ):
            with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable"):
                write(x)
        x.requires_grad_(False).fill_(1)
        assert x.sum() == 3


def test_a_detached_tensor_alone_keeps_the_gradients_of_several_writes():
    found = []
    for t in (torch, ours, ours):
        v, w = leaf(t, [-1.0, 2.0]), leaf(t, [0.5, 0.25])
        x = t.ones(2, 2)
        x = x.detach()
        x[0] = v.sum() * 0.1
        x.data.add_(w.detach(), alpha=0.5)
        x[-1, 0] = w.sum() * 0.1
        (x * 0.5).sum().backward()
        found.append((x.tolist(), v.grad.tolist(), w.grad.tolist()))
    assert found[1:] == [found[0]] * 2
