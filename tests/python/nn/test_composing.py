"""Optimisers made of others beside torch: clipping, accumulation, loss scaling; mixed precision."""

import numpy as np
import pytest
import torch

import composit
import composit.numpy as cnp
from composit import nn

# A step that overflowed is left out without a word.
pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

RANDOM = np.random.RandomState(0)


def first_state(optimizer, weights):
    return composit.evaluate(
        *optimizer.initial_state([cnp.asarray(w) for w in weights]), always_return_tuple=True
    )


def run(optimizer, weights, gradients, backend="interpreter"):
    """The weights and the state after each step, in one program."""
    step = composit.compile(optimizer.step, backend=backend)
    state, history = list(first_state(optimizer, weights)), []
    for g in gradients:
        weights, state = step(list(weights), list(g), list(state))
        history.append((weights, state))
    return history


def test_accumulated_gradients_are_those_of_the_whole_batch():
    """As torch's loop that steps after every third backward pass."""
    weights = [RANDOM.standard_normal((3, 2)), RANDOM.standard_normal(2)]
    gradients = [[RANDOM.standard_normal(w.shape) for w in weights] for _ in range(12)]
    history = run(nn.accumulating(nn.adam(0.1), 3), weights, gradients)
    theirs = [torch.tensor(w, requires_grad=True) for w in weights]
    optimizer = torch.optim.Adam(theirs, lr=0.1)
    for number, g in enumerate(gradients):
        for weight, one in zip(theirs, g):
            weight.grad = torch.tensor(one / 3) + (0 if weight.grad is None else weight.grad)
        if number % 3 == 2:
            optimizer.step()
            optimizer.zero_grad()
        ours, state = history[number]
        assert state[0] == (number + 1) % 3 and state[3] == (number + 1) // 3
        for weight, their_weight in zip(ours, theirs):
            np.testing.assert_allclose(weight, their_weight.detach().numpy(), rtol=1e-11)
    before, after = history[3][0], history[4][0]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(before, after))


@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_loss_scaling_as_torchs_scaler(kind):
    make = {"sgd": lambda: nn.sgd(0.1, 0.9), "adam": lambda: nn.adam(0.1)}[kind]
    theirs = {"sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
              "adam": lambda p: torch.optim.Adam(p, lr=0.1)}[kind]  # fmt: skip
    weight = np.float32([1, -2, 3])
    raw = [np.float32(RANDOM.standard_normal(3)) for _ in range(20)]
    for number in (3, 4, 11):
        raw[number][1] = [np.inf, np.nan, -np.inf][number % 3]
    optimizer = nn.loss_scaling(make(), 1024.0, growth=2.0, backoff=0.5, interval=4)
    step = composit.compile(
        lambda w, g, s: optimizer.step(
            [w], nn.chain_rule({(x := nn.scale_loss(cnp.sum(w * g), s)): x}, [w]), s
        )
    )
    ours, state = weight, list(first_state(optimizer, [weight]))
    their_weight = torch.tensor(weight, requires_grad=True)
    scaler = torch.amp.GradScaler(
        "cpu", init_scale=1024.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=4
    )
    their_optimizer = theirs([their_weight])
    for g in raw:
        (ours,), state = step(ours, g, list(state))
        their_optimizer.zero_grad()
        scaler.scale((their_weight * torch.tensor(g)).sum()).backward()
        scaler.step(their_optimizer)
        scaler.update()
        assert float(state[0]) == scaler.get_scale()
        np.testing.assert_allclose(ours, their_weight.detach().numpy(), rtol=1e-5)
    assert np.isfinite(ours).all() and len({*map(float, state[:1])}) == 1


def test_what_overflowed_leaves_everything_as_it_was():
    weights, state = [np.float32([1, 2])], None
    optimizer = nn.loss_scaling(nn.adamw(0.1), 8.0)
    good, bad = [np.float32([1, 1])], [np.float32([1, np.inf])]
    for backend in ("interpreter", "cpp"):
        (before, state), (after, next_state) = run(optimizer, weights, [good, bad], backend)
        assert before[0].tobytes() == after[0].tobytes()
        assert next_state[0] == 4 and next_state[1] == 0
        for a, b in zip(state[2:], next_state[2:]):
            assert a.tobytes() == b.tobytes()


