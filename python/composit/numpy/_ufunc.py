"""Ufunc: one row of the scalar table as a function of tensors."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from composit import _core
from composit._core import LazyTensor, NotSupported, with_location
from composit.numpy import _casting

_apply = _core.numpy.apply
_apply_in = _core.numpy.apply_in


def refuse(function: str, **arguments: Any) -> None:
    """NotSupported for the first argument that was given (is not None)."""
    for name, value in arguments.items():
        if value is not None:
            raise NotSupported(
                with_location(f"{function}: {name}={value!r} is not supported yet. Leave it out.")
            )


def the_output(out: Any) -> Any:
    """out= itself, or the only entry of the tuple that ufuncs take."""
    if not isinstance(out, tuple):
        return out
    if len(out) != 1:
        raise ValueError(
            with_location("The 'out' tuple must have exactly one entry per ufunc output")
        )
    return out[0]


def write_out(
    function: str, result: LazyTensor, out: Any, casting: str = "same_kind", widens: bool = False
) -> Any:
    """The result written over `out`, as NumPy's out= does: cast by the rule, and broadcast where
    the function `widens`, as ufuncs do."""
    if out is None:
        return result
    import numpy as np

    out = the_output(out)
    if out is None:
        return result
    if not isinstance(out, (LazyTensor, np.ndarray)):
        raise TypeError(with_location("return arrays must be of ArrayType"))
    if widens and result.shape != out.shape and _fits_into(result.shape, out.shape):
        result = _core.numpy.broadcast_to(result, out.shape)
    if not _casting.is_usual(casting):
        result = _casting.cast_output(function, result, out, casting)
    if isinstance(out, LazyTensor):
        out.replaced(_core.fitted(function, result, out))
        return out
    if out.shape != result.shape:
        raise ValueError(
            with_location(
                f"{function}: out has shape {out.shape}, the result {result.shape}. Equal shapes "
                "are required."
            )
        )
    np.copyto(out, result.evaluated(), casting="same_kind")
    return out


def _fits_into(shape: tuple[int, ...], wide: tuple[int, ...]) -> bool:
    """Whether broadcasting makes the shape the wide one."""
    behind = wide[len(wide) - len(shape) :]
    return len(shape) <= len(wide) and all(a in (1, b) for a, b in zip(shape, behind))


def _no_method(function: str, method: str, those_that_have_it: Iterable[str]) -> NotSupported:
    return NotSupported(
        with_location(
            f"{function}.{method} is not supported yet. Functions with {method}: "
            f"{', '.join(those_that_have_it)}."
        )
    )


class Elementwise:
    """What ufuncs of one and of two results share: a name, counts, and outputs by position."""

    def __init__(self, name: str, doc: str, nin: int, nout: int) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.__module__ = "composit.numpy"
        self.nin, self.nout, self.nargs = nin, nout, nin + nout

    def _parted(self, operands: tuple[Any, ...], out: Any) -> tuple[Any, Any]:
        """The inputs among `operands`, and the outputs behind them; out excludes the latter."""
        count = len(operands)
        if not self.nin <= count <= self.nargs or (count > self.nin and out is not None):
            raise TypeError(
                with_location(
                    f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments "
                    f"but {count} were given"
                )
            )
        return operands[: self.nin], operands[self.nin :]

    def __repr__(self) -> str:
        return f"<composit ufunc '{self.__name__}'>"

    def __reduce__(self) -> Any:
        return (_by_name, (self.__name__,))


class Ufunc(Elementwise, _core.numpy.RowFunction):
    """An elementwise function under NumPy's broadcasting and promotion; one node a call."""

    def __init__(self, row: Any) -> None:
        Elementwise.__init__(self, row.name, row.doc, row.arity, 1)
        _core.numpy.RowFunction.__init__(self, row)

    def __call__(
        self,
        *operands: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: Any = "K",
        subok: Any = True,
    ) -> LazyTensor:
        name = self.__name__
        _casting.check_layout(order, subok)
        if len(operands) != self.nin:
            operands, (out,) = self._parted(operands, out)
        result = _computed(self.row, operands, dtype, casting)
        result = masked_by(name, result, where, out)
        return write_out(name, result, out, casting, widens=True)

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> LazyTensor:
        """The function between all elements along an axis, as the reduction of that name."""
        from composit import numpy as cnp

        names = {
            "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
            "logical_or": "any", "logical_and": "all",
        }  # fmt: skip
        if self.__name__ not in names:
            raise _no_method(self.__name__, "reduce", names)
        options = {} if dtype is None else {"dtype": dtype}
        reduction = getattr(cnp, names[self.__name__])
        result = reduction(array, axis=axis, keepdims=keepdims, **options)
        return write_out(self.__name__, result, out)

    def accumulate(
        self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> LazyTensor:
        """Running results along an axis."""
        from composit import numpy as cnp

        names = {"add": "cumsum", "multiply": "cumprod"}
        if self.__name__ not in names:
            raise _no_method(self.__name__, "accumulate", names)
        return write_out(self.__name__, getattr(cnp, names[self.__name__])(array, axis, dtype), out)

    def outer(self, a: Any, b: Any, /, **options: Any) -> LazyTensor:
        """The function of all pairs."""
        from composit import numpy as cnp

        a, b = cnp.asarray(a), cnp.asarray(b)
        return self(cnp.reshape(a, a.shape + (1,) * b.ndim), b, **options)

    def at(self, a: LazyTensor, indices: Any, b: Any = None, /) -> None:
        """a[indices] = f(a[indices], b) without buffering; only add."""
        if self.__name__ != "add":
            raise _no_method(self.__name__, "at", ["add"])
        a.replaced(_core.numpy.add_at(a, indices, b))

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter
        names = ["x"] if self.nin == 1 else [f"x{i + 1}" for i in range(self.nin)]
        parameters = [kind(name, kind.POSITIONAL_ONLY) for name in names]
        parameters.append(kind("out", kind.POSITIONAL_OR_KEYWORD, default=None))
        for name, default in (
            ("where", True), ("casting", "same_kind"), ("order", "K"), ("dtype", None),
            ("subok", True),
        ):  # fmt: skip
            parameters.append(kind(name, kind.KEYWORD_ONLY, default=default))
        return inspect.Signature(parameters)


_core.numpy.call_quickly(Ufunc)


class PairUfunc(Elementwise):
    """An elementwise function of two results: two rows applied to the same operands."""

    def __init__(self, name: str, first: Ufunc, second: Ufunc) -> None:
        super().__init__(name, f"({first.__doc__}, {second.__doc__})", first.nin, 2)
        self.rows = (first, second)

    def __call__(
        self,
        *operands: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: Any = "K",
        subok: Any = True,
    ) -> tuple[Any, Any]:
        name = self.__name__
        _casting.check_layout(order, subok)
        operands, places = self._parted(operands, out)
        outs = (*places, None, None)[:2] if out is None else out
        if not isinstance(outs, tuple):
            raise TypeError(
                with_location(
                    f"{name}: out is {type(out).__name__}. A tuple of two, tensors or None, is "
                    "required."
                )
            )
        if len(outs) != 2:
            raise ValueError(
                with_location("The 'out' tuple must have exactly one entry per ufunc output")
            )
        if self.__name__ == "frexp":
            refuse(name, dtype=dtype)
        # Both are made before either is written: out may be an operand.
        results = [_computed(row.row, operands, dtype, casting) for row in self.rows]
        if where is not True:
            results = [masked_by(name, result, where, o) for result, o in zip(results, outs)]
        first, second = (
            write_out(name, result, o, casting, widens=True) for result, o in zip(results, outs)
        )
        return first, second


def _computed(row: Any, operands: tuple[Any, ...], dtype: Any, casting: str) -> LazyTensor:
    name = row.name
    if _casting.is_usual(casting):
        return _apply(name, *operands) if dtype is None else _apply_in(name, dtype, *operands)
    import numpy as np

    dtypes = [None if _is_weak(x) else _as_tensor(x).dtype for x in operands]
    if dtype is None:
        result = _apply(name, *operands)
        common = np.result_type(*[x if d is None else d for x, d in zip(operands, dtypes)])
        loop = row.types([d or common for d in dtypes])[0]
        _casting.check_inputs(name, dtypes, loop, casting)
        return result
    _casting.check_inputs(name, dtypes, [np.dtype(dtype)] * len(dtypes), casting)
    return _apply_in(name, dtype, *[_core.numpy.astype(x, dtype) for x in operands])


def _is_weak(value: Any) -> bool:
    """Whether it counts by its kind only: Python's numbers."""
    if isinstance(value, LazyTensor):
        return value.is_weak
    return type(value) in (bool, int, float, complex)


def masked_by(function: str, result: LazyTensor, where: Any, out: Any) -> LazyTensor:
    """The result where `where` holds; elsewhere what `out` has, or zeros without one (NumPy leaves
    there what was in memory)."""
    if where is True:
        return result
    out = the_output(out)
    if out is None:
        return _apply("where", where, result, _core.numpy.astype(0, result.dtype))
    out = _as_tensor(out)
    if _fits_into(result.shape, out.shape):
        result = _core.numpy.broadcast_to(result, out.shape)
    return _apply("where", where, _core.fitted(function, result, out), out)


def _by_name(name: str) -> Ufunc:
    from composit import numpy as cnp

    return getattr(cnp, name)


def _as_tensor(value: Any) -> LazyTensor:
    from composit import numpy as cnp

    return value if isinstance(value, LazyTensor) else cnp.asarray(value)


def ufuncs() -> dict[str, Ufunc | PairUfunc]:
    """Every row of the table, by name and by alias, and what NumPy makes of two rows."""
    single: dict[str, Ufunc] = {}
    for row in _core.scalar.all_rows():
        ufunc = Ufunc(row)
        for name in (row.name, *row.aliases):
            single[name] = ufunc
    pairs = {
        "divmod": ("divmod_quotient", "divmod_remainder"),
        "frexp": ("frexp_mantissa", "frexp_exponent"),
        "modf": ("modf_fraction", "modf_integer"),
    }
    made = {name: PairUfunc(name, single[a], single[b]) for name, (a, b) in pairs.items()}
    return {**single, **made}
