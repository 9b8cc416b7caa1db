"""Training steps with Optax: the gradient, the optimiser's state and the new parameters."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

from jax_models import as_numpy, floats, integers, program

of_optax = partial(program, library="Optax", compared="step")


def loss(parameters: Any, x: Any, y: Any) -> Any:
    hidden = jnp.tanh(x @ parameters["first"] + parameters["bias"])
    return jnp.mean((hidden @ parameters["last"] - y) ** 2)


def trained(optimizer: Any, loss: Any = loss) -> Any:
    """Steps of an optimiser on a small network."""
    parameters = {"first": floats(0, 4, 6), "bias": floats(1, 6), "last": floats(2, 6, 3)}

    def step(both, x, y):
        parameters, state = both
        value, gradients = jax.value_and_grad(loss)(parameters, x, y)
        updates, state = optimizer.update(
            gradients, state, parameters, value=value, grad=gradients,
            value_fn=lambda parameters: loss(parameters, x, y),
        )  # fmt: skip
        return (optax.apply_updates(parameters, updates), state), value

    return step, ((parameters, as_numpy(optimizer.init(parameters))), floats(3, 5, 4),
                  floats(4, 5, 3))  # fmt: skip


def plain(optimizer: Any) -> Any:
    """An optimiser that is asked for nothing but the gradient."""
    return trained(optax.with_extra_args_support(optimizer))


OPTIMISERS = {
    "Adam": lambda: plain(optax.adam(1e-2)),
    "AdamW with warm-up and cosine decay": lambda: plain(
        optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 10), weight_decay=0.1)
    ),
    "SGD with Nesterov momentum": lambda: plain(optax.sgd(1e-2, momentum=0.9, nesterov=True)),
    "Lion": lambda: plain(optax.lion(1e-3)),
    "Adafactor": lambda: plain(optax.adafactor(1e-2, min_dim_size_to_factor=2)),
    "RMSProp, centred": lambda: plain(optax.rmsprop(1e-2, centered=True, momentum=0.9)),
    "Adagrad": lambda: plain(optax.adagrad(1e-1)),
    "Adadelta": lambda: plain(optax.adadelta(1.0)),
    "NAdam": lambda: plain(optax.nadam(1e-2)),
    "AMSGrad": lambda: plain(optax.amsgrad(1e-2)),
    "LAMB": lambda: plain(optax.lamb(1e-2)),
    "Yogi": lambda: plain(optax.yogi(1e-2)),
    "RAdam": lambda: plain(optax.radam(1e-2)),
    "Muon": lambda: plain(optax.contrib.muon(1e-2)),
    "signs of gradients clipped by their norm": lambda: plain(
        optax.chain(
            optax.clip_by_global_norm(0.5),
            optax.sign_sgd(optax.exponential_decay(1e-2, 2, 0.5, staircase=True)),
        )
    ),
    "gradients accumulated over two steps": lambda: plain(
        optax.MultiSteps(optax.adam(1e-2), every_k_schedule=2).gradient_transformation()
    ),
    "Adam with noise by key": lambda: plain(
        optax.chain(
            optax.add_noise(0.1, 0.55, 3),
            optax.adam(optax.piecewise_constant_schedule(1e-2, {2: 0.1})),
        )
    ),
    "L-BFGS with a line search": lambda: trained(optax.lbfgs()),
}
for title, make in OPTIMISERS.items():
    of_optax(title)(make)


@of_optax("cross-entropy with smoothed labels and an average of weights")
def smoothed():
    x, labels = floats(0, 5, 4), integers(1, 3, 5)
    average = optax.ema(0.9)
    optimizer = optax.adamw(1e-2)
    parameters = {"w": floats(2, 4, 3), "b": floats(3, 3)}

    def loss(parameters, x, labels):
        logits = x @ parameters["w"] + parameters["b"]
        targets = optax.smooth_labels(jax.nn.one_hot(labels, 3), 0.1)
        return optax.softmax_cross_entropy(logits, targets).mean()

    def step(state, x, labels):
        parameters, inner, mean = state
        updates, inner = optimizer.update(jax.grad(loss)(parameters, x, labels), inner, parameters)
        parameters = optax.apply_updates(parameters, updates)
        _, mean = average.update(parameters, mean)
        return (parameters, inner, mean), loss(parameters, x, labels)

    state = (parameters, as_numpy(optimizer.init(parameters)), as_numpy(average.init(parameters)))
    return step, (state, x, labels)


@program("CTC loss", "Optax", "gradient")
def ctc():
    labels, lengths = integers(1, 4, 2, 3) + 1, jnp.array([[0, 0, 0], [0, 0, 1]], "float32")

    def function(logits, labels, padding):
        return optax.ctc_loss(logits, jnp.zeros(logits.shape[:2]), labels, padding)

    return function, (floats(0, 2, 7, 5), labels, as_numpy(lengths))


@program("losses of classification and regression", "Optax", "gradient")
def losses():
    def function(x, y, labels):
        return (
            optax.huber_loss(x, y), optax.log_cosh(x, y), optax.cosine_similarity(x, y),
            optax.sigmoid_binary_cross_entropy(x, jax.nn.sigmoid(y)), optax.hinge_loss(x, y),
            optax.softmax_cross_entropy_with_integer_labels(x, labels),
            optax.sigmoid_focal_loss(x, (y > 0).astype(x.dtype)),
            optax.kl_divergence(jax.nn.log_softmax(x), jax.nn.softmax(y)),
            optax.losses.poly_loss_cross_entropy(x, jax.nn.softmax(y)), optax.l2_loss(x, y),
        )  # fmt: skip

    return function, (floats(0, 4, 5), floats(1, 4, 5), integers(2, 5, 4))
