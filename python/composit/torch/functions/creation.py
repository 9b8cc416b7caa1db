"""Tensors of numbers that need no other tensor."""

from __future__ import annotations

import functools
import math
from typing import Any
from warnings import warn

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit._core import runtime_error, type_error, value_error
from composit._floating_point import in_default_state
from composit.torch import calling, dtypes, places, writing
from composit.torch.calling import TensorBase
from composit.torch.functions.arguments import lengths_of
from composit.torch.given import constant
from composit.torch.places import present_name
from composit.torch.tensor import Tensor, tensor


def _made(lazy: Any, requires_grad: bool) -> Any:
    found = calling.wrapped(lazy)
    return found.requires_grad_() if requires_grad else found


def _placed(lazy: Any, place: str | None = None) -> Any:
    """A leaf that lies on the CPU, or on another device."""
    return _core.devices.placed(lazy, place or "cpu")


_most_kept_elements = 4096  # on a device, whose memory is for those who hold it


@functools.lru_cache(512)
def _filled(lengths: Any, kind: str, value: Any, to: Any, place: str | None) -> Any:
    """A leaf of one value. Nodes are immutable, so tensors share it, each in a cell of its own."""
    return _placed(cnp.full(lengths, value, to), place)


@functools.lru_cache(128)
def _counted(start: int, end: int, step: int, to: Any, place: str | None) -> Any:
    """A leaf of few integers, as above."""
    return _placed(constant(np.arange(start, end, step).astype(to)), place)


def _of_one_value(size: Any, value: Any, to: Any) -> Any:
    """A LazyTensor of one value. Kept by type and value: -0.0 is equal to 0.0, and NaN to none."""
    lengths, kind, place = lengths_of(size), type(value), present_name()
    if place is not None and place != "cpu" and math.prod(lengths) > _most_kept_elements:
        return _placed(cnp.full(lengths, value, to), place)
    if kind is int or kind is bool or (kind is float and value and value == value):
        return _filled(lengths, kind.__name__, value, to, place).copied()
    return _placed(cnp.full(lengths, value, to))


def _function(name: str) -> Any:
    def add(function: Any) -> Any:
        function.__name__ = function.__qualname__ = name
        calling.functions[name] = in_default_state(function)
        return calling.functions[name]

    return add


def _number(value: Any) -> Any:
    """The number of a tensor of one element, or what is given."""
    return value.item() if isinstance(value, Tensor) else value


def _full(name: str, value: float) -> None:
    """zeros and the like, zeros_like and new_zeros."""

    def function(
        *lengths: Any, size: Any = None, out: Any = None, dtype: Any = None, layout: Any = None,
        device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
        memory_format: Any = None,
    ) -> Any:  # fmt: skip
        size = lengths if size is None else (size,)
        to = (dtype or dtypes.default()).numpy
        if out is not None:
            writing.overwrite(out, cnp.full(lengths_of(size), value, out.dtype.numpy))
            return out
        return _made(_of_one_value(size, value, to), requires_grad)

    def like(
        input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False, memory_format: Any = None,
    ) -> Any:  # fmt: skip
        to = (dtype or input.dtype).numpy
        made = _of_one_value((tuple(input.shape),), value, to)
        return _made(calling.laid_as(made, input), requires_grad)

    def new(
        self: Any, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
        **_: Any,
    ) -> Any:  # fmt: skip
        return function(*size, dtype=dtype or self.dtype, device=device,
                        requires_grad=requires_grad)  # fmt: skip

    function.__doc__ = f"A tensor of {name}."
    like.__doc__ = f"A tensor of {name}, of another one's shape and dtype."
    new.__doc__ = f"A tensor of {name}, of this one's dtype."
    _function(name)(function)
    _function(f"{name}_like")(like)
    calling.methods[f"new_{name}"] = new


_full("zeros", 0)
_full("ones", 1)
_full("empty", 0)


@_function("full")
def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None,
) -> Any:  # fmt: skip
    """A tensor of one value."""
    value = _number(fill_value)
    to = dtype.numpy if dtype is not None else dtypes.from_numbers(value)
    if dtype is not None:
        _core.check_fits(value, dtype.numpy)
    shape = (size,) if isinstance(size, int) else tuple(size)
    return _made(_of_one_value((shape,), value, to), requires_grad)


