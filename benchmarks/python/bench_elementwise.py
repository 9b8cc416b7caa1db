"""Fused elementwise functions, and sums, which read their input once."""

import numpy as np
from functions import Pass, function_case
from group import main

MILLION = (1_000_000,)


def exp_tanh(library):
    return lambda a, b, c: library.exp(a + b) * library.tanh(c)


def relu3(library):
    """A rectifier with a smooth start: cubic from 0 to 1, then linear."""

    def function(x):
        return library.where(x < 0, 0, library.where(x < 1, x**3 / 3, x - np.float32(2 / 3)))

    return function


def cases():
    import jax.numpy as jnp
    import torch

    import composit.numpy as cnp
    from composit import nn

    name = "exp(a + b) * tanh(c)"
    ours, jax, numpy = exp_tanh(cnp), exp_tanh(jnp), exp_tanh(np)
    yield function_case(f"{name}, 16M", 2, 3, [(2**24,)] * 3, ours, numpy=numpy, jax=jax)
    yield function_case(f"{name}, 1M", 1.5, 3, [MILLION] * 3, ours, jax=jax)
    yield function_case(f"{name}, 100", 1, 2, [(100,)] * 3, ours, numpy=numpy)
    for kind in (Pass.FORWARD, Pass.VJP):
        yield function_case(
            f"relu3, 1M, {kind.value}", 1, 1.5, [MILLION], relu3(cnp), kind, jax=relu3(jnp)
        )
    for kind in (Pass.FORWARD, Pass.BOTH):
        yield function_case(
            f"gelu (erf), 1M, {kind.value}", 1.2, 2, [MILLION], nn.gelu, kind,
            torch=torch.nn.functional.gelu,
        )  # fmt: skip
    for axis in (0, 1, None):
        yield function_case(
            f"sum of 1000 x 1000, axis {axis}", None, None, [(1000, 1000)],
            lambda x, axis=axis: cnp.sum(x, axis=axis),
            numpy=lambda x, axis=axis: np.sum(x, axis=axis),
            torch=lambda x, axis=axis: torch.sum(x, axis), tolerance=1e-4,
        )  # fmt: skip


if __name__ == "__main__":
    notes = (
        "Bytes are those of inputs and results. Results agree to 1e-5 of the largest, sums 1e-4."
    )
    main("Elementwise functions and sums", notes, cases)
