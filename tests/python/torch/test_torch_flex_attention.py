"""composit.torch.nn.attention.flex_attention beside PyTorch's."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch as peer
from torch.nn.attention import flex_attention as theirs

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import torch

from composit.torch.nn.attention import flex_attention as mine

# Without a compiler PyTorch computes by the same formula.
theirs._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True
SIDES = ((torch, mine), (peer, theirs))


def drawn(t, *shape, seed=0, dtype="float32"):
    numbers = np.random.default_rng(seed).standard_normal(shape).astype("float32")
    return t.tensor(numbers).to(getattr(t, dtype))


def causal(b, h, q, k):
    return q >= k


def window(b, h, q, k):
    return (q - k).abs() <= 3


def biased(t):
    table = drawn(t, 4, 64, seed=3)

    def mod(score, b, h, q, k):
        return score + table[h, q - k + 30]

    return mod


def capped(t):
    return lambda score, b, h, q, k: 20 * t.tanh(score / 20)


def documents(t):
    numbers = t.tensor([[0] * 7 + [1] * 12, [0] * 13 + [1] * 6])
    return lambda b, h, q, k: numbers[b, q] == numbers[b, k]


MODS = {
    "none": lambda t: None, "bias": biased, "cap": capped,
    "causal": lambda t: lambda s, b, h, q, k: t.where(q >= k, s, -float("inf")),
    "alibi": lambda t: lambda s, b, h, q, k: s + (k - q) * t.exp2(-((h + 1) * 8.0 / 4)),
}  # fmt: skip


def attended(
    t, flex, dtype="float32", mod="none", mask=None, heads=(4, 4), batch=(2, 2), **options
):
    q = drawn(t, batch[0], heads[0], 19, 8, seed=0, dtype=dtype)
    k = drawn(t, batch[1], heads[1], 19, 8, seed=1, dtype=dtype)
    v = drawn(t, batch[1], heads[1], 19, 6, seed=2, dtype=dtype)
    made = None
    if mask is not None:
        made = flex.create_block_mask(
            mask(t), batch[0], heads[0], 19, 19, t.get_default_device(), BLOCK_SIZE=4
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return flex.flex_attention(q, k, v, MODS[mod](t), made, **options)


def check(bound=2e-6, **options):
    one, two = (attended(t, flex, **options) for t, flex in SIDES)
    one, two = ((x if isinstance(x, tuple) else (x,)) for x in (one, two))
    for a, b in zip(one, two, strict=True):
        assert str(a.dtype) == str(b.dtype)
        np.testing.assert_allclose(a.float().numpy(), b.float().numpy(), rtol=bound, atol=bound)


@pytest.mark.parametrize("mod", MODS)
def test_changed_scores(mod):
    check(mod=mod)


@pytest.mark.parametrize("mask", [causal, window])
def test_masks(mask):
    check(mask=lambda t: mask)
    check(mask=lambda t: mask, mod="cap", scale=0.3)


def test_documents():
    check(mask=documents)


def test_dtypes():
    check(dtype="float64", bound=1e-14)
    check(dtype="bfloat16", bound=2e-2, mod="bias")


def test_groups_of_heads_and_one_batch_of_keys():
    check(heads=(4, 2), enable_gqa=True)
    check(batch=(2, 1), mask=lambda t: causal)


def test_sums_of_exponentials():
    check(return_lse=True, mod="bias")
    (_, aux), (_, wanted) = (
        attended(t, flex, mask=lambda t: causal, return_aux=flex.AuxRequest(lse=True))
        for t, flex in SIDES
    )
    np.testing.assert_allclose(aux.lse.numpy(), wanted.lse.numpy(), rtol=2e-6)
    assert aux.max_scores is None
    _, aux = attended(torch, mine, return_aux=mine.AuxRequest(max_scores=True))
    q, k = drawn(torch, 2, 4, 19, 8, seed=0), drawn(torch, 2, 4, 19, 8, seed=1)
    largest = (q @ k.mT / 8**0.5).amax(-1)
    np.testing.assert_allclose(aux.max_scores.numpy(), largest.numpy(), rtol=2e-6)


def test_queries_that_look_at_nothing():
    def nothing(b, h, q, k):
        return (q != 3) & (q >= k)

    check(mask=lambda t: nothing, return_lse=True)


def test_gradients_are_those_of_the_formula():
    """PyTorch has none on the CPU: those of the same formula, written out."""

    def leaves(t):
        shapes = {"q": (2, 2, 5, 4), "k": (2, 2, 7, 4), "v": (2, 2, 7, 3), "bias": (2, 12)}
        return {
            name: drawn(t, *shape, seed=i).requires_grad_()
            for i, (name, shape) in enumerate(shapes.items())
        }  # fmt: skip

    given = leaves(torch)

    def mod(score, b, h, q, k):
        return score * 2 + given["bias"][h, q - k + 6]

    mask = mine.create_block_mask(
        lambda b, h, q, k: (q + 2 >= k) & (q != 1), None, None, 5, 7, torch.get_default_device()
    )
    out, lse = mine.flex_attention(given["q"], given["k"], given["v"], mod, mask, return_lse=True)
    finite = lse.isfinite()
    (out.square().sum() + torch.where(finite, lse, 0.0).sum()).backward()

    wanted = leaves(peer)
    q, k = peer.arange(5)[:, None], peer.arange(7)[None]
    scores = wanted["q"] @ wanted["k"].mT / 2 * 2 + wanted["bias"][:, q - k + 6]
    shown = (q + 2 >= k) & (q != 1)
    scores = scores.masked_fill(~shown, -1e30)
    weights = scores.softmax(-1) * shown.any(-1)[:, None]
    total = scores.logsumexp(-1)[..., [0, 2, 3, 4]].sum()
    ((weights @ wanted["v"]).square().sum() + total).backward()
    for name, leaf in wanted.items():
        np.testing.assert_allclose(given[name].grad.numpy(), leaf.grad.numpy(), rtol=1e-4,
                                   atol=1e-5)  # fmt: skip


def same(program):
    """What a program returns, or the first line of its error, by both."""
    told = []
    for t, flex in SIDES:
        try:
            told.append(program(t, flex))
        except Exception as error:
            text = str(error).splitlines()[0].rsplit(" [", 1)[0]
            told.append(f"{type(error).__name__}: {text}".replace("composit.torch", "torch"))
    assert told[0] == told[1]


MASKS = {
    "causal": (lambda t: causal, (None, None, 300, 300), {}),
    "uneven": (lambda t: causal, (1, 2, 100, 300), {"BLOCK_SIZE": 64}),
    "oblong blocks": (lambda t: window, (None, None, 50, 33), {"BLOCK_SIZE": (8, 16)}),
    "documents": (documents, (2, 1, 19, 19), {"BLOCK_SIZE": 4}),
    "together": (lambda t: window, (None, None, 60, 60),
                 {"BLOCK_SIZE": 8, "separate_full_blocks": False}),
}  # fmt: skip
TENSORS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks",
           "q_indices", "full_q_num_blocks", "full_q_indices")  # fmt: skip


def told(mask):
    tensors = [getattr(mask, name) for name in TENSORS]
    return (
        [x if x is None else (str(x.dtype), x.tolist()) for x in tensors], mask.shape,
        mask.seq_lengths, mask.BLOCK_SIZE, mask.numel(), mask.sparsity(), mask.to_dense().tolist(),
        mask.to_string(), str(mask), repr(mask).replace("composit.torch", "torch"),
        mask.mask_mod.__name__, len(mask.as_tuple()), len(mask.as_tuple(flatten=False)),
    )  # fmt: skip


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", MASKS)
def test_block_masks_are_pytorchs(name):
    function, lengths, options = MASKS[name]

    def program(t, flex):
        return told(flex.create_block_mask(function(t), *lengths, device="cpu", **options))

    same(program)


def test_parts_of_block_masks():
    def program(t, flex):
        mask = flex.create_block_mask(causal, 2, 3, 64, 64, "cpu", BLOCK_SIZE=8)
        parts = [mask[0], mask[:, 1], mask[1, 2, 3], mask[-1, :, -2]]
        adjusted = mask._adjust(40, 40)
        return [told(part) for part in parts], told(adjusted), told(mask.to("cpu"))

    same(program)


def test_masks_of_blocks_by_rows():
    def program(t, flex):
        counts = t.tensor([[[1, 2, 0]]], dtype=t.int32)
        columns = t.tensor([[[[1, 0, 2], [2, 0, 1], [0, 1, 2]]]], dtype=t.int32)
        mask = flex.BlockMask.from_kv_blocks(counts, columns, BLOCK_SIZE=4)
        return told(mask)

    same(program)


def test_masks_of_functions():
    def program(t, flex):
        both = flex.and_masks(causal, window)
        either = flex.or_masks(both, lambda b, h, q, k: k == 0)
        made = [flex.create_mask(f, None, 2, 6, 5, "cpu") for f in (both, either, flex.noop_mask)]
        made.append(flex.create_mask(lambda s, b, h, q, k: t.where(q > k, s, -float("inf")), 1, 1,
                                     3, 4, "cpu"))  # fmt: skip
        return [(str(x.dtype), tuple(x.shape), x.tolist()) for x in made]

    same(program)


REFUSED = {
    "features": lambda t, f, x: f.flex_attention(x(1, 1, 4, 2), x(1, 1, 4, 3), x(1, 1, 4, 3)),
    "dimensions": lambda t, f, x: f.flex_attention(x(1, 4, 2), x(1, 4, 2), x(1, 4, 2)),
    "one dimension": lambda t, f, x: f.flex_attention(x(4), x(4), x(4)),
    "heads": lambda t, f, x: f.flex_attention(x(1, 4, 4, 2), x(1, 2, 4, 2), x(1, 2, 4, 2)),
    "groups": lambda t, f, x: f.flex_attention(
        x(1, 3, 4, 2), x(1, 2, 4, 2), x(1, 2, 4, 2), enable_gqa=True),
    "batches": lambda t, f, x: f.flex_attention(x(2, 1, 4, 2), x(1, 1, 4, 2), x(1, 1, 4, 2)),
    "batches of the mask": lambda t, f, x: f.flex_attention(
        x(2, 1, 4, 2), x(1, 1, 4, 2), x(1, 1, 4, 2),
        block_mask=f.create_block_mask(causal, 3, 1, 4, 4, "cpu")),
    "short masks": lambda t, f, x: f.flex_attention(
        x(1, 1, 9, 2), x(1, 1, 9, 2), x(1, 1, 9, 2),
        block_mask=f.create_block_mask(causal, 1, 1, 4, 4, "cpu")),
    "long masks": lambda t, f, x: f.flex_attention(
        x(1, 1, 3, 2), x(1, 1, 3, 2), x(1, 1, 3, 2),
        block_mask=f.create_block_mask(causal, 1, 1, 4, 4, "cpu")),
    "parts of masks": lambda t, f, x: f.flex_attention(
        x(1, 1, 4, 2), x(1, 1, 4, 2), x(1, 1, 4, 2),
        block_mask=f.create_block_mask(causal, 1, 1, 4, 4, "cpu")[0]),
    "functions of parts": lambda t, f, x: f.create_block_mask(
        causal, 1, 1, 4, 4, "cpu")[0].mask_mod(*[x(1)] * 4),
    "arguments": lambda t, f, x: f.create_mask(lambda a, b: a, 1, 1, 2, 2, "cpu"),
    "no masks": lambda t, f, x: f.and_masks(causal, 3),
    "both": lambda t, f, x: f.flex_attention(
        x(1, 1, 4, 2), x(1, 1, 4, 2), x(1, 1, 4, 2), return_lse=True, return_aux=f.AuxRequest()),
    "back ends": lambda t, f, x: f.flex_attention(
        x(1, 1, 4, 2), x(1, 1, 4, 2), x(1, 1, 4, 2), kernel_options={"BACKEND": "other"}),
}  # fmt: skip


@pytest.mark.on_cpu
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    same(lambda t, flex: REFUSED[name](t, flex, lambda *shape: t.ones(*shape)))


def test_all_names_are_there_and_nested_masks_are_refused():
    assert all(hasattr(mine, name) for name in theirs.__all__)
    with pytest.raises(NotImplementedError, match="nested tensors are not built"):
        mine.create_nested_block_mask(causal, 1, 1, None)
    with pytest.raises(NotImplementedError, match="compute_dq_write_order is True"):
        mine.create_block_mask(causal, 1, 1, 4, 4, compute_dq_write_order=True)


def test_implementations_by_name():
    attention, removed = torch.nn.attention, []

    class Handle:
        def remove(self):
            removed.append(1)

    attention.register_flash_attention_impl("Own", register_fn=Handle)
    assert attention.list_flash_attention_impls() == ["Own"]
    assert attention.current_flash_attention_impl() is None
    attention.activate_flash_attention_impl("Own")
    assert attention.current_flash_attention_impl() == "Own"
    attention.restore_flash_attention_impl()
    assert removed == [1] and attention.current_flash_attention_impl() is None
    with pytest.raises(ValueError, match="Unknown flash attention impl 'FA9'"):
        attention.activate_flash_attention_impl("FA9")
    assert attention.WARN_FOR_UNFUSED_KERNELS is False
