"""Functions of signals: windows, short-time Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit import numpy as cnp
from composit.torch import calling, dtypes
from composit.torch.calling import torch_function
from composit.torch.given import constant


def _window(name: str, row: Any) -> None:
    def function(
        window_length: int, periodic: bool = True, *args: Any, dtype: Any = None,
        layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False, **options: Any,
    ) -> Any:  # fmt: skip
        length = window_length + bool(periodic)
        values = row(length, *args, **options) if window_length > 1 else np.ones(length)
        to = (dtype or dtypes.default()).numpy
        made = calling.wrapped(constant(values[:window_length].astype(to)))
        return made.requires_grad_() if requires_grad else made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "A window of that name; periodic: for a signal that repeats."
    calling.functions[name] = function


def _hamming(length: int, alpha: float = 0.54, beta: float = 0.46) -> Any:
    return alpha - beta * np.cos(2 * np.pi * np.arange(length) / (length - 1))


_window("bartlett_window", np.bartlett)
_window("blackman_window", np.blackman)
_window("hann_window", np.hanning)
_window("hamming_window", _hamming)
_window("kaiser_window", lambda length, beta=12.0: np.kaiser(length, beta))


@torch_function("stft")
def _stft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Any = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:  # fmt: skip
    """Fourier transforms of overlapping parts of signals: (…, frequencies, frames)."""
    found = _core.aten.stft(
        input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided
    )
    return cnp.stack([found.real, found.imag], axis=-1) if return_complex is False else found


@torch_function("istft")
def _istft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Any = None, center: bool = True, normalized: bool = False,
    onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Any:  # fmt: skip
    """The signals of stft, by least squares."""
    return _core.aten.istft(
        input, n_fft, hop_length, win_length, window, center, normalized, length
    )
