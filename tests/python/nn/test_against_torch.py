"""composit.nn against PyTorch: values, and the gradients of every floating operand."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_agreement import Case, check_against_torch

import composit
from composit import nn

rng = np.random.RandomState(5)


def normal(*shape):
    return rng.standard_normal(shape)


def positive(*shape):
    return rng.uniform(0.5, 2, shape)


def per_channel(x):
    return x[:, None, None]


LABELS = rng.randint(0, 7, (3, 5))
IDS = rng.randint(0, 6, (2, 4))

CASES = {
    "relu": Case(nn.relu, F.relu, normal(4, 5)),
    "relu at 0": Case(nn.relu, F.relu, np.array([0.0, -0.0, 1.0])),
    "sigmoid": Case(nn.sigmoid, torch.sigmoid, 4 * normal(4, 5)),
    "silu": Case(nn.silu, F.silu, 4 * normal(4, 5)),
    "gelu": Case(nn.gelu, F.gelu, 3 * normal(4, 5)),
    **{
        f"softmax {axis}": Case(
            lambda x, axis=axis: nn.softmax(x, axis=axis),
            lambda x, axis=axis: F.softmax(x, axis),
            5 * normal(3, 4, 5),
        )
        for axis in (0, 1, -1)
    },
    **{
        f"log_softmax {axis}": Case(
            lambda x, axis=axis: nn.log_softmax(x, axis),
            lambda x, axis=axis: F.log_softmax(x, axis),
            5 * normal(3, 4, 5),
        )
        for axis in (0, -1)
    },
    "logsumexp": Case(
        lambda x: nn.logsumexp(x, 1), lambda x: torch.logsumexp(x, 1), 50 * normal(3, 4)
    ),
    "logsumexp keepdims": Case(
        lambda x: nn.logsumexp(x, 0, True),
        lambda x: torch.logsumexp(x, 0, True),
        np.array([[1e3, -1e3], [1e3, -1e3 + 1]]),
    ),
    "embedding": Case(nn.embedding, F.embedding, IDS, normal(6, 3)),
    "embedding padding_idx": Case(
        lambda ids, w: nn.embedding(ids, w, padding_idx=-3),
        lambda ids, w: F.embedding(ids, w, padding_idx=-3),
        np.array([[3, 0, 3], [5, 3, 1]]),
        normal(6, 3),
    ),
    **{
        f"cross_entropy {reduction}": Case(
            lambda x, labels, r=reduction: nn.cross_entropy(x, labels, r),
            lambda x, labels, r=reduction: F.cross_entropy(x.movedim(-1, 1), labels, reduction=r),
            3 * normal(3, 5, 7),
            LABELS,
        )
        for reduction in ("mean", "sum", "none")
    },
    **{
        f"nll {reduction}": Case(
            lambda x, labels, r=reduction: nn.nll(x, labels, r),
            lambda x, labels, r=reduction: F.nll_loss(x.movedim(-1, 1), labels, reduction=r),
            normal(3, 5, 7),
            LABELS,
        )
        for reduction in ("mean", "sum", "none")
    },
    **{
        f"mse {reduction}": Case(
            lambda x, y, r=reduction: nn.mse(x, y, r),
            lambda x, y, r=reduction: F.mse_loss(x, y, reduction=r),
            normal(3, 5),
            normal(3, 5),
        )
        for reduction in ("mean", "sum", "none")
    },
    "layer_norm": Case(
        nn.layer_norm,
        lambda x, w, b: F.layer_norm(x, (6,), w, b),
        normal(3, 4, 6),
        normal(6),
        normal(6),
    ),
    "layer_norm of two axes": Case(
        lambda x, w, b: nn.layer_norm(x, w, b, axis=(-2, -1), epsilon=1e-3),
        lambda x, w, b: F.layer_norm(x, (4, 6), w, b, 1e-3),
        normal(3, 4, 6),
        normal(4, 6),
        normal(4, 6),
    ),
    "batch_norm": Case(
        lambda x, mean, var, w, b: nn.batch_norm(
            x, mean[:, None, None], var[:, None, None], w[:, None, None], b[:, None, None]
        ),
        lambda x, mean, var, w, b: (
            (x - per_channel(mean)) / torch.sqrt(per_channel(var) + 1e-5) * per_channel(w)
            + per_channel(b)
        ),
        normal(2, 3, 4, 5),
        normal(3),
        positive(3),
        normal(3),
        normal(3),
    ),
    "group_norm": Case(
        lambda x, w, b: nn.group_norm(x, w, b, channel_axis=1, num_groups=3),
        lambda x, w, b: F.group_norm(x, 3, w, b),
        normal(2, 6, 3, 4),
        normal(6),
        normal(6),
    ),
    "group_norm with channels last": Case(
        lambda x, w, b: nn.group_norm(x, w, b, channel_axis=-1, num_groups=2),
        lambda x, w, b: F.group_norm(x.movedim(-1, 1), 2, w, b).movedim(1, -1),
        normal(2, 3, 4, 6),
        normal(6),
        normal(6),
    ),
    "attention": Case(
        nn.scaled_dot_product_attention,
        F.scaled_dot_product_attention,
        normal(2, 3, 5, 4),
        normal(2, 3, 6, 4),
        normal(2, 3, 6, 7),
    ),
    "attention with a mask": Case(
        nn.scaled_dot_product_attention,
        F.scaled_dot_product_attention,
        normal(2, 5, 4),
        normal(2, 6, 4),
        normal(2, 6, 4),
        normal(2, 5, 6),
    ),
    "multi_head_attention": Case(
        lambda *x: nn.multi_head_attention(x[0], None, *x[1:], head_size=4),
        lambda x, qw, qb, kw, kb, vw, vb, ow, ob: F.multi_head_attention_forward(
            x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), 8, 2, None,
            torch.cat([qb, kb, vb]), None, None, False, 0.0, ow.T, ob,
            use_separate_proj_weight=True, q_proj_weight=qw.T, k_proj_weight=kw.T,
            v_proj_weight=vw.T, need_weights=False,
        )[0].transpose(0, 1),
        normal(2, 5, 8),
        *[normal(*shape) for _ in range(4) for shape in ((8, 8), (8,))],
    ),
    "feedforward": Case(
        nn.feedforward,
        lambda x, w1, b1, w2, b2: F.gelu(x @ w1 + b1) @ w2 + b2,
        normal(2, 5, 4),
        normal(4, 9),
        normal(9),
        normal(9, 3),
        normal(3),
    ),
}  # fmt: skip


def bottleneck(x, *p, strides):
    """ResNet's module, of torch's parts: five tensors a convolution."""

    def normed(x, i, **options):
        filters, mean, var, w, b = p[5 * i : 5 * i + 5]
        y = F.conv2d(x, filters, **options) - per_channel(mean)
        return y / torch.sqrt(per_channel(var) + 1e-5) * per_channel(w) + per_channel(b)

    y = F.relu(normed(x, 0))
    y = F.relu(normed(y, 1, stride=strides, padding=1))
    y = normed(y, 2)
    return F.relu(y + (normed(x, 3, stride=strides) if len(p) == 20 else x))


def resnet_parameters(channels, inner, outer, shortcut):
    filters = [(inner, channels, 1, 1), (inner, inner, 3, 3), (outer, inner, 1, 1)]
    filters += [(outer, channels, 1, 1)] if shortcut else []
    arrays = []
    for shape in filters:
        n = shape[0]
        arrays += [normal(*shape), normal(n), positive(n), normal(n), normal(n)]
    return arrays


for shortcut, strides in ((True, (2, 2)), (True, (1, 1)), (False, (1, 1))):
    CASES[f"resnet_module {shortcut} {strides}"] = Case(
        lambda *x, s=strides: nn.resnet_module(*x, channels_last=False, module_strides=s),
        lambda *x, s=strides: bottleneck(*x, strides=s),
        normal(2, 4, 6, 6),
        *resnet_parameters(4, 3, 5 if shortcut else 4, shortcut),
    )


def first(x):
    return np.moveaxis(x, -1, 1)


def last(x):
    return np.moveaxis(x, 1, -1)


# x, filters (channels first), options
CONVOLUTIONS = [
    ((2, 3, 9), (4, 3, 3), {}),
    ((2, 4, 12), (6, 2, 3), {"strides": 2, "padding": 1, "dilation": 2, "groups": 2}),
    ((2, 3, 7, 6), (5, 3, 3, 2), {}),
    ((2, 3, 8, 7), (5, 3, 3, 2), {"strides": (2, 3)}),
    ((2, 3, 7, 6), (5, 3, 3, 2), {"padding": (2, 1)}),
    ((2, 3, 9, 9), (5, 3, 3, 2), {"dilation": (2, 3)}),
    ((2, 4, 9, 8), (6, 2, 3, 3), {"groups": 2, "strides": (2, 1), "padding": (1, 2)}),
    ((2, 6, 8, 8), (6, 1, 3, 3), {"groups": 6, "padding": 1, "strides": 2}),
    ((1, 4, 11, 10), (8, 2, 2, 3), {"strides": 2, "padding": 3, "dilation": (3, 2), "groups": 2}),
    ((2, 3, 5, 5), (4, 3, 5, 5), {}),
    ((2, 3, 4, 4), (4, 3, 1, 1), {"strides": 3}),
    ((1, 2, 5, 6, 4), (4, 2, 2, 3, 2), {"strides": (1, 2, 1), "padding": (1, 0, 1)}),
    ((1, 4, 5, 5, 5), (4, 2, 2, 2, 2), {"groups": 2, "dilation": 2, "padding": 1}),
]
for x, filters, options in CONVOLUTIONS:
    convolve = (F.conv1d, F.conv2d, F.conv3d)[len(x) - 3]
    named = {"strides": "stride"}
    theirs = {named.get(key, key): option for key, option in options.items()}
    text = " ".join(f"{key}={option}" for key, option in options.items())
    arrays = normal(*x), normal(*filters)
    CASES[f"convolution {x} {filters} {text}"] = Case(
        lambda x, w, o=options: nn.convolution(x, w, channels_last=False, **o),
        lambda x, w, f=convolve, o=theirs: f(x, w, **o),
        *arrays,
    )
    CASES[f"convolution {x} {filters} {text} channels last"] = Case(
        lambda x, w, o=options: nn.convolution(x, w, channels_last=True, **o),
        lambda x, w, f=convolve, o=theirs: f(x.movedim(-1, 1), w.movedim(-1, 1), **o).movedim(
            1, -1
        ),
        *map(last, arrays),
    )

POOLS = [
    ((2, 3, 9), {"kernel_size": (3,), "strides": (2,)}),
    ((2, 3, 7, 8), {"kernel_size": (2, 3)}),
    ((2, 3, 7, 8), {"kernel_size": (2, 2), "strides": (2, 2)}),
    ((2, 3, 7, 8), {"kernel_size": (3, 3), "strides": (2, 1), "padding": (1, 1)}),
    ((2, 3, 8, 8), {"kernel_size": (4, 2), "strides": (3, 2), "padding": (2, 0)}),
    ((1, 2, 5, 6, 4), {"kernel_size": (2, 3, 2), "strides": (2, 1, 2), "padding": (1, 0, 1)}),
]
for x, options in POOLS:
    text = " ".join(f"{key}={option}" for key, option in options.items())
    theirs = {
        "kernel_size": options["kernel_size"],
        "stride": options.get("strides", 1),
        "padding": options.get("padding", 0),
    }
    for name, kinds in (
        ("max_pool", (F.max_pool1d, F.max_pool2d, F.max_pool3d)),
        ("average_pool", (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)),
    ):
        ours, pool = getattr(nn, name), kinds[len(x) - 3]
        # Few values, so that windows have several maxima: the first one takes the gradient.
        array = rng.randint(-2, 3, x).astype(float) if name == "max_pool" else normal(*x)
        CASES[f"{name} {x} {text}"] = Case(
            lambda v, f=ours, o=options: f(v, channels_last=False, **o),
            lambda v, f=pool, o=theirs: f(v, **o),
            array,
        )
        CASES[f"{name} {x} {text} channels last"] = Case(
            lambda v, f=ours, o=options: f(v, channels_last=True, **o),
            lambda v, f=pool, o=theirs: f(v.movedim(-1, 1), **o).movedim(1, -1),
            last(array),
        )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    check_against_torch(CASES[name], dtype)


def test_every_operation_and_layer_is_compared():
    random = {"dropout"}  # torch's draws are others: test_random_layers.py
    without_gradient = {"one_hot"}
    losses = {"cross_entropy", "mse", "nll"}  # the others: test_losses.py
    names = {*nn.operations.__all__, *nn.layers.__all__} - random - without_gradient | losses
    named = {name.split()[0] for name in CASES}
    elsewhere = {*nn.activations.__all__, *nn.attention.__all__, *nn.images.__all__, "attention"}
    normalisations = {
        "batch_norm_training", "instance_norm", "normalize", "rms_norm", "softmin",
    }  # fmt: skip
    assert names - normalisations == named - elsewhere  # test_attention.py


def test_one_hot():
    ours = composit.evaluate(nn.one_hot(LABELS, 7, "int64"))
    np.testing.assert_array_equal(ours, F.one_hot(torch.tensor(LABELS), 7).numpy())
