"""Tensors of one value share a leaf: none sees what is done with another."""

import math

import pytest
import torch as peer

import composit.torch as torch

MAKERS = {
    "zeros": lambda: torch.zeros(2, 2),
    "full": lambda: torch.full((2, 2), 0.0),
    "full of an integer": lambda: torch.full((2, 2), 0),
    "zeros_like": lambda: torch.zeros_like(torch.ones(2, 2)),
    "arange": lambda: torch.arange(0, 4).reshape(2, 2),
}


@pytest.mark.parametrize("name", MAKERS)
def test_writing_one_leaves_the_other(name):
    a, b = MAKERS[name](), MAKERS[name]()
    before = MAKERS[name]().tolist()
    a.add_(1)
    a[0] = 7
    a.fill_(3)
    assert b.tolist() == before and MAKERS[name]().tolist() == before
    assert a.tolist() == [[3, 3], [3, 3]]


def test_each_has_a_gradient_of_its_own():
    a, b = torch.zeros(2).requires_grad_(), torch.zeros(2).requires_grad_()
    c, d = torch.zeros(2, requires_grad=True), torch.zeros(2)
    (a * 2 + b * 3 + c * 4 + d * 5).sum().backward()
    assert a.grad.tolist() == [2, 2] and b.grad.tolist() == [3, 3] and c.grad.tolist() == [4, 4]
    assert d.grad is None and not d.requires_grad
    x, y = torch.ones(2).requires_grad_(), torch.ones(2).requires_grad_()
    found = torch.autograd.grad((x * y * y).sum(), [x, y])
    assert [g.tolist() for g in found] == [[1, 1], [2, 2]]


def test_hooks_of_one_are_not_those_of_another():
    a, b = torch.zeros(2).requires_grad_(), torch.zeros(2).requires_grad_()
    a.register_hook(lambda g: g * 10)
    (a + b).sum().backward()
    assert a.grad.tolist() == [10, 10] and b.grad.tolist() == [1, 1]


def test_equal_values_that_differ():
    assert math.copysign(1, torch.full((1,), -0.0).item()) == -1
    assert math.copysign(1, torch.full((1,), 0.0).item()) == 1
    assert torch.full((1,), True).dtype == torch.bool
    assert torch.full((1,), 1).dtype == torch.int64
    assert torch.full((1,), 1.0).dtype == torch.float32
    assert math.isnan(torch.full((1,), float("nan")).item())
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.full((1,), 1.0).dtype == torch.zeros(1).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.zeros(1).dtype == torch.float32


def test_sizes_of_all_sorts():
    for made in (torch.zeros(2, 3), torch.zeros((2, 3)), torch.zeros([2, 3]),
                 torch.zeros(torch.Size([2, 3])), torch.full([2, 3], 0.0)):  # fmt: skip
        assert tuple(made.shape) == (2, 3)
    assert torch.zeros(()).shape == torch.zeros(torch.Size([])).shape == ()
    assert torch.arange(3).tolist() == [0, 1, 2] and torch.arange(5, 1, -2).tolist() == [5, 3]
    assert torch.arange(True, 3).dtype == torch.int64


def test_none_is_no_number():
    for make in (torch.tensor, torch.as_tensor):
        with pytest.raises(TypeError, match=r"None holds what is no number. Numbers are required"):
            make(None)


def test_lists_of_several_kinds_of_numbers_and_tuples():
    for data in ([1, 2.5, 3], (1, True), [(1, 2), [3, 4.0]], [[True, False]], [1, 2j], []):
        made, theirs = torch.tensor(data), peer.tensor(data)
        assert (made.tolist(), str(made.dtype)) == (theirs.tolist(), str(theirs.dtype))
