"""What pickle keeps of kernels: the name by which a module holds the function, as of functions, and
how a kernel is made of one that has such a name."""

from __future__ import annotations

import copyreg
import functools
import importlib
import pickle
from collections.abc import Callable
from typing import Any

from composit.knossos.by_example import KernelByExample
from composit.knossos.provided import provided
from composit.knossos.source import known_kernel


def reduced(kernel: Any) -> tuple[Any, ...]:
    """What `__reduce__` returns. PicklingError for a kernel that cannot be found again."""
    function = getattr(kernel._root(), "__wrapped__", None)  # None of a kernel of text
    if function is not None and _held_by_name(function, kernel):
        return _with_derivative(kernel, kernel_named, (function.__module__, function.__qualname__))
    if kernel._made_of is not None:
        make, *arguments = kernel._made_of
        if make(*arguments) is kernel:
            return _with_derivative(kernel, make, tuple(arguments))
    raise _refusal(kernel, function)


def kernel_named(module: str, name: str) -> Any:
    """The kernel that the module holds under a name, or that of the function there."""
    return provided.kernel_of(_found(module, name))


def _found(module: str, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


def _held_by_name(function: Any, kernel: Any) -> bool:
    try:
        found = _found(function.__module__, function.__qualname__)
    except (ImportError, AttributeError):
        return False
    return found is kernel or known_kernel(found) is kernel


def _with_derivative(
    kernel: Any, make: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """A derivative may have been given elsewhere than where the kernel is found."""
    if kernel._derivative is None:
        return make, arguments
    return _derived_by, (kernel._derivative, make, *arguments)


def _derived_by(derivative: Any, make: Callable[..., Any], *arguments: Any) -> Any:
    kernel = make(*arguments)
    if kernel._derivative is not derivative:
        kernel.derivative(derivative)
    return kernel


def _refusal(kernel: Any, function: Any) -> pickle.PicklingError:
    name = kernel.__name__
    if function is None:
        wrong = f"{name} is a kernel of text, which no module holds as a function"
    else:
        place = f"{function.__module__}.{function.__qualname__}"
        try:
            _found(function.__module__, function.__qualname__)
            wrong = f"{name} is not what {place} is or makes now"
        except (ImportError, AttributeError):
            wrong = f"{name} is not found as {place}"
    return pickle.PicklingError(
        kernel._located(
            f"pickle: {wrong}. A kernel of a function at the top of a module, which is there under "
            "its own name, or what vmap, vjp, jvp and grad make of one, is required."
        )
    )


copyreg.pickle(KernelByExample, reduced)
