"""Functions of elements, and the operators of tensors."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit._core import LazyTensor, runtime_error
from composit.flashlight.operators.promotion import cast, floating, is_floating, together
from composit.flashlight.operators.promotion import result_dtype as _result_dtype
from composit.flashlight.operators.table import function_of
from composit.torch import dtypes
from composit.torch.calling import define, enter, torch_function

# ----- of one tensor; all have a method, and one that works in place

_names = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "asin",
    "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sigmoid",
    "reciprocal", "lgamma", "digamma", "deg2rad", "rad2deg", "abs", "neg", "floor", "ceil", "trunc",
    "sign", "sgn", "square", "bitwise_not", "logical_not", "relu", "rsqrt", "frac", "nan_to_num",
)  # fmt: skip
_other_names = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "negative": "neg", "fix": "trunc", "special_expit":
    "sigmoid",
}  # fmt: skip
_not_in_place = (
    "isnan", "isinf", "isfinite", "signbit", "positive", "conj_physical", "angle", "real", "imag",
)  # fmt: skip

for _name in _names:
    define(function_of(_name), _name, is_inplace=True)
for _name, _row in _other_names.items():
    define(function_of(_row), _name, is_inplace=not _name.startswith("special"),
           is_method=not _name.startswith("special"))  # fmt: skip
for _name in _not_in_place:
    define(function_of(_name), _name, is_view=_name in ("real", "imag"))


@torch_function(is_view=True, is_method=False)
def view_as_real(input: Any) -> Any:
    """Real and imaginary parts along a new last dimension: a view."""
    return _core.numpy.parts_of(input)


@torch_function(is_view=True, is_method=False)
def view_as_complex(input: Any) -> Any:
    """Complex numbers of pairs along the last dimension: a view."""
    if not input.ndim or input.shape[-1] != 2:
        raise runtime_error("Tensor must have a last dimension of size 2")
    return _core.numpy.numbers_of(input)


@torch_function(is_inplace=True)
def round(input: Any, *, decimals: int = 0) -> Any:
    """To the nearest integers, halves to even ones, or to decimals."""
    if decimals == 0:
        return cnp.rint(input) if is_floating(input.dtype) else input
    return cnp.round(input, decimals)


@torch_function(is_inplace=True)
def logit(input: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), x kept between eps and 1 - eps."""
    return function_of("logit")(floating(input), eps)


@torch_function("isposinf")
def _isposinf(input: Any) -> Any:
    return cnp.isposinf(input)


@torch_function("isneginf")
def _isneginf(input: Any) -> Any:
    return cnp.isneginf(input)


@torch_function("isreal", order="first")
def _isreal(input: Any) -> Any:
    return cnp.isreal(input)


@torch_function("conj")
def _conj(input: Any) -> Any:
    return cnp.conj(input) if input.dtype.kind == "c" else input


@torch_function("sinc", is_inplace=True)
def _sinc(input: Any) -> Any:
    return cnp.sinc(floating(input))


# ----- of two


def _arithmetic(name: str, *aliases: str) -> None:
    function = function_of(f"{name}.Tensor")
    for alias in (name, *aliases):
        define(function, alias, is_inplace=True)


_arithmetic("add")
_arithmetic("sub", "subtract")
_arithmetic("mul", "multiply")


def _division(name: str, operator: str) -> None:
    """A division with a remainder, which PyTorch refuses for integers by 0."""
    function = function_of(operator)

    @functools.wraps(function)
    def checked(input: Any, other: Any) -> Any:
        is_integer = not isinstance(input, LazyTensor) or input.dtype.kind in "iub"
        if isinstance(other, int) and other == 0 and is_integer:
            raise RuntimeError("ZeroDivisionError")
        return function(input, other)

    define(checked, name, is_inplace=True)


_division("remainder", "remainder.Tensor")
_division("fmod", "fmod.Tensor")
_division("floor_divide", "floor_divide")
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
              "bitwise_right_shift"):  # fmt: skip
    _arithmetic(_name)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _arithmetic(_name)
for _name, _row in {"not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
                    "greater_equal": "ge"}.items():  # fmt: skip
    define(function_of(f"{_row}.Tensor"), _name, is_inplace=True)
define(function_of("copysign.Tensor"), "copysign", is_inplace=True)
define(function_of("rsub.Tensor"), "rsub", is_method=False)
for _name in ("maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2"):
    define(function_of(_name), _name)
for _name in ("logical_and", "logical_or", "logical_xor", "atan2", "hypot", "addcmul", "addcdiv"):
    define(function_of(_name), _name, is_inplace=True)
