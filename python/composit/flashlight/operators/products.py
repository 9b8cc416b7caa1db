"""torch's products of matrices."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit.flashlight.operators.promotion import number, together
from composit.flashlight.operators.table import operator


@operator("linear")
def _linear(input, weight, bias=None):
    return _core.aten.linear(input, weight, bias)


@operator("matmul", "mm", "bmm", "mv", "dot", "linalg_matmul")
def _matmul(self, other):
    return cnp.matmul(self, other)


@operator("inner")
def _inner(self, other):
    return cnp.inner(self, other)


@operator("outer", "ger")
def _outer(self, vec2):
    x, y = together(self, vec2)
    return _core.aten.product(cnp.reshape(x, (-1, 1)), y)


def _scaled(x: Any, factor: Any) -> Any:
    return x if factor == 1 else x * number(factor, x.dtype)


def _sum(addend: Any, product: Any, beta: Any, alpha: Any) -> Any:
    product = _scaled(product, alpha)
    return product if number(beta, product.dtype) == 0 else _scaled(addend, beta) + product


@operator("addmm", "addmv", "baddbmm")
def _addmm(self, mat1, mat2, *, beta=1, alpha=1):
    return _sum(self, cnp.matmul(mat1, mat2), beta, alpha)


@operator("addbmm")
def _addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    return _sum(self, cnp.sum(cnp.matmul(batch1, batch2), axis=0), beta, alpha)


@operator("addr")
def _addr(self, vec1, vec2, *, beta=1, alpha=1):
    self, product = together(self, cnp.outer(vec1, vec2))
    return _sum(self, product, beta, alpha)


@operator("einsum")
def _einsum(equation, tensors, *, path=None):
    return _core.numpy.einsum((equation.replace(" ", ""), *tensors), None, None)


@operator("bilinear")
def _bilinear(input1, input2, weight, bias=None):
    result = cnp.einsum("...i,oij,...j->...o", input1, weight, input2)
    return result if bias is None else result + bias


@operator("linalg_cross")
def _cross(self, other, *, dim=-1):
    return cnp.cross(self, other, axis=dim)


@operator("trace")
def _trace(self):
    return cnp.trace(self)
