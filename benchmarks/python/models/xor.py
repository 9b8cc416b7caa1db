"""XOR by a network of 2, 8 and 1 neurons, trained by plain gradient descent on its four samples."""

import numpy as np

from models.weights import normal

RATE = 0.1
INPUTS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
TARGETS = np.array([[0], [1], [1], [0]], np.float32)


def weights() -> list[np.ndarray]:
    return [normal(2, 8, seed=1), normal(8, seed=2), normal(8, 1, seed=3), normal(1, seed=4)]


def loss_in(library):
    """The loss of weights, inputs and targets, in composit.numpy or jax.numpy."""

    def loss(weights, inputs, targets):
        first, bias, second, last = weights
        found = library.tanh(inputs @ first + bias) @ second + last
        return library.mean((found - targets) ** 2)

    return loss


def composit_step(weights, inputs, targets):
    """(loss, weights)"""
    import composit
    import composit.numpy as cnp

    loss, gradients = composit.value_and_grad(loss_in(cnp))(weights, inputs, targets)
    return loss, [w - RATE * g for w, g in zip(weights, gradients)]


def jax_step(weights, inputs, targets):
    """(loss, weights)"""
    import jax
    import jax.numpy as jnp

    loss, gradients = jax.value_and_grad(loss_in(jnp))(weights, inputs, targets)
    return loss, [w - RATE * g for w, g in zip(weights, gradients)]
