"""The derivatives of what composit.nn and composit.numpy make of primitives, in two orders."""

import numpy as np
import pytest
from differences import check_derivatives

import composit.numpy as cnp
from composit import nn, random

rng = np.random.RandomState(8)


def normal(*shape):
    return rng.standard_normal(shape)


def distinct(*shape):
    """Values that are far apart, so that maxima do not change within a step."""
    return rng.permutation(np.arange(np.prod(shape)) * 0.3 - 1).reshape(shape)


POOL = {"kernel_size": (2, 3), "channels_last": False, "strides": (1, 2), "padding": (1, 1)}
OPTIONS = {"strides": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 2}
IDS = np.array([[3, 0, -1], [3, 3, 1]])
KEY = random.key(4)

FUNCTIONS = {
    "softmax": (lambda x: nn.softmax(x, axis=0), normal(3, 2)),
    "log_softmax": (nn.log_softmax, normal(2, 3)),
    "logsumexp": (lambda x: nn.logsumexp(x, 0), normal(3, 2)),
    "cross_entropy": (lambda x: nn.cross_entropy(x, np.array([2, 0])), normal(2, 3)),
    "nll": (lambda x: nn.nll(x, np.array([2, 0]), "sum"), normal(2, 3)),
    "mse": (nn.mse, normal(2, 3), normal(3)),
    "embedding": (lambda w: nn.embedding(IDS, w), normal(4, 2)),
    "layer_norm": (nn.layer_norm, normal(2, 4), normal(4), normal(4)),
    "batch_norm": (
        nn.batch_norm, normal(3, 2), normal(2), rng.uniform(0.5, 2, 2), normal(2), normal(2)
    ),
    "group_norm": (
        lambda x, w, b: nn.group_norm(x, w, b, channel_axis=1, num_groups=2),
        normal(2, 4, 3), normal(4), normal(4),
    ),
    "softmin": (lambda x: nn.softmin(x, axis=0), normal(3, 2)),
    "rms_norm": (nn.rms_norm, normal(2, 4), normal(4)),
    "normalize": (nn.normalize, normal(2, 4)),
    "instance_norm": (
        lambda x, w, b: nn.instance_norm(x, w, b, channel_axis=1), normal(2, 2, 4), normal(2),
        normal(2),
    ),
    "batch_norm_training": (
        lambda x, w, b: nn.batch_norm_training(
            x, np.zeros(2), np.ones(2), w, b, channel_axis=1
        )[0],
        normal(4, 2), normal(2), normal(2),
    ),
    "causal attention of groups": (
        lambda q, k, v: nn.scaled_dot_product_attention(
            q, k, v, is_causal=True, group_heads=True
        ),
        normal(2, 3, 2), normal(1, 3, 2), normal(1, 3, 2),
    ),
    "rotary_embedding": (nn.rotary_embedding, normal(3, 4), normal(3, 2), normal(3, 2)),
    "transposed_convolution": (
        lambda x, w: nn.transposed_convolution(x, w, channels_last=False, strides=2),
        normal(1, 2, 3, 2), normal(2, 2, 2, 2),
    ),
    "elu": (nn.elu, normal(5)),
    "softplus": (nn.softplus, normal(5)),
    "mish": (nn.mish, normal(5)),
    "attention": (
        nn.scaled_dot_product_attention, normal(3, 2), normal(4, 2), normal(4, 3), normal(3, 4)
    ),
    "multi_head_attention": (
        lambda x, m, *p: nn.multi_head_attention(x, m, *p, head_size=2),
        normal(1, 3, 2), normal(3, 3), *[normal(*s) for s in ((2, 4), (4,)) * 3], normal(4, 2),
        normal(2),
    ),
    "feedforward": (nn.feedforward, normal(2, 3), normal(3, 4), normal(4), normal(4, 2), normal(2)),
    "dropout": (lambda x: nn.dropout(x, 0.4, KEY), normal(10)),
    "convolution": (
        lambda x, w: nn.convolution(x, w, channels_last=False, **OPTIONS),
        normal(1, 4, 5, 5), normal(2, 2, 3, 2),
    ),
    "max_pool": (lambda x: nn.max_pool(x, **POOL), distinct(1, 2, 4, 5)),
    "average_pool": (lambda x: nn.average_pool(x, **POOL), normal(1, 2, 4, 5)),
    "uniform": (
        lambda a, b: random.uniform(KEY, (4,), "float64", a, b), normal(), normal(4)
    ),
    "truncated_normal": (
        lambda a, b: random.truncated_normal(KEY, a, b, (4,), "float64"),
        rng.uniform(-2, -1, 4), rng.uniform(0.5, 2, 4),
    ),
    "mean and var": (lambda x: [cnp.mean(x, 0), cnp.var(x, 1)], normal(3, 4)),
    "std": (lambda x: cnp.std(x, axis=0), normal(4, 2)),
    "ptp": (lambda x: cnp.ptp(x, axis=0), distinct(4, 2)),
    "prod with a zero": (lambda x: cnp.prod(x, axis=0), np.array([[1.5, 0.0], [-2.0, 0.7]])),
    "einsum": (lambda x, y: cnp.einsum("ij,kj->ik", x, y), normal(2, 3), normal(4, 3)),
    "matmul": (cnp.matmul, normal(2, 2, 3), normal(3, 2)),
    "tensordot": (lambda x, y: cnp.tensordot(x, y, 2), normal(2, 3, 2), normal(3, 2, 2)),
    "pad": (lambda x: cnp.pad(x, 1), normal(2, 3)),
    "roll": (lambda x: cnp.roll(x, 2), normal(5)),
    "indexing": (lambda x: x[IDS] * x[::-1][None, :3], normal(4, 2)),
    "take_along_axis": (
        lambda x: cnp.take_along_axis(x, np.array([[1, 0, 1]]), axis=0), normal(2, 3)
    ),
    "where": (lambda x, y: cnp.where(x > y, x * y, cnp.sin(y)), normal(4), normal(4)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    function, *arrays = FUNCTIONS[name]
    check_derivatives(function, *[np.asarray(a, "float64") for a in arrays])


def test_every_layer_and_operation_of_nn_is_tested():
    without = {"one_hot"}  # of integers
    of_rows = {"relu", "sigmoid", "silu", "gelu"}  # test_rows.py
    composed = {"resnet_module"}  # of convolutions and batch norms; test_against_torch.py
    names = {*nn.operations.__all__, *nn.layers.__all__} - without - of_rows - composed
    tested = {{"attention": "scaled_dot_product_attention"}.get(n, n) for n in FUNCTIONS}
    assert names <= tested, names - tested
