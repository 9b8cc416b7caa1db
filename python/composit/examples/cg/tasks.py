"""What each example trains: its module, how it sees a digit, its loss, and how well it did."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from composit import cg, nn
from composit.cg import models
from composit.examples.digits.data import Digits


@dataclass(frozen=True)
class Task:
    """`seen` turns images (count, 1, height, width) into the module's input. Classifiers have
    labels as targets, the autoencoder what it was given."""

    doc: str
    build: Callable[[int, int, int], cg.Module]  # height, width, seed
    seen: Callable[[np.ndarray], np.ndarray]
    loss: Callable[..., Any] = nn.cross_entropy
    is_classifier: bool = True
    epochs: int = 30
    learning_rate: float = 3e-3

    def batch(self, images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Input and targets."""
        given = np.ascontiguousarray(self.seen(images))
        return given, labels if self.is_classifier else given

    def score(self, model: cg.Module, digits: Digits) -> tuple[str, float]:
        """What is measured on the digits kept for testing, and how much it is."""
        given, target = self.batch(digits.test_images, digits.test_labels)
        made = model(given).value
        if self.is_classifier:
            return "accuracy", float((made.argmax(axis=1) == target).mean())
        spread = np.square(target - self.seen(digits.train_images).mean(axis=0)).mean()
        return "explained", float(1 - np.square(made - target).mean() / spread)


def _flat(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1)


def _rows(images: np.ndarray) -> np.ndarray:
    return images[:, 0]


TASKS = {
    "feed-forward": Task(
        "three layers, relu between them",
        lambda height, width, seed: models.FeedForward((height * width, 64, 32, 10), seed),
        _flat,
    ),
    "convolutional": Task(
        "two convolutions with maxima over windows, and a layer",
        lambda height, width, seed: models.Convolutional(height, (16, 32), 10, seed),
        lambda images: images,
        epochs=15,
    ),
    "recurrent": Task(
        "an LSTM that reads a digit row by row",
        lambda height, width, seed: models.Recurrent(width, 64, 10, seed),
        _rows,
    ),
    "autoencoder": Task(
        "a digit by way of twelve numbers",
        lambda height, width, seed: models.Autoencoder((height * width, 64, 12), seed),
        _flat,
        loss=nn.mse,
        is_classifier=False,
        epochs=60,
    ),
    "transformer": Task(
        "attention between the rows of a digit",
        lambda height, width, seed: models.Transformer(height, width, seed=seed),
        _rows,
    ),
}
