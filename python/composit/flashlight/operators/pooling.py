"""torch's pooling, images with channels first."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import nn
from composit import numpy as cnp
from composit.flashlight.operators.convolutions import lengths
from composit.flashlight.operators.promotion import only_floats
from composit.flashlight.operators.table import operator


def _windows(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
             count: int) -> tuple[Any, ...]:  # fmt: skip
    """Kernel and strides, and for each axis what lies outside on either side: more on the right
    where the last window counts although it is not whole."""
    kernel, padding = lengths(kernel, count), lengths(padding, count)
    stride = lengths(stride, count) if stride not in (None, [], ()) else kernel
    dilation = lengths(dilation, count)
    outside = []
    for n, k, s, p, d in zip(x.shape[-count:], kernel, stride, padding, dilation):
        free = n + 2 * p - d * (k - 1) - 1
        steps = -(-free // s) if ceil_mode else free // s
        if ceil_mode and steps * s >= n + p:
            steps -= 1  # a window has to begin inside
        outside.append((p, max(steps * s + d * (k - 1) + 1 - n - p, 0)))
    return kernel, stride, dilation, outside


def _batched(x: Any, count: int) -> tuple[Any, bool]:
    return (x, False) if x.ndim == count + 2 else (x[None], True)


def _padded(x: Any, outside: Any, value: Any) -> Any:
    if not any(a or b for a, b in outside):
        return x
    return cnp.pad(x, [(0, 0), (0, 0), *outside], constant_values=value)


def _least(dtype: Any) -> Any:
    return -np.inf if dtype.kind not in "iu" else int(np.iinfo(dtype).min)


def _max_pool(count: int) -> Any:
    def row(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        x, is_single = _batched(self, count)
        kernel, strides, dilations, outside = _windows(
            x, kernel_size, stride, padding, dilation, ceil_mode, count
        )
        x = _padded(x, outside, _least(x.dtype))
        if all(d == 1 for d in dilations):
            result = nn.max_pool(x, kernel_size=kernel, channels_last=False, strides=strides)
        else:
            result = cnp.max(_gathered(x, kernel, strides, dilations), axis=-1)
        return result[0] if is_single else result

    return row


def _gathered(x: Any, kernel: Any, strides: Any, dilations: Any) -> Any:
    """The elements of each window along a new last axis."""
    for i, (k, s, d) in enumerate(zip(kernel, strides, dilations)):
        axis = 2 + 2 * i
        starts = np.arange(0, x.shape[axis] - d * (k - 1), s)
        x = cnp.take(x, starts[:, None] + np.arange(k) * d, axis=axis)
    count = len(kernel)
    order = [0, 1, *(2 + 2 * i for i in range(count)), *(3 + 2 * i for i in range(count))]
    x = cnp.transpose(x, order)
    return cnp.reshape(x, (*x.shape[: 2 + count], -1))


def _max_pool_with_indices(count: int) -> Any:
    def row(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        x, is_single = _batched(self, count)
        windows = _windows(x, kernel_size, stride, padding, dilation, ceil_mode, count)
        kernel, strides, dilations, outside = windows
        sizes = x.shape[2:]
        places = np.arange(int(np.prod(sizes))).reshape((1, 1, *sizes))
        places = np.pad(places, [(0, 0), (0, 0), *outside])
        elements = _gathered(_padded(x, outside, _least(x.dtype)), kernel, strides, dilations)
        first = cnp.expand_dims(cnp.argmax(elements, axis=-1), -1)
        numbers = _gathered(cnp.asarray(places), kernel, strides, dilations)
        numbers = cnp.broadcast_to(numbers, elements.shape)
        values = cnp.take_along_axis(elements, first, axis=-1)[..., 0]
        indices = cnp.take_along_axis(numbers, first, axis=-1)[..., 0]
        return (values[0], indices[0]) if is_single else (values, indices)

    return row


def _average_pool(count: int) -> Any:
    def row(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
            divisor_override=None):  # fmt: skip
        only_floats(self, "average pooling")
        x, is_single = _batched(self, count)
        kernel, strides, _, outside = _windows(x, kernel_size, stride, padding, 1, ceil_mode, count)
        pads = lengths(padding, count)
        result = nn.average_pool(
            _padded(x, outside, 0), kernel_size=kernel, channels_last=False, strides=strides
        )
        whole = int(np.prod(kernel))
        if divisor_override:
            result = result * (whole / divisor_override)
        else:
            counted = _counted(x.shape[2:], kernel, strides, outside, pads, count_include_pad)
            if np.any(counted != whole):
                result = result * (whole / counted).astype(x.dtype)
        return result[0] if is_single else result

    return row


def _counted(sizes: Any, kernel: Any, strides: Any, outside: Any, pads: Any, with_pad: bool) -> Any:
    """How many elements each window divides by."""
    total: Any = np.ones(())
    for n, k, s, (before, after), p in zip(sizes, kernel, strides, outside, pads):
        starts = np.arange(0, n + before + after - k + 1, s) - before
        low, high = (-p, n + p) if with_pad else (0, n)
        counts = np.minimum(starts + k, high) - np.maximum(starts, low)
        total = total[..., None] * counts
    return total


for _count in (1, 2, 3):
    operator(f"max_pool{_count}d")(_max_pool(_count))
    operator(f"avg_pool{_count}d")(_average_pool(_count))
    _with_indices = _max_pool_with_indices(_count)
    operator(f"max_pool{_count}d_with_indices")(_with_indices)


def _ranges(length: int, parts: int) -> list[tuple[int, int]]:
    return [(i * length // parts, -(-(i + 1) * length // parts)) for i in range(parts)]


def means(length: int, parts: int, dtype: Any) -> Any:
    """The matrix (length, parts) that takes means of torch's adaptive ranges."""
    matrix = np.zeros((length, parts), dtype)
    for i, (start, stop) in enumerate(_ranges(length, parts)):
        matrix[start:stop, i] = 1 / (stop - start)
    return matrix


