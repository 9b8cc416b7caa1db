"""Module, and the tensors that it holds: Parameter and Buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from composit._core import not_implemented, value_error
from composit.tensorgrad.tensor import Tensor


def _begin(
    made: Tensor, data: Any, dtype: Any, device: Any, requires_grad: Any, name: str | None
) -> None:
    """Makes a tensor of a module: of a tensor, whose dtype and device it has unless others are
    given, or of numbers."""
    if isinstance(data, Tensor):
        dtype, device = dtype or data.dtype, device or data.device
        data = data.data if device == data.device else data.numpy()
    Tensor.__init__(made, data, dtype, device, requires_grad, name)


class Parameter(Tensor):
    """A tensor that is learnt."""

    def __init__(
        self, data: Any, dtype: Any = None, device: Any = None, requires_grad: Any = True,
        name: str | None = None,
    ) -> None:  # fmt: skip
        _begin(self, data, dtype, device, requires_grad, name)


class Buffer(Tensor):
    """A tensor that belongs to a module and is not learnt."""

    def __init__(
        self, data: Any, dtype: Any = None, device: Any = None, requires_grad: Any = False,
        name: str | None = None,
    ) -> None:  # fmt: skip
        _begin(self, data, dtype, device, requires_grad, name)


class Module:
    """Attributes that are parameters, buffers or modules are found by parameters() and the like.
    Subclasses have `forward`, and `_check_input` where not every input fits."""

    training = False

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise not_implemented(f"{type(self).__name__}: there is no forward. One is required.")

    def _check_input(self, *args: Any, **kwargs: Any) -> None:
        """ValueError for inputs that do not fit."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._check_input(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _held(self) -> Iterator[tuple[str, Any]]:
        return iter(list(vars(self).items()))

    def named_modules(self, prefix: str = "") -> dict[str, Module]:
        """Modules within, and theirs, by paths of names."""
        found: dict[str, Module] = {}
        for name, value in self._held():
            if isinstance(value, Module):
                found[prefix + name] = value
                found.update(value.named_modules(f"{prefix}{name}."))
        return found

    def _named(self, kind: type, prefix: str = "") -> dict[str, Any]:
        found = {}
        for name, value in self._held():
            if isinstance(value, kind):
                found[prefix + name] = value
            elif isinstance(value, Module):
                found.update(value._named(kind, f"{prefix}{name}."))
        return found

    def named_parameters(self) -> dict[str, Parameter]:
        """Parameters by paths of names."""
        return self._named(Parameter)

    def named_buffers(self) -> dict[str, Buffer]:
        """Buffers by paths of names."""
        return self._named(Buffer)

    def modules(self) -> list[Module]:
        """Modules within, and theirs."""
        return list(self.named_modules().values())

    def parameters(self) -> list[Parameter]:
        """Parameters, those of modules within included."""
        return list(self.named_parameters().values())

    def buffers(self) -> list[Buffer]:
        """Buffers, those of modules within included."""
        return list(self.named_buffers().values())

    def to(self, device: Any) -> None:
        """Moves parameters and buffers to a device."""
        for each in [*self.parameters(), *self.buffers()]:
            each.to(device)

    def cpu(self) -> None:
        """to("cpu")"""
        self.to("cpu")

    def cuda(self) -> None:
        """to("cuda")"""
        self.to("cuda")

    def train(self) -> None:
        """For training: dropout drops, batch norms take the batch's statistics."""
        self._switch(True)

    def eval(self) -> None:
        """For use."""
        self._switch(False)

    def _switch(self, training: bool) -> None:
        for each in [self, *self.modules()]:
            each.training = training


def write(tensor: Tensor, array: Any) -> None:
    """Puts an array of NumPy's or of torch's in a tensor's place."""
    array = array.detach().cpu().numpy() if hasattr(array, "detach") else np.asarray(array)
    if tuple(array.shape) != tensor.shape:
        raise value_error(
            f"init_from_torch: shape {tuple(array.shape)} is given for {tensor.shape}. The "
            "same is required."
        )
    tensor.data = array


def check(fits: bool, module: Module, given: Tensor, wanted: str) -> None:
    """ValueError unless the input fits."""
    if not fits:
        raise value_error(
            f"{type(module).__name__}: the input has shape {given.shape}. {wanted} is required."
        )
