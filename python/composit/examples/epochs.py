"""Passes over examples in steps, with a progress bar: what all trainings here have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class Epochs:
    """So many passes over `count` examples, each in another order, in steps of `size` examples:

    for epoch in (passes := Epochs(500, 32, 10, np.random.RandomState(0))):
        for chosen in passes.steps():
            …  # the places of a step's examples
        passes.say(loss=…)  # behind the bar
    """

    def __init__(self, count: int, size: int, epochs: int, random: Any, title: str = "") -> None:
        from tqdm import tqdm

        self.count = count // size  # of a pass
        self.size, self.epochs, self._random, self._examples = size, epochs, random, count
        self._bar = tqdm(total=epochs * self.count, unit="step", desc=title or None)
        self._epoch = 0

    def __iter__(self) -> Iterator[int]:
        with self._bar:
            for epoch in range(self.epochs):
                self._epoch = epoch
                yield epoch

    def steps(self) -> Iterator[np.ndarray]:
        """One pass."""
        order = self._random.permutation(self._examples)
        for chosen in order[: self.count * self.size].reshape(self.count, self.size):
            yield chosen
            self._bar.update()

    def say(self, **figures: str) -> None:
        """Shows figures of the pass so far."""
        self._bar.set_postfix(epoch=self._epoch + 1, **figures)
