"""A small ConvNet and its training step, written with composit.numpy and composit.nn."""

from collections.abc import Sequence

import numpy as np

import composit.numpy as cnp
from composit import nn

CHANNELS = (16, 32)
NAMES = ("filters_1", "bias_1", "filters_2", "bias_2", "weight", "bias")


def initial_weights(height: int, width: int, seed: int) -> list[np.ndarray]:
    """He's initialisation (He et al. 2015); pooling leaves half of each side."""
    random = np.random.RandomState(seed)
    features = CHANNELS[1] * (height // 2) * (width // 2)

    def normal(*shape: int, inputs: int) -> np.ndarray:
        return (random.standard_normal(shape) * np.sqrt(2 / inputs)).astype(np.float32)

    def zeros(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.float32)

    first, second = CHANNELS
    return [
        normal(first, 1, 3, 3, inputs=9),
        zeros(first, 1, 1),
        normal(second, first, 3, 3, inputs=9 * first),
        zeros(second, 1, 1),
        normal(features, 10, inputs=4 * features),
        zeros(10),
    ]


def network(images, weights: Sequence):
    """Images (batch, 1, height, width) -> logits (batch, 10)."""
    filters_1, bias_1, filters_2, bias_2, weight, bias = weights
    hidden = nn.convolution(images, filters_1, channels_last=False, padding=(1, 1)) + bias_1
    hidden = nn.convolution(nn.relu(hidden), filters_2, channels_last=False, padding=(1, 1))
    hidden = nn.relu(hidden + bias_2)
    hidden = nn.max_pool(hidden, kernel_size=(2, 2), channels_last=False, strides=(2, 2))
    return cnp.reshape(hidden, (images.shape[0], -1)) @ weight + bias


def training_step(images, labels, *weights, learning_rate: float):
    """The loss, the logits and the weights after one step of gradient descent."""
    logits = network(images, weights)
    loss = nn.cross_entropy(logits, labels)
    gradients = nn.chain_rule({loss: loss}, list(weights))
    updated = nn.optimize(
        list(weights), gradients, nn.sgd_optimizer(learning_rate), evaluate_function=stay_lazy
    )
    return loss, logits, *updated


def stay_lazy(*tensors):
    """In place of evaluation: the step stays a graph, to be compiled or exported as a whole."""
    return tensors
