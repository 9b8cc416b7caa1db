"""Special functions under torch's own names, frexp and threshold."""

from __future__ import annotations

from typing import Any

from composit import numpy as cnp
from composit.flashlight.operators.table import function_of
from composit.torch import calling
from composit.torch.calling import define, torch_function
from composit.torch.functions import special_functions
from composit.torch.named_results import named

for _name, _row, _in_place in (
    ("erfinv", "erfinv", True), ("i0", "i0", True), ("igamma", "gammainc", True),
    ("igammac", "gammaincc", True), ("mvlgamma", "multigammaln", True),
):  # fmt: skip
    define(getattr(special_functions, _row), _name, is_inplace=_in_place)


@torch_function("polygamma", is_method=False)
def _polygamma(n: int, input: Any) -> Any:
    """The nth derivative of digamma."""
    return special_functions.polygamma(n, input)


def _polygamma_method(self: Any, n: int) -> Any:
    """The nth derivative of digamma."""
    return calling.functions["polygamma"](n, self)


calling.methods["polygamma"] = _polygamma_method


@torch_function("frexp")
def _frexp(input: Any) -> Any:
    """Mantissas in [1/2, 1) and exponents."""
    mantissa, exponent = cnp.frexp(input)
    return named("frexp")(mantissa, cnp.astype(exponent, "int32"))


define(function_of("hardshrink"), "hardshrink")


@torch_function("threshold", is_method=False)
def _threshold(input: Any, threshold: float, value: float) -> Any:
    """The elements above the threshold, and value for the others."""
    return function_of("threshold")(input, threshold, value)
