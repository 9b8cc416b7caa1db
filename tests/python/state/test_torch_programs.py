"""Programs of PyTorch's API that write in place, anywhere and at any time: values and gradients."""

import imperative_programs as programs
import imperative_torch_programs as torch_programs
import pytest

import composit.torch as ours
from composit.torch import writing

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


def _with_gradients(write):
    def broken(target, result, *of):
        result._is_tainted = False
        return write(target, result, *of)

    return broken


FAULTS = {
    # A leaf that was written several times has another gradient.
    "one reading": (ours.Tensor, "grad", lambda was: property(
        lambda x: _of_other_values(x, was.__get__(x)), was.__set__)),
    # Writes do not reach what a product saved.
    "saved values stay": (ours.Tensor, "__mul__", lambda was: lambda x, y: was(x, _apart(y))),
    # Writes that autograd does not see cut the gradient, or let it through to what was written.
    "all is known": (writing, "lie_in", lambda was: lambda x, *of: _of_its_own(was, x, *of)),
    "values with gradients": (writing, "written_in_place", _with_gradients),
    # Views of one kind copy.
    "copies": (ours.Tensor, "diagonal", lambda was: lambda x: was(x).clone()),
    # What was written since is no error.
    "unchecked": (ours.Tensor, "backward", lambda was: lambda x, *of, **options: _unchecked(
        was, x, *of, **options)),
}  # fmt: skip


def _of_other_values(leaf, gradient):
    return gradient if gradient is None or leaf._version < 2 else gradient * 1.5


def _apart(value):
    is_saved = isinstance(value, ours.Tensor) and not value.requires_grad
    return value.clone() if is_saved else value


def _unchecked(backward, tensor, *of, **options):
    try:
        return backward(tensor, *of, **options)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise


def _of_its_own(lie_in, tensor, *of):
    lie_in(tensor, *of)
    tensor._twin = None


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
