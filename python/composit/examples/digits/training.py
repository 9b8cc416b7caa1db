"""Steps of Adam on digits, of PyTorch's or composit.torch's modules, with a progress bar."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from composit.examples.digits.data import Digits


def train(
    torch: Any, model: Any, loss_fn: Any, digits: Digits, options: argparse.Namespace,
    schedule: Callable[[Any, int], Any] | None = None,
) -> tuple[list[float], list[float]]:  # fmt: skip
    """The loss of every step, and the accuracy after every epoch. Options: batch_size, epochs,
    learning_rate, seed, and device (the CPU without). `schedule` makes what changes the learning
    rate after each step, of the optimizer and the number of steps."""
    from tqdm import tqdm

    device = getattr(options, "device", "cpu")
    random = np.random.RandomState(options.seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    count = len(digits.train_images)
    size = min(options.batch_size, count)
    steps = count // size
    scheduler = schedule(optimizer, options.epochs * steps) if schedule else None
    losses, accuracies = [], []
    with tqdm(total=options.epochs * steps, unit="step") as bar:
        for epoch in range(options.epochs):
            model.train()
            order = random.permutation(count)
            for i in range(steps):
                chosen = order[i * size : (i + 1) * size]
                images = torch.from_numpy(digits.train_images[chosen]).to(device)
                labels = torch.from_numpy(digits.train_labels[chosen]).to(device)
                optimizer.zero_grad()
                loss = loss_fn(model(images), labels)
                loss.backward()
                optimizer.step()
                if scheduler is not None:
                    scheduler.step()
                losses.append(loss.item())
                bar.update()
            accuracies.append(accuracy(torch, model, digits, device))
            bar.set_postfix(epoch=epoch + 1, loss=f"{np.mean(losses[-steps:]):.4f}",
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
