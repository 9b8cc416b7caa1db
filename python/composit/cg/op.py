"""Operators: every elementwise function of composit, layers, and composit.numpy's functions.

A function of a lower-case name applies an operator, whose class has the same name in capitals:
op.add(a, b) is op.Add()(a, b), op.sum(x, axis=0) is op.Sum(axis=0)(x). Every row of the scalar
table is here, registered ones too; `op.mult`, `op.sub` and `op.div` are short for `multiply`,
`subtract` and `divide`. Of composit.numpy, its `linalg` and `fft`, every function is here that
returns arrays, with its own arguments: op.pad(x, 1), op.einsum("ij,j", a, b). Nodes may stand
wherever the function takes an array; functions that return several arrays give several nodes.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from numpy.lib.array_utils import normalize_axis_tuple

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit._core import LazyTensor, type_error
from composit.cg import numpy_functions, protocols
from composit.cg.applied import Applied, applied, positions
from composit.cg.node import Node
from composit.cg.template import Input

SHORT = {"mult": "multiply", "sub": "subtract", "div": "divide"}
# Rows that serve other functions.
INNER = ("as_complex", "divmod_", "frexp_", "gelu_slope", "modf_", "remark_", "threefry")
INPUTS = ("a", "b", "c")


def _identity(x: LazyTensor) -> LazyTensor:
    return x if x.dtype.kind == "b" else cnp.positive(x)


def _get_item(x: LazyTensor, index: Any) -> LazyTensor:
    return x[index]


def _astype(x: LazyTensor, dtype: Any) -> LazyTensor:
    return x.astype(dtype)


def _softmax(x: LazyTensor, axis: Any = -1) -> LazyTensor:
    return nn.softmax(x, axis=axis)


def _convolution(
    x: LazyTensor, filters: LazyTensor, channels_last: bool = False, **options: Any
) -> LazyTensor:
    return nn.convolution(x, filters, channels_last=channels_last, **options)


def _max_pool(x: LazyTensor, channels_last: bool = False, **options: Any) -> Any:
    return nn.max_pool(x, channels_last=channels_last, **options)


def _average_pool(x: LazyTensor, channels_last: bool = False, **options: Any) -> LazyTensor:
    return nn.average_pool(x, channels_last=channels_last, **options)


def _logsumexp(x: LazyTensor, axis: Any = -1, keepdims: bool = False) -> LazyTensor:
    """log(sum(exp(x))) along an axis, a tuple of axes, or all of them (None)."""
    if not isinstance(axis, tuple) and axis is not None:
        return nn.logsumexp(x, axis, keepdims)
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
    rest = [i for i in range(x.ndim) if i not in axes]
    last = cnp.transpose(x, (*rest, *axes))
    shape = [x.shape[i] for i in rest]
    count = math.prod(x.shape[i] for i in axes)
    result = nn.logsumexp(cnp.reshape(last, (*shape, count)), -1)
    if not keepdims:
        return result
    return cnp.reshape(result, [1 if i in axes else length for i, length in enumerate(x.shape)])


def _joined(function: Callable[..., Any]) -> Callable[..., Any]:
    def join(*parts: Any, **options: Any) -> Any:
        if parts and isinstance(parts[0], (list, tuple)):  # as NumPy's users write it
            return function(list(parts[0]), *parts[1:], **options)
        return function(list(parts), **options)

    return join


def _class_name(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


# name: (function, names of inputs; None: any number of them)
_FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...] | None]] = {
    "identity": (_identity, ("x",)),
    "get_item": (_get_item, ("x",)),
    "dot": (cnp.dot, ("a", "b")),
    "matmul": (cnp.matmul, ("a", "b")),
    "tensordot": (cnp.tensordot, ("a", "b")),
    "outer": (cnp.outer, ("a", "b")),
    "sum": (cnp.sum, ("x",)),
    "prod": (cnp.prod, ("x",)),
    "mean": (cnp.mean, ("x",)),
    "var": (cnp.var, ("x",)),
    "max": (cnp.max, ("x",)),
    "min": (cnp.min, ("x",)),
    "argmax": (cnp.argmax, ("x",)),
    "argmin": (cnp.argmin, ("x",)),
    "cumsum": (cnp.cumsum, ("x",)),
    "reshape": (cnp.reshape, ("x",)),
    "transpose": (cnp.transpose, ("x",)),
    "swapaxes": (cnp.swapaxes, ("x",)),
    "expand_dims": (cnp.expand_dims, ("x",)),
    "squeeze": (cnp.squeeze, ("x",)),
    "broadcast_to": (cnp.broadcast_to, ("x",)),
    "astype": (_astype, ("x",)),
    "concatenate": (_joined(cnp.concatenate), None),
    "stack": (_joined(cnp.stack), None),
    "take": (cnp.take, ("x", "indices")),
    "softmax": (_softmax, ("x",)),
    "log_softmax": (nn.log_softmax, ("x",)),
    "logsumexp": (_logsumexp, ("x",)),
    "layer_norm": (nn.layer_norm, ("x", "weight", "bias")),
    "embedding": (nn.embedding, ("ids", "weights")),
    "convolution": (_convolution, ("x", "filters")),
    "max_pool": (_max_pool, ("x",)),
    "average_pool": (_average_pool, ("x",)),
    "attention": (nn.scaled_dot_product_attention, ("query", "key", "value")),
    "cross_entropy": (nn.cross_entropy, ("logits", "labels")),
    "nll": (nn.nll, ("log_probabilities", "labels")),
    "mse": (nn.mse, ("prediction", "target")),
}
_PRIMITIVE = ("identity", "dot", "matmul", "get_item", "reshape", "transpose", "astype")


@functools.cache
def _class(name: str) -> type[Applied]:
    """The operator of a function by its name."""
    names: tuple[str, ...] | None
    takes_all = True
    doc: str | None
    if name in _FUNCTIONS:
        function, names = _FUNCTIONS[name]
        is_primitive, doc = name in _PRIMITIVE, f"composit's {name}."
    elif (row := _row(name)) is not None:
        own = getattr(cnp, name, None)
        function = own if callable(own) and name != "clip" else functools.partial(_mapped, name)
        names = ("x",) if row.arity == 1 else INPUTS[: row.arity]
        is_primitive, doc = True, row.doc
    else:
        return _numpy_class(name)
    return _made(name, function, names, takes_all, is_primitive, doc)


@functools.cache
def _numpy_class(name: str) -> type[Applied]:
    """The operator of composit.numpy's function of a name."""
    function = numpy_functions.named(name)
    return _made(name, function, numpy_functions.operands(function), False, True, function.__doc__)


