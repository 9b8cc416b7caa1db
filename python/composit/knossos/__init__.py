"""Kernels: functions of numbers in plain Python, as readable C++ with its derivatives.

@knossos.register
def relu3(x: float) -> float:
    if x < 0.0:
        return 0.0
    elif x < 1.0:
        return 1 / 3 * x**3
    else:
        return x - 2 / 3

vrelu3 = knossos.vmap(relu3)    # arrays and tensors, elementwise
vrelu3.vjp(t, ones), relu3.source, relu3.export("folder"), vrelu3.nnModule
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composit._core import type_error
from composit.knossos import adapters, spellings
from composit.knossos.annotations import Tensor
from composit.knossos.functions import stop_gradient
from composit.knossos.kernel import Kernel
from composit.knossos.mapped_kernel import mapped
from composit.knossos.of_function import kernel_by
from composit.knossos.text import from_text

__all__ = [
    "Kernel", "Tensor", "elementwise", "from_text", "register", "register_direct", "stop_gradient",
    "vmap",
]  # fmt: skip

cpp_string_to_autograd_function = spellings.refused("cpp_string_to_autograd_function")
ksc_string_to_autograd_function = spellings.refused("ksc_string_to_autograd_function")


def register(function: Any = None, *, generate_lm: bool = False) -> Any:
    """The function as a kernel. `generate_lm` chose between two ways to differentiate in the
    original, and means nothing here.

    NotImplementedError, TypeError or NameError, with file and line, for what kernels cannot
    hold; it is raised at the first use.
    """
    if function is None:
        return lambda f: register(f)
    return kernel_by("register", function)


def elementwise(
    function: Any = None, *, example_element: Any = None, generate_lm: bool = False
) -> Any:
    """The function over the elements of arrays and tensors: register's result does the same.
    Example elements need not be given: annotations say the types."""
    if function is None:
        return lambda f: elementwise(f)
    return kernel_by("elementwise", function)


def vmap(function: Callable[..., Any] | None = None, *, generate_lm: bool = False) -> Any:
    """Tensor to Tensor of float to float: the function over the elements of arrays and tensors.
    Of a kernel with arrays, that kernel over the leading axis of all its arguments, (rows, n) to
    (rows, m) of n to m, (rows,) of a number: the bits of a call for each row.

    NotSupported, with the line, where an extent of a result depends on a number that is given."""
    if function is None:
        return lambda f: vmap(f)
    return mapped(kernel_by("vmap", function))


def register_direct(
    function: Any, generate_lm: bool = False, elementwise: bool = False, vmap: bool = False
) -> Any:
    """What `register`, or with one of the last two arguments `elementwise` or `vmap`, makes of a
    function or of a kernel. TypeError where both are true."""
    if elementwise and vmap:
        raise type_error(
            "register_direct: elementwise and vmap are both true. One of them is required."
        )
    made = kernel_by("register_direct", function)
    return mapped(made) if vmap else made