define(function_of("atan2"), "arctan2", is_inplace=True)
define(function_of("lerp.Tensor"), "lerp", is_inplace=True)
define(function_of("complex"), "complex", is_method=False)
define(function_of("polar"), "polar", is_method=False)
define(function_of("isclose"), "isclose")


@torch_function("div", "divide", is_inplace=True)
def _div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other, rounded to integers with a rounding_mode ("trunc" or "floor")."""
    return _core.aten.div(input, other, rounding_mode)


define(function_of("div.Tensor"), "true_divide", is_inplace=True)


@torch_function("pow", is_inplace=True)
def _pow(input: Any, exponent: Any) -> Any:
    """input to the power of exponent; integers to negative ones are refused."""
    is_whole = isinstance(exponent, int) and not isinstance(exponent, bool)
    if is_whole and isinstance(input, LazyTensor):
        if exponent < 0 and input.dtype.kind in "iu":
            raise ValueError("Integers to negative integer powers are not allowed.")
        if abs(exponent) <= 64 and input.dtype.kind != "b":
            return input**exponent
    return function_of("pow.Tensor_Tensor")(input, exponent)


@torch_function("float_power")
def _float_power(input: Any, exponent: Any) -> Any:
    wide = np.dtype("complex128" if _result_dtype(input, exponent).kind == "c" else "float64")
    return cnp.power(cast(input, wide), cast(exponent, wide))


@torch_function("xlogy", is_inplace=True)
def _xlogy(input: Any, other: Any) -> Any:
    return _core.aten.xlogy(input, other)


@torch_function("heaviside", is_inplace=True)
def _heaviside(input: Any, values: Any) -> Any:
    x, at_zero = together(input, values)
    one = cnp.ones((), x.dtype)
    made = cnp.where(x > 0, one, cnp.where(x == 0, at_zero, cnp.zeros((), x.dtype)))
    return cnp.where(cnp.isnan(x), x, made) if x.dtype.kind == "f" else made


@torch_function("gcd", is_inplace=True)
def _gcd(input: Any, other: Any) -> Any:
    return cnp.gcd(input, other)


@torch_function("lcm", is_inplace=True)
def _lcm(input: Any, other: Any) -> Any:
    return cnp.lcm(input, other)


@torch_function("nextafter", is_inplace=True)
def _nextafter(input: Any, other: Any) -> Any:
    return cnp.nextafter(input, other)


@torch_function("ldexp", is_inplace=True)
def _ldexp(input: Any, other: Any) -> Any:
    x, power = together(input, cnp.exp2(floating(other)))
    return x * power


# ----- choices


@torch_function("clamp", "clip", is_inplace=True)
def _clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """Kept between min and max."""
    if min is None and max is None:
        raise ValueError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return function_of("clamp")(input, min, max)


define(function_of("clamp_min"), "clamp_min", is_inplace=True)
define(function_of("clamp_max"), "clamp_max", is_inplace=True)


@torch_function("where", is_method=False)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """input where the condition holds, else other; without them nonzero(as_tuple=True)."""
    if input is None:
        return tuple(cnp.nonzero(condition))
    return function_of("where.self")(condition, input, other)


@torch_function("masked_fill", is_inplace=True, order="rows")
def _masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """value where the mask is true, else input."""
    if isinstance(value, LazyTensor) and value.ndim:
        raise ValueError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if isinstance(value, LazyTensor) and value.dtype.kind == "c" and input.dtype.kind != "c":
        raise runtime_error(
            "masked_fill: value is complex and the tensor is not. A real value is required."
        )
    return function_of("masked_fill.Scalar")(input, mask, value)


# ----- of all


@torch_function("equal")
def _equal(input: Any, other: Any) -> Any:
    """Whether shapes and all elements are equal."""
    if tuple(input.shape) != tuple(other.shape):
        return False
    return bool(cnp.all(cnp.equal(*together(input, other))))


@torch_function("allclose")
def _allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether all elements are close."""
    return bool(cnp.all(_core.aten.isclose(input, other, rtol, atol, equal_nan)))


def _copied(input: Any) -> Any:
    return input


def _row_major(input: Any) -> Any:
    return input.copied()


_clone_in_order = define(_copied, "clone", is_function=False, is_method=False)
_clone_row_major = define(_row_major, "clone", is_function=False, is_method=False, order="rows")


def clone(input: Any, *, memory_format: Any = None) -> Any:
    """Other memory with the same elements, in the order that they have or, for
    contiguous_format, following each other; gradients go through."""
    is_row_major = memory_format is dtypes.contiguous_format
    return (_clone_row_major if is_row_major else _clone_in_order)(input)


enter("clone", clone)
