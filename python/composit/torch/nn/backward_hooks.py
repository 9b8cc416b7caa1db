"""Hooks of modules' gradients: Functions that give on what they get are at both ends of a call."""

from __future__ import annotations

from typing import Any

from composit._core import runtime_error
from composit.torch.calling import TensorBase, is_recorded
from composit.torch.function import Function, FunctionMet, graphs
from composit.torch.nn.module_hooks import of_all
from composit.torch.tape import is_grad_enabled


class _Gate(Function):
    """Tensors as they are; their gradients go through `seen`."""

    @staticmethod
    def forward(ctx: Any, seen: Any, *tensors: Any) -> Any:
        ctx.seen = seen
        ctx.mark_non_differentiable(*[x for x in tensors if not is_recorded(x)])
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return (None, *ctx.seen(gradients))


def _through(seen: Any, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int]]:
    """The values, the tensors among them through a gate, and where these stand; no places where
    nothing is recorded."""
    places = [i for i, x in enumerate(values) if isinstance(x, TensorBase)]
    if not is_grad_enabled() or not any(is_recorded(values[i]) for i in places):
        return values, []
    made = list(values)
    for i, x in zip(places, _Gate.apply(seen, *[values[i] for i in places])):
        made[i] = x
    return tuple(made), places


def _spread(gradients: Any, places: list[int], length: int) -> tuple[Any, ...]:
    made: list[Any] = [None] * length
    for i, gradient in zip(places, gradients):
        made[i] = gradient
    return tuple(made)


class Call:
    """One call of a module that has hooks of gradients."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.hooks = [*of_all._backward_hooks.values(), *module._backward_hooks.values()]
        self.pre_hooks = [
            *of_all._backward_pre_hooks.values(), *module._backward_pre_hooks.values()
        ]  # fmt: skip
        self.grad_output: Any = None

    def entered(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, whose gradients the hooks will see."""
        if graphs.depth and not graphs.ruled:
            raise FunctionMet
        self.length = len(args)
        args, self.inputs = _through(self._at_inputs, args)
        return args

    def left(self, result: Any) -> Any:
        """The result, whose gradients the hooks will see."""
        is_one = isinstance(result, TensorBase)
        if not is_one and not isinstance(result, tuple):
            return result  # PyTorch warns, and calls no hook
        results = (result,) if is_one else result
        self.results = len(results)
        made, self.outputs = _through(self._at_outputs, results)
        return made[0] if is_one else type(result)(made)

    def _at_outputs(self, gradients: Any) -> Any:
        flowing = _spread(gradients, self.outputs, self.results)
        for hook in self.pre_hooks:
            changed = hook(self.module, flowing)
            if changed is not None:
                flowing = changed if isinstance(changed, tuple) else (changed,)
        if len(flowing) != self.results:
            raise runtime_error(
                "Backward pre hook returned an invalid number of grad_output, got "
                f"{len(flowing)}, but expected {self.results}"
            )
        self.grad_output = flowing
        if not self.inputs:
            for hook in self.hooks:
                if hook(self.module, (None,) * self.length, flowing) is not None:
                    raise runtime_error(
                        "Backward hook for Modules where no input requires gradient should "
                        "always return None or None for all gradients."
                    )
        return tuple(flowing[i] for i in self.outputs)

    def _at_inputs(self, gradients: Any) -> Any:
        flowing = _spread(gradients, self.inputs, self.length)
        for hook in self.hooks:
            changed = hook(self.module, flowing, self.grad_output)
            if changed is not None:
                flowing = changed if isinstance(changed, tuple) else (changed,)
            if len(flowing) != self.length:
                raise runtime_error(
                    "Backward hook returned an invalid number of grad_input, got "
                    f"{len(flowing)}, but expected {self.length}"
                )
        return tuple(flowing[i] for i in self.inputs)
