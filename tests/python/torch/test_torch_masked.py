"""composit.torch.masked, and softmax of sparse tensors, beside PyTorch's."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch as peer
import torch.masked as theirs

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import check_same, torch

MASKS = {
    "none": None,
    "elements": [[True, False, True, True], [False, False, False, True], [True] * 4],
    "a row": [True, True, False, False],
    "nothing of a row": [[False] * 4, [True, False, True, False], [True] * 4],
}
NUMBERS = [[3.0, -1.0, 0.5, 2.0], [1.5, 4.0, -2.0, 0.25], [-0.5, 1.0, 6.0, -3.0]]
REDUCTIONS = {
    "sum": {}, "prod": {}, "amax": {}, "amin": {}, "mean": {}, "var": {}, "std": {},
    "logsumexp": {}, "norm": {},
}  # fmt: skip
WHERE = ({}, {"dim": 0}, {"dim": 1, "keepdim": True}, {"dim": (0, 1)}, {"dim": (), "keepdim": True})


def shown(x):
    """A tensor of either library: its dtype, and its numbers, about."""
    values = x.to_dense() if x.layout != "torch.strided" and hasattr(x, "to_dense") else x
    return str(x.dtype), tuple(x.shape), np.round(values.detach().double().numpy(), 5).tolist()


def same(program):
    told = []
    for t in (torch, peer):
        masked = t.masked if t is torch else theirs
        try:
            told.append(repr(program(t, masked)))
        except Exception as error:
            text = str(error).splitlines()[0]
            # composit adds the user's line.
            text = text.rsplit(" [", 1)[0] if t is torch else text
            told.append(
                f"{type(error).__name__}: {text}".replace("NotSupported", "NotImplementedError")
            )
    assert told[0] == told[1]


def mask_of(t, name):
    return None if MASKS[name] is None else t.tensor(MASKS[name])


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, mask):
    def program(t, masked):
        x = t.tensor(NUMBERS, dtype=t.float64)
        return [
            shown(getattr(masked, name)(x, mask=mask_of(t, mask), **where)) for where in WHERE
        ]  # fmt: skip

    same(program)


@pytest.mark.parametrize("mask", MASKS)
def test_orders_and_corrections(mask):
    def program(t, masked):
        x, m = t.tensor(NUMBERS), mask_of(t, mask)
        norms = [shown(masked.norm(x, order, 1, mask=m))
                 for order in (0.0, 1.0, 3.0, float("inf"), float("-inf"))]  # fmt: skip
        spread = [
            shown(masked.var(x, 1, mask=m, **options))
            for options in (
                {"correction": 0},
                {"correction": 2},
                {"unbiased": False},
                {"dtype": t.float64},
            )
        ]
        return norms, spread

    same(program)


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "argmax", "argmin", "median"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "int8", "float32"])
def test_integers(name, dtype):
    def program(t, masked):
        x = t.tensor([[3, 1, 9, 2], [1, 4, 2, 7]]).to(getattr(t, dtype))
        m = t.tensor([[True, False, True, True], [False, True, True, False]])
        rows = shown(getattr(masked, name)(x, 1, mask=m))
        wide = shown(getattr(masked, name)(x, 1, mask=m, dtype=t.float64))
        return rows, wide if name != "median" else None

    same(program)


@pytest.mark.parametrize("mask", MASKS)
def test_normalisations(mask):
    def program(t, masked):
        x, m = t.tensor(NUMBERS), mask_of(t, mask)
        made = [
            masked.softmax(x, 1, mask=m), masked.log_softmax(x, 0, mask=m),
            masked.softmin(x, -1, mask=m), masked.normalize(x, 2.0, 1, mask=m),
            masked.cumsum(x, 1, mask=m), masked.cumprod(x, 0, mask=m),
            masked.softmax(x, 1, dtype=t.float64, mask=m),
            masked.logaddexp(x, x.flip(0), input_mask=m, other_mask=None),
        ]  # fmt: skip
        return [shown(each) for each in made]

    same(program)


def test_corrections_that_are_not_whole_are_as_exact_as_the_numbers():
    def program(t, masked):
        x = t.tensor(NUMBERS, dtype=t.float64)
        several = (x, t.complex(x, x.flip(0)))
        found = [masked.var(each, 1, correction=1.3).abs().tolist() for each in several]
        return [[round(number, 10) for number in row] for row in found]

    same(program)


def test_gradients_reach_what_the_mask_keeps():
    def program(t, masked):
        x = t.tensor(NUMBERS, dtype=t.float64, requires_grad=True)
        m = t.tensor(MASKS["elements"])
        total = masked.mean(x, 1, mask=m).sum() + masked.var(x, mask=m)
        total = (
            total + masked.softmax(x, 1, mask=m).square().sum() + masked.amax(x, 0, mask=m).sum()
        )
        total.backward()
        return shown(x.grad)

    same(program)


REFUSED = {
    "dimensions of the mask": lambda t, m: m.sum(t.ones(2), mask=t.ones(1, 2).bool()),
    "integers": lambda t, m: m.mean(t.ones(2).long()),
    "dtype": lambda t, m: m.mean(t.ones(2), dtype=t.int64),
    "twice": lambda t, m: m.sum(t.ones(2, 2), dim=(0, 0)),
    "range": lambda t, m: m.amax(t.ones(2, 2), dim=2),
    "rows of nothing": lambda t, m: m.median(t.ones(2).long(), 0, mask=t.zeros(2).bool()),
    "both": lambda t, m: m.var(t.ones(2), unbiased=True, correction=1),
    "sparse": lambda t, m: m.softmax(t.eye(2).to_sparse(), 0),
    "booleans": lambda t, m: m.amax(t.ones(2).bool(), mask=t.ones(2).bool()),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    same(lambda t, masked: REFUSED[name](t, masked))


def test_all_names_are_there_and_tensors_with_masks_are_refused():
    assert sorted(torch.masked.__all__) == sorted(theirs.__all__)
    x = torch.ones(2)
    for make in (torch.masked.masked_tensor, torch.masked.as_masked_tensor,
                 torch.masked.MaskedTensor):  # fmt: skip
        with pytest.raises(NotImplementedError, match="tensors with a mask of their own"):
            make(x, x.bool())
    assert not torch.masked.is_masked_tensor(x)
    from composit.torch.masked import _ops

    assert _ops.sum is torch.masked.sum


# ----- sparse tensors


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("sparse_dim", [3, 2, 1])
def test_softmax_of_sparse_tensors(name, dim, sparse_dim):
    def program(t, _):
        draws = np.random.default_rng(4)
        dense = draws.standard_normal((3, 4, 5)) * (draws.random((3, 4, 5)) < 0.5)
        x = t.tensor(dense).to_sparse(sparse_dim)
        made = getattr(t.sparse, name)(x, dim)
        single = getattr(t.sparse, name)(x, dim, dtype=t.float32)
        return (
            made.coalesce().indices().tolist(),
            shown(made.coalesce().values()),
            str(single.dtype),
        )

    same(program)


def test_softmax_of_sparse_tensors_is_differentiated():
    def program(t, _):
        at = t.tensor([[0, 0, 1, 2, 2, 2], [1, 3, 0, 0, 1, 3]])
        values = t.tensor([1.0, 2.0, 0.5, -1.0, 3.0, 0.0], requires_grad=True)
        x = t.sparse_coo_tensor(at, values, (3, 4))
        made = t.sparse.softmax(x, 1)
        (made.to_dense() * t.arange(12.0).reshape(3, 4)).sum().backward()
        return shown(values.grad)

    same(program)


def test_checks_of_sparse_tensors_are_a_state():
    def program(t):
        checks = t.sparse.check_sparse_tensor_invariants
        told = [checks.is_enabled()]
        with checks():
            told.append(checks.is_enabled())
            with checks(False):
                told.append(checks.is_enabled())
        checks.enable()
        told.append(checks.is_enabled())
        checks.disable()
        told += [checks(True)(lambda: checks.is_enabled())(), checks.is_enabled()]
        one = checks()
        try:
            with one, one:
                pass
        except RuntimeError as error:
            told.append(str(error).rsplit(" [", 1)[0])
        return told

    check_same(program)
