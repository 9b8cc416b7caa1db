"""torch.autograd.functional: Jacobians, Hessians and products with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composit._core import runtime_error, type_error
from composit.torch import calling
from composit.torch.backward import grad
from composit.torch.calling import TensorBase
from composit.torch.tape import enable_grad

Function = Callable[..., Any]


def _tuple_of(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, TensorBase) else tuple(value)


def _begin(name: str, func: Function, inputs: Any, create_graph: bool) -> Any:
    """The inputs as tensors to differentiate by, and the outputs."""
    given = _tuple_of(inputs)
    for number, tensor in enumerate(given):
        if not isinstance(tensor, TensorBase):
            raise type_error(f"{name}: input {number} is a {type(tensor).__name__}. Tensors are "
                             "required.")  # fmt: skip
    with enable_grad():
        made = [x.clone() if create_graph and x.requires_grad
                else x.detach().clone().requires_grad_() for x in given]  # fmt: skip
        outputs = func(*made)
    return made, outputs


def _end(values: list[Any], is_one: bool, create_graph: bool) -> Any:
    found = tuple(x if create_graph else x.detach() for x in values)
    return found[0] if is_one else found


def _zeros_for_none(gradients: Any, inputs: list[Any], strict: bool, name: str) -> list[Any]:
    found = []
    for gradient, x in zip(gradients, inputs):
        if gradient is None and strict:
            raise runtime_error(
                f"{name}: the output does not depend on an input, and strict is True"
            )
        found.append(calling.functions["zeros_like"](x) if gradient is None else gradient)
    return found


def _gradients(
    outputs: list[Any], inputs: list[Any], flows: Any, create_graph: bool, strict: bool, name: str
) -> list[Any]:
    pairs = [(y, v) for y, v in zip(outputs, flows) if y.requires_grad]
    if not pairs:
        return _zeros_for_none([None] * len(inputs), inputs, strict, name)
    found = grad([y for y, _ in pairs], inputs, [v for _, v in pairs], retain_graph=True,
                 create_graph=create_graph, allow_unused=True)  # fmt: skip
    return _zeros_for_none(found, inputs, strict, name)


def _products(name: str, v: Any, like: list[Any]) -> list[Any]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise runtime_error(
                f"{name}: The vector v can only be None if the user-provided function returns "
                "a single Tensor with a single element."
            )
        return [calling.functions["ones_like"](like[0])]
    given = list(_tuple_of(v))
    for x, y in zip(given, like):
        if tuple(x.shape) != tuple(y.shape):
            raise runtime_error(
                f"{name}: v has size {tuple(x.shape)}. The size {tuple(y.shape)} is required."
            )
    return given


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """func's value, and v times its Jacobian."""
    made, outputs = _begin("vjp", func, inputs, create_graph)
    several = list(_tuple_of(outputs))
    found = _gradients(several, made, _products("vjp", v, several), create_graph, strict, "vjp")
    is_one = isinstance(inputs, TensorBase)
    return (
        _end(several, isinstance(outputs, TensorBase), create_graph),
        _end(found, is_one, create_graph),
    )


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """func's value, and its Jacobian times v: the gradient of a gradient that is linear in it."""
    made, outputs = _begin("jvp", func, inputs, create_graph)
    several = list(_tuple_of(outputs))
    flows = _products("jvp", v, made)
    with enable_grad():
        dummies = [calling.functions["zeros_like"](y).requires_grad_() for y in several]
        pulled = _gradients(several, made, dummies, True, strict, "jvp")
    found = _gradients(pulled, dummies, flows, create_graph, False, "jvp")
    is_one = isinstance(outputs, TensorBase)
    return _end(several, is_one, create_graph), _end(found, is_one, create_graph)


def _rows(output: Any, inputs: list[Any], create_graph: bool, strict: bool, name: str) -> list[Any]:
    """The Jacobian of one output by each input."""
    flat = output.reshape(-1)
    ones = calling.functions["eye"](flat.numel(), dtype=flat.dtype, device=flat.device)
    rows = [
        _gradients([flat], inputs, [ones[i]], create_graph, strict, name)
        for i in range(flat.numel())
    ]
    found = []
    for number, x in enumerate(inputs):
        stacked = calling.functions["stack"]([row[number] for row in rows])
        found.append(stacked.reshape(*output.shape, *x.shape))
    return found


def jacobian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian of func: of one output by one input a tensor, of several tuples."""
    made, outputs = _begin("jacobian", func, inputs, create_graph)
    is_one = isinstance(inputs, TensorBase)
    found = []
    for y in _tuple_of(outputs):
        with enable_grad():
            rows = _rows(y, made, create_graph, strict, "jacobian")
        found.append(_end(rows, is_one, create_graph))
    return found[0] if isinstance(outputs, TensorBase) else tuple(found)


def _scalar(name: str, func: Function) -> Function:
    def checked(*args: Any) -> Any:
        found = func(*args)
        if not isinstance(found, TensorBase) or found.numel() != 1:  # type: ignore[attr-defined]
            raise runtime_error(
                f"{name}: The function given to {name} should return a single Tensor with a "
                "single element."
            )
        return found.reshape(())  # type: ignore[attr-defined]

    return checked


def _slope(func: Function, count: int) -> Function:
    def slope(*args: Any) -> Any:
        with enable_grad():
            found = grad(func(*args), args, create_graph=True, allow_unused=True)
        made = tuple(_zeros_for_none(found, list(args), False, "hessian"))
        return made[0] if count == 1 else made

    return slope


def hessian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The second derivatives of a function that returns one number."""
    is_one = isinstance(inputs, TensorBase)
    slope = _slope(_scalar("hessian", func), 1 if is_one else len(inputs))
    found = jacobian(slope, inputs, create_graph, strict)
    if is_one or len(inputs) > 1:
        return found
    return (found,) if isinstance(found, tuple) and isinstance(found[0], TensorBase) else found


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """func's value, and v times its Hessian."""
    is_one = isinstance(inputs, TensorBase)
    checked = _scalar("vhp", func)
    slope = _slope(checked, len(_tuple_of(inputs)))
    value = checked(*_tuple_of(inputs))
    _, found = vjp(slope, inputs, v, create_graph, strict)
    assert is_one == isinstance(found, TensorBase)
    return (value if create_graph else value.detach()), found


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """func's value, and its Hessian times v."""
    checked = _scalar("hvp", func)
    value = checked(*_tuple_of(inputs))
    _, found = jvp(_slope(checked, len(_tuple_of(inputs))), inputs, v, create_graph, strict)
    return (value if create_graph else value.detach()), found
