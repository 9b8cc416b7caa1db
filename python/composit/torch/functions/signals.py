"""Functions of signals: windows, short-time Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def _frames(length: int, size: int, hop: int) -> Any:
    count = 1 + (length - size) // hop
    return np.arange(count)[:, None] * hop + np.arange(size)


def _padded_window(window: Any, win_length: int, n_fft: int, dtype: Any) -> Any:
    made = cnp.ones((win_length,), dtype) if window is None else window
    left = (n_fft - win_length) // 2
    return cnp.pad(made, (left, n_fft - win_length - left))


@torch_function("stft")
def _stft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Any = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None, return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:  # fmt: skip
    """Fourier transforms of overlapping parts of signals: (…, frequencies, frames)."""
    hop = hop_length or n_fft // 4
    x = input if input.ndim == 2 else input[None]
    if center:
        x = cnp.pad(x, ((0, 0), (n_fft // 2, n_fft // 2)), mode=pad_mode)
    if not 0 < n_fft <= x.shape[-1]:
        raise ValueError(f"stft: expected 0 < n_fft < {x.shape[-1]}, but got n_fft={n_fft}")
    parts = x[:, _frames(x.shape[-1], n_fft, hop)]
    real = np.dtype(x.dtype).char.lower()
    parts = parts * _padded_window(window, win_length or n_fft, n_fft, real)
    is_half = x.dtype.kind != "c" if onesided is None else onesided
    found = (cnp.fft.rfft if is_half else cnp.fft.fft)(parts, norm="ortho" if normalized else None)
    to = "complex64" if x.dtype in (np.dtype("float32"), np.dtype("complex64")) else "complex128"
    found = cnp.swapaxes(cnp.astype(found, to), 1, 2)
    found = found if input.ndim == 2 else found[0]
    if return_complex is False:
        return cnp.stack([found.real, found.imag], axis=-1)
    return found


@torch_function("istft")
def _istft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Any = None, center: bool = True, normalized: bool = False,
    onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Any:  # fmt: skip
    """The signals of stft, by least squares."""
    hop = hop_length or n_fft // 4
    x = input if input.ndim == 3 else input[None]
    to = np.dtype("float32" if x.dtype == np.dtype("complex64") else "float64")
    parts = cnp.fft.irfft(cnp.swapaxes(x, 1, 2), n_fft, norm="ortho" if normalized else None)
    weights = _padded_window(window, win_length or n_fft, n_fft, to)
    parts = cnp.astype(parts, to) * weights
    frames = x.shape[-1]
    size = n_fft + hop * (frames - 1)
    places = (np.arange(frames)[:, None] * hop + np.arange(n_fft)).reshape(-1)
    total = cnp.zeros((x.shape[0], size), to)
    cnp.add.at(total, (slice(None), places), cnp.reshape(parts, (x.shape[0], -1)))
    share = cnp.zeros((size,), to)
    cnp.add.at(share, places, cnp.tile(cnp.square(weights), frames))
    first = n_fft // 2 if center else 0
    last = size - first if length is None else min(first + length, size)
    found = total[:, first:last] / share[first:last]
    return found if input.ndim == 3 else found[0]
