"""Optimisers where torch has none to compare with, clipping beside torch's, bits and bad input."""

import ml_dtypes  # noqa: F401 - NumPy knows bfloat16 by it
import numpy as np
import pytest
import torch

import composit
import composit.numpy as cnp
from composit import nn

RANDOM = np.random.RandomState(0)


def lion_of_the_paper(p, gradients, rate, beta1, beta2, decay):
    m = np.zeros_like(p)
    for g in gradients:
        c = beta1 * m + (1 - beta1) * g
        p = p - rate * (np.sign(c) + decay * p)
        m = beta2 * m + (1 - beta2) * g
    return p, m


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("options", [(1e-2, 0.9, 0.99, 0.0), (3e-2, 0.95, 0.98, 0.2)])
def test_lion(dtype, options):
    weight = RANDOM.standard_normal((4, 3)).astype(dtype)
    gradients = RANDOM.standard_normal((20, 4, 3)).astype(dtype)
    optimizer = nn.lion(*options)
    ours, state = [weight], composit.evaluate(*optimizer.initial_state([cnp.asarray(weight)]))
    step = composit.compile(lambda p, g, s: optimizer.step([p], [g], [s]))
    ours = weight
    for g in gradients:
        (ours,), (state,) = step(ours, g, state)
    expected, mean = lion_of_the_paper(weight, gradients, *options)
    bound = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(ours, expected, rtol=bound, atol=bound)
    np.testing.assert_allclose(state, mean, rtol=bound, atol=bound)
    assert ours.dtype == dtype


EVERY = {
    "sgd": nn.sgd(0.1, 0.9, 0.1, dampening=0.1),
    "adam": nn.adam(0.1, amsgrad=True, weight_decay=0.1),
    "adamw": nn.adamw(nn.cosine_schedule(0.1, 10)),
    "rmsprop": nn.rmsprop(momentum=0.5, centered=True),
    "adagrad": nn.adagrad(learning_rate_decay=0.1, initial_accumulator_value=0.5),
    "lion": nn.lion(weight_decay=0.1),
}


@pytest.mark.long_tail
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", EVERY)
def test_interpreted_and_compiled_bits(name, dtype):
    optimizer = EVERY[name]
    weights = [RANDOM.standard_normal(n).astype(np.float32).astype(dtype) for n in (5, 1, 0)]
    gradients = [RANDOM.standard_normal(n).astype(np.float32).astype(dtype) for n in (5, 1, 0)]

    def two_steps(weights, gradients):
        state = optimizer.initial_state(weights)
        weights, state = optimizer.step(weights, gradients, state)
        return optimizer.step(weights, gradients, state)

    lazily = two_steps([cnp.asarray(w) for w in weights], [cnp.asarray(g) for g in gradients])
    expected = composit.evaluate(*lazily[0], *lazily[1])
    for backend in ("interpreter", "cpp"):
        found = composit.compile(two_steps, backend=backend)(weights, gradients)
        for ours, theirs in zip([*found[0], *found[1]], expected):
            assert ours.dtype == theirs.dtype
            assert ours.tobytes() == theirs.tobytes()
    assert all(w.dtype == dtype for w in lazily[0])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("order", [2.0, 1.0, 3.5, np.inf])
@pytest.mark.parametrize("maximum", [0.5, 1e3])
def test_clipping_by_the_norm(dtype, order, maximum):
    gradients = [RANDOM.standard_normal(shape).astype(dtype) for shape in ((3, 4), (), (5,), (0,))]
    tensors = [torch.zeros(g.shape, dtype=getattr(torch, dtype)) for g in gradients]
    for tensor, g in zip(tensors, gradients):
        tensor.grad = torch.tensor(g)
    clipped, norm = nn.clip_by_global_norm([cnp.asarray(g) for g in gradients], maximum, order)
    # torch has no largest of nothing, either.
    theirs = [t for t in tensors if t.numel()]
    expected = torch.nn.utils.clip_grad_norm_(theirs, maximum, norm_type=order)
    bound = 1e-13 if dtype == "float64" else 1e-5
    assert composit.evaluate(norm) == pytest.approx(expected.item(), rel=bound)
    for ours, tensor in zip(clipped, tensors):
        np.testing.assert_allclose(composit.evaluate(ours), tensor.grad.numpy(), rtol=bound)
        assert ours.dtype == dtype


