"""assert_close: values, and structures of them, within tolerances (composit/aten/comparing.h and
bindings/aten_comparing.cpp)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from warnings import warn

import composit._core as _core
from composit.torch import calling
from composit.torch.calling import TensorBase

_aten = _core.aten


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
    atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
    check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """AssertionError unless tensors, or numbers, or those of sequences and mappings at the same
    places, are close: |actual - expected| <= atol + rtol |expected|, infinities equal, NaN close to
    NaN only with equal_nan. Tolerances, both or neither, are by default those of the dtypes. Flags
    say which attributes are compared; `msg` replaces the message, or makes it of PyTorch's.
    TypeError: values of kinds that do not belong together; ValueError: one tolerance alone."""
    __tracebackhide__ = True
    options = {
        "allow_subclasses": allow_subclasses, "rtol": rtol, "atol": atol, "equal_nan": equal_nan,
        "check_device": check_device, "check_dtype": check_dtype, "check_layout": check_layout,
        "check_stride": check_stride,
    }  # fmt: skip
    _aten.assert_close(actual, expected, options, msg)


def _as_tensor(value: Any, dtype: Any = None) -> Any:
    is_one = isinstance(value, TensorBase)
    return value if is_one else calling.functions["tensor"](value, dtype=dtype)


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = True, msg: str = "",
) -> None:  # fmt: skip
    """assert_close of tensors of any dtypes, with wider tolerances. Deprecated in PyTorch."""
    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead. You can find detailed "
        "upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning, stacklevel=2,
    )  # fmt: skip
    a = _as_tensor(actual)
    b = _as_tensor(expected, a.dtype)
    if rtol is None and atol is None:
        rtol, atol = _aten.wide_tolerances([a.dtype.name, b.dtype.name])
    assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
                 msg=msg or None)  # fmt: skip
