"""Tensor: an array and its gradient; on the CPU a tensor of composit.torch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import composit.torch as torch
from composit._core import type_error, value_error
from composit.tensorgrad import creation
from composit.tensorgrad.const import DEVICE, DTYPE, OP, device_of
from composit.tensorgrad.ctx import is_grad_enabled
from composit.tensorgrad.ops import COMPUTED, OpDispatch
from composit.tensorgrad.storage import StorageDispatch

_FLOATS = (DTYPE.FLOAT32, DTYPE.FLOAT64)


class Tensor(creation.Creation):
    """An array of numbers, and what it was computed from.

    Attributes: `data` and `grad` (arrays of the device, NumPy's on the CPU; a gradient is zeros
    before backward), `requires_grad`, `name`, `dtype`, `device`, `shape`, `ndim`.
    """

    _of: Any = None  # the tensor of composit.torch, where composit computes
    _raw: Any = None  # the array, on devices that others registered
    _raw_grad: Any = None
    _op: Any = None
    _children: tuple[Tensor, ...] = ()

    def __init__(
        self, data: Any, dtype: Any = None, device: Any = None, requires_grad: Any = True,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self.requires_grad, self.name = requires_grad, name
        self._place(data, DTYPE(dtype or DTYPE.FLOAT32), device_of(device))

    def _place(self, data: Any, dtype: DTYPE, device: Any) -> None:
        """Becomes a leaf with this data."""
        storage: Any = StorageDispatch.get(device)
        self._device, self._op, self._children = device, None, ()
        made = storage.tensor(data, dtype)
        if storage.is_computed:
            self._of, self._raw = storage.wrapped(made), None
            self._of.requires_grad_(self.requires_grad and dtype in _FLOATS)
        else:
            self._of, self._raw, self._raw_grad = None, made, None

    # ----- what it is

    @property
    def data(self) -> Any:
        """The array: NumPy's on the CPU, composit.numpy's on composit's other devices; a copy."""
        return self._raw if self._of is None else self._storage.unwrapped(self._of)

    @data.setter
    def data(self, value: Any) -> None:
        kept = self.grad
        self._place(value, self.dtype, self.device)
        self.grad = kept

    @property
    def grad(self) -> Any:
        """The gradient, an array of the device."""
        if self._of is None:
            if self._raw_grad is None:
                self._raw_grad = self._storage.zeros(self.shape, self.dtype)
            return self._raw_grad
        found = self._of.grad
        if found is None:
            return self._storage.zeros(self.shape, self.dtype)
        return self._storage.unwrapped(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        if self._of is None:
            self._raw_grad = value
        elif self._of.requires_grad:
            storage = self._storage
            dtype = self.dtype
            self._of.grad = None if value is None else storage.wrapped(storage.tensor(value, dtype))

    @property
    def _storage(self) -> Any:
        return StorageDispatch.get(self._device)

    @property
    def dtype(self) -> DTYPE:
        """What it holds."""
        if self._of is None:
            return DTYPE(self._storage.get_dtype(self._raw))
        return DTYPE(str(self._of.dtype).removeprefix("torch."))

    @property
    def device(self) -> Any:
        """Where it lies: a DEVICE, or the name that a device was registered under."""
        return self._device

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its dimensions."""
        return tuple(self._storage.get_shape(self._raw) if self._of is None else self._of.shape)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    def numel(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape, dtype=np.int64))

    def numpy(self) -> np.ndarray:
        """The numbers as NumPy's array."""
        return np.asarray(self._storage.numpy(self.data))

    def tolist(self) -> Any:
        """The numbers in lists, one alone as a number."""
        return self.numpy().tolist()

    item = tolist

    def __repr__(self) -> str:
        device = _shown(self.device)
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype!s}, device={device})"

    def __len__(self) -> int:
        if not self.shape:
            raise type_error("len: the tensor has no dimensions. One is required.")
        return self.shape[0]

    # ----- elsewhere, and in other dtypes

    def _with(self, data: Any, dtype: DTYPE, device: Any, inplace: Any) -> Tensor:
        if not inplace:
            return Tensor(data, dtype, device, self.requires_grad, self.name)
        grad = StorageDispatch.get(self.device).numpy(self.grad)
        self._place(data, dtype, device)
        if self.requires_grad and dtype in _FLOATS:
            self.grad = self._storage.tensor(grad, dtype)
        return self

    def float(self, inplace: Any = False) -> Tensor:
        """The numbers as float32."""
        return self._with(self.numpy(), DTYPE.FLOAT32, self.device, inplace)

    def long(self, inplace: Any = False) -> Tensor:
        """The numbers as int64."""
        return self._with(self.numpy(), DTYPE.INT64, self.device, inplace)

    def bool(self, inplace: Any = False) -> Tensor:
        """Whether each number is not 0."""
        return self._with(self.numpy(), DTYPE.BOOL, self.device, inplace)

    def to(self, device: Any, inplace: Any = True) -> Tensor:
        """Moves the tensor and its gradient to a device; not in place, a copy lies there."""
        device = device_of(device)
        StorageDispatch.get(device)
        if inplace and device == self.device:
            return self
        return self._with(self.numpy(), self.dtype, device, inplace)

    def cpu(self, inplace: Any = True) -> Tensor:
        """to("cpu")"""
        return self.to(DEVICE.CPU, inplace)

    def cuda(self, inplace: Any = True) -> Tensor:
        """to("cuda")"""
        return self.to(DEVICE.CUDA, inplace)

    def copy(self) -> Tensor:
        """A leaf of the same numbers."""
        return self._with(self.numpy(), self.dtype, self.device, False)

    def detach(self) -> Tensor:
        """A leaf of the same numbers, which needs no gradient."""
        made = self.copy()
        made.requires_grad = False
        if made._of is not None:
            made._of.requires_grad_(False)
        return made

    def from_data(self, data: Any) -> Tensor:
        """Other numbers with this dtype, device and need of a gradient."""
        return Tensor(data, self.dtype, self.device, self.requires_grad)

    # ----- arithmetic

    def _other(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, (int, float)):
            return Tensor(value, self.dtype if self.dtype in _FLOATS or isinstance(value, int)
                          else DTYPE.FLOAT32, self.device, requires_grad=False)  # fmt: skip
        return NotImplemented

    def _binary(self, op: OP, other: Any, is_swapped: Any = False) -> Any:
        other = self._other(other)
        if other is NotImplemented:
            return other
        return OpDispatch.execute(op, *((other, self) if is_swapped else (self, other)))

    def __add__(self, other: Any) -> Any:
        return self._binary(OP.ADD, other)

    def __radd__(self, other: Any) -> Any:
        return self._binary(OP.ADD, other, True)

    def __sub__(self, other: Any) -> Any:
        return self._binary(OP.SUB, other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary(OP.SUB, other, True)

    def __mul__(self, other: Any) -> Any:
        return self._binary(OP.MUL, other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary(OP.MUL, other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._binary(OP.DIV, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._binary(OP.DIV, other, True)

    def __neg__(self) -> Tensor:
        return self * -1

    def __pow__(self, value: Any) -> Any:
        if not isinstance(value, (int, float)):
            return NotImplemented
        return OpDispatch.execute(OP.POW, self, value=value)

    def __matmul__(self, other: Tensor) -> Tensor:
        return self.matmul(other)

    def __invert__(self) -> Tensor:
        if self.dtype is not DTYPE.BOOL:
            raise type_error(f"invert: the tensor holds {self.dtype.value}. bool is required.")
        return OpDispatch.execute(OP.INVERT, self)

    def sqrt(self) -> Tensor:
        """The square roots."""
        return self**0.5

    def exp(self) -> Tensor:
        """e to the power of each number."""
        return OpDispatch.execute(OP.EXP, self)

    def log(self) -> Tensor:
        """Natural logarithms."""
        return OpDispatch.execute(OP.LOG, self)

    def relu(self) -> Tensor:
        """The numbers, 0 in place of negative ones."""
        return OpDispatch.execute(OP.RELU, self)

    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))"""
        return OpDispatch.execute(OP.SIGMOID, self)

    def softmax(self, dim: int) -> Tensor:
        """exp(x), divided by its sums along a dimension."""
        return OpDispatch.execute(OP.SOFTMAX, self, dim=dim)

    # ----- reductions and products

    def sum(self, dim: Any = None, keepdim: Any = False) -> Tensor:
        """Sums over dimensions (an int or a tuple; None: all)."""
        return OpDispatch.execute(OP.SUM_REDUCE, self, dim=dim, keepdim=keepdim)

    def mean(self, dim: Any = None, keepdim: Any = False) -> Tensor:
        """Means over dimensions."""
        return OpDispatch.execute(OP.MEAN_REDUCE, self, dim=dim, keepdim=keepdim)

    def max(self, dim: int | None = None, keepdim: Any = False) -> Tensor:
        """The largest numbers along a dimension; the first of equal ones has the gradient."""
        return self._extremum(OP.MAX_REDUCE, dim, keepdim)

    def min(self, dim: int | None = None, keepdim: Any = False) -> Tensor:
        """The smallest numbers along a dimension; the first of equal ones has the gradient."""
        return self._extremum(OP.MIN_REDUCE, dim, keepdim)

    def _extremum(self, op: OP, dim: int | None, keepdim: Any) -> Tensor:
        if dim is not None and not isinstance(dim, int):
            raise type_error(f"{op.value}: dim is {dim!r}. One dimension or None is required.")
        return OpDispatch.execute(op, self, dim=dim, keepdim=keepdim)

    def matmul(self, other: Tensor) -> Tensor:
        """NumPy's matmul."""
        return OpDispatch.execute(OP.MATMUL, self, other)

    # ----- shapes and indices

    def reshape(self, *shape: Any) -> Tensor:
        """Another shape; one length may be -1."""
        return OpDispatch.execute(OP.RESHAPE, self, shape=tuple(_unpacked(shape)))

    def permute(self, *dims: Any) -> Tensor:
        """All dimensions in another order."""
        dims = tuple(_unpacked(dims))
        if sorted(d % max(self.ndim, 1) for d in dims) != list(range(self.ndim)):
            raise value_error(
                f"permute: dims are {dims} for {self.ndim} dimensions. Each once is required."
            )
        return OpDispatch.execute(OP.PERMUTE, self, dims=dims)

    transpose = permute

    def squeeze(self, dim: int) -> Tensor:
        """Without a dimension of length 1; ValueError for another."""
        if not -self.ndim <= dim < self.ndim or self.shape[dim] != 1:
            raise value_error(
                f"squeeze: dim is {dim} for shape {self.shape}. A dimension of length 1 is "
                "required."
            )
        return OpDispatch.execute(OP.SQUEEZE, self, dim=dim)

    def unsqueeze(self, dim: int) -> Tensor:
        """With one more dimension, of length 1."""
        return OpDispatch.execute(OP.UNSQUEEZE, self, dim=dim)

    def concat(self, tensors: Iterable[Tensor], dim: int) -> Tensor:
        """The tensor and others one after the other, along a dimension."""
        return OpDispatch.execute(OP.CONCAT, [self, *tensors], dim=dim)

    cat = concat

    def __getitem__(self, key: Any) -> Tensor:
        return OpDispatch.execute(OP.SELECT, self, key=_key(key))

    def lookup(self, mask: Tensor) -> Tensor:
        """Rows by their numbers, as an embedding."""
        return OpDispatch.execute(OP.LOOKUP, self, mask)

    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        """Writes a number where the mask is True. What was there has no gradient."""
        if mask.dtype is not DTYPE.BOOL or mask.shape != self.shape:
            raise value_error(
                f"masked_fill_: the mask is {mask.dtype.value} of shape {mask.shape} for shape "
                f"{self.shape}. bool of the same shape is required."
            )
        if self._op is None:
            filled = np.where(mask.numpy(), np.asarray(value, self.dtype.value), self.numpy())
            self.data = filled
            return self
        made = OpDispatch.execute(OP.MASKED_FILL_, self._moved(), mask, value=value)
        self.__dict__.update(made.__dict__ | {"name": self.name})
        return self

    def _moved(self) -> Tensor:
        """Another Tensor that is what this one was."""
        made = Tensor.__new__(Tensor)
        made.__dict__.update(self.__dict__)
        return made

    # ----- images

    def conv2d(
        self, kernel: Tensor, bias: Tensor | None = None, stride: Any = None, padding: Any = None
    ) -> Tensor:
        """Cross-correlation of images (count, channels, height, width) with kernels (out, in,
        height, width); stride and padding are pairs."""
        operands = (self, kernel) if bias is None else (self, kernel, bias)
        return OpDispatch.execute(OP.CONV2D, *operands, stride=_pair(stride, 1),
                                  padding=_pair(padding, 0))  # fmt: skip

    def max_pool2d(self, kernel_size: Any, stride: Any = None, padding: Any = None) -> Tensor:
        """The largest number of each window; the first of equal ones has the gradient."""
        return self._pooled(OP.MAX_POOL2D, kernel_size, stride, padding)

    def avg_pool2d(self, kernel_size: Any, stride: Any = None, padding: Any = None) -> Tensor:
        """The mean of each window, zeros around the image included."""
        return self._pooled(OP.AVG_POOL2D, kernel_size, stride, padding)

    def _pooled(self, op: OP, kernel_size: Any, stride: Any, padding: Any) -> Tensor:
        size = _pair(kernel_size, 1)
        stride = size if stride is None else _pair(stride, 1)
        return OpDispatch.execute(op, self, kernel_size=size, stride=stride,
                                  padding=_pair(padding, 0))  # fmt: skip

    # ----- gradients

    def backward(self, upstream: Any = None, destroy_graph: Any = True) -> None:
        """Gradients of all that this was computed from; upstream is an array of its shape (ones).
        The tensor's own gradient becomes upstream, others are added to."""
        from composit.tensorgrad.gradients import backward

        backward(self, upstream, destroy_graph)

    def render(self) -> Any:
        """A picture of what the tensor was computed from, as PIL's Image; to be called before
        backward, or after backward(destroy_graph=False)."""
        from composit.tensorgrad.rendering import render

        return render(self)


tensor = Tensor


def made_by(op: OP, operands: list[Tensor], options: dict[str, Any]) -> Tensor:
    """The result of an operation, recorded where a gradient may be asked for."""
    made = Tensor.__new__(Tensor)
    made.name = None
    made._device = operands[0].device
    made.requires_grad = is_grad_enabled() and any(each.requires_grad for each in operands)
    if operands[0]._of is not None:
        made._of, made._op = COMPUTED[op](*(each._of for each in operands), **options), op
        if made.requires_grad and made._of.requires_grad:
            made._of.retain_grad()
    else:
        made._op = OpDispatch.make(op, made._device)
        made._raw = made._op.forward(*(each._raw for each in operands), **options)
    if made.requires_grad:
        made._children = tuple(operands)
    else:
        made._op = None
    return made


OpDispatch._result = staticmethod(made_by)


def _shown(device: Any) -> str:
    return str(device) if isinstance(device, DEVICE) else repr(device)


def _unpacked(values: tuple[Any, ...]) -> Iterable[int]:
    return values[0] if len(values) == 1 and isinstance(values[0], (tuple, list)) else values


def _pair(value: Any, default: int) -> tuple[int, int]:
    if value is None:
        return default, default
    return (value, value) if isinstance(value, int) else tuple(value)


def _key(key: Any) -> Any:
    """An index without Tensors."""
    if isinstance(key, Tensor):
        return torch.from_numpy(key.numpy())
    if isinstance(key, tuple):
        return tuple(_key(each) for each in key)
    return torch.from_numpy(np.asarray(key)) if isinstance(key, (list, np.ndarray)) else key
