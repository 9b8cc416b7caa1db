"""The operators of tensors, indexing, and the functions that are methods too."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit.torch import calling, dtypes, functions, places, writing
from composit.torch.calling import TensorBase
from composit.torch.functions import memory_methods
from composit.torch.functions.indexing import get_item, set_item
from composit.torch.tensor import Tensor


def _operator(function: Any, is_reflected: bool = False) -> Any:
    """The operator of a tensor and a number or another tensor. Of a tensor and an ndarray NumPy
    computes it, and `__array_wrap__` makes it a tensor; by themselves only == and the reflected /
    take an ndarray, as in PyTorch."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            if function is calling.functions["eq"] and other.dtype.kind in "biufc":
                return function(self, calling.functions["from_numpy"](other))
            if is_reflected and function is calling.functions["div"]:
                return calling.functions["reciprocal"](self) * other
            return NotImplemented
        if not isinstance(other, (TensorBase, int, float, complex, np.generic)):
            return NotImplemented
        if isinstance(other, np.generic):
            other = other.item()
        return function(other, self) if is_reflected else function(self, other)

    return _core.TorchFunction(function.__wrapped__, method, is_reflected)


def _in_place_operator(function: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else function(self, other)

    return method


def _attach_operators() -> None:
    found = calling.functions
    both = {
        "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
        "mod": "remainder", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or",
        "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
        "matmul": "matmul",
    }  # fmt: skip
    for name, function in both.items():
        setattr(Tensor, f"__{name}__", _operator(found[function]))
        setattr(Tensor, f"__r{name}__", _operator(found[function], is_reflected=True))
        in_place = calling.methods.get(f"{function}_")
        if in_place is not None:
            setattr(Tensor, f"__i{name}__", _in_place_operator(in_place))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Tensor, f"__{name}__", _operator(found[name]))
    for name, function in {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}.items():
        setattr(Tensor, f"__{name}__", lambda self, function=found[function]: function(self))
    setattr(Tensor, "__pos__", lambda self: self)  # noqa: B010


def _get_item(self: Tensor, index: Any) -> Any:
    return _core.get_item(self, index)


def _set_item(self: Tensor, index: Any, value: Any) -> None:
    _core.set_item(self, index, value)


def _as_copied(x: Any, dtype: Any, shape: Any) -> Any:
    return cnp.broadcast_to(_core.aten.cast(x, dtype), tuple(shape))


calling.pure.add(_as_copied)
_core.provide("copying_function", _as_copied)
_core.provide("get_item_function", get_item)
_core.provide("set_item_function", set_item)


def _copy(
    self: Tensor, other: Any = None, non_blocking: bool = False, *, src: Any = None
) -> Tensor:
    """The elements become another tensor's, which PyTorch's text calls src and its parser other."""
    made: Any = _core.copy_into(self, other, src)
    return made


def _fill(self: Tensor, value: Any) -> Tensor:
    """The elements become one value."""
    writing.check_writable(self)
    if isinstance(value, TensorBase):
        return _copy(self, value)
    _core.check_fits(value, self._lazy.dtype)
    given = _core.aten.cast(value, self._lazy.dtype)
    lazy = cnp.full(tuple(self._lazy.shape), given, self._lazy.dtype)
    writing.replace(self, calling.wrapped(lazy), "fill")
    return self


def _zero(self: Tensor) -> Tensor:
    """The elements become zero."""
    return _fill(self, 0)


def _fill_diagonal(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """The diagonal becomes one value."""
    length = min(self.shape)
    numbers = calling.functions["arange"](length, device="cpu")
    _set_item(self, (numbers,) * self.ndim, fill_value)
    return self


def _to(name: str) -> Any:
    def method(self: Any, memory_format: Any = None) -> Any:
        return self.to(dtypes.by_name[dtypes.aliases.get(name, name)])

    method.__doc__ = f"In the dtype {dtypes.aliases.get(name, name)}."
    return method


def _where(self: Any, condition: Any, other: Any) -> Any:
    """self where the condition holds, else other."""
    return calling.functions["where"](condition, self, other)


def _apply(self: Any, callable: Any) -> Any:
    """Each element becomes callable(element), by Python."""
    values = np.vectorize(callable, otypes=[self.dtype.numpy])(self.detach().numpy(force=True))
    return _copy(self, calling.functions["from_numpy"](values))


def _transposed(self: Any) -> Any:
    """The dimensions reversed."""
    return calling.methods["permute"](self, *range(self.ndim - 1, -1, -1))


def _matrices_transposed(self: Any) -> Any:
    """The last two dimensions exchanged."""
    return calling.methods["transpose"](self, -1, -2)


def _type_as(self: Any, other: Any) -> Any:
    """In another tensor's dtype."""
    return self.to(other.dtype)


def _in_place_view(name: str) -> Any:
    view = calling.methods[name]

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = view(self, *args, **kwargs)
        self._lazy, self._record = made._lazy, made._record
        self._root = None if made._root is self else made._root  # no tensor is a view of itself
        return self

    method.__doc__ = f"Becomes its {name}."
    return method


def attach() -> None:
    """Puts all of these on Tensor."""
    assert functions.__all__
    places.make_all_on_devices(calling.functions, calling.methods)
    for name, method in calling.methods.items():
        setattr(Tensor, name, method)
    _attach_operators()
    attached = {
        "__getitem__": _get_item, "__setitem__": _set_item, "copy_": _copy, "fill_": _fill,
        "zero_": _zero, "fill_diagonal_": _fill_diagonal, "where": _where, "apply_": _apply,
        "type_as": _type_as, "squeeze_": _in_place_view("squeeze"),
        "unsqueeze_": _in_place_view("unsqueeze"), "t_": _in_place_view("t"),
        "transpose_": _in_place_view("transpose"), "swapaxes_": _in_place_view("swapaxes"),
        "swapdims_": _in_place_view("swapdims"),
    }  # fmt: skip
    for name in ("bool", "half", "float", "double", "short", "int", "long", "bfloat16", "cfloat",
                 "cdouble"):  # fmt: skip
        attached[name] = _to(name)
    attached["byte"], attached["char"] = _to("uint8"), _to("int8")
    for name, method in attached.items():
        setattr(Tensor, name, method)
    Tensor.retains_grad = property(memory_methods.retains_grad)  # type: ignore[attr-defined]
    Tensor.T = property(_transposed)  # type: ignore[attr-defined]
    Tensor.mT = property(_matrices_transposed)  # type: ignore[attr-defined]
    Tensor.mH = property(lambda self: self.adjoint())  # type: ignore[attr-defined]
    Tensor.H = property(lambda self: self.adjoint())  # type: ignore[attr-defined]
    for name in ("real", "imag"):
        setattr(Tensor, name, property(calling.methods[name]))
    Tensor.__hash__ = object.__hash__  # type: ignore[method-assign]


attach()
