"""Methods that draw random numbers, most of them over the tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import numpy as cnp
from composit import random as keys
from composit._core import runtime_error
from composit.torch import calling
from composit.torch.functions import random


@calling.method
def bernoulli(self: Any, p: Any = None, *, generator: Any = None) -> Any:
    """Ones with the tensor's probabilities, or with p."""
    return random.bernoulli(self, p, generator=generator)


@calling.method
def multinomial(
    self: Any, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Any:
    """Places, each with a probability proportional to its weight."""
    return random.multinomial(self, num_samples, replacement, generator=generator)


def _uniform_within(self: Any, key: Any) -> Any:
    """Draws in (0, 1), without 0, of the tensor's shape."""
    wide = self.dtype.numpy if self.dtype.name in ("float32", "float64") else np.dtype("float32")
    return 1 - keys.uniform(key, tuple(self.shape), wide)


def _cauchy(self: Any, median: float = 0.0, sigma: float = 1.0, *, key: Any) -> Any:
    made = median + sigma * cnp.tan(np.pi * (_uniform_within(self, key) - 0.5))
    return cnp.astype(made, self.dtype.numpy)


def _geometric(self: Any, p: float, *, key: Any) -> Any:
    if not 0 < p < 1:
        raise runtime_error(f"geometric_ expects p to be in (0, 1), but got p={p}")
    made = cnp.ceil(cnp.log(_uniform_within(self, key)) / np.log1p(-p))
    return cnp.astype(cnp.maximum(made, 1), self.dtype.numpy)


def _log_normal(self: Any, mean: float = 1.0, std: float = 2.0, *, key: Any) -> Any:
    if std <= 0:
        raise runtime_error(f"log_normal_ expects std > 0.0, but found std={std}")
    wide = self.dtype.numpy if self.dtype.name in ("float32", "float64") else np.dtype("float32")
    made = cnp.exp(keys.normal(key, tuple(self.shape), wide) * std + mean)
    return cnp.astype(made, self.dtype.numpy)


for _name, _draw in (
    ("cauchy_", _cauchy), ("geometric_", _geometric), ("log_normal_", _log_normal),
):  # fmt: skip
    random._draws_in_place(_name, _draw)