def test_the_scale_stays_finite():
    optimizer = nn.loss_scaling(nn.sgd(0.0), 2.0**126, interval=1)
    history = run(optimizer, [np.float32([1])], [[np.float32([1])]] * 4)
    assert [float(state[0]) for _, state in history] == [2.0**127] * 4


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_training_in_16_bits_with_weights_in_32(dtype):
    """The model computes in 16 bits; what it learns is kept in 32, and it learns as in 32."""
    x = np.float32(RANDOM.standard_normal((64, 8)))
    target = np.float32(np.tanh(x @ RANDOM.standard_normal((8, 3))))
    optimizer = nn.loss_scaling(nn.clipping(nn.adam(0.02), 1.0), 2.0**15)

    def train(precision, backend="interpreter"):
        random = np.random.RandomState(3)
        weights = [np.float32(random.standard_normal(s) * 0.3) for s in ((8, 16), (16,), (16, 3))]

        def step(weights, state):
            inner, bias, outer, inputs = nn.cast_floating([*weights, x], precision)
            output = cnp.tanh(inputs @ inner + bias) @ outer
            loss = nn.mse(output.astype("float32"), target)
            scaled = nn.scale_loss(loss, state)
            assert output.dtype == precision and scaled.dtype == "float32"
            gradients = nn.chain_rule({scaled: scaled}, weights)
            assert all(g.dtype == "float32" for g in gradients)
            return loss, *optimizer.step(weights, gradients, state)

        run_step = composit.compile(step, backend=backend)
        state, losses = list(first_state(optimizer, weights)), []
        for _ in range(60):
            loss, weights, state = run_step(list(weights), list(state))
            losses.append(float(loss))
        return losses, weights

    losses, weights = train(dtype)
    reference, _ = train("float32")
    assert losses[-1] < 0.2 * losses[0]
    assert losses[-1] == pytest.approx(reference[-1], rel=0.15)
    compiled_losses, compiled_weights = train(dtype, "cpp")
    assert compiled_losses == losses
    assert all(a.tobytes() == b.tobytes() for a, b in zip(weights, compiled_weights))


def test_only_floats_are_cast():
    tensors = [
        cnp.ones(2),
        cnp.arange(2),
        cnp.ones(2, "float16"),
        cnp.ones(2) * 1j,
        cnp.ones(1) > 0,
    ]
    dtypes = [str(x.dtype) for x in nn.cast_floating(tensors, "float32")]
    assert dtypes == ["float32", "int64", "float32", "complex128", "bool"]
    with pytest.raises(TypeError, match="cast_floating: dtype is int32"):
        nn.cast_floating(tensors, "int32")


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: nn.accumulating(nn.adam(), 0), ValueError, "accumulating: steps is 0"),
        (lambda: nn.clipping(nn.adam(), 0), ValueError, "maximum is 0"),
        (lambda: nn.clipping(3, 1), TypeError, "An optimiser is required"),
        (lambda: nn.loss_scaling(nn.adam(), 0), ValueError, "loss_scaling: initial is 0"),
        (lambda: nn.loss_scaling(nn.adam(), backoff=1), ValueError, "backoff 1"),
        (lambda: nn.loss_scaling(nn.adam(), interval=0), ValueError, "interval is 0"),
        (lambda: nn.scale_loss(cnp.ones(()), []), ValueError, "scale_loss: the state is empty"),
        (lambda: nn.scale_loss(cnp.arange(3), [1]), TypeError, "scale_loss: the loss is int64"),
        (
            lambda: nn.loss_scaling(nn.adam()).step([cnp.ones(2)], [cnp.ones(2)], []),
            ValueError,
            "loss_scaling: the state has 0 tensors",
        ),
        (
            lambda: nn.accumulating(nn.adam(), 2).step([cnp.ones(2)], [cnp.ones(2)], [1.0, 1]),
            ValueError,
            "accumulating: the state has a weak float64",
        ),
        (
            lambda: nn.accumulating(nn.adam(), 2).step([cnp.ones(2)], [cnp.ones(3)], [0, 1]),
            ValueError,
            r"accumulating: gradient 0 has shape \(3,\)",
        ),
    ],
)
def test_what_is_wrong_is_said(make, error, message):
    with pytest.raises(error, match=message):
        make()
