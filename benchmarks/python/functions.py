"""Cases that are one function of arrays, forward alone or with its gradients."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np
from measure import Call, Case, Sides, check
from models.weights import normal
from peers import jitted, tensors, with_gradients

Function = Callable
Shape = tuple[int, ...]


class Pass(Enum):
    FORWARD = "forward"
    BOTH = "forward and backward"
    VJP = "vjp"  # the gradients alone


def function_case(
    name: str,
    must: float | None,
    aim: float | None,
    shapes: list[Shape],
    ours: Function,
    kind: Pass = Pass.FORWARD,
    *,
    numpy: Function | None = None,
    jax: Function | None = None,
    torch: Function | None = None,
    flops: float = 0,
    tolerance: float = 1e-5,
) -> Case:
    """`ours` and the peers' functions take arrays of `shapes`; gradients flow to all of them from
    a random one of the output. `flops` are those of the forward pass, if they are to count."""

    def prepare(threads: int) -> Sides:
        import composit

        arrays = [normal(*shape, seed=i) for i, shape in enumerate(shapes)]
        compiled = composit.compile(composit_function(ours, kind), threads=threads, name="f")
        gradient = []
        if kind is not Pass.FORWARD:
            forward = composit.compile(ours, threads=threads, name="f")
            gradient = [normal(*forward(*arrays).shape, seed=9)]
        arguments = [*arrays, *gradient]
        peers: dict[str, Call] = {}
        if numpy:
            peers["NumPy"] = lambda: numpy(*arrays)
        if jax:
            peers["JAX"] = jitted(jax_function(jax, kind), *arguments)
        if torch:
            peers["torch"] = torch_call(torch, kind, arrays, gradient)
        results = values_of(compiled(*arguments))
        for peer, call in peers.items():
            for result, expected in zip(results, values_of(call()), strict=True):
                check(f"{name}: {peer}", result, expected, tolerance)
        moved = sum(array.nbytes for array in (*arguments, *results))
        # Each input's gradient is a contraction as large as the forward one.
        operations = (
            flops * {Pass.FORWARD: 1, Pass.BOTH: 1 + len(arrays), Pass.VJP: len(arrays)}[kind]
        )
        return Sides(lambda: compiled(*arguments), peers, operations, moved)

    return Case(name, must, aim, prepare)


def composit_function(function: Function, kind: Pass) -> Function:
    from composit import nn

    def backward(*arguments):
        *inputs, gradient = arguments
        output = function(*inputs)
        gradients = nn.chain_rule({output: gradient}, inputs)
        return (output, *gradients) if kind is Pass.BOTH else tuple(gradients)

    return function if kind is Pass.FORWARD else backward


def jax_function(function: Function, kind: Pass) -> Function:
    import jax

    def backward(*arguments):
        *inputs, gradient = arguments
        output, pullback = jax.vjp(function, *inputs)
        gradients = pullback(gradient)
        return (output, *gradients) if kind is Pass.BOTH else gradients

    return function if kind is Pass.FORWARD else backward


def torch_call(function: Function, kind: Pass, arrays: list, gradient: list) -> Call:
    import torch

    if kind is not Pass.FORWARD:
        return with_gradients(function, tensors(*arrays, gradient=True), *tensors(*gradient))
    inputs = tensors(*arrays)

    def call():
        with torch.inference_mode():
            return function(*inputs)

    return call


def values_of(results) -> list[np.ndarray]:
    """One result or several, of any library."""
    several = results if isinstance(results, (tuple, list)) else [results]
    return [np.asarray(r.detach() if hasattr(r, "detach") else r) for r in several]
