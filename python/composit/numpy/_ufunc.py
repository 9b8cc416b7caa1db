"""Ufunc: one row of the scalar table as a function of tensors."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import composit._core as _core
from composit import _public_names
from composit._core import LazyTensor, type_error, value_error
from composit.numpy import _casting, _folding
from composit.numpy._folding import NoValue
from composit.numpy._outputs import masked_by, refuse, the_output, write_out
from composit.numpy._overrides import overridable
from composit.numpy._ufunc_types import Facts, answers, in_signature
from composit.numpy.creation import asarray
from composit.numpy.manipulation import reshape

_apply = _core.numpy.apply
_apply_in = _core.numpy.apply_in


class Elementwise(Facts):
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
            raise type_error(
                f"{self.__name__}() takes from {self.nin} to {self.nargs} positional arguments "
                f"but {count} {'was' if count == 1 else 'were'} given"
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

    @overridable
    def __call__(
        self,
        *operands: Any,
        out: Any = NoValue,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: Any = "K",
        subok: Any = True,
        signature: Any = None,
        sig: Any = None,
    ) -> LazyTensor:
        name = self.__name__
        _casting.check_layout(order, subok)
        if where is not True:
            _warn_of_gaps(out is not NoValue or any(o is not None for o in operands[self.nin :]))
        out = None if out is NoValue else out
        if len(operands) != self.nin:
            operands, (out,) = self._parted(operands, out)
        if signature is not None or sig is not None:
            operands = in_signature(name, operands, signature, sig, dtype, casting)
        result = _computed(self.row, operands, dtype, casting)
        result = masked_by(name, result, where, out)
        return write_out(name, result, out, casting, widens=True)

    @overridable
    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None,
        keepdims: bool = False, initial: Any = NoValue, where: Any = True,
    ) -> LazyTensor:  # fmt: skip
        """The function between all elements along an axis, or several."""
        _folding.check_binary(self, "reduce")
        array, begin = _as_tensor(array), () if initial is NoValue else (initial,)
        name = self.__name__

        def make(loop: Any) -> Any:
            return _core.numpy.reduce(name, array, axis, loop, keepdims, begin, where)

        result = _folding.folded(self, make, array, dtype, the_output(out))
        return write_out(self.__name__, result, out, "unsafe")

    @overridable
    def accumulate(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None
    ) -> LazyTensor:
        """Running results along an axis."""
        _folding.check_binary(self, "accumulate")
        array = _as_tensor(array)
        name = self.__name__

        def make(loop: Any) -> Any:
            return _core.numpy.accumulate(name, array, axis, loop)

        result = _folding.folded(self, make, array, dtype, the_output(out))
        return write_out(self.__name__, result, out, "unsafe")

    @overridable
    def reduceat(
        self, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
    ) -> LazyTensor:
        """The reductions of the parts that begin at indices, which are evaluated."""
        _folding.check_binary(self, "reduceat")
        array = _as_tensor(array)
        if isinstance(indices, (list, tuple)):
            indices = _core.numpy.astype(indices, int)
        name = self.__name__

        def make(loop: Any) -> Any:
            return _core.numpy.reduceat(name, array, indices, axis, loop)

        result = _folding.folded(self, make, array, dtype, the_output(out))
        return write_out(self.__name__, result, out, "unsafe")

    @overridable
    def outer(self, a: Any, b: Any, /, **options: Any) -> LazyTensor:
        """The function of all pairs."""
        _folding.check_binary(self, "outer")
        a, b = asarray(a), asarray(b)
        return self(reshape(a, a.shape + (1,) * b.ndim), b, **options)

    @overridable
    def at(self, a: LazyTensor, indices: Any, /, *operands: Any) -> None:
        """a[indices] = f(a[indices], …), where an index that is met twice counts twice. Indices
        are evaluated, but by add."""
        if len(operands) > 1:
            raise type_error(f"at() takes at most 3 arguments ({2 + len(operands)} given)")
        is_sum = self.__name__ == "add" and len(operands) == 1 and isinstance(a, LazyTensor)
        with _core.Reporting(_folding.name_of_at(self, a, indices, operands)):
            if is_sum and (_is_weak(operands[0]) or _fits_kind(operands[0], a)):
                a.replaced(_core.numpy.add_at(a, indices, operands[0]))
            else:
                _folding.at(self, a, indices, operands)

    @property
    def __signature__(self) -> inspect.Signature:
        kind = inspect.Parameter
        names = ["x"] if self.nin == 1 else [f"x{i + 1}" for i in range(self.nin)]
        parameters = [kind(name, kind.POSITIONAL_ONLY) for name in names]
        parameters.append(kind("out", kind.POSITIONAL_OR_KEYWORD, default=None))
        for name, default in (
            ("where", True), ("casting", "same_kind"), ("order", "K"), ("dtype", None),
            ("subok", True), ("signature", None),
        ):  # fmt: skip
            parameters.append(kind(name, kind.KEYWORD_ONLY, default=default))
        return inspect.Signature(parameters)


_core.numpy.call_quickly(Ufunc)


class PairUfunc(Elementwise):
    """An elementwise function of two results: two rows applied to the same operands."""

    def __init__(self, name: str, first: Ufunc, second: Ufunc) -> None:
        super().__init__(name, f"({first.__doc__}, {second.__doc__})", first.nin, 2)
        self.rows = (first, second)

    @overridable
    def __call__(
        self,
        *operands: Any,
        out: Any = NoValue,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: Any = "K",
        subok: Any = True,
        signature: Any = None,
        sig: Any = None,
    ) -> tuple[Any, Any]:
        name = self.__name__
        _casting.check_layout(order, subok)
        if where is not True:
            _warn_of_gaps(out is not NoValue or any(o is not None for o in operands[self.nin :]))
        out = None if out is NoValue else out
        operands, places = self._parted(operands, out)
        if signature is not None or sig is not None:
            operands = in_signature(name, operands, signature, sig, dtype, casting)
        outs = (*places, None, None)[:2] if out is None else out
        if not isinstance(outs, tuple):
            raise type_error(
                f"{name}: out is {type(out).__name__}. A tuple of two, tensors or None, is "
                "required."
            )
        if len(outs) != 2:
            raise value_error("The 'out' tuple must have exactly one entry per ufunc output")
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

    @overridable
    def outer(self, a: Any, b: Any, /, **options: Any) -> tuple[Any, Any]:
        """The function of all pairs."""
        if self.nin != 2:
            _folding.check_binary(self, "outer")
        a, b = asarray(a), asarray(b)
        return self(reshape(a, a.shape + (1,) * b.ndim), b, **options)

    @overridable
    def at(self, a: LazyTensor, indices: Any, /, *operands: Any) -> None:
        """Refused: there is one result too many."""
        _folding.at(self, a, indices, operands)

    @overridable
    def reduce(self, array: Any, *arguments: Any, **options: Any) -> None:
        """Refused likewise."""
        _folding.check_binary(self, "reduce")

    @overridable
    def accumulate(self, array: Any, *arguments: Any, **options: Any) -> None:
        """Refused likewise."""
        _folding.check_binary(self, "accumulate")

    @overridable
    def reduceat(self, array: Any, *arguments: Any, **options: Any) -> None:
        """Refused likewise."""
        _folding.check_binary(self, "reduceat")


def _warn_of_gaps(has_output: bool) -> None:
    """NumPy's warning of what is in a result where nothing was computed; out=None silences it."""
    if not has_output:
        warnings.warn(
            "'where' used without 'out': elsewhere composit has zeros, NumPy what was in memory. "
            "If this is intentional, use out=None.",
            UserWarning,
            stacklevel=4,  # behind what asks operands first
        )