@_function("full_like")
def full_like(
    input: Any, fill_value: Any, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None, layout: Any = None,
) -> Any:  # fmt: skip
    """A tensor of one value, of another one's shape and dtype."""
    made = full(input.shape, fill_value, dtype=dtype or input.dtype, device=device)
    return _made(calling.laid_as(made._lazy, input), requires_grad)


def _new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
    """A tensor of one value, of this one's dtype."""
    return full(size, fill_value, dtype=dtype or self.dtype, **options)


calling.methods["new_full"] = _new_full


_int64 = np.dtype("int64")


def _steps_dtype(dtype: Any, *numbers: Any) -> Any:
    if dtype is not None:
        return dtype.numpy
    is_whole = all(isinstance(n, (int, np.integer)) for n in numbers)
    return np.dtype("int64") if is_whole else dtypes.default().numpy


@_function("arange")
def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None,
) -> Any:  # fmt: skip
    """Numbers from start, before end."""
    if type(start) is int and type(end or 0) is int and type(step) is int and step > 0:
        first, last = (0, start) if end is None else (start, end)
        if 0 <= last - first <= 4096:
            to = _int64 if dtype is None else dtype.numpy
            return _made(_counted(first, last, step, to, present_name()).copied(), requires_grad)
    if end is None:
        start, end = 0, start
    first, last, by = _number(start), _number(end), _number(step)
    to = _steps_dtype(dtype, first, last, by)
    return _made(constant(_core.aten.arange(first, last, by, to)), requires_grad)


@_function("range")
def range_(
    start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None,
) -> Any:  # fmt: skip
    """Numbers from start to end, which counts. Deprecated in PyTorch."""
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).", stacklevel=2,
    )  # fmt: skip
    to = (dtype or dtypes.default()).numpy
    numbers = _core.aten.range(_number(start), _number(end), _number(step), to)
    return _made(constant(numbers), requires_grad)


@_function("linspace")
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None,
) -> Any:  # fmt: skip
    """So many numbers from start to end, equally far apart."""
    to = (dtype or dtypes.default()).numpy
    ends = _end("linspace", start), _end("linspace", end)
    if complex in map(type, ends):
        return _made(constant(np.linspace(*ends, steps).astype(to)), requires_grad)
    return _made(constant(_core.aten.linspace(*ends, steps, to)), requires_grad)


def _end(name: str, given: Any) -> Any:
    """The number that a line begins or ends with."""
    if isinstance(given, Tensor) and given.ndim:
        raise runtime_error(
            f"{name} only supports 0-dimensional start and end tensors, but got one of "
            f"{given.ndim} dimension(s)."
        )
    return _number(given)


@_function("logspace")
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """base to the powers from start to end."""
    to = (dtype or dtypes.default()).numpy
    _core.aten.check_steps(steps)
    found = np.logspace(_end("logspace", start), _end("logspace", end), steps, base=base)
    return _made(constant(found.astype(to)), requires_grad)


@_function("eye")
def eye(
    n: int, m: int | None = None, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, layout: Any = None,
) -> Any:  # fmt: skip
    """Ones on the diagonal."""
    to = (dtype or dtypes.default()).numpy
    _core.aten.check_eye(n, n if m is None else m)
    return _made(_placed(cnp.eye(n, m, dtype=to)), requires_grad)


def _indices(name: str) -> None:
    def function(row: int, col: int, offset: int = 0, *, dtype: Any = None, **_: Any) -> Any:
        found = getattr(np, name)(row, offset, col)
        to = np.dtype("int64") if dtype is None else dtype.numpy
        return _made(constant(np.stack(found).astype(to)), False)

    function.__doc__ = f"Where {name} looks, as rows and columns."
    _function(name)(function)


_indices("tril_indices")
_indices("triu_indices")


