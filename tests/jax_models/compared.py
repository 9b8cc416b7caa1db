"""The programs' results beside JAX's: how far apart they are, and whether compiled ones are the
same."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import composit
from composit import flashlight
from jax_models import Program, mean_of_squares

STEPS = 3  # of programs that are steps

# Loops of these end by values of the arguments, which compiled programs have none of.
NOT_COMPILED = {
    "L-BFGS with a line search", "implicit layer: a fixed point with its own derivative",
    "predators and prey by an adaptive solver", "Newton's method until it stands",
    "conjugate gradients", "generalised minimal residuals", "Broyden-Fletcher-Goldfarb-Shanno",
    "clusters by k-means", "page rank", "greatest common divisors and primes",
}  # fmt: skip


def jitted(function: Any) -> Any:
    """Compiled by JAX in half the time, as it runs once."""
    return jax.jit(function, compiler_options={"xla_backend_optimization_level": 0})


def _array(value: Any) -> np.ndarray:
    """A result as an array; keys as composit has them."""
    if jnp.issubdtype(getattr(value, "dtype", np.float32), jax.dtypes.prng_key):
        words = np.asarray(jax.random.key_data(value)).astype("uint64")
        return np.asarray(words[..., 0] << np.uint64(32) | words[..., 1])
    return np.asarray(value)


def difference(found: Any, expected: Any) -> float:
    """The greatest one, relative to the greatest of all results; infinite where structures, shapes,
    dtypes or integers differ."""
    xs, ys = ([_array(leaf) for leaf in jax.tree.leaves(tree)] for tree in (found, expected))
    if [(x.dtype, x.shape) for x in xs] != [(y.dtype, y.shape) for y in ys]:
        return math.inf
    smooth = [(x, y) for x, y in zip(xs, ys) if y.dtype.kind in "fc" and y.size]
    if any(x.tobytes() != y.tobytes() for x, y in zip(xs, ys) if y.dtype.kind not in "fc"):
        return math.inf
    greatest = max((float(np.nanmax(np.abs(y))) for _, y in smooth), default=0.0) or 1.0
    worst = 0.0
    for x, y in smooth:
        if not np.array_equal(np.isnan(x), np.isnan(y)):
            return math.inf
        worst = max(worst, float(np.nanmax(np.abs(x - y))) / greatest)
    return worst


def differences(program: Program) -> dict[str, float]:
    """Of values, and of gradients or steps, as the program says."""
    function, arguments = program.make()
    if program.compared == "value":
        traced = flashlight.trace_jax(function, *arguments)
        return {"value": difference(traced(*arguments), jitted(function)(*arguments))}
    if program.compared == "step":
        return {"step": _of_steps(function, arguments)}

    def with_number(*inputs: Any) -> Any:
        results = function(*inputs)
        return mean_of_squares(results), results

    of_jax = jitted(jax.value_and_grad(with_number, has_aux=True))
    (_, values), gradients = of_jax(*arguments)
    traced = flashlight.trace_jax(with_number, *arguments)
    (_, results), found = composit.value_and_grad(traced, has_aux=True)(*arguments)
    return {"value": difference(results, values), "gradient": difference(found, gradients)}


def _of_steps(function: Any, arguments: tuple[Any, ...]) -> float:
    state, *rest = arguments
    step, traced = jitted(function), flashlight.trace_jax(function, *arguments)
    ours, theirs = (state, None), (state, None)
    for _ in range(STEPS):
        theirs = step(theirs[0], *rest)
        ours = jax.tree.map(np.asarray, traced(ours[0], *rest))
    return difference(ours, theirs)


def is_same_compiled(program: Program) -> bool:
    """Whether the compiled program gives the interpreter's bits."""
    function, arguments = program.make()
    traced = flashlight.trace_jax(function, *arguments)
    expected = jax.tree.leaves(jax.tree.map(np.asarray, traced(*arguments)))
    found = jax.tree.leaves(composit.compile(traced)(*arguments))
    return [np.asarray(x).tobytes() for x in found] == [y.tobytes() for y in expected]