def along(x: Any, axis: int, matrix: Any) -> Any:
    """The axis multiplied by a matrix (length, new length)."""
    return cnp.moveaxis(cnp.matmul(cnp.moveaxis(x, axis, -1), matrix), -1, axis)


def _adaptive_average(count: int) -> Any:
    def row(self, output_size):
        sizes = [
            n if m is None else m for n, m in zip(self.shape[-count:], lengths(output_size, count))
        ]
        if all(m == 1 for m in sizes):
            return cnp.mean(self, axis=tuple(range(-count, 0)), keepdims=True)
        x = self
        for i, m in enumerate(sizes):
            axis = self.ndim - count + i
            if self.shape[axis] != m:
                x = along(x, axis, means(self.shape[axis], m, np.dtype("float32")).astype(x.dtype))
        return x

    return row


def _adaptive_max(count: int) -> Any:
    def row(self, output_size):
        x, is_single = _batched(self, count)
        rows = [_ranges(n, m) for n, m in zip(x.shape[2:], lengths(output_size, count))]
        sizes = x.shape[2:]
        numbers = np.arange(int(np.prod(sizes))).reshape(sizes)
        values, indices = [], []
        for spans in _product(rows):
            part = tuple(slice(*span) for span in spans)
            window = cnp.reshape(x[(slice(None), slice(None), *part)], (*x.shape[:2], -1))
            first = cnp.argmax(window, axis=-1, keepdims=True)
            values.append(cnp.take_along_axis(window, first, axis=-1)[..., 0])
            indices.append(cnp.take(numbers[part].reshape(-1), first[..., 0]))
        shape = (*x.shape[:2], *(len(spans) for spans in rows))
        outputs = [cnp.reshape(cnp.stack(parts, axis=-1), shape) for parts in (values, indices)]
        return [output[0] for output in outputs] if is_single else outputs

    return row


def _product(rows: Any) -> Any:
    import itertools

    return itertools.product(*rows)


for _count in (1, 2, 3):
    operator(f"adaptive_avg_pool{_count}d")(_adaptive_average(_count))
    operator(f"adaptive_max_pool{_count}d")(_adaptive_max(_count))
operator("_adaptive_avg_pool2d")(_adaptive_average(2))
operator("_adaptive_avg_pool3d")(_adaptive_average(3))
