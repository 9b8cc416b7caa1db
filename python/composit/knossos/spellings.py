"""What the original Knossos called kernels by, beside their own names."""

from __future__ import annotations

from typing import Any


def ensure_compiled(kernel: Any, example_inputs: Any) -> Any:
    """Its code is compiled now, for a value or a tuple of one for each argument. What is returned
    (autogradFunction) has `.apply`, as what compile(example_inputs=…) returns."""
    kernel(*_apart(kernel, (example_inputs,)))
    return kernel.autogradFunction


def entry(kernel: Any, *arguments: Any) -> Any:
    """The kernel; several arguments may be one tuple."""
    return kernel(*_apart(kernel, arguments))


def entry_vjp(kernel: Any, arguments: Any, *more: Any) -> Any:
    """vjp, of which several arguments of the kernel may be one tuple."""
    return kernel.vjp(*_apart(kernel, (arguments,)), *more)


def reset_allocator(kernel: Any, *arguments: Any) -> None:
    """Nothing: no memory is kept between calls."""


def _apart(kernel: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    first = arguments[0] if len(arguments) == 1 else None
    wanted = getattr(kernel, "parameter_structures", None) or kernel._source.tree.args.args
    is_all = isinstance(first, tuple) and len(first) == len(wanted)
    return first if is_all else arguments  # type: ignore[return-value]
