"""Objects with an `__array_ufunc__` of their own decide what ufuncs make of them.

Source: NEP 13, https://numpy.org/neps/nep-0013-ufunc-overrides.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import composit._core as _core
from composit.numpy._folding import NoValue

_Method = TypeVar("_Method", bound=Callable[..., Any])


def overridable(method: _Method) -> _Method:
    """A method of a ufunc that asks its operands first, the leftmost one first and subclasses
    before their bases. Those whose class is NumPy's or composit's have nothing to say."""

    @functools.wraps(method)
    def asking(self: Any, *operands: Any, **options: Any) -> Any:
        if _core.numpy.is_overridden(operands, options):
            return _core.numpy.overridden(self, method.__name__, operands, options, NoValue)
        return method(self, *operands, **options)

    return cast(_Method, asking)
