"""Attention, caches, rotary embeddings, normalisations and transformers against PyTorch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_agreement import Case, check_against_torch, check_bits

import composit
from composit import nn

rng = np.random.RandomState(13)


def normal(*shape):
    return rng.standard_normal(shape)


def qkv(batch=2, heads=4, queries=5, keys=7, size=6, groups=None):
    return (
        normal(batch, heads, queries, size),
        normal(batch, groups or heads, keys, size),
        normal(batch, groups or heads, keys, 3),
    )


MASK = rng.rand(5, 7) > 0.4
MASK[2] = False  # a query that may attend to nothing
sdpa, theirs = nn.scaled_dot_product_attention, F.scaled_dot_product_attention
CASES = {
    "sdpa causal": Case(
        lambda q, k, v: sdpa(q, k, v, is_causal=True),
        lambda q, k, v: theirs(q, k, v, is_causal=True),
        *qkv(),
    ),
    "sdpa scale": Case(
        lambda q, k, v: sdpa(q, k, v, scale=0.7), lambda q, k, v: theirs(q, k, v, scale=0.7), *qkv()
    ),
    "sdpa bool": Case(sdpa, theirs, *qkv(), MASK),
    "sdpa bool of heads": Case(sdpa, theirs, *qkv(), rng.rand(2, 4, 5, 7) > 0.4),
    "sdpa added": Case(sdpa, theirs, *qkv(), normal(4, 5, 7)),
    "sdpa added and causal": Case(
        lambda q, k, v, m: sdpa(q, k, v, m, is_causal=True),
        lambda q, k, v, m: theirs(
            q, k, v, m + torch.full((5, 7), -torch.inf, dtype=m.dtype).triu(1)
        ),
        *qkv(),
        normal(5, 7),
    ),
    "sdpa groups": Case(
        lambda q, k, v: sdpa(q, k, v, group_heads=True),
        lambda q, k, v: theirs(q, k, v, enable_gqa=True),
        *qkv(groups=2),
    ),
    "sdpa one group, causal": Case(
        lambda q, k, v: sdpa(q, k, v, group_heads=True, is_causal=True),
        lambda q, k, v: theirs(q, k, v, enable_gqa=True, is_causal=True),
        *qkv(groups=1),
    ),
    "sdpa groups, mask of heads": Case(
        lambda q, k, v, m: sdpa(q, k, v, m, group_heads=True),
        lambda q, k, v, m: theirs(q, k, v, m, enable_gqa=True),
        *qkv(groups=2),
        rng.rand(2, 4, 5, 7) > 0.4,
    ),
    "sdpa groups, mask of all": Case(
        lambda q, k, v, m: sdpa(q, k, v, m, group_heads=True),
        lambda q, k, v, m: theirs(q, k, v, m, enable_gqa=True),
        *qkv(groups=2),
        normal(2, 1, 5, 7),
    ),
    "rms_norm": Case(nn.rms_norm, lambda x, w: F.rms_norm(x, (6,), w), normal(3, 4, 6), normal(6)),
    "rms_norm of two axes": Case(
        lambda x, w: nn.rms_norm(x, w, axis=(-2, -1), epsilon=1e-3),
        lambda x, w: F.rms_norm(x, (4, 6), w, 1e-3),
        normal(3, 4, 6),
        normal(4, 6),
    ),
    "rms_norm without weight": Case(
        nn.rms_norm, lambda x: F.rms_norm(x, (6,)), np.vstack([normal(3, 6), np.zeros((1, 6))])
    ),
    "layer_norm without weights": Case(
        nn.layer_norm, lambda x: F.layer_norm(x, (6,)), normal(3, 4, 6)
    ),
    "instance_norm": Case(
        lambda x, w, b: nn.instance_norm(x, w, b, channel_axis=1),
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        normal(2, 3, 4, 5),
        normal(3),
        normal(3),
    ),
    "instance_norm channels last": Case(
        lambda x: nn.instance_norm(x, channel_axis=-1, epsilon=1e-3),
        lambda x: F.instance_norm(x.movedim(-1, 1), eps=1e-3).movedim(1, -1),
        normal(2, 5, 3),
    ),
    "batch_norm_training": Case(
        lambda x, w, b: nn.batch_norm_training(x, np.zeros(3), np.ones(3), w, b, channel_axis=1)[0],
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        normal(4, 3, 2, 5),
        normal(3),
        normal(3),
    ),
    "batch_norm_training channels last": Case(
        lambda x: nn.batch_norm_training(x, np.zeros(3), np.ones(3), channel_axis=-1, epsilon=1e-2)[
            0
        ],
        lambda x: F.batch_norm(x, None, None, training=True, eps=1e-2),
        normal(5, 3),
    ),
    "softmin": Case(lambda x: nn.softmin(x, axis=1), lambda x: F.softmin(x, 1), normal(2, 4, 3)),
    **{
        f"normalize {p} {axis}": Case(
            lambda x, p=p, a=axis: nn.normalize(x, p, axis=a),
            lambda x, p=p, a=axis: F.normalize(x, p, a),
            np.concatenate([normal(2, 4, 3), np.zeros((2, 4, 1))], -1),
        )
        for p in (1, 2, 3, float("inf"))
        for axis in (1, -1)
    },
}


def in_halves(x, c, s):
    a, b = x.chunk(2, -1)
    return torch.cat([a * c - b * s, b * c + a * s], -1)


def in_neighbours(x, c, s):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * c - b * s, b * c + a * s], -1).flatten(-2)


CASES |= {
    "rotary_embedding": Case(
        nn.rotary_embedding, in_halves, normal(2, 3, 5, 8), normal(5, 4), normal(5, 4)
    ),
    "rotary_embedding interleaved": Case(
        lambda *x: nn.rotary_embedding(*x, interleaved=True),
        in_neighbours,
        normal(2, 3, 5, 8),
        normal(5, 4),
        normal(5, 4),
    ),
    "rotary_embedding of a part": Case(
        nn.rotary_embedding,
        lambda x, c, s: torch.cat([in_halves(x[..., :6], c, s), x[..., 6:]], -1),
        normal(2, 5, 8),
        normal(5, 3),
        normal(5, 3),
    ),
}


def layer_of_torch(kind, **options):
    torch.manual_seed(0)
    return kind(8, 2, 12, 0.0, batch_first=True, dtype=torch.float64, **options)


def attention_parameters(layer):
    weights, biases = layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3)
    pairs = [*zip(weights, biases, strict=True), (layer.out_proj.weight, layer.out_proj.bias)]
    return [p for weight, bias in pairs for p in (weight.T, bias)]


def parameters_of(layer):
    """A layer's parameters in the order of ours, weights (in, out)."""
    ones = [1 + 0.1 * torch.randn(8, dtype=torch.float64) for _ in range(6)]
    norms = [layer.norm1, layer.norm2, *([layer.norm3] if hasattr(layer, "norm3") else [])]
    for norm, weight, bias in zip(norms, ones[::2], ones[1::2]):
        norm.weight.data, norm.bias.data = weight, bias
    sets = [n for norm in norms for n in [(norm.weight, norm.bias)]]
    parts = [*attention_parameters(layer.self_attn), *sets[0]]
    if len(norms) == 3:
        parts += [*attention_parameters(layer.multihead_attn), *sets[1]]
    feedforward = [
        layer.linear1.weight.T, layer.linear1.bias, layer.linear2.weight.T, layer.linear2.bias,
    ]  # fmt: skip
    return [p.detach().numpy().copy() for p in [*parts, *feedforward, *sets[-1]]]


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_layers_of_transformers(norm_first, activation):
    options = {"norm_first": norm_first, "activation": activation}
    x, memory = normal(2, 5, 8), normal(2, 7, 8)
    encoder = layer_of_torch(torch.nn.TransformerEncoderLayer, **options)
    parameters = parameters_of(encoder)
    ours = composit.evaluate(
        nn.transformer_encoder_layer(x, MASK[:, :5] | np.eye(5, dtype=bool), *parameters,
                                     head_size=4, **options)
    )  # fmt: skip
    refused = torch.tensor(~(MASK[:, :5] | np.eye(5, dtype=bool)))
    expected = encoder(torch.tensor(x), src_mask=refused).detach().numpy()
    np.testing.assert_allclose(ours, expected, rtol=1e-11, atol=1e-11)
    decoder = layer_of_torch(torch.nn.TransformerDecoderLayer, **options)
    parameters = parameters_of(decoder)
    ours = composit.evaluate(
        nn.transformer_decoder_layer(
            x, memory, None, None, *parameters, head_size=4, is_causal=True, **options
        )
    )
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    expected = decoder(torch.tensor(x), torch.tensor(memory), mask).detach().numpy()
    np.testing.assert_allclose(ours, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    check_against_torch(CASES[name], dtype)


@pytest.mark.parametrize("kind", ["sdpa", "rms_norm", "batch_norm", "normalize", "rotary"])
def test_all_ways_give_the_same_bits(kind):
    check_bits(case for name, case in CASES.items() if name.startswith(kind))


def test_running_statistics():
    x, mean, variance = normal(4, 3, 5), normal(3), rng.rand(3)
    kept = torch.tensor(mean), torch.tensor(variance)
    F.batch_norm(torch.tensor(x), *kept, training=True, momentum=0.3)
    _, *ours = nn.batch_norm_training(x, mean, variance, channel_axis=1, momentum=0.3)
    for one, expected in zip(ours, kept, strict=True):
        np.testing.assert_allclose(np.asarray(one), expected.numpy(), rtol=1e-12)


@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
def test_a_step_of_decoding_is_one_program(backend):
    """Tokens one by one over a cache give causal attention over all of them: position is data."""
    size, capacity, tokens = 8, 11, 6
    q, k, v = (normal(2, 4, tokens, size) for _ in range(3))
    k, v = k[:, ::2], v[:, ::2]

    def attend(query, key, value, keys, values, position):
        cosine, sine = nn.rotary_angles(
            position + np.arange(query.shape[-2]), size, dtype="float64"
        )
        query = nn.rotary_embedding(query, cosine, sine)
        keys = nn.update_cache(keys, nn.rotary_embedding(key, cosine, sine), position)
        values = nn.update_cache(values, value, position)
        result = sdpa(query, keys, values, group_heads=True, position=position)
        return result, keys, values

    step = composit.compile(attend, backend=backend)
    # What the cache holds behind the position must not matter.
    keys, values = np.full((2, 2, capacity, size), 1e9), np.full((2, 2, capacity, size), -1e9)
    results = []
    for begin, end in ((0, 3), (3, 4), (4, 5), (5, 6)):
        part = slice(begin, end)
        result, keys, values = step(
            q[:, :, part], k[:, :, part], v[:, :, part], keys, values, np.int64(begin)
        )
        results.append(result)
    cosine, sine = nn.rotary_angles(np.arange(tokens), size, dtype="float64")
    expected = sdpa(
        nn.rotary_embedding(q, cosine, sine),
        nn.rotary_embedding(k, cosine, sine),
        v,
        group_heads=True,
        is_causal=True,
    )
    np.testing.assert_allclose(np.concatenate(results, 2), np.asarray(expected), rtol=1e-12)


def test_angles():
    positions, size, base = np.array([0, 3, 1000]), 6, 500000.0
    cosine, sine = nn.rotary_angles(positions, size, base=base, dtype="float64")
    angles = positions[:, None] * base ** (-np.arange(0, size, 2) / size)
    np.testing.assert_allclose(np.asarray(cosine), np.cos(angles), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(np.asarray(sine), np.sin(angles), rtol=1e-13, atol=1e-13)


def test_rows_outside_a_cache():
    cache, new = np.zeros((3, 2)), np.ones((2, 2))
    for position in (-1, 2, 5):
        with pytest.raises(IndexError, match=rf"update_cache: position is {position}, cache has"):
            nn.update_cache(cache, new, position)
        write = composit.compile(nn.update_cache)
        with pytest.raises(IndexError):
            write(cache, new, np.int64(position))


X, W, B = np.ones((2, 3, 4, 5)), np.ones((5, 5)), np.ones(5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sdpa(X, X[:, :2], X[:, :2], group_heads=True),
            r"scaled_dot_product_attention: query has shape \(2, 3, 4, 5\), key has "
            r"shape \(2, 2, 4, "
            r"5\), value has shape \(2, 2, 4, 5\)\. The heads of query, axis -3, "
            r"must be a multiple",
        ),
        (
            lambda: sdpa(X, X, X, position=np.arange(2)),
            r"scaled_dot_product_attention: position has shape \(2,\)\. One integer, 0-d, is",
        ),
        (
            lambda: nn.update_cache(X, X[:, :2], 0),
            r"update_cache: cache has shape \(2, 3, 4, 5\), new has shape \(2, 2, 4, 5\)\.",
        ),
        (
            lambda: nn.rotary_embedding(X, np.ones((4, 3)), np.ones((4, 3))),
            r"rotary_embedding: x has shape \(2, 3, 4, 5\), cosine has shape \(4, 3\), sine has",
        ),
        (lambda: nn.rotary_angles(np.arange(3), 5), r"rotary_angles: size is 5\. An even number"),
        (
            lambda: nn.instance_norm(X, np.ones(4), channel_axis=1),
            r"instance_norm: weight has shape \(4,\), x has shape \(2, 3, 4, 5\)\. "
            r"\(3,\), one number",
        ),
        (
            lambda: nn.batch_norm_training(X[:1, :, 0, 0], np.ones(3), np.ones(3), channel_axis=1),
            r"batch_norm_training: x has shape \(1, 3\) and 1 elements for each "
            r"channel of axis 1\.",
        ),
        (lambda: nn.normalize(X, 0), r"normalize: p is 0\. A positive number is required\."),
        (
            lambda: nn.multi_head_attention(X[0], None, W, None, None, *[B] * 5, head_size=5),
            r"multi_head_attention: parameter 2 is None, which only biases and "
            r"norms may be\. A weight",
        ),
        (
            lambda: nn.transformer_encoder_layer(X[0], None, *[X] * 15, head_size=1),
            r"transformer_encoder_layer: 15 parameters\. 16 are required\.",
        ),
        (
            lambda: nn.transformer_encoder_layer(
                X[0], None, *[W, B] * 4, B, B, *[W, B] * 2, B, B, head_size=5, activation="tanh"
            ),
            r"transformer_encoder_layer: activation is 'tanh'\. Available: relu, gelu, silu\.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
