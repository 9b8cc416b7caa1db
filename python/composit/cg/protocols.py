"""NumPy's protocols: np.exp(node) and np.concatenate([node, …]) are operators of composit.cg.op.

Sources: NEP 13 and NEP 18, https://numpy.org/neps/
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from composit._core import type_error
from composit.cg.numpy_functions import SPACES

# What operators call otherwise than NumPy: `*` and numpy.multiply make the same node.
_NAMES = {"multiply": "mult", "amax": "max", "amin": "min", "around": "round"}
_PLACES = {"numpy": "", **{f"numpy.{space}": f"{space}." for space in SPACES}}


def _refused(name: str, self: Any) -> TypeError:
    return type_error(
        f"numpy.{name}: {self!r} is no array, and composit.cg.op has no {name}. An operator of "
        "composit.cg.op, or the value (x.value), is required."
    )


_find: Callable[[str], Any]


def provide_operators(find: Callable[[str], Any]) -> None:
    """Says how operators are found by name, "add" or "linalg.inv": composit.cg.op does."""
    global _find
    _find = find


def operator(name: str) -> Any:
    """The function of composit.cg.op of that name. AttributeError where there is none."""
    return _find(name)


def _called(name: str, self: Any, inputs: Any, options: dict[str, Any]) -> Any:
    if "out" in options:
        raise type_error(
            f"numpy.{name}: out is given with {self!r}. Operators make new nodes, and write "
            "into no array."
        )
    try:
        found = operator(_NAMES.get(name, name))
    except AttributeError:
        raise _refused(name, self) from None
    return found(*inputs, **options)


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Called by NumPy, and by composit.numpy, for a ufunc with a node among its operands."""
    name = ufunc.__name__
    if method != "__call__":
        raise _refused(f"{name}.{method}", self)
    if name in ("equal", "not_equal"):
        # NumPy's arrays call the ufunc for ==, whose rule is that of nodes.
        one, other = inputs if inputs[0] is self else reversed(inputs)
        return one == other if name == "equal" else one != other
    return _called(name, self, inputs, options)


def array_function(self: Any, function: Any, types: Any, inputs: Any, options: Any) -> Any:
    """Called by NumPy for its other functions, with a node among their arguments."""
    if function.__name__ in ("shape", "ndim", "size") and len(inputs) == 1 and not options:
        return getattr(inputs[0], function.__name__)
    place = _PLACES.get(function.__module__)
    if place is None:
        raise _refused(f"{function.__module__}.{function.__name__}".removeprefix("numpy."), self)
    return _called(place + function.__name__, self, inputs, options)
