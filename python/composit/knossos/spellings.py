"""What the original Knossos called kernels by, beside their own names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composit._core import not_implemented, with_location
from composit.knossos.annotations import all_leaves


def ensure_compiled(kernel: Any, example_inputs: Any) -> Any:
    """Its code is compiled now, for a value or a tuple of one for each argument. What is returned
    (autogradFunction) has `.apply`, as what compile(example_inputs=…) returns."""
    kernel(*_apart(kernel, (example_inputs,)))
    return kernel.autogradFunction


def entry(kernel: Any, *arguments: Any) -> Any:
    """The kernel; several arguments may be one tuple. A number is one of Python's."""
    made = kernel(*_apart(kernel, arguments))
    return made.item() if getattr(made, "shape", None) == () else made


def entry_vjp(kernel: Any, arguments: Any, *more: Any) -> Any:
    """vjp, of which several arguments of the kernel may be one tuple; for several the result has a
    place for each: () where it is no float."""
    apart = _apart(kernel, (arguments,))
    made = kernel.vjp(*apart, *more)
    whole = kernel.of(*apart) if hasattr(kernel, "of") else kernel
    structures = whole.parameter_structures
    if len(structures) == 1:
        return made
    is_float = [any(leaf.kind == "float" for leaf in all_leaves(each)) for each in structures]
    given = iter(made if isinstance(made, tuple) else (made,))
    return tuple(next(given) if each else () for each in is_float)


def is_of_original(examples: tuple[Any, ...]) -> bool:
    """Whether `compile` is called as the original's was: (a tuple of examples, a name)."""
    return len(examples) == 2 and isinstance(examples[0], tuple) and isinstance(examples[1], str)


def reset_allocator(kernel: Any, *arguments: Any) -> None:
    """Nothing: no memory is kept between calls."""


def raw_f(kernel: Any) -> Any:
    """The function of Python that the kernel was made of, also of what vmap or vjp made of it.
    AttributeError of kernels of text."""
    function = getattr(kernel._root(), "__wrapped__", None)
    if function is None:
        raise AttributeError(
            with_location(
                f"raw_f: the kernel {kernel.__name__} is made of text. A kernel of a function of "
                "Python is required."
            )
        )
    return function


def refused(name: str) -> Callable[..., Any]:
    """A function of the original that cannot be here: it can be imported, and says so when it is
    called."""

    def function(*arguments: Any, **named: Any) -> Any:
        raise not_implemented(
            f"{name}: texts for the original's compiler and its headers are not compiled here. A "
            "kernel of a function (register), or of the scalar language (from_text), is required."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Not built: NotImplementedError when it is called."
    return function


def _apart(kernel: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    first = arguments[0] if len(arguments) == 1 else None
    wanted = getattr(kernel, "parameter_structures", None) or kernel._source.tree.args.args
    is_all = isinstance(first, tuple) and len(first) == len(wanted)
    return first if is_all else arguments  # type: ignore[return-value]
