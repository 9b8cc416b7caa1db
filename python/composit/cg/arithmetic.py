"""Python's operators of what has a value within a call: nodes, parameters and constants."""

from __future__ import annotations

import math
from typing import Any

from composit._core import type_error
from composit.cg import protocols
from composit.cg.values import described, is_array


class Arithmetic:
    """`+`, `*`, `@`, `<`, `[…]` and their like are operators of composit.cg.op."""

    _is_no_array = True  # though NumPy finds a value

    def _with(self, name: str, *operands: Any, **options: Any) -> Any:
        return protocols.operator(name)(*operands, **options)

    def __add__(self, other: Any) -> Any:
        return self._with("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._with("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._with("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._with("mult", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("mult", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._with("divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("divide", other, self)

    def __pow__(self, other: Any) -> Any:
        return self._with("power", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._with("power", other, self)

    def __matmul__(self, other: Any) -> Any:
        return self._with("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._with("matmul", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._with("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with("floor_divide", other, self)

    def __mod__(self, other: Any) -> Any:
        return self._with("remainder", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._with("remainder", other, self)

    def __and__(self, other: Any) -> Any:
        return self._with("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Any:
        return self._with("bitwise_and", other, self)

    def __or__(self, other: Any) -> Any:
        return self._with("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Any:
        return self._with("bitwise_or", other, self)

    def __xor__(self, other: Any) -> Any:
        return self._with("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._with("bitwise_xor", other, self)

    def __lshift__(self, other: Any) -> Any:
        return self._with("left_shift", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._with("left_shift", other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._with("right_shift", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._with("right_shift", other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __invert__(self) -> Any:
        return self._with("invert", self)

    def __pos__(self) -> Any:
        return self._with("positive", self)

    def __neg__(self) -> Any:
        return self._with("negative", self)

    def __abs__(self) -> Any:
        return self._with("absolute", self)

    def __lt__(self, other: Any) -> Any:
        return self._with("less", self, other)

    def __le__(self, other: Any) -> Any:
        return self._with("less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._with("greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._with("greater_equal", self, other)

    def __getitem__(self, index: Any) -> Any:
        return self._with("get_item", self, index=index)

    __iter__: Any = None  # or Python would count up indices for ever

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its value."""
        return tuple(self._tensor.shape)  # type: ignore[attr-defined]

    @property
    def ndim(self) -> int:
        """The number of its value's axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of its value's elements."""
        return math.prod(self.shape)

    @property
    def T(self) -> Any:
        """Its axes in reverse order, by an operator."""
        return self._with("transpose", self)

    @property
    def dtype(self) -> Any:
        """The dtype of its value."""
        return self._tensor.dtype  # type: ignore[attr-defined]

    def reshape(self, *shape: Any, **options: Any) -> Any:
        """op.reshape: x.reshape(2, 3) or x.reshape((2, 3))."""
        return self._with("reshape", self, *_one_of(shape), **options)

    def transpose(self, *axes: Any) -> Any:
        """op.transpose: x.transpose(1, 0) or x.transpose((1, 0))."""
        return self._with("transpose", self, *_one_of(axes))

    def flatten(self) -> Any:
        """op.ravel: x.flatten()."""
        return self._with("ravel", self)

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """op.clip: x.clip(0), x.clip(max=1) or x.clip(0, 1)."""
        return self._with("clip", self, min, max)

    @property
    def real(self) -> Any:
        """Its real parts, by an operator."""
        return self._with("real", self)

    @property
    def imag(self) -> Any:
        """Its imaginary parts, by an operator."""
        return self._with("imag", self)

    def __len__(self) -> int:
        if not self.shape:
            raise type_error(f"len() of unsized object: {self!r} has no axes.")
        return self.shape[0]

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise type_error(
            f"{self!r} is no array. An operator of composit.cg.op, or the value (x.value), is "
            "required."
        )

    __array_ufunc__ = protocols.array_ufunc
    __array_function__ = protocols.array_function


# Methods of NumPy's arrays that are operators of the same name.
_METHODS = ("all", "any", "argmax", "argmin", "argsort", "astype", "conj", "conjugate", "copy",
            "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "prod", "ravel",
            "repeat", "round", "squeeze", "std", "sum", "swapaxes", "take", "trace",
            "var")  # fmt: skip


def _method(name: str) -> Any:
    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        return self._with(name, self, *arguments, **options)

    method.__name__, method.__doc__ = name, f"op.{name}(x, …)"
    return method


for _name in _METHODS:
    setattr(Arithmetic, _name, _method(_name))


def _one_of(lengths: tuple[Any, ...]) -> tuple[Any, ...]:
    """Several integers as one tuple, as NumPy's methods take them."""
    return (lengths,) if len(lengths) > 1 else lengths


def refuse_comparison(one: Any, other: object, rule: str) -> None:
    """TypeError where a value is compared with what is no object of the framework: whoever writes
    `x == 0` in a call means the value, or an operator, and not False."""
    is_value = isinstance(other, (int, float, complex, list, tuple)) or is_array(other)
    if is_value or (isinstance(other, Arithmetic) and _is_node(other) != _is_node(one)):
        kind = "Node" if _is_node(one) else type(one).__name__
        raise type_error(
            f"{kind}: {one!r} == {described(other)}, of type {type(other).__name__}. "
            f"{rule} (x.value == …), or an operator (op.equal), is required."
        )


def _is_node(one: Any) -> bool:
    return hasattr(one, "call_id")
