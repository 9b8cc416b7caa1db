"""The methods of LazyTensor that are NumPy's functions, and those that need values."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import _dispatch
from composit import numpy as cnp
from composit._attaching import attach
from composit._core import LazyTensor, type_error, value_error, with_location


def _reshape(
    self: LazyTensor, *shape: Any, order: str = "C", copy: bool | None = None
) -> LazyTensor:
    """The same elements under another shape."""
    return cnp.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def _transpose(self: LazyTensor, *axes: Any) -> LazyTensor:
    """Axes reversed, or in the order given."""
    if len(axes) == 1:
        return cnp.transpose(self, axes[0])
    return cnp.transpose(self, axes or None)


def _astype(
    self: LazyTensor, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
    copy: bool = True,
) -> LazyTensor:  # fmt: skip
    """Elements converted."""
    _core.numpy.check_layout(order, bool(subok))
    if not isinstance(casting, str) or casting != "unsafe":
        import numpy as np

        try:
            fits = np.can_cast(self.dtype, np.dtype(dtype), casting)  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(with_location(f"astype: {error}")) from None
        if not fits:
            raise type_error(
                f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} "
                f"according to the rule {casting!r}"
            )
    return cnp.astype(self, dtype, copy=copy)


def _clip(
    self: LazyTensor, min: Any = None, max: Any = None, out: Any = None, **options: Any
) -> LazyTensor:
    """Values kept between two bounds."""
    return cnp.clip(self, min, max, out, **options)


def _flatten(self: LazyTensor, order: str = "C") -> LazyTensor:
    """One dimension; a copy. With order "F" the first index changes fastest."""
    is_by_columns = _core.numpy.order_letter("flatten", order, "CFAK") == "F"
    return _core.numpy.flatten(cnp.transpose(self) if is_by_columns else self)


def _array(self: LazyTensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """The values, evaluated now."""
    if copy is False:
        raise value_error("a LazyTensor has no memory to share: copy=False is not possible.")
    values = self.taken_out()
    return values if dtype is None else _core.called(values.astype, dtype, copy=False)


def _converted(convert: Any, values: Any, *args: Any) -> Any:
    """NumPy's conversion of an ndarray; its refusals say where."""
    try:
        return convert(values, *args)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise type(error)(with_location(str(error))) from None


def _item(self: LazyTensor, *args: Any) -> Any:
    """One element as a Python scalar, evaluated now."""
    import numpy as np

    position = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    for index in position:
        _core.integer(index)
    return _converted(np.ndarray.item, self.evaluated(), *args)


def _index(self: LazyTensor) -> int:
    if self.ndim != 0 or self.dtype.kind not in "iu":
        raise type_error("only integer scalar arrays can be converted to a scalar index")
    return int(self.evaluated())


def _scalar(convert: Any) -> Any:
    def method(self: LazyTensor) -> Any:
        return _converted(convert, self.evaluated())

    method.__doc__ = f"{convert.__name__}(x), evaluated now."
    return method


def _describe(self: LazyTensor) -> str:
    """LazyTensor(exp: float32[2, 3]): operation, dtype and shape; nothing is evaluated."""
    return f"LazyTensor({self.node.name}: {self.dtype}{list(self.shape)})"


def _repr(self: LazyTensor) -> str:
    """array([1., 2.]), as NumPy prints; what describe() says where values are not to be had.

    Those are tensors that depend on placeholders, that do not fit into memory, or whose evaluation
    fails, which is said behind: debuggers and test runners print what they find.
    """
    if not self.has_value():
        return _describe(self)
    try:
        return repr(self.evaluated())
    except Exception as error:  # whatever fails, the values are missing
        return f"{_describe(self)} without values: {type(error).__name__}: {error}"


def _str(self: LazyTensor) -> str:
    """The values, as NumPy prints them; where they depend on placeholders, what describe() says."""
    return str(self.evaluated()) if self.has_value() else _describe(self)


def _format(self: LazyTensor, specification: str) -> str:
    if specification and self.ndim:
        raise type_error("unsupported format string passed to numpy.ndarray.__format__")
    return format(_item(self), specification) if specification else _str(self)


def _contains(self: LazyTensor, value: Any) -> bool:
    return bool((self == value).any())


def _restored(array: Any, name: str) -> LazyTensor:
    return _core.constant(array, name)


