"""Leaves that are put into other memory: what views of the memory that they left receive and give,
in whatever order it was written, looked at and left."""

from itertools import permutations

import pytest
import torch

import composit.torch as ours


class Program:
    def __init__(self, t):
        self.t = t
        self.w = t.tensor([-2.0, -0.5, 1.0]).requires_grad_()
        self.x = t.tensor([-1.0, -0.5, 1.5])
        self.part = self.w[::2]
        self.logged = []

    def scale(self):
        self.w.detach().mul_(0.25)

    def leave(self):
        self.w.data = self.x.detach()

    def leave_for_more(self):
        self.w.data = self.w.data * 2

    def look(self):
        self.logged.append(self.x.sum().item())

    def look_at_part(self):
        self.logged.append(self.part.tolist())

    def clip_part(self):
        self.part.detach().clamp_(-1.5, 1.5)

    def clip_leaf(self):
        with self.t.no_grad():
            self.w.clamp_(-0.75, 0.75)

    def more(self):
        self.part = self.part * self.w[1:]

    def outcome(self):
        loss = (self.part * 0.25).sum() + (self.w**2).sum() * 0.1
        loss.backward()
        return self.logged, self.w.tolist(), self.part.tolist(), self.w.grad.tolist()


steps = [
    "scale", "leave", "leave_for_more", "look", "look_at_part", "clip_part", "clip_leaf", "more",
]  # fmt: skip


def result(t, order):
    program = Program(t)
    try:
        for step in order:
            getattr(program, step)()
        return program.outcome()
    except RuntimeError as error:
        return str(error).split(".")[0]


@pytest.mark.parametrize("first", steps)
def test_every_order(first):
    others = [step for step in steps if step != first]
    for count in range(4):
        for rest in permutations(others, count):
            order = (first, *rest)
            expected, found = result(torch, order), result(ours, order)
            assert _near(found, expected), (order, expected, found)


def _near(found, expected):
    if isinstance(expected, str) or isinstance(found, str):
        return found == expected
    if isinstance(expected, (tuple, list)):
        return len(found) == len(expected) and all(map(_near, found, expected))
    return found == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("is_left", [False, True])
@pytest.mark.parametrize("has_gradient", [False, True])
def test_writes_over_their_operand_are_refused_in_memory_that_was_left(is_left, has_gradient):
    """Steps count in axes of one element, too."""
    for t in (torch, ours):
        w = t.tensor([[-0.5, -1.0, -2.0], [-2.0, -2.0, -0.5]], requires_grad=has_gradient)
        part = w[0][-1:]
        if is_left:
            w.data = t.ones(2, 3)
        for target, operand in ((part.data[::2], part), (part.data[::2], part.data)):
            with pytest.raises(RuntimeError, match=r"^unsupported operation: some elements"):
                target.copy_(operand)
        part.data[:].copy_(part)
        assert part.tolist() == [-2.0]
