"""torch.signal.windows: windows of M numbers, by composit::aten (composit/aten/windows.h)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import composit._core as _core
from composit._core import type_error, value_error
from composit.torch import calling, dtypes
from composit.torch.places import making

_aten = _core.aten


def _window(
    name: str, M: int, build: Callable[[Any], Any], dtype: Any, layout: Any, requires_grad: bool
) -> Any:
    if M < 0:
        raise value_error(f"{name} requires non-negative window length, got M={M}")
    if layout not in (None, dtypes.strided):
        raise value_error(f"{name} is implemented for strided tensors only, got: {layout}")
    to = dtype or dtypes.default()
    if to.name not in ("float32", "float64"):
        raise value_error(f"{name} expects float32 or float64 dtypes, got: {to}")
    made = calling.wrapped(build(to.numpy))
    return made.requires_grad_() if requires_grad else made


@making
def bartlett(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """A triangle that is 0 at its ends. `sym`: symmetric, else periodic."""
    return _window("bartlett", M, lambda to: _aten.bartlett_window(M, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


@making
def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """a[0] - a[1] cos(x) + a[2] cos(2 x) - … once around the circle."""

    def build(to: Any) -> Any:
        if M > 1 and not isinstance(a, Iterable):
            raise type_error("Coefficients must be a list/tuple")
        return _aten.general_cosine_window(M, list(a) if M > 1 else [], sym, to)

    return _window("general_cosine", M, build, dtype, layout, requires_grad)


@making
def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """alpha - (1 - alpha) cos(x) once around the circle."""
    return _window("general_cosine", M,
                   lambda to: _aten.general_hamming_window(M, alpha, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


@making
def hamming(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """0.54 - 0.46 cos(x) once around the circle."""
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device,
                           requires_grad=requires_grad)  # fmt: skip


@making
def hann(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """0.5 - 0.5 cos(x) once around the circle."""
    return _window("general_cosine", M, lambda to: _aten.hann_window(M, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


@making
def blackman(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x) once around the circle."""
    return _window("blackman", M, lambda to: _aten.blackman_window(M, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


@making
def nuttall(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Nuttall's four terms, with the smallest lobes beside the main one."""
    return _window("general_cosine", M, lambda to: _aten.nuttall_window(M, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


@making
def cosine(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Half a wave of a sine."""
    return _window("cosine", M, lambda to: _aten.cosine_window(M, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


@making
def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """exp(-|n - center| / tau); the center, unless given, is the middle."""
    return _window("exponential", M,
                   lambda to: _aten.exponential_window(M, center, tau, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


@making
def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """exp(-((n - middle) / std)^2 / 2)"""
    return _window("gaussian", M, lambda to: _aten.gaussian_window(M, std, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


@making
def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1."""
    return _window("kaiser", M, lambda to: _aten.kaiser_window(M, beta, sym, to),
                   dtype, layout, requires_grad)  # fmt: skip


__path__: list[str] = []  # modules below are found by composit.torch.parts
__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
    "general_hamming", "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip
