"""Objects with an `__array_ufunc__` of their own decide what ufuncs make of them.

Source: NEP 13, https://numpy.org/neps/nep-0013-ufunc-overrides.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from composit._core import LazyTensor, type_error, value_error
from composit.numpy._folding import NoValue

# What methods take behind their inputs by position, and how many inputs they have; None: as many
# as the ufunc.
_METHODS: dict[str, tuple[int | None, tuple[str, ...]]] = {
    "__call__": (None, ("out",)),
    "reduce": (1, ("axis", "dtype", "out", "keepdims", "initial", "where")),
    "accumulate": (1, ("axis", "dtype", "out")),
    "reduceat": (2, ("axis", "dtype", "out")),
    "outer": (2, ()),
    "at": (3, ()),
}
_KEYWORDS = {
    "__call__": frozenset(
        ("out", "where", "casting", "order", "dtype", "subok", "signature", "sig", "axis", "axes",
         "keepdims")
    ),
}  # fmt: skip


_Method = TypeVar("_Method", bound=Callable[..., Any])


def overridable(method: _Method) -> _Method:
    """A method of a ufunc that asks its operands first, the leftmost one first and subclasses
    before their bases. Those whose class is NumPy's or composit's have nothing to say."""

    @functools.wraps(method)
    def asking(self: Any, *operands: Any, **options: Any) -> Any:
        for value in (*operands, *options.values()):
            if _may_override(value) and next(_of(value), None) is not None:
                return _asked(self, method.__name__, operands, options)
        return method(self, *operands, **options)

    return cast(_Method, asking)


def _may_override(value: Any) -> bool:
    kind = type(value)
    return kind is not LazyTensor and (kind is tuple or hasattr(kind, "__array_ufunc__"))


def _of(value: Any) -> Iterator[Any]:
    """The value, or those of a tuple of outputs, whose class has an `__array_ufunc__`."""
    import numpy as np

    for each in value if type(value) is tuple else (value,):
        own = getattr(type(each), "__array_ufunc__", np.ndarray.__array_ufunc__)
        if own is not np.ndarray.__array_ufunc__ and not isinstance(each, LazyTensor):
            yield each


def _asked(ufunc: Any, method: str, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    inputs, keywords = _normalised(ufunc, method, operands, options)
    values = (*inputs, keywords.get("out", ()), keywords.get("where", True))
    candidates = [each for value in values for each in _of(value)]
    for each in candidates:
        if type(each).__array_ufunc__ is None:
            raise type_error(
                f"operand {type(each).__name__!r} does not support ufuncs (__array_ufunc__=None)"
            )
    for each in _in_turn(candidates):
        result = type(each).__array_ufunc__(each, ufunc, method, *inputs, **keywords)
        if result is not NotImplemented:
            return result
    given = [repr(x) for x in inputs] + [f"{name}={value!r}" for name, value in keywords.items()]
    kinds = [repr(type(x).__name__) for x in (*inputs, *keywords.get("out", ()))]
    raise type_error(
        "operand type(s) all returned NotImplemented from "
        f"__array_ufunc__({ufunc!r}, {method!r}, {', '.join(given)}): {', '.join(kinds)}"
    )


def _in_turn(candidates: list[Any]) -> list[Any]:
    """One of each class, subclasses before their bases."""
    order: list[Any] = []
    for each in candidates:
        if any(type(each) is type(other) for other in order):
            continue
        above = [i for i, other in enumerate(order) if issubclass(type(each), type(other))]
        order.insert(above[0] if above else len(order), each)
    return order


def _normalised(
    ufunc: Any, method: str, operands: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Inputs by position and the rest by name, as `__array_ufunc__` is told them: out as a tuple,
    left out when it is None."""
    count, names = _METHODS[method]
    keywords = dict(options)
    if method == "__call__":
        inputs, places = ufunc._parted(operands, None)
        if places:
            if "out" in keywords:
                raise type_error("cannot specify 'out' as both a positional and keyword argument")
            keywords["out"] = (*places, *[None] * (ufunc.nout - len(places)))
        if "sig" in keywords and "signature" in keywords:
            raise type_error("cannot specify both 'sig' and 'signature'")
        if "sig" in keywords:
            keywords["signature"] = keywords.pop("sig")
    else:
        assert count is not None
        most = count + len(names)
        if not 1 <= len(operands) <= most:
            raise type_error(
                f"{method}() takes from 1 to {most} positional arguments but "
                f"{len(operands)} were given"
            )
        if method == "at" and ufunc.nin == 2 and len(operands) < 3:
            raise value_error("second operand needed for ufunc")
        inputs = operands[:count]
        keywords = {**dict(zip(names, operands[count:])), **keywords}
        if keywords.get("initial") is NoValue:
            del keywords["initial"]
    known = _KEYWORDS.get(method, frozenset(names)) if method != "outer" else _KEYWORDS["__call__"]
    for name in keywords:
        if name not in known:
            shown = ufunc.__name__ if method in ("__call__", "outer") else method
            raise type_error(f"{shown}() got an unexpected keyword argument {name!r}")
    if "out" in keywords:
        out = keywords["out"] if isinstance(keywords["out"], tuple) else (keywords["out"],)
        if len(out) != ufunc.nout:
            if not isinstance(keywords["out"], tuple):
                raise type_error("'out' must be a tuple of arrays")
            raise value_error("The 'out' tuple must have exactly one entry per ufunc output")
        if all(each is None for each in out):
            del keywords["out"]
        else:
            keywords["out"] = out
    return inputs, keywords
