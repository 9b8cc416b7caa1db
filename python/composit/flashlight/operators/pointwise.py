"""torch's functions of elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit._core import LazyTensor
from composit.flashlight.operators.promotion import cast, floating, floats, is_floating, together
from composit.flashlight.operators.table import operator

# ----- of one tensor

_of_floats: dict[str, Any] = {
    "exp": cnp.exp, "exp2": cnp.exp2, "expm1": cnp.expm1, "log": cnp.log, "log2": cnp.log2,
    "log10": cnp.log10, "log1p": cnp.log1p, "sqrt": cnp.sqrt, "sin": cnp.sin, "cos": cnp.cos,
    "tan": cnp.tan, "asin": cnp.arcsin, "acos": cnp.arccos, "atan": cnp.arctan, "sinh": cnp.sinh,
    "cosh": cnp.cosh, "tanh": cnp.tanh, "asinh": cnp.arcsinh, "acosh": cnp.arccosh,
    "atanh": cnp.arctanh, "erf": cnp.erf, "erfc": cnp.erfc, "reciprocal": cnp.reciprocal,
    "lgamma": cnp.lgamma,
    "digamma": cnp.digamma, "special_ndtri": cnp.ndtri, "deg2rad": cnp.deg2rad,
    "rad2deg": cnp.rad2deg,
}  # fmt: skip
_as_they_are: dict[str, Any] = {
    "abs": cnp.abs, "neg": cnp.negative, "floor": cnp.floor, "ceil": cnp.ceil, "trunc": cnp.trunc,
    "round": cnp.rint,
    "bitwise_not": cnp.invert, "logical_not": cnp.logical_not, "isnan": cnp.isnan,
    "isinf": cnp.isinf, "isfinite": cnp.isfinite, "signbit": cnp.signbit, "relu": nn.relu,
    "positive": cnp.positive,
}  # fmt: skip


def _unary(function: Any, convert: Any) -> Any:
    def row(self: LazyTensor) -> LazyTensor:
        return function(convert(self))

    return row


def _same(x: LazyTensor) -> LazyTensor:
    return x


for _name, _function in _of_floats.items():
    operator(_name)(_unary(_function, floating))
for _name, _function in _as_they_are.items():
    operator(_name)(_unary(_function, _same))


@operator("rsqrt")
def _rsqrt(self):
    return cnp.reciprocal(cnp.sqrt(floating(self)))


@operator("frac")
def _frac(self):
    return self - cnp.trunc(self)


@operator("round.decimals")
def _round(self, *, decimals=0):
    return cnp.round(self, decimals)


@operator("sigmoid", "special_expit")
def _sigmoid(self):
    x = floating(self)
    return cnp.reciprocal(1 + cnp.exp(-x)) if x.dtype.kind == "c" else nn.sigmoid(x)


@operator("silu")
def _silu(self):
    return self * _sigmoid(self) if self.dtype.kind == "c" else nn.silu(self)


@operator("sign")
def _sign(self):
    return self if self.dtype.kind == "b" else cnp.sign(self)


@operator("sgn")
def _sgn(self):
    return _sign(self)


@operator("conj_physical")
def _conjugate(self):
    return cnp.conj(self) if self.dtype.kind == "c" else self


@operator("square")
def _square(self):
    return cnp.square(cnp.astype(self, "int64") if self.dtype.kind == "b" else self)


@operator("gelu")
def _gelu(self, *, approximate="none"):
    if approximate == "none":
        return nn.gelu(self)
    inner = math.sqrt(2 / math.pi) * (self + 0.044715 * (self * self * self))
    return 0.5 * self * (1 + cnp.tanh(inner))


def _bounded(x: Any, least: Any, greatest: Any) -> Any:
    """x between bounds, without a slope at the bounds themselves; NaN stays."""
    above = cnp.where(x >= greatest, cast(greatest, x.dtype), x)
    return cnp.where(x <= least, cast(least, x.dtype), above)


@operator("relu6")
def _relu6(self):
    return _bounded(self, 0, 6)


@operator("hardtanh")
def _hardtanh(self, min_val=-1, max_val=1):
    return _bounded(self, min_val, max_val)


@operator("hardsigmoid")
def _hardsigmoid(self):
    return nn.hardsigmoid(self)


@operator("hardswish")
def _hardswish(self):
    return nn.hardswish(self)


@operator("mish")
def _mish(self):
    return self * cnp.tanh(cnp.logaddexp(self, 0.0))


@operator("softplus")
def _softplus(self, beta=1, threshold=20):
    scaled = self * beta
    is_large = scaled > threshold
    below = cnp.where(is_large, cnp.zeros_like(scaled), scaled)
    return cnp.where(is_large, self, cnp.log1p(cnp.exp(below)) / beta)


@operator("log_sigmoid")
def _log_sigmoid(self):
    return -cnp.logaddexp(-self, 0.0)


@operator("elu")
def _elu(self, alpha=1, scale=1, input_scale=1):
    # What is not chosen must not overflow, and the slope at 0 is that of the exponential.
    is_above = self > 0
    below = cnp.where(is_above, cast(0, self.dtype), self) * input_scale
    return cnp.where(is_above, self * scale, cnp.expm1(below) * (alpha * scale))


@operator("celu")
def _celu(self, alpha=1.0):
    return _elu(self, alpha, 1, 1 / alpha)


@operator("selu")
def _selu(self):
    return _elu(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


@operator("leaky_relu")
def _leaky_relu(self, negative_slope=0.01):
    return cnp.where(self > 0, self, self * negative_slope)


@operator("prelu")
def _prelu(self, weight):
    return _core.aten.prelu(self, weight)


@operator("threshold")
def _threshold(self, threshold, value):
    return cnp.where(self <= threshold, cast(value, self.dtype), self)


@operator("hardshrink")
def _hardshrink(self, lambd=0.5):
    return cnp.where(cnp.abs(self) <= lambd, cast(0, self.dtype), self)


@operator("softshrink")
def _softshrink(self, lambd=0.5):
    return nn.softshrink(self, lambd)


@operator("glu")
def _glu(self, dim=-1):
    first, second = cnp.split(self, 2, axis=dim)
    return first * nn.sigmoid(second)


@operator("logit")
def _logit(self, eps=None):
    x = self if eps is None else cnp.clip(self, eps, 1 - eps)
    # Not log(x / (1 - x)), whose slope at 0 and 1 is 0 times infinity; not of -0.
    return cnp.log(x + 0.0) - cnp.log1p(-x)


@operator("nan_to_num")
def _nan_to_num(self, nan=None, posinf=None, neginf=None):
    return cnp.nan_to_num(self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


# ----- arithmetic


def _times(x: Any, alpha: Any) -> Any:
    return x if isinstance(alpha, (int, float)) and alpha == 1 else x * alpha


@operator("add.Tensor", "add.Scalar")
def _add(self, other, *, alpha=1):
    x, y = together(self, other)
    return cnp.add(x, _times(y, alpha))


@operator("sub.Tensor", "sub.Scalar", "subtract.Tensor", "subtract.Scalar")
def _sub(self, other, *, alpha=1):
    x, y = together(self, other)
    return cnp.subtract(x, _times(y, alpha))


@operator("rsub.Tensor", "rsub.Scalar")
def _rsub(self, other, alpha=1):
    x, y = together(self, other)
    return cnp.subtract(y, _times(x, alpha))


@operator("mul.Tensor", "mul.Scalar", "multiply.Tensor", "multiply.Scalar")
def _mul(self, other):
    return _core.aten.product(*together(self, other))


@operator("div.Tensor", "div.Scalar", "divide.Tensor", "true_divide.Tensor", "true_divide.Scalar",
          "divide.Scalar")  # fmt: skip
def _div(self, other):
    return _core.aten.div(self, other)


@operator("div.Tensor_mode", "div.Scalar_mode", "divide.Tensor_mode", "divide.Scalar_mode")
def _div_rounded(self, other, *, rounding_mode=None):
    return _core.aten.div(self, other, rounding_mode)


@operator("floor_divide", "floor_divide.Scalar")
def _floor_divide(self, other):
    return cnp.floor_divide(*together(self, other))


@operator("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def _remainder(self, other):
    return cnp.remainder(*together(self, other))


@operator("fmod.Tensor", "fmod.Scalar")
def _fmod(self, other):
    return cnp.fmod(*together(self, other))


@operator("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
def _pow(self, exponent):
    if isinstance(exponent, float) and exponent == int(exponent) and abs(exponent) <= 64:
        base, _ = together(self, exponent)
        return base ** int(exponent)
    if isinstance(exponent, float) and exponent == 0.5:
        return cnp.sqrt(floating(self))
    return cnp.power(*together(self, exponent))


@operator("addcmul")
def _addcmul(self, tensor1, tensor2, *, value=1):
    x, y, z = together(self, tensor1, tensor2)
    return x + _times(y * z, value)


@operator("addcdiv")
def _addcdiv(self, tensor1, tensor2, *, value=1):
    x, y, z = floats(self, tensor1, tensor2)
    return x + _times(y / z, value)


@operator("lerp.Tensor", "lerp.Scalar")
def _lerp(self, end, weight):
    return self + (end - self) * weight


def _binary(function: Any, convert: Any) -> Any:
    def row(self: Any, other: Any) -> LazyTensor:
        return function(*convert(self, other))

    return row


_of_two = {
    "maximum": cnp.maximum, "minimum": cnp.minimum, "fmax": cnp.fmax, "fmin": cnp.fmin,
    "logical_and": cnp.logical_and, "logical_or": cnp.logical_or, "logical_xor": cnp.logical_xor,
    "max.other": cnp.maximum, "min.other": cnp.minimum,
}  # fmt: skip
_of_two_floats = {
    "atan2": cnp.arctan2, "hypot": cnp.hypot, "logaddexp": _core.aten.logaddexp,
    "logaddexp2": cnp.logaddexp2, "copysign.Tensor": cnp.copysign, "copysign.Scalar": cnp.copysign,
}  # fmt: skip
_with_numbers = {
    "eq": cnp.equal, "ne": cnp.not_equal, "lt": cnp.less, "le": cnp.less_equal, "gt": cnp.greater,
    "ge": cnp.greater_equal, "bitwise_and": cnp.bitwise_and, "bitwise_or": cnp.bitwise_or,
    "bitwise_xor": cnp.bitwise_xor, "__and__": cnp.bitwise_and, "__or__": cnp.bitwise_or,
    "__xor__": cnp.bitwise_xor, "less": cnp.less, "greater": cnp.greater,
}  # fmt: skip
for _name, _function in _of_two.items():
    operator(_name)(_binary(_function, together))
for _name, _function in _of_two_floats.items():
    operator(_name)(_binary(_function, floats))
for _name, _function in _with_numbers.items():
    operator(f"{_name}.Tensor", f"{_name}.Scalar")(_binary(_function, together))


@operator("bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar", "__lshift__.Tensor",
          "__lshift__.Scalar")  # fmt: skip
def _left_shift(self, other):
    return cnp.left_shift(*together(self, other))


@operator("bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar", "__rshift__.Tensor",
          "__rshift__.Scalar")  # fmt: skip
def _right_shift(self, other):
    return cnp.right_shift(*together(self, other))


# ----- choices


@operator("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def _where(condition, self, other):
    x, y = together(self, other)
    return cnp.where(cast(condition, np.dtype("bool")), x, y)


@operator("masked_fill.Scalar", "masked_fill.Tensor")
def _masked_fill(self, mask, value):
    return cnp.where(mask, cast(value, self.dtype), self)


@operator("clamp", "clamp.Tensor", "clip", "clip.Tensor")
def _clamp(self, min=None, max=None):
    bounds = [bound for bound in (min, max) if bound is not None]
    x, *bounds = together(self, *bounds)
    if min is not None:
        x = cnp.maximum(x, bounds[0]) if max is None else x
    if max is not None:
        x = cnp.minimum(x, bounds[-1]) if min is None else cnp.clip(x, *bounds)
    return x


@operator("clamp_min", "clamp_min.Tensor")
def _clamp_min(self, min):
    return cnp.maximum(*together(self, min))


@operator("clamp_max", "clamp_max.Tensor")
def _clamp_max(self, max):
    return cnp.minimum(*together(self, max))


@operator("isclose")
def _isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return _core.aten.isclose(self, other, rtol, atol, equal_nan)


# ----- copies and dtypes


@operator("clone", "alias", "contiguous", "lift_fresh", "lift_fresh_copy", "resolve_conj",
          "resolve_neg", "view_as_self", "expand_as_self")  # fmt: skip
def _clone(self, **_):
    return self


@operator("_assert_tensor_metadata")
def _assert_tensor_metadata(a, *_, **__):
    """What torch.export makes sure of: torch has compared it on its device "meta"."""


@operator("detach", "detach_copy")
def _detach(self):
    return _core.numpy.detached_of(self) if is_floating(self.dtype) else self


@operator("copy")
def _copy(self, src, non_blocking=False):
    return cnp.broadcast_to(cast(src, self.dtype), self.shape)


@operator("fill.Scalar", "fill.Tensor")
def _fill(self, value):
    value = cast(value, self.dtype)
    return cnp.broadcast_to(value, self.shape) if isinstance(value, LazyTensor) else cnp.full(
        self.shape, value, self.dtype
    )  # fmt: skip


@operator("zero")
def _zero(self):
    return cnp.zeros(self.shape, self.dtype)


@operator("to.dtype", "to.dtype_layout", "to.device", "to.other", "_to_copy", "type_as", "float",
          "to.prim_dtype", dtype=True)  # fmt: skip
def _to(self, *_, dtype=None, **__):
    return cast(self, dtype)


for _name, _shown in {
    "view_as_complex": "numbers", "view_as_real": "parts", "_conj": "conjugated",
    "_neg_view": "negated",
}.items():  # fmt: skip
    operator(_name)(getattr(_core.numpy, f"{_shown}_of"))


@operator("real")
def _real(self):
    return _core.numpy.real_of(self) if self.dtype.kind == "c" else self


@operator("imag")
def _imag(self):
    return _core.numpy.imag_of(self)


@operator("complex")
def _complex(real, imag):
    return cnp.as_complex(real, imag)


@operator("polar")
def _polar(abs, angle):
    return cnp.as_complex(abs * cnp.cos(angle), abs * cnp.sin(angle))


@operator("angle")
def _angle(self):
    return cnp.angle(floating(self))


# ----- tensors like others


@operator("zeros_like", "new_zeros", shape=True, dtype=True)
def _zeros_like(self, *_, shape, dtype, **__):
    return cnp.zeros(shape, dtype)


@operator("ones_like", "new_ones", "empty_like", "new_empty", "empty_strided", "new_empty_strided",
          shape=True, dtype=True)  # fmt: skip
def _ones_like(self, *_, shape, dtype, **__):
    return cnp.ones(shape, dtype)


@operator("full_like", shape=True, dtype=True)
def _full_like(self, fill_value, *, shape, dtype, **__):
    return cnp.full(shape, fill_value, dtype)


@operator("new_full", shape=True, dtype=True)
def _new_full(self, size, fill_value, *, shape, dtype, **__):
    return cnp.full(shape, fill_value, dtype)
