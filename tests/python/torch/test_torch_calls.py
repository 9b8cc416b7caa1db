"""Functions and switches as the bindings make them: what Python asks of functions they answer, and
known calls are told from others."""

import copy
import inspect
import pickle
import threading

import numpy as np
import pytest

import composit.torch as torch
from composit.torch import materializing, steps


def test_functions_are_as_pythons():
    assert pickle.loads(pickle.dumps(torch.sigmoid)) is torch.sigmoid
    assert copy.deepcopy(torch.relu) is torch.relu
    assert list(inspect.signature(torch.softmax).parameters)[:2] == ["input", "dim"]
    x = torch.tensor([1.0, -2.0])
    assert x.abs.__self__ is x and torch.Tensor.abs(x).tolist() == [1.0, 2.0]
    assert "abs" in repr(torch.abs) and torch.abs.__name__ == "abs"
    torch.abs.mine = 3  # and attributes of one's own
    assert torch.abs.mine == 3
    del torch.abs.mine


def test_tensors_have_attributes_of_their_own():
    x = torch.tensor([1.0])
    x.mine = [1]
    assert copy.copy(x).mine is x.mine and x.__dict__ == {"mine": [1]}


def test_switches_nest_decorate_and_belong_to_threads():
    switch = torch.no_grad()
    with switch, switch:
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
        assert seen == [True]
    assert torch.is_grad_enabled()

    @torch.no_grad
    def plain(x):
        return x * torch.is_grad_enabled()

    @torch.enable_grad()
    def recorded(x):
        return x * torch.is_grad_enabled()

    with torch.no_grad():
        assert (plain(2), recorded(2)) == (0, 2)
    with pytest.raises(ZeroDivisionError), torch.inference_mode():
        1 / 0
    assert torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    with pytest.raises(TypeError):
        torch.no_grad(1, 2)
    with pytest.raises(RuntimeError, match="was not entered"):
        torch.no_grad().__exit__(None, None, None)


def test_known_calls_are_told_from_others():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])

    def calls(dim, factor, keepdim):
        product = x * factor
        y = torch.sum(product, dim=dim, keepdim=keepdim)
        materializing.materialize(y)
        return product.numpy(), y.numpy()

    for _ in range(4):
        for dim in (0, 1):
            for factor in (2.0, 2, -0.0, True, np.float32(3)):
                for keepdim in (False, True):
                    wanted = x.numpy() * factor
                    expected = wanted.sum(axis=dim, keepdims=keepdim)
                    product, found = calls(dim, factor, keepdim)
                    assert found.shape == expected.shape and found.dtype == np.float32
                    assert (found == expected).all()
                    assert (np.signbit(product) == np.signbit(wanted)).all()


def test_a_known_evaluation_reports_what_it_meets():
    table, places = torch.arange(6.0).reshape(3, 2), torch.tensor([0, 2])

    def rows():
        return torch.nn.functional.embedding(places, table).numpy()

    for _ in range(4):
        assert rows().tolist() == [[0.0, 1.0], [4.0, 5.0]]
    places = torch.tensor([0, 7])
    for _ in range(2):
        with pytest.raises(IndexError, match="index 7 is out of bounds"):
            rows()
    places = torch.tensor([1, 1])
    assert rows().tolist() == [[2.0, 3.0], [2.0, 3.0]]


def test_what_is_let_go_of_while_a_trace_ends_may_compute():
    x, seen = torch.tensor([1.0, 2.0]), []

    class Last:
        def __del__(self):
            seen.append((x * 3).sum().item())

    def step():
        y = x * 2
        y.mine = Last()
        materializing.materialize(y)
        del y
        torch.sum(x + 1).item()

    for _ in range(6):
        step()
    assert seen == [9.0] * 6


@pytest.mark.on_cpu  # where looks end traces
def test_traces_that_something_holds_are_not_taken_again():
    x, held = torch.tensor([1.0, 2.0]), []
    for number in range(6):
        y = x + number
        held.append((steps.current(), steps.current().mark))
        y.tolist()
    assert len({id(trace) for trace, _ in held}) == 6
    assert all(trace.mark == mark and trace.entries for trace, mark in held)
    marks = set()
    held.clear()
    for number in range(6):
        (x + number).tolist()
        marks.add(steps.current().mark)
    assert len(marks) == 6


def test_lists_nested_without_end_are_refused():
    x = torch.ones(3)
    listed, deep = [x], ()
    listed.append(listed)
    for _ in range(200_000):
        deep = (deep,)
    for call in (torch.cat, torch.stack, x.__getitem__):
        for value in (listed, deep):
            with pytest.raises((RecursionError, ValueError), match=r"recursion|too many"):
                call(value)


@pytest.mark.parametrize("out", ["list", 3, "ab"])
def test_what_is_written_to_is_a_tensor(out):
    x = torch.ones(2)
    out = [x] if out == "list" else out
    with pytest.raises(TypeError, match=r"add: an argument is .*A Tensor of composit.torch is"):
        torch.add(x, x, out=out)
    with pytest.raises(TypeError, match=r"max: an argument is 1.*A Tensor of composit.torch is"):
        torch.max(x, 0, out=(1, 2))
