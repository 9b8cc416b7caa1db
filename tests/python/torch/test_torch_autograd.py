"""composit.torch's autograd, views, in-place operations, printing, errors and memory."""

import subprocess
import sys

import numpy as np
import pytest
import torch as peer

import composit.torch as torch
from composit.examples import xor


def in_both(function):
    """What the function prints and returns in both libraries is the same text."""
    texts = [repr(function(library)) for library in (torch, peer)]
    assert texts[0] == texts[1]


def test_gradients_add_up_until_they_are_forgotten():
    def steps(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
        (x * 3).sum().backward()
        first = x.grad.tolist()
        x.grad = None
        x.exp().sum().backward()
        return first, x.grad

    in_both(steps)


def test_what_is_detached_gets_no_gradient():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = x.detach()
        with t.no_grad():
            z = x * 2
        (x * y * z).sum().backward()
        return x.grad, y.requires_grad, z.requires_grad, z.is_leaf, (x * 1).is_leaf

    in_both(values)


def test_tensors_that_retain_gradients_and_grad_of_what_is_no_leaf():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = x * x
        (of_y,) = t.autograd.grad((y * 3).sum(), y)
        y = x * x
        y.retain_grad()
        (y * 3).sum().backward()
        return x.grad, y.grad, of_y

    in_both(values)


def test_an_output_flows_into_itself():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        (first,) = t.autograd.grad(y, x, y.detach(), retain_graph=True)
        (second,) = t.autograd.grad(y, x, y, create_graph=True)
        return first, second.detach(), t.autograd.grad(second.sum(), x)

    in_both(values)


def test_second_derivatives():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        (g,) = t.autograd.grad((x**3).sum(), x, create_graph=True)
        (h,) = t.autograd.grad(g.sum(), x, retain_graph=True)
        g.sum().backward()
        return h, x.grad

    in_both(values)


def test_hooks_of_leaves():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        handle = x.register_hook(lambda g: g * 10)
        (x * 2).sum().backward()
        handle.remove()
        (x * 2).sum().backward()
        return x.grad

    in_both(values)


def test_a_graph_is_walked_once_unless_it_is_retained():
    x = torch.tensor([1.0], requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_views_share_memory():
    def values(t):
        x = t.zeros(2, 3)
        row, column, line = x[0], x[:, 1], x.view(-1)
        row += 1
        column.mul_(5)
        line[5] = 7
        x.T[2, 0] = 9
        copy = x.clone()
        x.fill_(3)
        return x, row, column, line, copy

    in_both(values)


def test_in_place_operations_are_recorded():
    def values(t):
        x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * 2
        y[0] = 10.0
        y[1:] *= x[1:]
        y.add_(x)
        y.sum().backward()
        return x.grad, y.detach()

    in_both(values)


def test_leaves_are_written_outside_the_record():
    def values(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
        with t.no_grad():
            x -= 0.1 * x.grad
            x.grad.zero_()
        (x * x).sum().backward()
        x.data = x.data * 2
        return x, x.grad, x.is_leaf

    in_both(values)
    x = torch.tensor([1.0], requires_grad=True)
    for write in (lambda: x.add_(1), lambda: x.__setitem__(0, 1.0), lambda: x[0].mul_(2)):
        with pytest.raises(RuntimeError, match="requires grad is being used in an in-place"):
            write()


def test_a_value_that_is_asked_for_before_backward_changes_nothing():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.exp()
    loss = (h * h).sum()
    before = loss.item()
    assert h.sum().item() > 0
    loss.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([2.0, 4.0]), rtol=1e-6)
    assert loss.item() == before


def test_errors_are_those_of_pytorch_and_name_the_line():
    def line(library):
        return [
            lambda: library.zeros(2, 3) @ library.zeros(2, 3),
            lambda: library.zeros(2) + library.zeros(3),
            lambda: library.zeros(2, 3).reshape(4),
            lambda: library.zeros(2).backward(),
            lambda: library.zeros(2, requires_grad=True).numpy(),
            lambda: (library.zeros(2, requires_grad=True) * 1).backward(),
            lambda: library.nn.Linear(2, 3)(library.zeros(1, 3)),
            lambda: library.zeros(2).int().requires_grad_(),
            lambda: library.zeros(2, 3).sum(5),
            lambda: library.arange(3).mean(),
            lambda: bool(library.zeros(2)),
            lambda: library.zeros(3)[5],
        ]

    for mine, theirs in zip(line(torch), line(peer)):
        with pytest.raises(Exception) as expected:
            theirs()
        with pytest.raises(expected.type):
            mine()
    with pytest.raises(RuntimeError, match=r"test_torch_autograd\.py"):
        torch.zeros(2, 3) @ torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match=r"device 'cuda:99' is not here.*; available: cpu"):
        torch.zeros(2, device="cuda:99")
    with pytest.raises(
        AttributeError, match=r"composit\.torch\.sparse_csr_tensor is not built yet"
    ):
        torch.sparse_csr_tensor
    assert torch.is_cuda_available() == torch.cuda.is_available()


PRINTED = [
    lambda t: t.tensor([1.0, 2.5, -3.0]), lambda t: t.tensor(2.0), lambda t: t.tensor([]),
    lambda t: t.arange(2000), lambda t: t.zeros(3, 4, 5), lambda t: t.tensor([1e-7, 1.0]),
    lambda t: t.tensor([1e10, 1.0]), lambda t: t.tensor([float("nan"), 1.5, float("inf")]),
    lambda t: t.tensor([True, False]), lambda t: t.tensor([1, 20, -3], dtype=t.int32),
    lambda t: t.tensor([1.0], dtype=t.float64), lambda t: t.tensor([1.0], requires_grad=True) * 2,
    lambda t: t.nn.Parameter(t.ones(2)), lambda t: t.linspace(0, 1, 30),
    lambda t: t.tensor([1 + 2j, -0.5j]), lambda t: t.zeros(0, 3), lambda t: t.ones(2).shape,
    lambda t: t.ones(40, 40), lambda t: t.tensor([[1.0, 2.0], [3.0, 4.0]]).max(0),
    lambda t: t.ones(2, 2, 2, requires_grad=True), lambda t: t.ones(3).half(),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_tensors_are_printed_as_pytorch_prints_them(number):
    in_both(PRINTED[number])


def test_the_same_seed_gives_the_same_numbers():
    torch.manual_seed(3)
    first = torch.rand(5), torch.randn(2, 2), torch.randperm(9), torch.randint(0, 9, (4,))
    torch.manual_seed(3)
    again = torch.rand(5), torch.randn(2, 2), torch.randperm(9), torch.randint(0, 9, (4,))
    assert all(torch.equal(a, b) for a, b in zip(first, again))
    assert sorted(first[2].tolist()) == list(range(9))
    assert not torch.equal(torch.rand(5), torch.rand(5))


def test_xor_is_learnt_under_both_imports():
    torch.manual_seed(1)
    peer.manual_seed(1)
    for library in (torch, peer):
        targets, prediction, softmax = xor.train(library, 1500)
        assert targets.tolist() == prediction.tolist() == [1, 0, 0, 1]
        assert softmax.shape == (4, 2)


GROWTH = """
import gc
import threading
import composit
import composit.torch as torch

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters())
x, y = torch.rand(16, 4), torch.randint(0, 2, (16,))
losses = torch.zeros(())

def memory():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4, len(gc.get_objects())

def steps(count):
    global losses
    for _ in range(count):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses += loss.detach()

steps(1500)
for thread in threading.enumerate():  # the program is compiled once, which takes memory once
    if thread is not threading.current_thread():
        thread.join()
steps(500)
kilobytes, objects = memory()
plans = composit._core.plan_statistics()[0]
steps(3000)
more, others = memory()
assert composit._core.plan_statistics()[0] <= plans + 1
assert more - kilobytes < 1024, more - kilobytes
assert others - objects < 200, others - objects
assert all(len(p.lazy_tensor.graph) == 1 for p in model.parameters())
"""


def test_training_that_never_asks_for_a_value_does_not_grow():
    """Neither plans nor memory, in a process of its own: a step's graph is let go of when the step
    was computed."""
    subprocess.run([sys.executable, "-c", GROWTH], check=True)


def test_a_loop_of_updates_by_hand_does_not_grow():
    w = torch.zeros(3, requires_grad=True)
    for _ in range(300):
        (w - 1).square().sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    assert len(w.lazy_tensor.graph) < 20
    np.testing.assert_allclose(w.detach().numpy(), 1, rtol=1e-5)


@pytest.mark.parametrize("write", ["data", "copy", "add", "element"])
def test_a_buffer_that_no_loss_reads_does_not_grow(write):
    """What was written through a view, or through `.data`, has its value after a step."""
    memory, weight = torch.zeros(8, 2), torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    counts = []
    for step in range(12):
        value = (weight * (step + 1.0)).sin()
        with torch.no_grad():
            if write == "data":
                memory.data[step % 8] = value.detach()
            elif write == "copy":
                memory[step % 8].copy_(value.detach())
            elif write == "add":
                memory.data.add_(value.detach())
            else:
                memory[step % 8] = value.detach()
        optimizer.zero_grad()
        value.sum().backward()
        optimizer.step()
        counts.append(len(memory.lazy_tensor.graph))
    assert counts == [1] * 12


FEWER_GRADIENTS = {
    "backward": (lambda t, y, one: t.autograd.backward([y, y], [one]), 2, 1),
    "backward, none": (lambda t, y, one: y.backward(()), 1, 0),
    "grad": (lambda t, y, one: t.autograd.grad((y, y), y, (one,)), 2, 1),
}


@pytest.mark.parametrize("name", FEWER_GRADIENTS)
def test_fewer_gradients_than_tensors(name):
    call, tensors, gradients = FEWER_GRADIENTS[name]
    for t in (peer, torch):
        y = t.ones(3, requires_grad=True).sum()
        with pytest.raises(RuntimeError, match=f"got {tensors} tensors and {gradients} gradients"):
            call(t, y, t.tensor(1.0))


DTYPES = ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128"]  # fmt: skip


def cube(x):
    return x * x * x


def into_backward(t, x, v):
    x.requires_grad_()
    cube(x).backward(v)
    return x.grad


def into_a_leaf(t, x, v):
    x.requires_grad_()
    x.backward(v)
    return x.grad


def into_grad(t, x, v):
    x.requires_grad_()
    return t.autograd.grad([cube(x), x * 2], x, [v, v], create_graph=True)[0].detach()


def into_vjp(t, x, v):
    return t.autograd.functional.vjp(cube, x, v)[1]


def into_jvp(t, x, v):
    return t.autograd.functional.jvp(cube, x, v)[1]


@pytest.mark.parametrize("flow", [into_backward, into_a_leaf, into_grad, into_vjp, into_jvp])
@pytest.mark.parametrize("output", ["float16", "float32", "float64", "complex64"])
def test_what_flows_into_an_output_is_cast_to_its_dtype(output, flow):
    for given in DTYPES:
        found = []
        for t in (torch, peer):
            x, v = t.tensor([1.0, 2.0]), t.tensor([1.0, 3.0])
            try:
                made = flow(t, x.to(getattr(t, output)), v.to(getattr(t, given)))
                found.append((made.dtype.__repr__(), made.tolist()))
            except RuntimeError as error:
                found.append(str(error).split(" [")[0])
        assert found[0] == found[1], given


def test_a_gradient_goes_through_the_cast_of_what_flows_in():
    def second(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        v = t.tensor([1.0, 3.0], dtype=t.float64, requires_grad=True)
        (first,) = t.autograd.grad(cube(x), x, v, create_graph=True)
        return t.autograd.grad(first.sum(), v)

    in_both(second)
