"""SeedSequence: entropy of any size, mixed into initial states of generators."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import type_error, value_error

_c = _core.numpy_random


class SeedSequence:
    """Mixes entropy, and a key that tells children apart, into well distributed states."""

    def __init__(
        self, entropy: Any = None, *, spawn_key: Any = (), pool_size: int = 4,
        n_children_spawned: int = 0,
    ) -> None:  # fmt: skip
        if pool_size < 4:
            message = "The size of the entropy pool should be at least 4"
            raise value_error(f"SeedSequence: {message}, not {pool_size}.")
        if entropy is None:
            entropy = int.from_bytes(os.urandom(pool_size * 4), "little")
        elif not isinstance(entropy, (int, np.integer, list, tuple, range, np.ndarray)):
            message = f"SeedSequence expects int or sequence of ints for entropy not {entropy}"
            raise type_error(message)
        self.entropy = entropy
        self.spawn_key = tuple(spawn_key)
        self.pool_size = pool_size
        self.n_children_spawned = n_children_spawned
        self._seed = (_c.words_of(entropy), _c.words_of(self.spawn_key), pool_size)
        self.pool = np.array(_c.seed_pool(*self._seed), np.uint32)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}(", f"    entropy={self.entropy!r},"]
        if self.spawn_key:
            lines.append(f"    spawn_key={self.spawn_key!r},")
        if self.pool_size != 4:
            lines.append(f"    pool_size={self.pool_size!r},")
        if self.n_children_spawned != 0:
            lines.append(f"    n_children_spawned={self.n_children_spawned!r},")
        return "\n".join([*lines, ")"])

    @property
    def state(self) -> dict[str, Any]:
        """What makes another of the same: the arguments."""
        names = ("entropy", "spawn_key", "pool_size", "n_children_spawned")
        return {name: getattr(self, name) for name in names}

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        """So many words of uint32 or uint64."""
        kind = np.dtype(dtype)
        if kind not in (np.uint32, np.uint64):
            raise value_error("generate_state: only support uint32 or uint64")
        count = n_words * (kind.itemsize // 4)
        words = np.array(_c.seed_words(*self._seed, count), np.uint32)
        return words if kind == np.uint32 else words.astype("<u4").view("<u8").astype(np.uint64)

    def spawn(self, n_children: int) -> list[SeedSequence]:
        """The next children, with keys that no other has."""
        _check_children(n_children)
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        return [
            type(self)(self.entropy, spawn_key=(*self.spawn_key, i), pool_size=self.pool_size)
            for i in range(first, first + n_children)
        ]


def _check_children(count: int) -> None:
    if count < 0:
        raise value_error("spawn: n_children must be non-negative")
