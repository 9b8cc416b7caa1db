"""Models and programs of JAX and its libraries, by name: what tests trace with
`flashlight.trace_jax`, and what docs/exchange.md has a table of."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

MODULES = (
    "flax_linen", "flax_nnx", "equinox_models", "optimisers", "learning", "simulations",
    "numerics", "algorithms",
)  # fmt: skip


class Program(NamedTuple):
    """A function of trees of arrays, and what is compared.

    value: the results. gradient: also their mean of squares, differentiated by the first argument.
    step: the first argument is a state, and the first result the next one; some steps in a row."""

    name: str
    library: str
    compared: str
    make: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]


PROGRAMS: dict[str, Program] = {}


def program(name: str, library: str, compared: str) -> Callable[[Any], Any]:
    """Registers a function that makes a program: it returns a function and its arguments."""

    def register(make: Any) -> Any:
        assert name not in PROGRAMS and compared in ("value", "gradient", "step")
        PROGRAMS[name] = Program(name, library, compared, make)
        return make

    return register


def floats(seed: int, *shape: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).standard_normal(shape), "float32")


def uniform(seed: int, *shape: int) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).random(shape), "float32")


def integers(seed: int, bound: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, bound, shape).astype("int32")


def as_numpy(tree: Any) -> Any:
    """Arrays of NumPy for JAX's, keys as they are."""

    def converted(leaf: Any) -> Any:
        is_key = jnp.issubdtype(getattr(leaf, "dtype", np.float32), jax.dtypes.prng_key)
        return leaf if is_key else np.asarray(leaf)

    return jax.tree.map(converted, tree)


def filled(tree: Any) -> Any:
    """Arrays for the shapes of parameters and state, which is quicker than to run initialisers:
    numbers around 0, variances above it."""
    count = iter(range(10**6))

    def array(path: Any, leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.key(next(count))
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            return np.zeros(leaf.shape, leaf.dtype)
        name = jax.tree_util.keystr(path)
        if "var" in name or "sigma" in name:
            return uniform(next(count), *leaf.shape) + np.float32(0.5)
        return floats(next(count), *leaf.shape) * np.float32(0.4)

    return jax.tree_util.tree_map_with_path(array, tree)


def mean_of_squares(results: Any) -> Any:
    """A number of all floating results, to be differentiated."""
    leaves = [y for y in jax.tree.leaves(results) if jnp.issubdtype(y.dtype, jnp.floating)]
    return sum(jnp.mean(y**2) for y in leaves)


for module in MODULES:
    importlib.import_module(f"{__name__}.{module}")
