"""composit.nn through Python: names and arguments, values against NumPy."""

import math

import numpy as np
import pytest

import composit
from composit import nn
from composit import numpy as cnp
from composit.nn import chain_rule, optimize

generator = np.random.RandomState(0)
X = generator.standard_normal((2, 5, 6, 3)).astype("float32")
ROWS = generator.standard_normal((4, 8)).astype("float32")


def softmax(x, axis):
    shifted = np.exp(x - x.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def check(lazy, expected, tolerance=2e-6):
    value = composit.evaluate(lazy)
    assert value.dtype == np.float32
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


def test_activations():
    check(nn.relu(ROWS), np.maximum(ROWS, 0))
    check(nn.sigmoid(ROWS), 1 / (1 + np.exp(-ROWS)))
    check(nn.silu(ROWS), ROWS / (1 + np.exp(-ROWS)))
    erf = np.vectorize(math.erf)(ROWS / math.sqrt(2))
    check(nn.gelu(ROWS), ROWS * (1 + erf) / 2)
    assert len(nn.gelu(cnp.asarray(ROWS)).graph) == 2


def test_layers():
    w, b = np.full(8, 2, "float32"), np.ones(8, "float32")
    check(nn.softmax(ROWS, axis=-1), softmax(ROWS, -1))
    mean, var = ROWS.mean(1, keepdims=True), ROWS.var(1, keepdims=True)
    check(nn.layer_norm(ROWS, w, b), (ROWS - mean) / np.sqrt(var + 1e-5) * w + b, 1e-5)
    check(nn.batch_norm(ROWS, b, w, w, b), (ROWS - b) / np.sqrt(w + 1e-5) * w + b, 1e-5)
    q = ROWS[None]
    expected = softmax(q @ q.transpose(0, 2, 1) / np.float32(np.sqrt(8)), -1) @ q
    check(nn.scaled_dot_product_attention(q, q, q), expected, 1e-5)


@pytest.mark.parametrize("shape, axis", [((3, 0), -1), ((0, 4), 0), ((0, 4), 1)])
def test_softmax_of_nothing(shape, axis):
    x = np.zeros(shape, "float32")
    for softmax_of in (nn.softmax, nn.log_softmax):
        found = composit.evaluate(softmax_of(x, axis=axis))
        assert (found.shape, found.dtype) == (shape, np.float32)


@pytest.mark.parametrize("options", [{}, {"mask": np.zeros((2, 0), bool)}, {"is_causal": True}])
def test_attention_without_keys(options):
    query, nothing = np.ones((2, 4), "float32"), np.zeros((0, 4), "float32")
    found = composit.evaluate(nn.scaled_dot_product_attention(query, nothing, nothing, **options))
    np.testing.assert_array_equal(found, np.zeros((2, 4)))


def test_embedding():
    ids = np.array([[0, 3], [1, -1]])
    check(nn.embedding(ids, ROWS), ROWS[ids])


def convolve(x, filters, strides, padding):
    """x: (batch, height, width, channels); filters: (out, height, width, channels)."""
    padded = np.pad(x, ((0, 0), (padding[0],) * 2, (padding[1],) * 2, (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, filters.shape[1:3], axis=(1, 2))
    windows = windows[:, :: strides[0], :: strides[1]]
    return np.einsum("bijchw,ohwc->bijo", windows, filters)


@pytest.mark.parametrize("strides", [(1, 1), (2, 1)])
@pytest.mark.parametrize("padding", [(0, 0), (1, 2)])
def test_convolution(strides, padding):
    filters = generator.standard_normal((4, 3, 2, 3)).astype("float32")
    expected = convolve(X, filters, strides, padding)
    options = {"strides": strides, "padding": padding}
    check(nn.convolution(X, filters, channels_last=True, **options), expected, 1e-5)
    first = nn.convolution(
        X.transpose(0, 3, 1, 2), filters.transpose(0, 3, 1, 2), channels_last=False, **options
    )
    check(first, expected.transpose(0, 3, 1, 2), 1e-5)


def test_pools():
    options = {"kernel_size": (2, 3), "channels_last": True}
    windows = np.lib.stride_tricks.sliding_window_view(X, (2, 3), axis=(1, 2))
    check(nn.max_pool(X, **options), windows.max((-1, -2)))
    check(nn.average_pool(X, **options), windows.mean((-1, -2)))
    check(nn.max_pool(X, strides=(2, 3), **options), windows[:, ::2, ::3].max((-1, -2)))


def test_losses():
    labels = np.array([1, 0, 7, 3])
    picked = -np.log(softmax(ROWS, -1))[np.arange(4), labels]
    check(nn.cross_entropy(ROWS, labels), picked.mean(), 1e-5)
    check(nn.cross_entropy(ROWS, labels, reduction="none"), picked, 1e-5)
    check(nn.mse(ROWS, ROWS * 0), (ROWS**2).mean(), 1e-5)


def test_chain_rule_keys_work_by_identity():
    x = cnp.asarray(ROWS)
    y = x * x
    z = cnp.sin(x)
    (gradient,) = chain_rule({y: cnp.ones_like(y), z: 2 * cnp.ones_like(z)}, [x])
    check(gradient, 2 * ROWS + 2 * np.cos(ROWS), 1e-5)
    (ones,) = chain_rule({y: y}, [y])
    check(ones, np.ones_like(ROWS))


def test_no_gradient_flows_through_stop_gradient():
    x = cnp.asarray(ROWS)
    check(nn.stop_gradient(x), ROWS)
    y = nn.stop_gradient(x) * x
    (gradient,) = chain_rule({y: y}, [x])
    check(gradient, ROWS)


def test_gradients_flow_where_they_are_let_through():
    x = cnp.asarray(np.array([-4, 4, 0, 9], "float32"))
    with np.errstate(all="ignore"):
        root = cnp.sqrt(nn.gradient_where(x > 0, x))
        y = cnp.where(x > 0, root, 3 * nn.gradient_where(x <= 0, x))
        check(chain_rule({y: y}, [x])[0], [3, 0.25, 3, 1 / 6])
    check(nn.gradient_where(np.array(False), ROWS), ROWS)
    z = cnp.asarray(ROWS.astype("float16") + 1j)
    for value in (z, cnp.asarray(ROWS.astype("float16"))):
        gated = nn.gradient_where(cnp.asarray(ROWS[0] > 0), value)
        assert composit.evaluate(gated).tobytes() == composit.evaluate(value).tobytes()
        (gradient,) = chain_rule({gated: value}, [value])
        expected = np.where(ROWS[0] > 0, composit.evaluate(value), 0)
        assert np.array_equal(composit.evaluate(gradient), expected)

    def gated(c, x):
        return nn.gradient_where(c, x) * 2

    c = ROWS[:, 0] > 0
    batched = composit.vmap(composit.grad(lambda c, x: gated(c, x).sum(), 1))(c, ROWS)
    check(batched, np.where(c[:, None], 2, np.zeros_like(ROWS)))
    _, tangent = composit.jvp(lambda x: gated(c[:, None], x), (ROWS,), (ROWS,))
    check(tangent, np.where(c[:, None], 2 * ROWS, 0))
    with pytest.raises(TypeError, match=r"the condition is float32\[4, 8\]\. One of dtype bool"):
        nn.gradient_where(ROWS, ROWS)
    with pytest.raises(ValueError, match="gradient_where: "):
        nn.gradient_where(ROWS > 0, ROWS[0])


def test_values_with_the_gradient_of_others():
    x, values = cnp.asarray(ROWS), cnp.asarray(ROWS * 2)
    y = nn.with_values(3 * x, values)
    check(y, ROWS * 2)
    check(chain_rule({y: y}, [x])[0], 0 * ROWS + 3)
    check(chain_rule({y: y}, [values])[0], 0 * ROWS)
    check(composit.vmap(lambda a, b: nn.with_values(a, b))(ROWS, ROWS * 5), ROWS * 5)
    _, tangent = composit.jvp(lambda a: nn.with_values(a, ROWS), (ROWS,), (ROWS * 7,))
    check(tangent, ROWS * 7)
    with pytest.raises(TypeError, match=r"with_values: the values are float64.*Dtype float32"):
        nn.with_values(ROWS.astype("float32"), ROWS.astype("float64"))
    with pytest.raises(ValueError, match=r"with_values: the values are .*Shape \(4, 8\)"):
        nn.with_values(ROWS, ROWS[0])


def test_optimize_keeps_names_and_takes_an_evaluate_function():
    w = cnp.asarray(ROWS, name="weight")
    calls = []

    def evaluate(*tensors):
        calls.append(len(tensors))
        return composit.evaluate(*tensors)

    (updated,) = optimize([w], [w], nn.sgd_optimizer(learning_rate=0.5), evaluate)
    assert (updated.name, calls) == ("weight", [1])
    check(updated, ROWS * 0.5)


def test_adam():
    optimizer = nn.adam(learning_rate=0.1)
    w = cnp.asarray(ROWS)
    state = optimizer.initial_state([w])
    (updated,), state = optimizer.step([w], [w], state)
    check(updated, ROWS - 0.1 * ROWS / (np.abs(ROWS) + 1e-8), 1e-5)
    assert composit.evaluate(state[0]) == 1