@_function("from_numpy")
def from_numpy(array: Any) -> Any:
    """A tensor of an ndarray's values, which are copied."""
    if not isinstance(array, np.ndarray):
        raise type_error(f"from_numpy: expected np.ndarray (got {type(array).__name__})")
    return _made(constant(array), False)


@_function("as_tensor")
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    """The tensor itself, or one of data."""
    if isinstance(data, TensorBase):
        given: Any = data
        place = places.present() if device is None else places.full_name(device)
        return given.to(device=place, dtype=dtype)
    return tensor(data, dtype, device)


@_function("asarray")
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Any:  # fmt: skip
    """The tensor itself, or one of data; a copy where `copy` says so. It requires a gradient where
    that is said, or where obj does. ValueError where copy is False and a copy is needed."""
    made = as_tensor(obj, dtype, device)
    if made is not obj and copy is False:
        raise value_error(
            "asarray: copy is False. A tensor of the dtype and on the device that are asked for is "
            "required: of all others a copy is made."
        )
    if made is obj and copy:
        made = made.clone()
    if requires_grad is False and made.requires_grad:
        return made.detach()
    return made.requires_grad_() if requires_grad else made


_function("tensor")(tensor)


@_function("scalar_tensor")
def scalar_tensor(s: Any, *, dtype: Any = None, **_: Any) -> Any:
    """A tensor of no dimensions."""
    return tensor(s, dtype or dtypes.default())


@_function("from_dlpack")
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor of another library's, whose values are copied, on a CUDA device where they lie on
    one. ValueError for copy=False."""
    if copy is False:
        raise value_error(
            "from_dlpack: copy is False. None or True is required: values are copied."
        )
    if ext_tensor.__dlpack_device__()[0] == 2:
        made = _made(_core.imported_from_cuda(ext_tensor, True), False)
    else:
        made = from_numpy(np.from_dlpack(ext_tensor))
    return made if device is None else made.to(device)


@_function("is_tensor")
def is_tensor(obj: Any) -> bool:
    """Whether it is a Tensor."""
    return isinstance(obj, TensorBase)


@_function("numel")
def numel(input: Any) -> int:
    """The number of elements."""
    return input.numel()


@_function("is_floating_point")
def is_floating_point(input: Any) -> bool:
    """Whether elements are real floats."""
    return input.is_floating_point()


@_function("is_complex")
def is_complex(input: Any) -> bool:
    """Whether elements are complex."""
    return input.is_complex()


@_function("is_nonzero")
def is_nonzero(input: Any) -> bool:
    """Whether the only element is not zero."""
    return bool(input)


_PAIRS = (("tensor", "other"), ("scalar", "tensor"), ("scalar1", "scalar2"), ("input", "other"))


@_function("result_type")
def result_type(*operands: Any, **named: Any) -> Any:
    """The dtype that an operation of two tensors or numbers computes in. They may be named as
    tensor and other, scalar and tensor, or scalar1 and scalar2."""
    pair = next((pair for pair in _PAIRS if set(pair[len(operands) :]) == set(named)), None)
    if pair is None or len(operands) + len(named) != 2:
        raise type_error(
            f"result_type: {len(operands)} operands and {', '.join(named) or 'no names'}. Two are "
            "required, named as tensor and other, scalar and tensor, or scalar1 and scalar2."
        )
    tensor1, tensor2 = (*operands, *(named[each] for each in pair[len(operands) :]))
    from composit.flashlight.operators.promotion import result_dtype

    plain = [x._lazy if isinstance(x, TensorBase) else x for x in (tensor1, tensor2)]
    return dtypes.of_numpy(result_dtype(*plain))


@_function("promote_types")
def promote_types(type1: Any, type2: Any) -> Any:
    """The dtype that both fit into, as torch says."""
    return result_type(calling.functions["zeros"](1, dtype=type1),
                       calling.functions["zeros"](1, dtype=type2))  # fmt: skip


@_function("broadcast_shapes")
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that shapes broadcast to."""
    try:
        return dtypes.Size(np.broadcast_shapes(*shapes))
    except ValueError as error:
        raise runtime_error(str(error)) from None


@_function("detach")
def detach(input: Any) -> Any:
    """The same elements, through which no gradient goes."""
    return input.detach()