def _made(
    name: str,
    function: Callable[..., Any],
    names: tuple[str, ...] | None,
    takes_all: bool,
    is_primitive: bool,
    doc: str | None,
) -> type[Applied]:
    space, _, last = name.rpartition(".")
    qualified = f"{space}.{_class_name(last)}" if space else _class_name(last)
    return type(
        _class_name(last),
        (Applied,),
        {"_function": staticmethod(function), "_names": names, "_is_primitive": is_primitive,
         "_positions": positions(function, names if takes_all else None),
         "_takes_all": takes_all, "__doc__": doc, "__module__": __name__,
         "__qualname__": qualified},
    )  # fmt: skip


def _mapped(name: str, *operands: LazyTensor) -> LazyTensor:
    return _core.ops.map(name, list(operands))


def _function(name: str) -> Callable[..., Any]:
    """The function that applies the operator."""
    kind = _class(name)
    is_row = kind._takes_all and name not in _FUNCTIONS
    takes_fewer = is_row and _takes_fewer(name, len(kind._names or ()))

    def apply(*operands: Any, **options: Any) -> Any:
        count = len(kind._names or ()) if kind._takes_all else 0
        operands = (*map(_as_operand, operands[:count]), *operands[count:])
        # (all, any and their like are operators in this module.)
        given = [x for x in operands if x is not None]
        is_whole = len(given) == len(operands) == len(kind._names or ())
        if takes_fewer and (options or not is_whole):  # clip(x, None, 1.5), where(x)
            return applied(_numpy_class(name), operands, options)
        if is_row and len(operands) > len(kind._names or ()):
            raise type_error(
                f"op.{name}: {len(operands)} operands are given. {len(kind._names or ())} are "
                f"required ({', '.join(kind._names or ())}); options go by name."
            )
        return applied(kind, operands, options)

    last = name.rpartition(".")[2]
    apply.__name__, apply.__doc__ = last, kind.__doc__
    # Errors are in the words of the function that was called, which is read off its code.
    apply.__code__ = apply.__code__.replace(co_name=last, co_qualname=last)
    return apply


