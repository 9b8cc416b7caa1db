"""Programs of PyTorch's API that write in place, anywhere and at any time: values and gradients."""

import imperative_programs as programs
import imperative_torch_programs as torch_programs
import pytest
import torch

import composit.torch as ours
from composit.torch import calling, readings, versions, writing

PARTS, OF_A_PART = 8, 250


def differs(text):
    expected, found = (torch_programs.run(text, t) for t in (torch, ours))
    return not torch_programs.same(expected, found, programs.same)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.filterwarnings("ignore")
def test_random_programs(part):
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        text = torch_programs.Writer(seed).program()
        expected, found = (torch_programs.run(text, t) for t in (torch, ours))
        is_same = torch_programs.same(expected, found, programs.same)
        assert is_same, f"seed {seed}:\n{text}\n{expected}\n{found}"


def test_random_programs_have_every_construct():
    counts = {}
    for seed in range(200):
        torch_programs.Writer(seed, counts).program()
    assert len(counts) == 22 and min(counts.values()) > 40


def _of_the_leaf_alone(chain_rule, tensors, outputs):
    return chain_rule([x._lazy for x in tensors])


FAULTS = {
    # The gradient of a leaf is that of what it holds now.
    "one reading": (readings, "summed", lambda was: _of_the_leaf_alone),
    # Writes through .data do not reach what was saved.
    "saved values stay": (
        versions,
        "with_what_is_there",
        lambda was: lambda rule, x, y, *_: rule(x, y),
    ),
    # Writes that autograd does not see cut the gradient, or let it through to what was written.
    "all is known": (writing, "memory_of", lambda was: lambda x: (*was(x)[:1], True, True)),
    "values with gradients": (writing, "stored", lambda was: lambda result: result._lazy),
    # Views copy.
    "copies": (calling, "as_views", lambda was: lambda made, _: _copied(made)),
    # What was written since is no error.
    "unchecked": (versions, "check", lambda was: lambda *_: None),
}


def _copied(made):
    return tuple(map(_copied, made)) if isinstance(made, (list, tuple)) else made.copied()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.filterwarnings("ignore")
def test_a_fault_put_back_is_found(fault, monkeypatch):
    module, name, broken = FAULTS[fault]
    monkeypatch.setattr(module, name, broken(getattr(module, name)))
    for seed in range(2000):
        if differs(torch_programs.Writer(seed).program()):
            break
    else:
        raise AssertionError("2,000 programs do not find it")