def _computed(row: Any, operands: tuple[Any, ...], dtype: Any, casting: str) -> LazyTensor:
    name = row.name
    if dtype is not None and _core.dtype_of(dtype).kind == "b" and answers(name):
        dtype = None  # that of the result, which it is
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


def _fits_kind(value: Any, a: LazyTensor) -> bool:
    """Whether sums with the value are of the kind of a."""
    return _casting.may_cast(_as_tensor(value).dtype, a.dtype, "same_kind")


def _is_weak(value: Any) -> bool:
    """Whether it counts by its kind only: Python's numbers."""
    if isinstance(value, LazyTensor):
        return value.is_weak
    return type(value) in (bool, int, float, complex)


def _by_name(name: str) -> Ufunc | PairUfunc:
    return _public_names.find("composit.numpy", name)


_core.provide("ufunc", _by_name)


def _as_tensor(value: Any) -> LazyTensor:
    return value if isinstance(value, LazyTensor) else asarray(value)


def ufuncs() -> dict[str, Ufunc | PairUfunc]:
    """Every row of the table, by name and by alias, and what NumPy makes of two rows."""
    single: dict[str, Ufunc] = {}
    for row in _core.scalar.all_rows():
        single |= dict.fromkeys((row.name, *row.aliases), Ufunc(row))
    pairs = {
        "divmod": ("divmod_quotient", "divmod_remainder"),
        "frexp": ("frexp_mantissa", "frexp_exponent"),
        "modf": ("modf_fraction", "modf_integer"),
    }
    made = {name: PairUfunc(name, single[a], single[b]) for name, (a, b) in pairs.items()}
    return {**single, **made}
