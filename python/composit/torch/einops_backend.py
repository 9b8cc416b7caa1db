"""What einops asks of a library of tensors: it takes composit.torch's from its import on."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from composit import _imports
from composit.torch import parts
from composit.torch.calling import functions
from composit.torch.tensor import Tensor

_REDUCTIONS = {"min": "amin", "max": "amax"}  # over several axes; others have one name

_made: list[type] = []  # kept here: a class knows its subclasses as long as somebody else does


def _begin(backends: ModuleType) -> None:
    """Enters composit.torch among the libraries that einops knows: the subclasses of its class."""

    class Backend(backends.AbstractBackend):  # type: ignore[misc,name-defined]
        """composit.torch, as einops calls it."""

        framework_name = "composit.torch"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: Any) -> Any:
            return functions["from_numpy"](x)

        def to_numpy(self, x: Any) -> Any:
            return x.detach().cpu().numpy()

        def arange(self, start: int, stop: int) -> Any:
            return functions["arange"](start, stop)

        def shape(self, x: Any) -> tuple[int, ...]:
            return tuple(x.shape)

        def reduce(self, x: Any, operation: str, axes: Any) -> Any:
            if operation in ("prod", "any", "all"):  # of one axis
                for axis in sorted(axes, reverse=True):
                    x = getattr(x, operation)(dim=axis)
                return x
            return getattr(x, _REDUCTIONS.get(operation, operation))(dim=tuple(axes))

        def transpose(self, x: Any, axes: Any) -> Any:
            return x.permute(axes)

        def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
            return functions["stack"](tensors)

        def add_axis(self, x: Any, new_position: int) -> Any:
            return x.unsqueeze(new_position)

        def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
            repeats = [-1] * n_axes
            for axis, length in pos2len.items():
                x = self.add_axis(x, axis)
                repeats[axis] = length
            return x.expand(repeats)

        def tile(self, x: Any, repeats: Any) -> Any:
            return x.repeat(repeats)

        def concat(self, tensors: Any, axis: int) -> Any:
            return functions["cat"](tensors, dim=axis)

        def is_float_type(self, x: Any) -> bool:
            return bool(x.dtype.is_floating_point)

        def layers(self) -> Any:
            return parts.load("einops")

        def einsum(self, pattern: str, *x: Any) -> Any:
            return functions["einsum"](pattern, *x)

    _made.append(Backend)


def attach() -> None:
    """Lets einops take composit.torch's tensors, whichever of the two is imported first."""
    _imports.when_imported("einops._backends", _begin)
