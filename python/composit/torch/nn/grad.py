"""torch.nn.grad: gradients of convolutions with respect to their input and to their weight."""

from __future__ import annotations

from typing import Any

from composit.torch import tape
from composit.torch.backward import grad
from composit.torch.calling import functions, neural


def _gradient(dimensions: int, of: str, values: dict[str, Any], size: Any, grad_output: Any,
              options: tuple[Any, ...]) -> Any:  # fmt: skip
    """What the operand `of`, of a size, receives; it is linear, so its values do not matter."""
    with tape.enable_grad():
        wanted = functions["zeros"](
            size, dtype=grad_output.dtype, device=grad_output.device, requires_grad=True
        )
        operands = {**values, of: wanted}
        result = neural[f"conv{dimensions}d"](operands["input"], operands["weight"], None, *options)
        return grad(result, wanted, grad_output)[0]


def _input(dimensions: int, input_size: Any, weight: Any, grad_output: Any, *options: Any) -> Any:
    return _gradient(dimensions, "input", {"weight": weight}, input_size, grad_output, options)


def _weight(dimensions: int, input: Any, weight_size: Any, grad_output: Any, *options: Any) -> Any:
    return _gradient(dimensions, "weight", {"input": input}, weight_size, grad_output, options)


def conv1d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of conv1d's input, of input_size, from the gradient of its result."""
    return _input(1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of conv1d's weight, of weight_size, from the gradient of its result."""
    return _weight(1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of conv2d's input, of input_size, from the gradient of its result."""
    return _input(2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of conv2d's weight, of weight_size, from the gradient of its result."""
    return _weight(2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of conv3d's input, of input_size, from the gradient of its result."""
    return _input(3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """The gradient of conv3d's weight, of weight_size, from the gradient of its result."""
    return _weight(3, input, weight_size, grad_output, stride, padding, dilation, groups)
