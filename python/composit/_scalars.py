"""What NumPy's scalars have that arrays do not: Python's protocols of numbers, and values that
nobody changes."""

from __future__ import annotations

import math
import numbers
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._attaching import attach
from composit._core import LazyScalar, LazyTensor
from composit._methods import _describe


def _value(self: LazyScalar) -> Any:
    """NumPy's scalar of the value, evaluated now."""
    return self.evaluated()[()]


def _repr(self: LazyScalar) -> str:
    """np.float64(1.5), as NumPy prints; what describe() says where the value is not to be had."""
    if not self.has_value():
        return _describe(self)
    try:
        return repr(_value(self))
    except Exception as error:  # whatever fails, the value is missing
        return f"{_describe(self)} without values: {type(error).__name__}: {error}"


def _str(self: LazyScalar) -> str:
    """The value; where it depends on placeholders, what describe() says."""
    return str(_value(self)) if self.has_value() else _describe(self)


def _format(self: LazyScalar, specification: str) -> str:
    return format(_value(self), specification) if self.has_value() else _describe(self)


def _item(self: LazyScalar, *args: Any) -> Any:
    """The value as a Python number, evaluated now."""
    return _value(self).item(*args) if args else self.number()


def _round(self: LazyScalar, ndigits: int | None = None) -> Any:
    """round(x): a Python integer; with `ndigits` a scalar of the same dtype."""
    number: Any = self.number()
    return round(number) if ndigits is None else cnp.round(self, ndigits)


def _by_number(function: Any) -> Any:
    """A function of Python numbers as a method."""

    def method(self: LazyScalar) -> Any:
        return function(self.number())

    method.__doc__ = f"{function.__name__}(x), evaluated now."
    return method


def _restored(value: Any) -> LazyTensor:
    return cnp.asarray(value)[()]


def _astype(self: LazyScalar, dtype: Any, *args: Any, **options: Any) -> LazyTensor:
    """The value converted."""
    return LazyTensor.astype(self, dtype, *args, **options)[()]


def _reduce(self: LazyScalar) -> Any:
    return _restored, (_value(self),)


def _on_a_copy(name: str) -> Any:
    """NumPy's scalars have the methods that write, too: they write into a copy, which is lost."""

    def method(self: LazyScalar, *args: Any, **options: Any) -> None:
        getattr(_core.array_of(self), name)(*args, **options)

    method.__name__ = name
    method.__doc__ = f"As of NumPy's scalars, without effect: ndarray.{name} of a copy."
    return method


def _numerator(self: LazyScalar) -> LazyScalar:
    """Itself, as that of a fraction."""
    return self


def _denominator(self: LazyScalar) -> Any:
    """1, as that of a fraction."""
    return _restored(1)


def _attach() -> None:
    """Puts all of these on the classes of scalars."""
    methods = {
        "__repr__": _repr, "__str__": _str, "__format__": _format, "__reduce__": _reduce,
        "__round__": _round, "__trunc__": _by_number(math.trunc),
        "__floor__": _by_number(math.floor), "__ceil__": _by_number(math.ceil),
        "item": _item, "tolist": lambda self: self.number(),
        "astype": _astype, "copy": lambda self, order="C": self, "__copy__": lambda self: self,
        "__deepcopy__": lambda self, memo: self,
    }  # fmt: skip
    methods |= {name: _on_a_copy(name) for name in ("fill", "put", "sort", "partition", "resize")}
    attach(LazyScalar, methods, {})
    of_floats = {
        "is_integer": _by_number(float.is_integer), "hex": _by_number(float.hex),
        "as_integer_ratio": _by_number(float.as_integer_ratio),
    }  # fmt: skip
    attach(_core.LazyFloating, of_floats, {})
    of_integers = {
        "bit_count": lambda self: _value(self).bit_count(),
        "is_integer": lambda self: _value(self).is_integer(),
    }
    parts = {"numerator": _numerator, "denominator": _denominator}
    attach(_core.LazyInteger, of_integers, parts)
    numbers.Integral.register(_core.LazyInteger)
    numbers.Real.register(_core.LazyFloating)
    numbers.Complex.register(_core.LazyComplexFloating)
    _core.convert_quickly()


_attach()
