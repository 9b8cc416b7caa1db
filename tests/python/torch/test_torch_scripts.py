"""What public scripts do that broke here: a small program for each kind, beside PyTorch's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, torch


def test_a_sampler_with_replacement_draws_no_more_than_is_asked_for():
    sampler = torch.utils.data.RandomSampler(range(7), replacement=True, num_samples=10**10)
    drawn = [place for place, _ in zip(sampler, range(3000))]
    assert len(drawn) == 3000 and set(drawn) == set(range(7))


def test_slices_and_sums_of_shapes_are_shapes():
    def program(t):
        shape = t.zeros(2, 3, 4).shape
        parts = (shape[1:], shape + shape, shape[:-1] + shape[:1])
        return [(type(part) is t.Size, part.numel(), list(part)) for part in parts]

    check_same(program)


def test_typed_constructors_are_dtypes_of_type():
    def program(t):
        x = t.tensor([1.5, -2.0])
        kinds = (t.LongTensor, t.DoubleTensor, "torch.IntTensor", t.float16)
        return [(x.type(kind).type(), x.type(kind).tolist()) for kind in kinds]

    check_same(program)
    check_same(lambda t: t.ones(1).type("LongTensors"))