def _reduce(self: LazyTensor) -> Any:
    return _restored, (self.evaluated(), self.name if self.node.is_constant else "")


def _set_item(self: LazyTensor, indices: Any, values: Any) -> LazyTensor:
    """A new tensor: this one after x[indices] = values."""
    return cnp.set_item(self, indices, values)


def _graph(self: LazyTensor) -> Any:
    """What this tensor reaches, as a read-only networkx-like MultiDiGraph."""
    from composit.graph import GraphView

    return GraphView((self,))


def _lowered_graph(self: LazyTensor) -> Any:
    """The graph after calls are inlined and bit-preserving simplification."""
    from composit.graph import GraphView

    inlined = _core.transforms.inline_calls([self])
    return GraphView(tuple(_core.transforms.simplify(inlined)))


def _fill(self: LazyTensor, value: Any) -> None:
    if isinstance(value, (str, bytes)):
        value = _core.numpy.number_read("fill", value, self.dtype)
    self[...] = value


def _copied(self: LazyTensor, order: str = "C") -> LazyTensor:
    """Another object for the same values."""
    _core.numpy.check_layout(order)
    return self.copied(order == "F" or (order in ("K", "A") and self.flags.fnc))


def _sort(
    self: LazyTensor, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> None:
    """Puts the values in ascending order along an axis, in place."""
    _core.integer(axis)
    self[...] = cnp.sort(self, axis, kind, order, stable=stable)


def _partition(
    self: LazyTensor, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
) -> None:
    """Puts what is smaller than the kth value before it, in place."""
    _core.integer(axis)
    self[...] = cnp.partition(self, kth, axis, kind, order)


def _tobytes(self: LazyTensor, order: Any = "C") -> bytes:
    """The elements' bytes, in row-major order or (F) column-major order."""
    if order not in ("C", "F", "A", "K", None):
        kind = ValueError if isinstance(order, str) else TypeError
        raise kind(
            with_location(f"tobytes: order is {order!r}. 'C', 'F', 'A' or None is required.")
        )
    return self.evaluated().tobytes(order)


def _flat(self: LazyTensor) -> Any:
    """An iterator over the elements, and one index for all."""
    from composit._flat import FlatIterator

    return FlatIterator(self)


def _write_flat(self: LazyTensor, value: Any) -> None:
    self.flat[...] = value


def _html(self: LazyTensor) -> str:
    """What notebooks show: the values as repr prints them, and behind a click the graph."""
    from composit.visualization import html_of

    return html_of(self)


def _attach() -> None:
    """Puts all of these on LazyTensor."""
    functions = [
        "sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin", "any", "all",
        "cumsum", "cumprod", "ravel", "squeeze", "swapaxes", "repeat", "take", "diagonal",
        "trace", "dot", "nonzero", "argsort", "argpartition", "searchsorted",
    ]  # fmt: skip
    methods: dict[str, Any] = {
        **{name: getattr(cnp, name) for name in functions},
        "reshape": _reshape, "transpose": _transpose, "astype": _astype, "clip": _clip,
        "flatten": _flatten, "set_item": _set_item, "item": _item, "fill": _fill,
        "__array__": _array, "__repr__": _repr, "__str__": _str,
        "__format__": _format, "__contains__": _contains, "__reduce__": _reduce,
        "__index__": _index, "__bool__": _scalar(bool), "__int__": _scalar(int),
        "__float__": _scalar(float), "__complex__": _scalar(complex),
        "__array_ufunc__": _core.array_ufunc_of(_dispatch.array_ufunc),
        "__array_function__": _dispatch.array_function,
        "sort": _sort, "partition": _partition,
        "copy": _copied, "describe": _describe,
        "__copy__": lambda self: self.copied(),
        "__deepcopy__": lambda self, memo: self.copied(),
        "tolist": lambda self: self.evaluated().tolist(),
        "tobytes": _tobytes,
        "_repr_html_": _html,
        "round": lambda self, decimals=0, out=None: cnp.round(self, decimals, out=out),
    }  # fmt: skip
    methods["flat"] = property(_flat, _write_flat, doc=_flat.__doc__)
    methods["__array_priority__"] = 1000
    properties = {
        "graph": _graph, "lowered_graph": _lowered_graph, "mT": cnp.matrix_transpose,
    }  # fmt: skip
    attach(LazyTensor, methods, properties)


_attach()