def _as_operand(value: Any) -> Any:
    """Lists with nodes as NumPy takes those of arrays: as one of one axis more."""
    return _function("stack")(*map(_as_operand, value)) if _holds_nodes(value) else value


def _holds_nodes(value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    found = (isinstance(one, (Node, Input)) or _holds_nodes(one) for one in value)
    return next(filter(None, found), False)


def _takes_fewer(name: str, count: int) -> bool:
    """Whether NumPy's function of a row's name can do with fewer operands than the row has."""
    own = numpy_functions.find(name)
    return own is not None and len(numpy_functions.operands(own) or ()) < count


def _row(name: str) -> Any:
    """The row of the scalar table; None where there is none, or it serves other functions."""
    return None if name.startswith(INNER) else _core.scalar.find_row(name)


def _known(name: str) -> str | None:
    """The function's own name; None if there is none of this one."""
    name = SHORT.get(name, name)
    if name in _FUNCTIONS:
        return name
    row = _row(name)
    if row is not None:
        return row.name
    return None if name.startswith(INNER) or numpy_functions.find(name) is None else name


def names() -> list[str]:
    """The names of all functions here; those in `linalg` and `fft` are "linalg.inv"."""
    rows = (row.name for row in _core.scalar.all_rows())
    every = {*rows, *_FUNCTIONS, *SHORT, *numpy_functions.names()}
    return sorted(name for name in every if not name.startswith(INNER))


class Space:
    """Operators of a part of composit.numpy: op.linalg.inv(x)."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return _attribute(f"{self._name}.", name)

    def __dir__(self) -> list[str]:
        prefix = f"{self._name}."
        own = [name.removeprefix(prefix) for name in names() if name.startswith(prefix)]
        return [*own, *map(_class_name, own)]

    def __repr__(self) -> str:
        return f"<operators {__name__}.{self._name}>"


linalg, fft = map(Space, numpy_functions.SPACES)


def _attribute(prefix: str, name: str) -> Any:
    """The function, or the class, of this name."""
    known = None
    if name[:1].isupper():
        short = (one.removeprefix(prefix) for one in names() if one.startswith(prefix))
        found = next((one for one in short if _class_name(one) == name and one not in SHORT), None)
        known = None if found is None else _known(prefix + found)
    elif not name.startswith("_"):
        known = _known(prefix + name)
    if known is None:
        raise AttributeError(f"module {(__name__ + '.' + prefix)[:-1]!r} has no attribute {name!r}")
    return _class(known) if name[:1].isupper() else _function(known)


def _found(name: str) -> Any:
    name, _, rest = name.partition(".")
    own = globals().get(name) or __getattr__(name)
    return getattr(own, rest) if rest else own


protocols.provide_operators(_found)


def __getattr__(name: str) -> Any:
    made = _attribute("", name)
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    own = [name for name in names() if "." not in name]
    return [
        *own,
        *(_class_name(name) for name in own if name not in SHORT),
        *numpy_functions.SPACES,
    ]
