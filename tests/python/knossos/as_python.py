"""Kernels beside the same functions of Python: values, arguments that stay what they are, and
derivatives, forward, in reverse and by differences."""

import dataclasses
import types

import numpy as np
import pytest

from composit import _core, knossos


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    if dataclasses.is_dataclass(value):
        return leaves([getattr(value, each.name) for each in dataclasses.fields(value)])
    return [value]


def rebuilt(value, numbers):
    if isinstance(value, tuple):
        parts = [rebuilt(part, numbers) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if dataclasses.is_dataclass(value):
        parts = [getattr(value, each.name) for each in dataclasses.fields(value)]
        return type(value)(*rebuilt(tuple(parts), numbers))
    return next(numbers)


def is_float(value):
    return np.asarray(value).dtype.kind == "f"


def of_python(function, arguments, numbers):
    copies = iter([np.array(each) if isinstance(each, np.ndarray) else each for each in numbers])
    return leaves(function(*rebuilt(tuple(arguments), copies)))


def anew(function):
    """A kernel of its own: `register` gives the one that it made of the same function before."""
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    made.__annotations__ = dict(function.__annotations__)
    made.__kwdefaults__, made.__module__ = function.__kwdefaults__, function.__module__
    made.__qualname__ = function.__qualname__
    return knossos.register(made)


def interpreted(kernel, dtype="float64"):
    """The kernel, which runs without a compiler from now on, for arrays of that dtype."""
    kernel.procedure()
    if kernel.is_of_arrays:
        procedure = kernel.procedure(np.dtype(dtype))
        kernel._use(_core.procedure.interpreted(procedure), np.dtype(dtype))
    return kernel


def bits(values):
    return [np.asarray(each).tobytes() for each in leaves(values)]


def check(function, arguments, use=lambda kernel: kernel):
    """`use`: makes kernels run otherwise. The bits of the values and of the gradients."""
    kernel = use(knossos.register(function))
    flat = leaves(arguments)
    want = of_python(function, arguments, flat)
    before = [np.array(each) for each in flat]
    got = leaves(kernel(*arguments))
    assert all(np.array_equal(a, b) for a, b in zip(flat, before))  # arguments do not change
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    floats = [i for i, each in enumerate(flat) if is_float(each)]
    if not floats or not all(map(is_float, got)):
        return bits(got)
    random = np.random.default_rng(1)
    dys = [random.normal(size=np.shape(each)) for each in want]
    dxs = {i: random.normal(size=np.shape(flat[i])) for i in floats}
    received = leaves(use(kernel.vjp)(*flat, *dys))
    tangents = leaves(use(kernel.jvp)(*flat, *dxs.values()))
    own = received[: len(dxs)]  # behind them, those of defaults
    backward = sum(np.sum(a * b) for a, b in zip(own, dxs.values(), strict=True))
    forward = sum(np.sum(a * b) for a, b in zip(tangents, dys, strict=True))

    def moved(by):
        numbers = [each + by * dxs[i] if i in dxs else each for i, each in enumerate(flat)]
        made = of_python(function, arguments, numbers)
        return sum(np.sum(a * b) for a, b in zip(made, dys))

    assert backward == pytest.approx(forward, rel=1e-9, abs=1e-10)
    difference = (moved(1e-6) - moved(-1e-6)) / 2e-6
    assert backward == pytest.approx(difference, rel=5e-5, abs=1e-6)
    return bits([got, received, tangents])