def test_clipping_by_value():
    gradients = [RANDOM.standard_normal((3, 4)) * 3, np.array([np.nan, np.inf, -np.inf])]
    tensors = [torch.zeros(g.shape) for g in gradients]
    for tensor, g in zip(tensors, gradients):
        tensor.grad = torch.tensor(np.float32(g))
    torch.nn.utils.clip_grad_value_(tensors, 1.5)
    ours = nn.clip_by_value([cnp.asarray(np.float32(g)) for g in gradients], 1.5)
    for clipped, tensor in zip(ours, tensors):
        np.testing.assert_array_equal(composit.evaluate(clipped), tensor.grad.numpy())


def test_clipping_and_an_optimizer_are_one_program():
    optimizer = nn.adam(0.1)

    def step(weights, state, x):
        loss = cnp.mean((x @ weights[0] + weights[1]) ** 2)
        gradients, norm = nn.clip_by_global_norm(nn.chain_rule({loss: loss}, weights), 0.1)
        return norm, *optimizer.step(weights, gradients, state)

    weights = [np.ones((3, 2)), np.zeros(2)]
    state = composit.evaluate(*optimizer.initial_state([cnp.asarray(w) for w in weights]))
    x = RANDOM.standard_normal((5, 3))
    results = [composit.compile(step, backend=b)(weights, state, x) for b in ("interpreter", "cpp")]
    assert results[0][0] > 0.1
    assert results[0][1][0].tobytes() == results[1][1][0].tobytes()


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: nn.rmsprop(alpha=1), ValueError, "rmsprop: alpha is 1"),
        (lambda: nn.adam(beta1=-0.1), ValueError, "adam: beta1 is -0.1"),
        (lambda: nn.adagrad(epsilon=np.nan), ValueError, "adagrad: epsilon is nan"),
        (lambda: nn.sgd(np.inf), ValueError, "sgd: learning_rate is inf"),
        (lambda: nn.lion(weight_decay=-1), ValueError, "lion: weight_decay is -1"),
        (lambda: nn.sgd(0.1, 0.5, nesterov=True, dampening=0.5), ValueError, "no dampening"),
        (lambda: nn.adam().initial_state([cnp.arange(3)]), TypeError, "parameter 0 is int64"),
        (lambda: nn.adam().initial_state([cnp.ones(3) * 1j]), TypeError, "parameter 0 is complex"),
        (lambda: nn.lion().step([cnp.ones(3)], [], []), ValueError, "1 parameters and 0 gradients"),
        (
            lambda: nn.lion().step([cnp.ones(3)], [cnp.ones(2)], [cnp.ones(3)]),
            ValueError,
            r"gradient 0 has shape \(2,\), its parameter \(3,\)",
        ),
        (
            lambda: nn.lion().step([cnp.ones(3)], [cnp.ones(3)], [cnp.ones(4)]),
            ValueError,
            "lion: tensor 0 of the state is float64",
        ),
        (
            lambda: nn.adagrad().step([cnp.ones(3)], [cnp.ones(3)], [cnp.ones(3)] * 2),
            ValueError,
            "the state begins with float64",
        ),
        (lambda: nn.clip_by_value([cnp.ones(2)], -1), ValueError, "clip_by_value: limit is -1"),
        (lambda: nn.clip_by_global_norm([cnp.arange(2)], 1), TypeError, "gradient 0 is int64"),
        (lambda: nn.global_norm([cnp.ones(2)], 0), ValueError, "global_norm: order is 0"),
    ],
)
def test_what_is_wrong_is_said(make, error, message):
    with pytest.raises(error, match=message):
        make()
