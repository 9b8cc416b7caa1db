"""A training step of a classifier with Adam, or AdamW: in composit, JAX and PyTorch."""

import numpy as np

from models.weights import Weights, normal

RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8


def batch_of(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (size, 1, 28, 28) and labels."""
    return normal(size, 1, 28, 28), np.random.default_rng(size).integers(0, 10, size)


def composit_step(model, decay: float = 0.0):
    """(images, labels, weights, state) -> (loss, weights, state)"""
    from composit import nn

    optimizer = nn.adamw(RATE, BETA1, BETA2, EPSILON, weight_decay=decay)

    def step(images, labels, weights, state):
        loss = nn.cross_entropy(model(images, weights), labels)
        parameters = list(weights.values())
        gradients = nn.chain_rule({loss: loss}, parameters)
        updated, state = optimizer.step(parameters, gradients, state)
        return loss, dict(zip(weights, updated)), state

    return step


def composit_state(weights: Weights) -> list[np.ndarray]:
    import composit.numpy as cnp
    from composit import nn

    tensors = [cnp.asarray(value) for value in weights.values()]
    return cnp.evaluate(*nn.adam(RATE, BETA1, BETA2, EPSILON).initial_state(tensors))


def first_moments(state: list[np.ndarray], weights: int) -> list[np.ndarray]:
    """Of composit's state, which is the count of steps, then both moments of each weight."""
    return state[1 : 1 + weights]


def jax_step(model, decay: float = 0.0):
    """(images, labels, weights, state) -> (loss, weights, state)"""
    import jax
    import jax.numpy as jnp

    def loss_of(weights, images, labels):
        logits = model(images, weights)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -jnp.mean(chosen)

    def step(images, labels, weights, state):
        count, first, second = state
        loss, gradients = jax.value_and_grad(loss_of)(weights, images, labels)
        count = count + 1
        first = {k: BETA1 * first[k] + (1 - BETA1) * g for k, g in gradients.items()}
        second = {k: BETA2 * second[k] + (1 - BETA2) * g * g for k, g in gradients.items()}
        rate, root = RATE / (1 - BETA1**count), jnp.sqrt(1 - BETA2**count)
        updated = {
            k: w * (1 - RATE * decay) - rate * first[k] / (jnp.sqrt(second[k]) / root + EPSILON)
            for k, w in weights.items()
        }
        return loss, updated, (count, first, second)

    return step


def jax_state(weights: Weights):
    zeros = {name: np.zeros_like(value) for name, value in weights.items()}
    return np.float32(0), zeros, zeros


class TorchTraining:
    """`step` trains with torch.optim.AdamW and returns the loss."""

    def __init__(self, model, images, labels, weights: Weights, decay: float = 0.0):
        import torch

        self.model = model
        self.images, self.labels = torch.from_numpy(images), torch.from_numpy(labels)
        self.weights = {
            name: torch.from_numpy(value.copy()).requires_grad_() for name, value in weights.items()
        }
        self.optimizer = torch.optim.AdamW(
            self.weights.values(), RATE, (BETA1, BETA2), EPSILON, decay, fused=True
        )

    def step(self):
        from torch.nn import functional as F

        loss = F.cross_entropy(self.model(self.images, self.weights), self.labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()
