"""Hooks of modules' gradients: Functions that give on what they get are at both ends of a call."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch.calling import TensorBase, is_recorded
from composit.torch.function import Function, FunctionMet
from composit.torch.nn.module_hooks import of_all
from composit.torch.tape import is_grad_enabled

_modules: Any = _core.modules


class _Gate(Function):
    """Tensors as they are; their gradients go through `seen`."""

    _tangents_by_backward = True

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
    places = _modules.places_of_recorded(values) if is_grad_enabled() else []
    if not places:
        return values, places
    gated = _Gate.apply(seen, *[values[i] for i in places])
    return _modules.at_places(gated, places, values), places


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
        if _core.differentiates_graphs():
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
        return _modules.gradients_of_results(self, gradients)

    def _at_inputs(self, gradients: Any) -> Any:
        return _modules.gradients_of_arguments(self, gradients)
