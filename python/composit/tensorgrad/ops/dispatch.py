"""Operations: what each is on the CPU, and what a device registers of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import composit.torch as torch
from composit._core import not_supported, runtime_error, user_location, with_location
from composit._floating_errors import warn_at
from composit.tensorgrad.const import DEVICE, DTYPE, OP, device_of
from composit.tensorgrad.ops.stubs import BaseOp
from composit.tensorgrad.storage import StorageDispatch

functional = torch.nn.functional


def _extremum(name: str) -> Callable[..., Any]:
    def extremum(x: Any, *, dim: Any, keepdim: bool) -> Any:
        if dim is None:
            made = getattr(x.reshape(-1), name)(0).values
            return made.reshape([1] * x.ndim) if keepdim else made
        return getattr(x, name)(dim, keepdim=keepdim).values

    return extremum


def _reduced(name: str) -> Callable[..., Any]:
    def reduced(x: Any, *, dim: Any, keepdim: bool) -> Any:
        dims = tuple(range(x.ndim)) if dim is None else dim
        return getattr(x, name)(dims, keepdim=keepdim) if dims != () else x

    return reduced


def _fill(x: Any, mask: Any, *, value: float) -> Any:
    return x.masked_fill(mask, value)


# On composit.torch's tensors.
COMPUTED: dict[OP, Callable[..., Any]] = {
    OP.ADD: lambda a, b: a + b,
    OP.SUB: lambda a, b: a - b,
    OP.MUL: lambda a, b: a * b,
    OP.DIV: lambda a, b: a / b,
    OP.INVERT: lambda x: ~x,
    OP.POW: lambda x, *, value: x**value,
    OP.EXP: lambda x: x.exp(),
    OP.LOG: lambda x: x.log(),
    OP.MASKED_FILL_: _fill,
    OP.SUM_REDUCE: _reduced("sum"),
    OP.MEAN_REDUCE: _reduced("mean"),
    OP.MAX_REDUCE: _extremum("max"),
    OP.MIN_REDUCE: _extremum("min"),
    OP.SQUEEZE: lambda x, *, dim: x.squeeze(dim),
    OP.UNSQUEEZE: lambda x, *, dim: x.unsqueeze(dim),
    OP.RESHAPE: lambda x, *, shape: x.reshape(shape),
    OP.PERMUTE: lambda x, *, dims: x.permute(dims),
    OP.SELECT: lambda x, *, key: x[key],
    OP.LOOKUP: lambda x, mask: functional.embedding(mask, x),
    OP.CONCAT: lambda *parts, dim: torch.cat(parts, dim),
    OP.RELU: lambda x: x.relu(),
    OP.SIGMOID: lambda x: x.sigmoid(),
    OP.SOFTMAX: lambda x, *, dim: x.softmax(dim),
    OP.MATMUL: lambda a, b: a @ b,
    OP.CONV2D: lambda x, kernel, *bias, stride, padding: functional.conv2d(
        x, kernel, *bias, stride=stride, padding=padding
    ),
    OP.MAX_POOL2D: lambda x, *, kernel_size, stride, padding: functional.max_pool2d(
        x, kernel_size, stride, padding
    ),
    OP.AVG_POOL2D: lambda x, *, kernel_size, stride, padding: functional.avg_pool2d(
        x, kernel_size, stride, padding
    ),
}


class _OnTheCpu(BaseOp):
    """An operation that a device lacks, computed from copies of its arrays on the CPU."""

    def __init__(self, op: OP, device: Any) -> None:
        self.NAME, self._op = op.value, op
        self._storage = StorageDispatch.get(device)

    def forward(self, *inputs: Any, **options: Any) -> Any:
        """From the device to the CPU and back."""
        self._inputs = [torch.from_numpy(np.asarray(self._storage.numpy(x))) for x in inputs]
        for x in self._inputs:
            x.requires_grad_(x.dtype.is_floating_point)
        with torch.enable_grad():
            self._result = COMPUTED[self._op](*self._inputs, **options)
        return self._to_device(self._result)

    def backward(self, upstream: Any) -> Any:
        """composit's gradients."""
        asked = [x for x in self._inputs if x.requires_grad]
        g = torch.from_numpy(np.asarray(self._storage.numpy(upstream)))
        found = iter(torch.autograd.grad(self._result, asked, g, allow_unused=True))
        parts = [next(found) if x.requires_grad else None for x in self._inputs]
        return tuple(None if part is None else self._to_device(part) for part in parts)

    def _to_device(self, made: Any) -> Any:
        array = made.detach().numpy()
        return self._storage.tensor(array, DTYPE(array.dtype.name))


class OpDispatch:
    """The operations of each device. The CPU's are composit's."""

    _DISPATCH: ClassVar[dict[tuple[OP, Any], type[BaseOp]]] = {}
    _said: ClassVar[set[tuple[OP, Any]]] = set()
    _strict: ClassVar[set[Any]] = set()
    # The Tensor of an operation, its operands and options; composit.tensorgrad.tensor provides it.
    _result: ClassVar[Callable[[OP, list[Any], dict[str, Any]], Any]]

    @classmethod
    def register(cls, op: OP, device: Any) -> Callable[[type[BaseOp]], type[BaseOp]]:
        """A class decorator; KeyError where the device has the operation."""
        op, device = OP(op), device_of(device)

        def add(made: type[BaseOp]) -> type[BaseOp]:
            if (op, device) in cls._DISPATCH or device == DEVICE.CPU:
                raise KeyError(
                    with_location(
                        f"OpDispatch.register: {op.value} is there on device {device!s} already. "
                        "An operation that the device lacks is required."
                    )
                )
            made.NAME = op.value
            cls._DISPATCH[op, device] = made
            return made

        return add

    @classmethod
    def allow_fallback(cls, device: Any, allowed: bool = True) -> None:
        """Whether what a device lacks is computed on the CPU (it is, unless forbidden)."""
        (cls._strict.discard if allowed else cls._strict.add)(device_of(device))

    @classmethod
    def make(cls, op: OP, device: Any) -> BaseOp:
        """The operation on a device. One that is missing runs on the CPU and says so once;
        NotSupported where that is forbidden."""
        made = cls._DISPATCH.get((op, device))
        if made is not None:
            return made()
        name = getattr(device, "value", device)
        if device in cls._strict:
            raise not_supported(
                f"{op.value}: device {name!r} has no such operation, and none on the CPU is "
                f"allowed in its place. OpDispatch.register({op!s}, {name!r}) is required."
            )
        if (op, device) not in cls._said:
            cls._said.add((op, device))
            path, _, line = user_location().rpartition(":")
            said = f"{op.value}: device {name!r} has no such operation; it runs on the CPU."
            warn_at(said, path, int(line or 0))
        return _OnTheCpu(op, device)

    @classmethod
    def execute(cls, op: OP, *inputs: Any, **options: Any) -> Any:
        """The result of an operation on Tensors, all of one device; lists of such are unpacked."""
        flat: list[Any] = []
        for value in inputs:
            flat.extend(value if isinstance(value, (list, tuple)) else (value,))
        devices = {tensor.device for tensor in flat}
        if len(devices) != 1:
            raise runtime_error(
                f"{OP(op).value}: operands lie on {', '.join(sorted(map(str, devices)))}. One "
                "device is required."
            )
        return cls._result(OP(op), flat, options)
