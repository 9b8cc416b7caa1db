"""Products, and linear algebra by composit.numpy.linalg."""

from __future__ import annotations

import functools
from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit._core import runtime_error
from composit.flashlight.operators.table import function_of
from composit.torch.calling import define, torch_function

_aten = _core.aten


def _product(name: str, function: Any) -> None:
    def product(input: Any, other: Any, out_dtype: Any = None) -> Any:
        return function(input, other, out_dtype)

    define(product, name, doc="The product of matrices or vectors.")


for _name in ("matmul", "mm", "bmm", "mv", "dot"):
    _product(_name, getattr(_aten, _name))


@torch_function("vdot")
def _vdot(input: Any, other: Any) -> Any:
    """The product of two vectors, of which the first is conjugated."""
    return _aten.dot(cnp.conj(input) if input.dtype.kind == "c" else input, other)


define(function_of("inner"), "inner")


def _outer_product(name: str) -> None:
    function = function_of(name)

    @functools.wraps(function)
    def checked(input: Any, vec2: Any) -> Any:
        for place, each in (("self", input), ("vec2", vec2)):
            if each.ndim != 1:
                raise runtime_error(f"{name}: Expected 1-D argument {place}, but got {each.ndim}-D")
        return function(input, vec2)

    define(checked, name)


_outer_product("outer")
_outer_product("ger")
for _name in ("addmv", "addbmm", "addr"):
    define(function_of(_name), _name, is_inplace=True)


def _added_product(name: str) -> None:
    function = function_of(name)

    def of_torch(
        input: Any, mat1: Any, mat2: Any, out_dtype: Any = None, *, beta: Any = 1, alpha: Any = 1
    ) -> Any:
        if out_dtype is not None:
            wide = _aten.product_dtype(name, mat1, mat2, out_dtype)
            mat1, mat2 = cnp.astype(mat1, wide), cnp.astype(mat2, wide)
        return function(input, mat1, mat2, beta=beta, alpha=alpha)

    define(of_torch, name, is_inplace=True, doc=function.__doc__)


_added_product("addmm")
_added_product("baddbmm")
define(function_of("trace"), "trace")


@torch_function("einsum", is_method=False)
def _einsum(equation: str, *operands: Any) -> Any:
    """Sums of products, by Einstein's convention."""
    found = operands[0] if isinstance(operands[0], (list, tuple)) else operands
    return function_of("einsum")(equation, list(found))


@torch_function("tensordot", is_method=False)
def _tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """Products summed over dimensions; one of length 1 counts for all of the other's."""
    if isinstance(dims, int):
        return _aten.tensordot(a, b, dims)
    return _aten.tensordot(a, b, *map(tuple, dims))


define(cnp.kron, "kron")


@torch_function("chain_matmul", is_method=False)
def _chain_matmul(*matrices: Any) -> Any:
    """The product of several matrices."""
    return cnp.linalg.multi_dot(list(matrices))


@torch_function("cross")
def _cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """The cross product along a dimension of length 3."""
    return _aten.cross(input, other, dim)


@torch_function("matrix_power")
def _matrix_power(input: Any, n: int) -> Any:
    return cnp.linalg.matrix_power(input, n)


@torch_function("det")
def _det(input: Any) -> Any:
    return cnp.linalg.det(input)


@torch_function("inverse")
def _inverse(input: Any) -> Any:
    return cnp.linalg.inv(input)


@torch_function("cdist", is_method=False)
def _cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """Distances of all pairs of rows."""
    apart = cnp.expand_dims(x1, -2) - cnp.expand_dims(x2, -3)
    return function_of("linalg_vector_norm")(apart, p, -1)
