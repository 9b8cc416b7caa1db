"""torch.autograd.functional: Jacobians, Hessians and products with them
(bindings/torch_jacobians.cpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core

Function = Callable[..., Any]
_jacobians: Any = _core.jacobians


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """func's value, and v times its Jacobian."""
    return _jacobians.vjp(func, inputs, v, create_graph, strict)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """func's value, and its Jacobian times v: the gradient of a gradient that is linear in it."""
    return _jacobians.jvp(func, inputs, v, create_graph, strict)


def jacobian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian of func: of one output by one input a tensor, of several tuples."""
    return _jacobians.jacobian(func, inputs, create_graph, strict, vectorize, strategy)


def hessian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The second derivatives of a function that returns one number."""
    return _jacobians.hessian(
        func, inputs, create_graph, strict, vectorize, outer_jacobian_strategy
    )


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """func's value, and v times its Hessian."""
    return _jacobians.vhp(func, inputs, v, create_graph, strict)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """func's value, and its Hessian times v."""
    return _jacobians.hvp(func, inputs, v, create_graph, strict)
