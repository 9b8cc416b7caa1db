"""Functions of signals: windows, short-time Fourier transforms."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import numpy as cnp
from composit.torch import calling, dtypes
from composit.torch.calling import torch_function

_aten = _core.aten


def _window(name: str, row: Any) -> None:
    def function(
        window_length: int, periodic: bool = True, *args: Any, dtype: Any = None,
        layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False, **options: Any,
    ) -> Any:  # fmt: skip
        _aten.check_window_length(name, window_length)
        to = (dtype or dtypes.default()).numpy
        made = calling.wrapped(row(window_length, not periodic, to, *args, **options))
        return made.requires_grad_() if requires_grad else made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "A window of that name; periodic: for a signal that repeats."
    calling.functions[name] = function


def _hamming(length: int, sym: bool, to: Any, alpha: float = 0.54, beta: float = 0.46) -> Any:
    return _aten.general_cosine_window(length, [alpha, beta], sym, to)


def _kaiser(length: int, sym: bool, to: Any, beta: float = 12.0) -> Any:
    return _aten.kaiser_window(length, beta, sym, to)


_window("bartlett_window", _aten.bartlett_window)
_window("blackman_window", _aten.blackman_window)
_window("hann_window", _aten.hann_window)
_window("hamming_window", _hamming)
_window("kaiser_window", _kaiser)


@torch_function("stft")
def _stft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Any = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:  # fmt: skip
    """Fourier transforms of overlapping parts of signals: (…, frequencies, frames)."""
    is_complex = _is_complex(input) or _is_complex(window)
    _aten.check_complex_is_said(return_complex is not None, is_complex)
    found = _core.aten.stft(
        input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
        align_to_window,
    )  # fmt: skip
    return cnp.stack([found.real, found.imag], axis=-1) if return_complex is False else found


def _is_complex(x: Any) -> bool:
    return x is not None and x.dtype.kind == "c"


@torch_function("istft")
def _istft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Any = None, center: bool = True, normalized: bool = False,
    onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Any:  # fmt: skip
    """The signals of stft, by least squares."""
    return _core.aten.istft(
        input, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
        return_complex,
    )  # fmt: skip
