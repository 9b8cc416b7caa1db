"""torch.linalg's factors of symmetric matrices, by composit::aten (composit/aten/ldl.h)."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import runtime_error
from composit._linear_algebra_error import LinAlgError
from composit.torch.calling import define
from composit.torch.function import Function
from composit.torch.named_results import named

_here: dict[str, Any] = {"is_function": False, "is_method": False}
_Factors = named("linalg_ldl_factor")
_FactorsAndInfo = named("linalg_ldl_factor_ex")


def _factor(A: Any, hermitian: bool) -> Any:
    return _core.aten.ldl_factor(A, hermitian)


def _solve(LD: Any, pivots: Any, B: Any, hermitian: bool) -> Any:
    return _core.aten.ldl_solve(LD, pivots, B, hermitian)


_factor_of = define(_factor, "linalg_ldl_factor_ex", **_here)
_solution_of = define(_solve, "linalg_ldl_solve", **_here)


class _WithoutDerivative(Function):
    """A function of tensors through which no gradient goes, as PyTorch has it: an error when one is
    asked for."""

    _tangents_by_backward = True

    @staticmethod
    def forward(ctx: Any, function: Any, *args: Any) -> Any:
        """What the function gives."""
        ctx.name = function.__name__
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """RuntimeError."""
        raise runtime_error(f"derivative for aten::{ctx.name} is not implemented")


def ldl_factor_ex(
    A: Any = None, *, hermitian: bool = False, check_errors: bool = False, out: Any = None,
    input: Any = None,
) -> Any:  # fmt: skip
    """The factors of A = L D Lᵀ (of L D Lᴴ with `hermitian`) in one matrix, the pivots, and for
    each matrix 0, or which element of D is zero. LinAlgError for one, with check_errors."""
    A = input if A is None else A
    LD, pivots, info = _WithoutDerivative.apply(_factor_of, A, hermitian)
    if check_errors:
        _check("ldl_factor_ex", info)
    return _FactorsAndInfo(*_written((LD, pivots, info), out))


def ldl_factor(
    A: Any = None, *, hermitian: bool = False, out: Any = None, input: Any = None
) -> Any:
    """ldl_factor_ex without the last. LinAlgError for an element of D that is zero."""
    A = input if A is None else A
    LD, pivots, info = _WithoutDerivative.apply(_factor_of, A, hermitian)
    _check("ldl_factor", info)
    return _Factors(*_written((LD, pivots), out))


def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False, out: Any = None) -> Any:
    """X with A @ X = B, from what ldl_factor gives of A."""
    made = _WithoutDerivative.apply(_solution_of, LD, pivots, B, hermitian)
    return made if out is None else out.copy_(made)


def _check(name: str, info: Any) -> None:
    places = info.reshape(-1).tolist()
    for number, place in enumerate(places):
        if place > 0:
            where = f" (Batch element {number}):" if info.shape else ""
            raise LinAlgError(
                f"torch.linalg.{name}:{where} The diagonal element {place} of D is zero, and "
                "nothing can be solved. ldl_factor_ex gives the factors."
            )


def _written(results: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
    if out is None:
        return results
    return tuple(target.copy_(value) for target, value in zip(out, results))
