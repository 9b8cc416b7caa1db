"""Operators: every elementwise function of composit, products, reductions, shapes, layers.

A function of a lower-case name applies an operator, whose class has the same name in capitals:
op.add(a, b) is op.Add()(a, b). Options (axis=, …) are given by name. Every row of the scalar table
is here, registered ones too; `op.mult`, `op.sub` and `op.div` are short for `multiply`, `subtract`
and `divide`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from composit import _core, nn
from composit import numpy as cnp
from composit._core import LazyTensor, with_location
from composit.cg.function import Operator
from composit.cg.template import Variable

SHORT = {"mult": "multiply", "sub": "subtract", "div": "divide"}
# Rows that serve other functions.
INNER = ("as_complex", "divmod_", "frexp_", "gelu_slope", "modf_", "remark_", "threefry")
INPUTS = ("a", "b", "c")


class Applied(Operator):
    """A function of tensors, with options, as an operator."""

    _function: Callable[..., Any]
    _names: tuple[str, ...] = ()

    def __init__(self, count: int | None = None, **options: Any) -> None:
        names = self._names if count is None else tuple(f"x{i}" for i in range(count))
        role = f"composit.cg.op.{type(self).__name__}"
        super().__init__(tuple(map(Variable, names)), functional_name=role)
        self.options = options

    def _op_impl(self, *arrays: Any) -> Any:
        return type(self)._function(*arrays, **self.options)


def _identity(x: LazyTensor) -> LazyTensor:
    return x if x.dtype.kind == "b" else cnp.positive(x)


def _get_item(x: LazyTensor, index: Any) -> LazyTensor:
    return x[index]


def _joined(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *parts, **options: function(list(parts), **options)


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
    "reshape": (lambda x, shape: cnp.reshape(x, shape), ("x",)),
    "transpose": (lambda x, axes=None: cnp.transpose(x, axes), ("x",)),
    "swapaxes": (lambda x, axis1, axis2: cnp.swapaxes(x, axis1, axis2), ("x",)),
    "expand_dims": (lambda x, axis: cnp.expand_dims(x, axis), ("x",)),
    "squeeze": (cnp.squeeze, ("x",)),
    "broadcast_to": (lambda x, shape: cnp.broadcast_to(x, shape), ("x",)),
    "astype": (lambda x, dtype: x.astype(dtype), ("x",)),
    "concatenate": (_joined(cnp.concatenate), None),
    "stack": (_joined(cnp.stack), None),
    "take": (cnp.take, ("x", "indices")),
    "softmax": (lambda x, axis=-1: nn.softmax(x, axis=axis), ("x",)),
    "log_softmax": (nn.log_softmax, ("x",)),
    "logsumexp": (nn.logsumexp, ("x",)),
    "layer_norm": (nn.layer_norm, ("x", "weight", "bias")),
    "embedding": (nn.embedding, ("ids", "weights")),
    "convolution": (
        lambda x, filters, channels_last=False, **options: nn.convolution(
            x, filters, channels_last=channels_last, **options
        ),
        ("x", "filters"),
    ),
    "max_pool": (
        lambda x, channels_last=False, **options: nn.max_pool(
            x, channels_last=channels_last, **options
        ),
        ("x",),
    ),
    "average_pool": (
        lambda x, channels_last=False, **options: nn.average_pool(
            x, channels_last=channels_last, **options
        ),
        ("x",),
    ),
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
    if name in _FUNCTIONS:
        function, names = _FUNCTIONS[name]
        is_primitive, doc = name in _PRIMITIVE, f"composit's {name}."
    else:
        row = _core.scalar.find_row(name)
        own = getattr(cnp, name, None)
        function = own if callable(own) and name != "clip" else functools.partial(_mapped, name)
        names = ("x",) if row.arity == 1 else INPUTS[: row.arity]
        is_primitive, doc = True, row.doc
    kind = type(
        _class_name(name),
        (Applied,),
        {"_function": staticmethod(function), "_names": names, "_is_primitive": is_primitive,
         "__doc__": doc, "__module__": __name__},
    )  # fmt: skip
    return kind


def _mapped(name: str, *operands: LazyTensor) -> LazyTensor:
    return _core.ops.map(name, list(operands))


def _function(name: str) -> Callable[..., Any]:
    """The function that applies the operator."""
    kind = _class(name)

    def apply(*operands: Any, **options: Any) -> Any:
        if kind._names is not None and len(operands) > len(kind._names):
            raise TypeError(
                with_location(
                    f"op.{name}: {len(operands)} operands are given. {len(kind._names)} are "
                    f"required ({', '.join(kind._names)}); options go by name."
                )
            )
        return kind(None if kind._names is not None else len(operands), **options)(*operands)

    apply.__name__, apply.__doc__ = name, kind.__doc__
    return apply


def _known(name: str) -> str | None:
    """The function's own name; None if there is none of this one."""
    name = SHORT.get(name, name)
    if name in _FUNCTIONS:
        return name
    if name.startswith(INNER):
        return None
    row = _core.scalar.find_row(name)
    return None if row is None else row.name


def names() -> list[str]:
    """The names of all functions here."""
    rows = [row.name for row in _core.scalar.all_rows() if not row.name.startswith(INNER)]
    return sorted({*rows, *_FUNCTIONS, *SHORT})


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    is_class = name[:1].isupper()
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() if is_class else name
    known = _known(words) if not is_class or _class_name(words) == name else None
    if known is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = _class(known) if is_class else _function(known)
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return [*names(), *(_class_name(name) for name in names() if name not in SHORT)]
