"""What both trainings share: options, digits of 28 x 28, what is printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import composit.torch as torch
from composit.examples.digits import data
from composit.examples.digits.training import train
from composit.examples.options import SEEDS, Rule


def parser(name: str, description: str, learning_rate: float = 0.001) -> argparse.ArgumentParser:
    """The options that both trainings take."""
    made = argparse.ArgumentParser(prog=f"python -m composit.examples.mnist.{name}.train",
                                   description=description)  # fmt: skip
    option = made.add_argument
    option("--device", default="cpu", help="device to train on (cpu)")
    option("--epochs", type=int, default=20, help="number of epochs (20)")
    option("--batch_size", type=int, default=32, help="batch size (32)")
    option("--truncate_train", type=int, default=10000, help="number of training samples (10000)")
    option("--truncate_test", type=int, default=1000, help="number of test samples (1000)")
    option("--learning_rate", type=float, default=learning_rate, help=f"of Adam ({learning_rate})")
    option("--seed", type=int, default=1, help="of the split, the weights and the order (1)")
    option("--data", type=Path, metavar="DIR",
           help="MNIST's four IDX files instead of scikit-learn's scans")  # fmt: skip
    return made


def _at_least_1(name: str) -> Rule:
    return (lambda given: getattr(given, name) >= 1,
            f"--{name} is {{{name}}}; it must be at least 1")  # fmt: skip


# What both trainings require of their options.
RULES = (*map(_at_least_1, ("epochs", "batch_size", "truncate_train", "truncate_test")), SEEDS)


def digits_of_28(options: argparse.Namespace) -> data.Digits:
    """MNIST's images, or scikit-learn's of 8 x 8, scaled."""
    digits = data.load(options.data, options.seed)
    parts = []
    for images, labels, count in (
        (digits.train_images, digits.train_labels, options.truncate_train),
        (digits.test_images, digits.test_labels, options.truncate_test),
    ):
        images = images[:count]
        if images.shape[2:] != (28, 28):
            scaled = torch.nn.functional.interpolate(torch.from_numpy(images), size=(28, 28),
                                                     mode="bilinear")  # fmt: skip
            images = scaled.numpy()
        parts += [images, labels[:count]]
    source = digits.source
    if digits.train_images.shape[2:] != (28, 28):
        source += ", scaled to 28 x 28"
    return data.Digits(source, *parts)


def run(
    make: Callable[[], Any], options: argparse.Namespace,
    schedule: Callable[[Any, int], Any] | None = None,
) -> int:  # fmt: skip
    """Trains and says how well it went; the exit status."""
    try:
        device = torch.device(options.device)
        digits = digits_of_28(options)
        sizes = f"{len(digits.train_images)} to train, {len(digits.test_images)} to test"
        print(f"data: {digits.source}; {sizes}")
        torch.manual_seed(options.seed)
        model = make()
        model.to(device)
        numbers = sum(parameter.numel() for parameter in model.parameters())
        print(f"model: {numbers} numbers to learn")
        _, accuracies = train(torch, model, torch.nn.CrossEntropyLoss(), digits, options, schedule)
        print(f"test accuracy: {100 * accuracies[-1]:.2f} %")
    except (data.DataError, ImportError, OSError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
