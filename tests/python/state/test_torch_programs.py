"""Programs of PyTorch's API that write in place, anywhere and at any time: values and gradients."""

import imperative_programs as programs
import imperative_torch_programs as torch_programs
import pytest

import composit.torch as ours
from composit.torch import backward, calling, writing

PARTS, OF_A_PART = 8, 250


def differs(text):
    return torch_programs.differ(text, programs.same)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.filterwarnings("ignore")
def test_random_programs(part):
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        text = torch_programs.Writer(seed).program()
        assert not differs(text), f"seed {seed}:\n{text}"


def test_random_programs_have_every_construct():
    counts = {}
    for seed in range(200):
        torch_programs.Writer(seed, counts).program()
    assert len(counts) == 23 and min(counts.values()) > 40


class _Held(ours.Tensor):
    """Holds what a leaf holds, and is none."""


def _of_no_leaf(leaf):
    made = object.__new__(_Held)
    made._lazy = leaf._lazy
    return made


def _with_one_reading(gradients):
    return lambda outputs, flows, inputs, *rest: gradients(
        outputs, flows, list(map(_of_no_leaf, inputs)), *rest
    )


def _of_what_was_saved(gradients):
    return lambda outputs, flows, inputs, records, *rest: gradients(
        outputs, flows, inputs, [], *rest
    )


def _with_gradients(write):
    def broken(target, result, *of):
        result._is_tainted = False
        return write(target, result, *of)

    return broken


FAULTS = {
    # The gradient of a leaf is that of what it holds now.
    "one reading": (backward, "gradients", _with_one_reading),
    # Writes through .data do not reach what was saved.
    "saved values stay": (backward, "gradients", _of_what_was_saved),
    # Writes that autograd does not see cut the gradient, or let it through to what was written.
    "all is known": (writing, "lie_in", lambda was: lambda x, *of: _of_its_own(was, x, *of)),
    "values with gradients": (writing, "written_in_place", _with_gradients),
    # Views copy.
    "copies": (calling, "as_views", lambda was: lambda made, *_: _copied(made)),
    # What was written since is no error.
    "unchecked": (backward, "check_saved", lambda was: lambda *_: None),
}


def _of_its_own(lie_in, tensor, *of):
    lie_in(tensor, *of)
    tensor._twin = None


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
