"""Leaves in memory that others see: what was detached, views, and parameters made of either. Writes
reach all names of a memory; gradients go to the leaf that was read."""

import time

import pytest
import torch

import composit.numpy as cnp
import composit.torch as ours

BOTH = pytest.mark.parametrize("t", [torch, ours], ids=["torch", "composit"])


@BOTH
def test_writes_into_a_leaf_reach_what_it_was_detached_from(t):
    x = t.ones(3)
    z = x.detach().requires_grad_(True)
    with t.no_grad():
        z.add_(1)
    assert x.tolist() == z.tolist() == [2, 2, 2]


@BOTH
def test_writes_reach_a_leaf(t):
    x = t.ones(4)
    z = x.view(2, 2).requires_grad_()
    x[0] = 5
    (z * z).sum().backward()
    assert z.tolist() == [[5, 1], [1, 1]] and z.grad.tolist() == [[10, 2], [2, 2]]


@BOTH
def test_a_view_becomes_a_leaf_where_it_lies(t):
    x = t.ones(2, 2)
    z = x.t().requires_grad_()
    (z[0] * t.tensor([1.0, 2])).sum().backward()
    with t.no_grad():
        z -= z.grad
    assert z.is_leaf and x.tolist() == [[0, 1], [-1, 1]]


@BOTH
def test_a_result_keeps_its_gradient_when_a_leaf_in_its_memory_is_written(t):
    w = t.ones(3, requires_grad=True)
    y = w * 2
    z = y.detach().requires_grad_(True)
    (z * z).sum().backward()
    z.data.mul_(3)
    assert y.tolist() == [6, 6, 6]
    (y * y).sum().backward()
    assert z.grad.tolist() == [4, 4, 4] and w.grad.tolist() == [24, 24, 24]


@BOTH
def test_leaves_of_one_memory_have_gradients_of_their_own(t):
    x = t.ones(3, requires_grad=True)
    z = x.detach().requires_grad_(True)
    p, q = t.nn.Parameter(z), t.nn.Parameter(z)
    (x * 2 + z * 3 + p * 4 + q * 5).sum().backward()
    found = [leaf.grad.tolist()[0] for leaf in (x, z, p, q)]
    assert found == [2, 3, 4, 5]


@BOTH
def test_an_optimiser_writes_through_its_parameters(t):
    table = t.zeros(2, 3)
    rows = [t.nn.Parameter(row) for row in table]
    optimizer = t.optim.SGD(rows, 1.0)
    for _ in range(3):
        optimizer.zero_grad()
        sum((row * (i + 1)).sum() for i, row in enumerate(rows)).backward()
        optimizer.step()
    assert table.tolist() == [[-3, -3, -3], [-6, -6, -6]]


@BOTH
def test_reading_what_a_parameter_was_made_of_gives_it_no_gradient(t):
    x = t.ones(3)
    p = t.nn.Parameter(x)
    (x * 7 + p).sum().backward()
    assert p.grad.tolist() == [1, 1, 1]


@BOTH
def test_assigned_data_is_shared(t):
    w, x = t.ones(2, requires_grad=True), t.tensor([3.0, 4.0])
    w.data = x
    x[0] = 5
    assert w.tolist() == [5, 4]
    with t.no_grad():
        w.mul_(2)
    assert x.tolist() == [10, 8]
    (x * 100 + w).sum().backward()
    assert w.grad.tolist() == [1, 1]


@BOTH
def test_a_saved_value_is_what_the_shared_memory_holds(t):
    w, x = t.ones(2, requires_grad=True), t.tensor([3.0, 4.0])
    w.data = x.detach()
    y = w * w
    x.mul_(10)  # which w's version does not tell
    y.sum().backward()
    assert w.grad.tolist() == [60, 80]


@BOTH
def test_names_of_a_memory_whose_first_name_is_gone_stay_one(t):
    x = t.tensor([-0.5, 2.0])
    other = x.detach()
    x = x.detach()
    for _ in range(3):
        x.add_(x)
    assert other.tolist() == [-4, 16]


@BOTH
def test_an_element_of_a_view_of_what_was_filled_is_a_view(t):
    x = t.tensor([[0.0, 0, 0], [0, 0, 0]])
    x.fill_(2.0)
    row = x[1]
    row[-1].mul_(0.5)
    x.reshape(-1)[1:].unbind()[0].mul_(3)
    assert x.tolist() == [[2, 6, 2], [2, 2, 1]]


@BOTH
def test_strides_tell_the_step_of_a_single_element(t):
    x = t.ones(2, 3)
    assert x[:, ::5].stride() == (3, 5) and x[::2].stride() == (6, 1)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[0][-1:][::2].mul_(x[0][-1:])
    assert cnp.arange(3.0)[2::-3].strides == (-24,)
    assert cnp.arange(3.0)[:0:2].strides == (8,)


def _milliseconds(step, x):
    taken = []
    for _ in range(2):
        for _ in range(60):
            x = step(x)
        begin = time.process_time()
        for _ in range(20):
            x = step(x)
        taken.append((time.process_time() - begin) * 50)
    return taken


