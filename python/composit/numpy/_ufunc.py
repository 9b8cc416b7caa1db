"""Ufunc: one row of the scalar table as a function of tensors."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import composit._core as _core
from composit import _public_names
from composit._core import LazyTensor, type_error
from composit.numpy import _at_once, _folding
from composit.numpy._folding import NoValue
from composit.numpy._outputs import write_out
from composit.numpy._overrides import overridable
from composit.numpy._ufunc_types import Facts
from composit.numpy.creation import asarray
from composit.numpy.manipulation import reshape


class Elementwise(Facts):
    """What ufuncs of one and of two results share: a name, counts, and outputs by position."""

    def __init__(self, name: str, doc: str, nin: int, nout: int) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.__module__ = "composit.numpy"
        self.nin, self.nout, self.nargs = nin, nout, nin + nout

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
        return _core.numpy.call_ufunc(
            self.__name__, (self.row.name,), self.nin, operands, None if out is NoValue else out,
            out is not NoValue, where, dtype, casting, order, subok, signature, sig,
        )  # fmt: skip

    @_at_once.method
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

        result = _folding.folded(self, make, array, dtype, _core.numpy.the_output(out))
        return write_out(self.__name__, result, out, "unsafe")

    @_at_once.method
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

        result = _folding.folded(self, make, array, dtype, _core.numpy.the_output(out))
        return write_out(self.__name__, result, out, "unsafe")

    @_at_once.method
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

        result = _folding.folded(self, make, array, dtype, _core.numpy.the_output(out))
        return write_out(self.__name__, result, out, "unsafe")

    @_at_once.method
    @overridable
    def outer(self, a: Any, b: Any, /, **options: Any) -> LazyTensor:
        """The function of all pairs."""
        _folding.check_binary(self, "outer")
        a, b = asarray(a), asarray(b)
        return self(reshape(a, a.shape + (1,) * b.ndim), b, **options)

    @_at_once.method_at
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
        self._names = [first.row.name, second.row.name]

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
    ) -> Any:
        return _core.numpy.call_ufunc(
            self.__name__, self._names, self.nin, operands,
            None if out is NoValue else out, out is not NoValue, where, dtype, casting, order,
            subok, signature, sig,
        )  # fmt: skip

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


def _fits_kind(value: Any, a: LazyTensor) -> bool:
    """Whether sums with the value are of the kind of a."""
    return np.can_cast(_as_tensor(value).dtype, a.dtype, "same_kind")


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
