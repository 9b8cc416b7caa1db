"""Steps of Adam on digits, of PyTorch's or composit.torch's modules, with a progress bar."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from composit.examples.digits.data import Digits
from composit.examples.epochs import Epochs


def train(
    torch: Any, model: Any, loss_fn: Any, digits: Digits, options: argparse.Namespace,
    schedule: Callable[[Any, int], Any] | None = None,
) -> tuple[list[float], list[float]]:  # fmt: skip
    """The loss of every step, and the accuracy after every epoch. Options: batch_size, epochs,
    learning_rate, seed, and device (the CPU without). `schedule` makes what changes the learning
    rate after each step, of the optimizer and the number of steps."""
    device = getattr(options, "device", "cpu")
    random = np.random.RandomState(options.seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    count = len(digits.train_images)
    passes = Epochs(count, min(options.batch_size, count), options.epochs, random)
    scheduler = schedule(optimizer, options.epochs * passes.count) if schedule else None
    losses: list[float] = []
    accuracies: list[float] = []

    def step(chosen: np.ndarray) -> float:
        images = torch.from_numpy(digits.train_images[chosen]).to(device)
        labels = torch.from_numpy(digits.train_labels[chosen]).to(device)
        optimizer.zero_grad()
        loss = loss_fn(model(images), labels)
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        return loss.item()

    for _ in passes:
        model.train()
        losses += map(step, passes.steps())
        accuracies.append(accuracy(torch, model, digits, device))
        passes.say(loss=f"{np.mean(losses[-passes.count:]):.4f}",
                   right=f"{100 * accuracies[-1]:.1f} %")  # fmt: skip
    return losses, accuracies


def accuracy(torch: Any, model: Any, digits: Digits, device: str) -> float:
    """The share of the test images whose digit the model names."""
    model.eval()
    right = 0
    with torch.no_grad():
        for first in range(0, len(digits.test_images), 256):
            images = torch.from_numpy(digits.test_images[first : first + 256]).to(device)
            guesses = model(images).cpu().numpy().argmax(1)
            right += int((guesses == digits.test_labels[first : first + 256]).sum())
    return right / len(digits.test_images)