def _descended(x):
    loss = (x * x).sum()
    (gradient,) = ours.autograd.grad(loss, x)
    made = (x - 0.05 * gradient).detach().requires_grad_(True)
    loss.item()
    return made


def _given_data(x):
    loss = (x * x).sum()
    loss.backward()
    x.data = x.data - 0.05 * x.grad
    x.grad = None
    loss.item()
    return x


STEPS = {
    "descended": _descended,
    "given data": _given_data,
    "detached": lambda x: (x * 0.95).detach().requires_grad_(True),
    "detached again": lambda x: x.detach(),
    "detached and alive": lambda x: (x.detach() * 0.95).requires_grad_().detach().requires_grad_(),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_loop_over_new_leaves_does_not_grow(step):
    for _ in range(3):
        first, last = _milliseconds(STEPS[step], ours.ones(5, requires_grad=True))
        if last <= 1.5 * first + 0.1:  # the history of 140 steps would take 2.3 times as long
            return
    raise AssertionError(f"{first} ms a step became {last}")


def test_exchanged_data_does_not_make_chains():
    a, b = ours.zeros(3, requires_grad=True), ours.ones(3, requires_grad=True)
    for _ in range(5000):
        a.data, b.data = b.data, a.data
    with ours.no_grad():
        a.add_(5)
    assert a.tolist() == [5, 5, 5] and b.tolist() == [1, 1, 1]


@BOTH
def test_views_of_memory_that_a_leaf_left_keep_their_gradients(t):
    w = t.tensor([[-1.5, 0.0, 2.0], [0.5, -2.0, 1.0]]).requires_grad_()
    view = w.view(-1)[::2]
    w.data = w.detach() * 0.5
    with t.no_grad():
        view.unfold(0, 2, 2)[0].fill_(0.25)
    assert view.tolist() == [0.25, 0.25, -2]
    (view * view).sum().backward()
    assert w.grad.tolist() == [[0.5, 0, 0.5], [0, -4, 0]]


@BOTH
@pytest.mark.parametrize("function", ["exp", "tanh", "sigmoid", "sqrt"])
def test_results_that_were_saved_stay_when_a_leaf_gets_other_data(t, function):
    slopes = []
    for _ in range(3):  # the second time, operations are known by their structure
        w = t.tensor([2.0, 1.0, 0.25]).requires_grad_()
        y = getattr(w.clamp(-2, 1.5), function)() * 0.5
        w.data = w.detach() * 0.5
        y.sum().backward()
        slopes.append(w.grad.tolist())
    x = torch.tensor([1.5, 1.0, 0.25], requires_grad=True)  # clamp asks what is there
    (getattr(x, function)() * 0.5).sum().backward()
    assert slopes == [pytest.approx(x.grad.tolist(), rel=1e-6)] * 3


@BOTH
@pytest.mark.parametrize("name", ["detached", "data", "whole", "shape", "element"])
def test_other_names_of_a_leaf_that_were_saved_show_what_they_did(t, name):
    names = {
        "detached": lambda w: w.detach(), "data": lambda w: w.data, "whole": lambda w: w[:],
        "shape": lambda w: w.view(w.shape), "element": lambda w: w[0].view(()).expand(2),
    }  # fmt: skip
    found = []
    for _ in range(3):
        w = t.tensor([-0.5, 1.5]).requires_grad_()
        y = names[name](w) * w
        if name != "element":
            y = y * w
        w.data = w.detach() * 0.5
        y.sum().backward()
        found.append(w.grad.tolist())
    # The leaf is saved itself, its other names as they were.
    old, new = torch.tensor([-0.5, 1.5]), torch.tensor([-0.25, 0.75])
    if name == "element":
        expected = old[0] + torch.stack([new.sum(), torch.tensor(0.0)])
    else:
        first = old * new if name in ("detached", "data") else (old + new) * new
        expected = first + old * old
    assert found == [expected.tolist()] * 3


@BOTH
def test_a_scalar_leaf_and_its_view(t):
    w = t.tensor(2.0).requires_grad_()
    y = w.view(()) * w
    w.data = w.detach() * 0.5
    y.backward()
    assert w.grad.item() == 3


def came_back(t):
    """`a` leaves its memory to `d`, and comes back as another name for it."""
    a, w = t.ones(3), (t.ones(3) * 2).requires_grad_()
    d = a.detach()
    a.data = w.detach()
    w.data = d
    a.data = w.data
    with t.no_grad():
        a.mul_(5)
    (w * w).sum().backward()
    return a, d, w, w.grad


def views_of_a_leaf_that_came_back(t):
    w = t.ones(4).requires_grad_()
    v = w.view(4)
    w.data = t.zeros(4)
    u = v.detach()
    w.data = u
    with t.no_grad():
        v.add_(1)
        u.mul_(3)
    (w * w).sum().backward()
    return v, u, w, w.grad


@pytest.mark.parametrize("program", [came_back, views_of_a_leaf_that_came_back])
def test_names_that_come_back_to_a_memory(program):
    expected = [x.tolist() for x in program(torch)]
    for _ in range(3):
        assert [x.tolist() for x in program(ours)] == expected
