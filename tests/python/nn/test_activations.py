"""Activations against PyTorch: values, slopes (at kinks, where functions overflow), bits, NaN."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch_agreement import Case, check_against_torch, check_bits

import composit
from composit import nn, random

rng = np.random.RandomState(7)

# Both sides of every kink, the kinks, and large numbers.
POINTS = np.array(
    [-1e4, -100, -30, -20.5, -3, -2, -1, -0.5, -0.25, -0.0, 0, 0.25, 0.5, 1, 2, 3, 6, 20, 20.5, 100,
     1e4, *rng.uniform(-8, 8, 43)]
)  # fmt: skip

PAIRS = {
    "relu": (nn.relu, F.relu),
    "sigmoid": (nn.sigmoid, torch.sigmoid),
    "tanh": (nn.tanh, torch.tanh),
    "silu": (nn.silu, F.silu),
    "gelu": (nn.gelu, F.gelu),
    "gelu tanh": (
        lambda x: nn.gelu(x, approximate="tanh"),
        lambda x: F.gelu(x, approximate="tanh"),
    ),
    "relu6": (nn.relu6, F.relu6),
    "leaky_relu": (nn.leaky_relu, F.leaky_relu),
    "leaky_relu 0.3": (lambda x: nn.leaky_relu(x, 0.3), lambda x: F.leaky_relu(x, 0.3)),
    "leaky_relu -2": (lambda x: nn.leaky_relu(x, -2.0), lambda x: F.leaky_relu(x, -2.0)),
    "rrelu": (nn.rrelu, F.rrelu),
    "elu": (nn.elu, F.elu),
    "elu 0.7": (lambda x: nn.elu(x, 0.7), lambda x: F.elu(x, 0.7)),
    "selu": (nn.selu, F.selu),
    "celu": (nn.celu, F.celu),
    "celu 2.5": (lambda x: nn.celu(x, 2.5), lambda x: F.celu(x, 2.5)),
    "mish": (nn.mish, F.mish),
    "hardtanh": (nn.hardtanh, F.hardtanh),
    "hardtanh -2 0.5": (lambda x: nn.hardtanh(x, -2, 0.5), lambda x: F.hardtanh(x, -2, 0.5)),
    "hardsigmoid": (nn.hardsigmoid, F.hardsigmoid),
    "hardswish": (nn.hardswish, F.hardswish),
    "softplus": (nn.softplus, F.softplus),
    "softplus 2 3": (lambda x: nn.softplus(x, 2, 3), lambda x: F.softplus(x, 2, 3)),
    "softsign": (nn.softsign, F.softsign),
    "softshrink": (nn.softshrink, F.softshrink),
    "softshrink 0.25": (lambda x: nn.softshrink(x, 0.25), lambda x: F.softshrink(x, 0.25)),
    "hardshrink": (nn.hardshrink, F.hardshrink),
    "hardshrink 2": (lambda x: nn.hardshrink(x, 2), lambda x: F.hardshrink(x, 2)),
    "tanhshrink": (nn.tanhshrink, F.tanhshrink),
    "threshold": (lambda x: nn.threshold(x, 0.5, 7), lambda x: F.threshold(x, 0.5, 7)),
    "logsigmoid": (nn.logsigmoid, F.logsigmoid),
    "glu": (nn.glu, F.glu),
}
# PyTorch's constant 1 / 6 is a float32 there.
ROUGH = {"hardsigmoid": {"float64": 1e-7}}
CASES = {
    name: Case(*pair, POINTS.reshape(4, 16), bounds=ROUGH.get(name)) for name, pair in PAIRS.items()
}
CASES |= {f"{name} of nothing": Case(*pair, np.zeros((3, 0))) for name, pair in PAIRS.items()}
CASES |= {
    "glu 0": Case(lambda x: nn.glu(x, 0), lambda x: F.glu(x, 0), rng.randn(4, 3, 2)),
    "prelu one": Case(nn.prelu, F.prelu, POINTS.reshape(4, 16), np.array([0.3])),
    "prelu channels": Case(nn.prelu, F.prelu, POINTS.reshape(2, 4, 8), np.array([0.3, -1, 0.0, 2])),
    "prelu channels last": Case(
        lambda x, w: nn.prelu(x, w, channel_axis=-1),
        lambda x, w: F.prelu(x.movedim(-1, 1), w).movedim(1, -1),
        POINTS.reshape(2, 8, 4),
        np.array([0.3, -1, 0.0, 2]),
    ),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    check_against_torch(CASES[name], dtype)


def test_every_activation_is_compared():
    assert {name.split()[0] for name in CASES} == set(nn.activations.__all__)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_all_ways_give_the_same_bits(dtype):
    check_bits(CASES.values(), dtype)


@pytest.mark.parametrize("name", PAIRS)
def test_nan_stays(name):
    x = np.array([np.nan, 1.0])
    assert np.isnan(np.asarray(PAIRS[name][0](x))).any()


def test_integers_are_computed_in_float64():
    assert nn.elu(np.array([1, -1])).dtype == np.float64
    assert nn.hardswish(np.array([1, -1], "int8")).dtype == np.float64


def test_slopes_drawn_by_key():
    x = -np.ones((1000,))
    slopes = -np.asarray(nn.rrelu(x, 0.1, 0.3, random.key(1)))
    assert slopes.min() >= 0.1 and slopes.max() < 0.3 and slopes.std() > 0.05
    again = -np.asarray(nn.rrelu(x, 0.1, 0.3, random.key(1)))
    np.testing.assert_array_equal(slopes, again)
    gradient = composit.grad(lambda x: nn.rrelu(x, 0.1, 0.3, random.key(1)).sum())(x)
    np.testing.assert_array_equal(np.asarray(gradient), slopes)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [nn.gelu, nn.silu, nn.sigmoid, nn.softplus])
def test_finite_results_report_nothing(function, dtype):
    """An overflow within would be told, and each call be run again to find out where."""
    large = np.geomspace(1e-30, np.finfo(dtype).max, 1000)
    x = np.concatenate([-large, large, [0, -0.0, np.inf, -np.inf]]).astype(dtype)
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        composit.evaluate(function(composit.asarray(x)))
        composit.compile(lambda x: function(x), x)(x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: nn.glu(x), r"glu: axis 1 of shape \(2, 3\) has 3 elements\. An even number"),
        (
            lambda x: nn.hardtanh(x, 2, 1),
            r"hardtanh: least is 2, greatest is 1\. least <= greatest",
        ),
        (lambda x: nn.celu(x, 0), r"celu: alpha is 0\. Another number is required\."),
        (lambda x: nn.softplus(x, 0), r"softplus: beta is 0\. Another number is required\."),
        (lambda x: nn.softshrink(x, -1), r"softshrink: lambd is -1\. It must not be negative\."),
        (
            lambda x: nn.rrelu(x, 2, 1),
            r"rrelu: lower is 2, upper is 1\. lower <= upper is required",
        ),
        (lambda x: nn.gelu(x, "exact"), r"gelu: approximate is 'exact'\. Available: none, tanh\."),
        (
            lambda x: nn.prelu(x, np.ones(2)),
            r"prelu: x has shape \(2, 3\), weight has shape \(2,\)\. One weight, or "
            r"one for each of "
            r"the 3 channels of axis 1 is required\.",
        ),
        (lambda x: nn.elu(x * 1j), r"elu: x is complex128\. A real dtype is required\."),
    ],
)
def test_errors(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(composit.asarray(np.ones((2, 3))))
