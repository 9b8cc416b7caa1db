"""JAX's keys and containers, as composit has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from composit.structure import add_library


def is_key(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    return dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def words_of(key: Any) -> np.ndarray:
    """Keys as composit has them: one uint64 each, where JAX has two uint32."""
    words = np.asarray(jax.random.key_data(key)).astype("uint64")
    return words[..., 0] << np.uint64(32) | words[..., 1]


def _taken_apart(value: Any) -> tuple[list[str], list[Any], Callable[[Any], Any]] | None:
    """Containers that JAX knows (Flax's states, Equinox's modules), so that composit.grad, vmap and
    compile take them; a key holds its words."""
    if isinstance(value, (np.ndarray, np.generic)):
        return None
    if isinstance(value, jax.Array):
        return (["words"], [words_of(value)], lambda items: items[0]) if is_key(value) else None
    structure: Any
    pairs, structure = jax.tree_util.tree_flatten_with_path(
        value, is_leaf=lambda part: part is not value
    )
    if structure.num_nodes == 1 and structure.num_leaves == 1:
        return None
    names = [jax.tree_util.keystr(path, simple=True, separator="_") for path, _ in pairs]
    return names, [part for _, part in pairs], structure.unflatten


add_library(_taken_apart)
