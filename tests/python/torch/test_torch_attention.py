"""multi_head_attention_forward beside PyTorch: layouts, masks, added keys, separate weights."""

import numpy as np
import pytest
import torch as peer

import composit.torch as torch

SHAPES = {"in_w": (12, 4), "in_b": (12,), "out_w": (4, 4), "out_b": (4,), "q_w": (4, 4),
          "k_w": (4, 4), "v_w": (4, 4), "bias_k": (1, 1, 4), "bias_v": (1, 1, 4),
          "q": (3, 2, 4), "kv": (5, 2, 4), "row": (3, 4), "rows": (5, 4)}  # fmt: skip
_random = np.random.default_rng(3)
ARRAYS = {name: _random.standard_normal(shape).astype("float64") for name, shape in SHAPES.items()}
HIDDEN = np.arange(15).reshape(3, 5) % 4 == 3
PADDED = np.array([[False] * 5, [False, False, False, True, True]])


@pytest.mark.parametrize("options", [
    lambda t, x: {}, lambda t, x: {"need_weights": False},
    lambda t, x: {"average_attn_weights": False, "attn_mask": t.tensor(HIDDEN)},
    lambda t, x: {"key_padding_mask": t.tensor(PADDED), "attn_mask": t.tensor(HIDDEN)},
    lambda t, x: {"attn_mask": t.tensor(np.arange(60, dtype="float64").reshape(4, 3, 5) / 60)},
    lambda t, x: {"use_separate_proj_weight": True, "in_proj_weight": None,
                  "q_proj_weight": x["q_w"], "k_proj_weight": x["k_w"], "v_proj_weight": x["v_w"]},
    lambda t, x: {"static_k": t.ones(4, 6, 2, dtype=t.float64),
                  "static_v": t.ones(4, 6, 2, dtype=t.float64) * 2},
    lambda t, x: {"in_proj_bias": None, "out_proj_bias": None},
])  # fmt: skip
@pytest.mark.parametrize("is_longer", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("is_batched", [True, False])
def test_values_and_gradients(options, is_longer, is_batched):
    sides = []
    for t in (torch, peer):
        x = {name: t.tensor(array, requires_grad=True) for name, array in ARRAYS.items()}
        given = {"in_proj_weight": x["in_w"], "in_proj_bias": x["in_b"],
                 "out_proj_bias": x["out_b"], "bias_k": x["bias_k"] if is_longer[0] else None,
                 "bias_v": x["bias_v"] if is_longer[0] else None, "add_zero_attn": is_longer[1],
                 "dropout_p": 0.0, "out_proj_weight": x["out_w"]} | options(t, x)  # fmt: skip
        if "static_k" in given and is_longer[0]:
            pytest.skip("PyTorch refuses static keys with added ones")
        if not is_batched:
            for name in ("static_k", "static_v", "attn_mask"):
                if name in given and given[name].dim() == 3:
                    given[name] = given[name][:2]
            if "key_padding_mask" in given:
                given["key_padding_mask"] = given["key_padding_mask"][1]
        query, key = (x["q"], x["kv"]) if is_batched else (x["row"], x["rows"])
        forward = t.nn.functional.multi_head_attention_forward
        output, weights = forward(query, key, key, 4, 2, **given)
        total = (output * output).sum()
        if weights is not None:
            total = total + (weights * weights).sum()
        total.backward()
        sides.append([output.detach(), None if weights is None else weights.detach(),
                      *(value.grad for value in x.values())])  # fmt: skip
    for mine, theirs in zip(*sides):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert tuple(mine.shape) == tuple(theirs.shape)
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("call", [
    lambda t, m, x: m(x, x, x, key_padding_mask=t.ones(2, 3, dtype=t.int32)),
    lambda t, m, x: m(x, x, x, attn_mask=t.ones(3, 3, dtype=t.int32)),
    lambda t, m, x: m(x, x, x, attn_mask=t.ones(3)),
    lambda t, m, x: m(x, x, x, attn_mask=t.ones(3, 2)),
    lambda t, m, x: m(x, x, x, attn_mask=t.ones(2, 3, 3)),
    lambda t, m, x: m(x, x, x, key_padding_mask=t.ones(2, 2)),
    lambda t, m, x: m(x, x, x, key_padding_mask=t.ones(3)),
    lambda t, m, x: m(x[0], x[0], x[0], attn_mask=t.ones(1, 3, 3)),
    lambda t, m, x: m(x[0], x[0], x[0], attn_mask=t.ones(3)),
    lambda t, m, x: m(x[0], x[0], x[0], key_padding_mask=t.ones(2, 3)),
    lambda t, m, x: m(x[0], x[0], x[0], key_padding_mask=t.ones(2)),
    lambda t, m, x: m(x, x[0], x[0]), lambda t, m, x: m(x[0], x, x),
    lambda t, m, x: m(x[None], x, x), lambda t, m, x: m(x, x, x, is_causal=True),
    lambda t, m, x: m(x, x, x, is_causal=True, need_weights=False),
])  # fmt: skip
def test_what_does_not_fit_is_refused(call, added):
    said = []
    for t in (torch, peer):
        module = t.nn.MultiheadAttention(4, 2, batch_first=True, add_zero_attn=added)
        with pytest.raises((AssertionError, RuntimeError)) as caught:
            call(t, module, t.ones(2, 3, 4))
        said.append((caught.type, str(caught.value)))
    (ours, text), (theirs, expected) = said
    assert issubclass(ours, theirs) and text.startswith(expected), said


def test_weights_shown_in_training_are_those_after_dropout():
    for added in (False, True):
        module = torch.nn.MultiheadAttention(4, 2, dropout=1.0, add_zero_attn=added)
        x = torch.ones(3, 2, 4)
        assert module(x, x, x)[1].abs().sum().item() == 0
