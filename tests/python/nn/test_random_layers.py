"""composit.nn's random parts: dropout and the initialisers."""

import numpy as np
import pytest
from scipy import stats

import composit
import composit.numpy as cnp
from composit import nn, random

KEY = random.key(11)
X = np.random.RandomState(0).standard_normal((200, 100)).astype("float32")


def value(tensor):
    return composit.evaluate(tensor)


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.75, 1.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dropout(rate, dtype):
    x = X.astype(dtype)
    y = value(nn.dropout(x, rate, KEY))
    assert y.dtype == dtype
    left_out = y == 0
    assert abs(left_out.mean() - rate) <= 4 * np.sqrt(rate * (1 - rate) / x.size)
    scale = x.dtype.type(1 / (1 - rate) if rate < 1 else 0)
    np.testing.assert_array_equal(y, np.where(left_out, 0, x * scale))


def test_dropout_is_one_node_and_its_gradient_takes_the_same_elements():
    x = cnp.asarray(X)
    y = nn.dropout(x, 0.5, KEY)
    assert len(y.graph) == 3
    gradient = composit.grad(lambda v: cnp.sum(nn.dropout(v, 0.5, KEY)))(X)
    np.testing.assert_array_equal(value(gradient), np.where(value(y) == 0, 0, 2))
    infinite = value(nn.dropout(np.full(1000, np.inf, "float32"), 0.5, KEY))
    assert set(infinite) == {0, np.inf}


def test_dropout_in_a_compiled_step_takes_the_key_as_data():
    def step(x, key):
        return nn.dropout(x, 0.3, key)

    compiled = composit.compile(step, X, random.key(0))
    masks = set()
    for seed in range(4):
        y = compiled(X, np.uint64(seed))
        np.testing.assert_array_equal(y, value(step(X, random.key(seed))))
        masks.add((y == 0).tobytes())
    assert len(masks) == 4


def test_vmap_gives_every_example_a_mask_of_its_own():
    keys = random.split(KEY, 3)
    together = value(composit.vmap(lambda key: nn.dropout(X, 0.5, key))(keys))
    for key, y in zip(value(keys), together):
        np.testing.assert_array_equal(y, value(nn.dropout(X, 0.5, key)))


# name: (variance times fan, fan, distribution of the weights over their deviation)
INITIALIZERS = {
    "glorot_normal": (1, "fan_avg", stats.norm()),
    "glorot_uniform": (1, "fan_avg", stats.uniform(-(3**0.5), 2 * 3**0.5)),
    "he_normal": (2, "fan_in", stats.norm()),
    "he_uniform": (2, "fan_in", stats.uniform(-(3**0.5), 2 * 3**0.5)),
    "lecun_normal": (1, "fan_in", stats.norm()),
    "lecun_uniform": (1, "fan_in", stats.uniform(-(3**0.5), 2 * 3**0.5)),
}
LAYOUTS = [
    ((40, 160), {}, 40, 160),
    ((32, 20, 3, 3), {"in_axis": 1, "out_axis": 0}, 180, 288),
    ((32, 3, 3, 20), {"in_axis": -1, "out_axis": 0}, 180, 288),
]


@pytest.mark.parametrize("shape, axes, fan_in, fan_out", LAYOUTS)
@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers(name, shape, axes, fan_in, fan_out):
    scale, mode, expected = INITIALIZERS[name]
    tensor = getattr(nn, name)(KEY, shape, **axes)
    assert len(tensor.graph) == 2
    weights = value(tensor)
    assert (weights.shape, weights.dtype) == (shape, np.float32)
    fan = {"fan_in": fan_in, "fan_avg": (fan_in + fan_out) / 2}[mode]
    unit = weights.ravel().astype("float64") / np.sqrt(scale / fan)
    assert stats.kstest(unit, expected.cdf).pvalue > 1e-3
    general = nn.variance_scaling(
        KEY, shape, scale=scale, mode=mode, distribution=name.split("_")[1], **axes
    )
    np.testing.assert_array_equal(value(general), weights)


def test_truncated_initializer():
    options = {"scale": 4.0, "mode": "fan_out", "distribution": "truncated_normal"}
    weights = value(nn.variance_scaling(KEY, (100, 200), dtype="float64", **options))
    deviation = np.sqrt(4 / 200)
    np.testing.assert_allclose(weights.std(), deviation, rtol=0.02)
    assert np.abs(weights).max() < deviation / 0.8796 * 2.0001


REFUSED = [
    (
        lambda: nn.dropout(X, 1.5, KEY),
        ValueError,
        "dropout: rate is 1.5. A number from 0 to 1 is required.",
    ),
    (
        lambda: nn.dropout(X, 0.5, 3),
        TypeError,
        "dropout: the key is weak int64[], a Python number. A key, made by composit.random.key, "
        "split or fold_in, is required.",
    ),
    (
        lambda: nn.dropout(np.arange(3), 0.5, KEY),
        TypeError,
        "dropout: x has dtype int64. A floating dtype is required.",
    ),
    (
        lambda: nn.he_normal(KEY, (3,)),
        ValueError,
        "he_normal: shape is (3,). At least two dimensions are required: in and out.",
    ),
    (
        lambda: nn.he_normal(KEY, (3, 4), in_axis=1),
        ValueError,
        "he_normal: in_axis and out_axis are both 1. Different ones are required.",
    ),
    (
        lambda: nn.lecun_uniform(KEY, (0, 4)),
        ValueError,
        "lecun_uniform: shape is (0, 4), its fan_in is 0. A positive one is required.",
    ),
    (
        lambda: nn.variance_scaling(KEY, (3, 4), scale=1, mode="fan", distribution="normal"),
        ValueError,
        "variance_scaling: mode is 'fan'. Available: fan_in, fan_out, fan_avg.",
    ),
    (
        lambda: nn.variance_scaling(KEY, (3, 4), scale=1, mode="fan_in", distribution="cauchy"),
        ValueError,
        "variance_scaling: distribution is 'cauchy'. Available: normal, truncated_normal, uniform.",
    ),
    (
        lambda: nn.variance_scaling(KEY, (3, 4), scale=0, mode="fan_in", distribution="normal"),
        ValueError,
        "variance_scaling: scale is 0. A positive number is required.",
    ),
]


@pytest.mark.parametrize("call, kind, message", REFUSED, ids=[row[2][:40] for row in REFUSED])
def test_refused(call, kind, message):
    with pytest.raises(kind) as raised:
        call()
    assert str(raised.value).startswith(message)
