"""MappedKernel: a kernel with arrays for each row of its arguments, what vmap makes of one."""

from __future__ import annotations

import contextlib
from typing import Any

import composit._core as _core
from composit._core import NotSupported, not_supported
from composit.knossos.annotations import annotated
from composit.knossos.array_kernel import ArrayKernel
from composit.knossos.by_example import KernelByExample
from composit.knossos.kernel import Kernel


class MappedKernel(ArrayKernel):
    """A kernel over the leading axis of all its arguments: arrays have one axis more than the
    annotations say, numbers are arrays of one axis, and so are results; a number that is given
    stands for itself in each row. Its bits are those of the kernel called with row after row;
    derivatives are those of each row.

    NotSupported, with the line, where the extents of results depend on numbers that are given."""

    def __init__(self, inner: ArrayKernel, of: ArrayKernel | None = None) -> None:
        """`of`: what `inner` is the derivative in reverse of."""
        rows, with_rows = annotated.free_extent(inner._leaves), annotated.with_rows
        maps, made_of = _core.procedure.over_rows, inner
        if of is not None:
            maps, made_of = _core.procedure.reverse_over_rows, of
        super().__init__(
            f"v{inner.__name__}", inner.__doc__ or "", lambda dtype: maps(made_of.procedure(dtype)),
            [with_rows(each, rows) for each in inner.parameter_structures],
            lambda: with_rows(inner._result_structure(), rows),
        )  # fmt: skip
        self._inner, self._of = inner, of
        self._whole = inner._whole and [with_rows(each, rows) for each in inner._whole]
        self._depth: int = getattr(inner, "_depth", 0) + 1  # how many axes are mapped
        self.__module__ = inner.__module__
        self._made_of = (mapped, inner)
        self._operands = inner._operands
        self._extents = annotated.first_extents(self._leaves, self._operands)

    def _plain_order(self) -> list[int] | None:
        is_moved = self._operands != sorted(self._operands)
        return None if is_moved or self._of is not None else self._inner._plain_order()

    def _in_order(self, made: list[Any]) -> list[Any]:
        if self._of is None:
            return self._inner._in_order(made)  # code returns what were numbers first
        floats = [i for i in self._of._operands if self._of._leaves[i].kind == "float"]
        return [made[floats.index(i)] for i in sorted(floats)]

    def _results(self, leaves: list[Any]) -> list[Any]:
        """A number in place of one for each row stands for that many."""
        given = annotated.given_in_rows(
            self.__name__, self._inner.__name__, self._leaves, leaves, self._depth,
            self._dtype(leaves),
        )  # fmt: skip
        return super()._results(given)

    def _has_jvp(self) -> bool:
        return self._inner._has_jvp()

    @property
    def vjp(self) -> Kernel:  # type: ignore[override]
        """vjp(x, …, dy, …): what each float argument receives, row by row."""
        vjp = self._inner.vjp
        assert isinstance(vjp, ArrayKernel)
        if vjp._over_rows is None:
            vjp._over_rows = self._derived("vjp", MappedKernel(vjp, self._inner))
        return vjp._over_rows

    @property
    def jvp(self) -> Kernel:  # type: ignore[override]
        """jvp(x, …, dx, …): the tangents of the results, row by row."""
        return mapped(self._inner.jvp)

    @property
    def grad(self) -> Kernel:  # type: ignore[override]
        """grad(x, …): the derivatives of each row's result, a number, with respect to each float
        argument of the row."""
        return mapped(self._inner.grad)

    def derivative(self, function: Any) -> Kernel:
        """Not of this one: the derivative is given to the kernel that is mapped."""
        name = self._inner.__name__
        raise not_supported(
            f"{self.__name__}.derivative: its derivative is that of {name} in each row. Write "
            f"@{name}.derivative for a function of one row."
        )


def mapped(kernel: Any) -> Any:
    """The kernel for each row; the same one for the same kernel. A kernel of numbers is one over
    the elements of arrays already; so is, until its first use, one that is refused."""
    if isinstance(kernel, KernelByExample):
        return kernel.over_rows(mapped)
    with contextlib.suppress(NotSupported, TypeError, ValueError, NameError):
        kernel.procedure()  # which shows whether it has arrays
    if not isinstance(kernel, ArrayKernel):
        return kernel
    if kernel._over_rows is None:
        kernel._over_rows = MappedKernel(kernel)
    return kernel._over_rows
