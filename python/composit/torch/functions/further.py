"""Functions of linear algebra, of statistics and of signals under torch's own names."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from composit import numpy as cnp
from composit.flashlight.operators.table import function_of
from composit.torch import calling, dtypes, linalg
from composit.torch.calling import define, torch_function
from composit.torch.functions import indexing, special_functions
from composit.torch.given import constant
from composit.torch.named_results import pair

# ----- special functions

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
    return pair("frexp", "mantissa", "exponent")(mantissa, cnp.astype(exponent, "int32"))


define(function_of("hardshrink"), "hardshrink")


@torch_function("threshold", is_method=False)
def _threshold(input: Any, threshold: float, value: float) -> Any:
    """The elements above the threshold, and value for the others."""
    return function_of("threshold")(input, threshold, value)


# ----- linear algebra


@torch_function("logdet")
def _logdet(input: Any) -> Any:
    """The logarithm of the determinant; NaN where it is negative."""
    sign, size = cnp.linalg.slogdet(input)
    return cnp.where(sign < 0, cnp.full((), np.nan, size.dtype), size)


for _name, _function in (("matrix_exp", linalg.matrix_exp_of), ("slogdet", linalg.slogdet_of)):
    define(_function, _name)


@torch_function("pinverse")
def _pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """The pseudo-inverse."""
    return linalg.pinv_of(input, rcond)


@torch_function("qr")
def _qr(input: Any, some: bool = True) -> Any:
    """Q and R with Q @ R = input."""
    return pair("qr", "Q", "R")(*cnp.linalg.qr(input, "reduced" if some else "complete"))


@torch_function("svd")
def _svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V with U @ diag(S) @ V^H = input."""
    u, s, vh = cnp.linalg.svd(input, full_matrices=not some)
    return pair("svd", "U", "S", "V")(u, s, linalg.adjoint(vh))


@torch_function("cholesky")
def _cholesky(input: Any, upper: bool = False) -> Any:
    """L with L @ L^H = input, or its adjoint."""
    return cnp.linalg.cholesky(input, upper=upper)


def _whole(factor: Any, upper: bool) -> Any:
    half = cnp.triu(factor) if upper else cnp.tril(factor)
    other = linalg.adjoint(half)
    return cnp.matmul(other, half) if upper else cnp.matmul(half, other)


@torch_function("cholesky_inverse")
def _cholesky_inverse(input: Any, upper: bool = False) -> Any:
    """The inverse of the matrix whose Cholesky factor is given."""
    return cnp.linalg.inv(_whole(input, upper))


@torch_function("cholesky_solve")
def _cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Any:
    """X with A @ X = input, of the matrix A whose Cholesky factor is given."""
    return cnp.linalg.solve(_whole(input2, upper), input)


@torch_function("triangular_solve")
def _triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """X with A @ X = input, of A's triangle, and A."""
    matrix = linalg.turned(A) if transpose else A
    found = linalg.solve_triangular_of(
        matrix, input, upper=upper != transpose, unitriangular=unitriangular
    )
    return pair("triangular_solve", "solution", "cloned_coefficient")(found, A)


@torch_function("vander", is_method=False)
def _vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers, the highest first."""
    made = linalg.vander_of(x, N)
    return made if increasing else cnp.flip(made, -1)


@torch_function("pdist", is_method=False, is_neural=True)
def _pdist(input: Any, p: float = 2.0) -> Any:
    """Distances of all pairs of different rows."""
    rows, columns = np.triu_indices(input.shape[0], 1)
    return function_of("linalg_vector_norm")(input[rows] - input[columns], p, -1)


@torch_function("frobenius_norm", is_method=False)
def _frobenius_norm(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    return function_of("linalg_vector_norm")(input, 2, tuple(dim) or None, keepdim)


@torch_function("nuclear_norm", is_method=False)
def _nuclear_norm(input: Any, dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    return cnp.linalg.norm(input, "nuc", axis=tuple(dim), keepdims=keepdim)


@torch_function("renorm", is_inplace=True)
def _renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Parts along a dimension whose p-norm is above maxnorm scaled to it."""
    axes = tuple(i for i in range(input.ndim) if i != dim % input.ndim)
    size = function_of("linalg_vector_norm")(input, p, axes, True)
    return cnp.where(size > maxnorm, input * (maxnorm / (size + 1e-7)), input)


# ----- statistics and counting


@torch_function("mode")
def _mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element, the lowest of several, and its last place."""
    x = cnp.moveaxis(input, dim, -1)
    same = cnp.equal(x[..., :, None], x[..., None, :])
    count = cnp.sum(cnp.astype(same, "int64"), axis=-1)
    is_most = cnp.equal(count, cnp.max(count, axis=-1, keepdims=True))
    order = cnp.argsort(x, axis=-1, kind="stable")
    first = cnp.argmax(cnp.take_along_axis(is_most, order, axis=-1), axis=-1)[..., None]
    value = cnp.take_along_axis(x, cnp.take_along_axis(order, first, axis=-1), axis=-1)
    numbers = cnp.where(cnp.equal(x, value), np.arange(x.shape[-1]), -1)
    place = cnp.max(numbers, axis=-1, keepdims=True)
    found = [cnp.take_along_axis(x, place, axis=-1), place]
    found = [cnp.moveaxis(y, -1, dim) if keepdim else y[..., 0] for y in found]
    return pair("mode")(*found)


@torch_function("nanmedian")
def _nanmedian(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle of the elements that are numbers, the lower of two."""
    x = cnp.reshape(input, (-1,)) if dim is None else cnp.moveaxis(input, dim, -1)
    order = cnp.argsort(x, axis=-1, kind="stable")
    count = cnp.sum(cnp.astype(~cnp.isnan(x), "int64"), axis=-1, keepdims=True)
    middle = cnp.maximum(count - 1, 0) // 2
    place = cnp.take_along_axis(order, middle, axis=-1)
    found = [cnp.take_along_axis(x, place, axis=-1), place]
    if dim is None:
        return found[0][0]
    found = [cnp.moveaxis(y, -1, dim) if keepdim else y[..., 0] for y in found]
    return pair("nanmedian")(*found)


@torch_function("nanquantile")
def _nanquantile(
    input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *,
    interpolation: str = "linear",
) -> Any:  # fmt: skip
    """Quantiles of the elements that are numbers."""
    return cnp.nanquantile(input, q, axis=dim, keepdims=keepdim, method=interpolation)


@torch_function("unique_consecutive")
def _unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Elements that differ from the one before; values decide the shape."""
    x = cnp.reshape(input, (-1,)) if dim is None else cnp.moveaxis(input, dim, 0)
    values = np.asarray(x.evaluated())
    length = values.shape[0]
    differs = np.ones(length, bool)
    differs[1:] = (values[1:] != values[:-1]).reshape(max(length - 1, 0), -1).any(axis=1)
    starts = np.flatnonzero(differs)
    found = [x[starts] if dim is None else cnp.moveaxis(x[starts], 0, dim)]
    if return_inverse:
        inverse = np.cumsum(differs) - 1
        found.append(constant(inverse.reshape(tuple(input.shape)) if dim is None else inverse))
    if return_counts:
        found.append(constant(np.diff(np.append(starts, length))))
    return tuple(found) if len(found) > 1 else found[0]


@torch_function("nonzero_static")
def _nonzero_static(input: Any, *, size: int, fill_value: int = -1) -> Any:
    """The first places where elements are not zero, so many."""
    rows = np.argwhere(np.asarray(input.evaluated()))[:size]
    made = np.full((size, input.ndim), fill_value)
    made[: len(rows)] = rows
    return constant(made)


@torch_function("unravel_index", is_method=False)
def _unravel_index(indices: Any, shape: Any) -> Any:
    """Places of the flat tensor as those of one of a shape."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    found = []
    for axis in range(len(sizes)):
        step = math.prod(sizes[axis + 1 :])
        found.append(indices // step % sizes[axis])
    return tuple(found)


@torch_function("histogram")
def _histogram(
    input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    """How many elements are in each bin, and the bins' edges."""
    values = np.asarray(input.evaluated())
    edges = bins if isinstance(bins, int) else np.asarray(bins.evaluated())
    weights = None if weight is None else np.asarray(weight.evaluated())
    counts, ends = np.histogram(values, edges, range, density, weights)
    return pair("histogram", "hist", "bin_edges")(
        constant(counts.astype(values.dtype)), constant(ends.astype(values.dtype))
    )


@torch_function("cumulative_trapezoid", is_method=False)
def _cumulative_trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The running integral by the trapezoidal rule."""
    line = cnp.moveaxis(y, dim, -1)
    width: Any = dx
    if x is not None:
        width = cnp.diff(x if x.ndim == 1 else cnp.moveaxis(x, dim, -1))
    parts = (line[..., 1:] + line[..., :-1]) / 2 * width
    return cnp.moveaxis(cnp.cumsum(parts, axis=-1), -1, dim)


@torch_function("gradient", is_method=False)
def _gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Differences to both sides, for each dimension."""
    dims = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    several = list(dims)
    given = spacing if isinstance(spacing, (list, tuple)) else [spacing] * len(several)
    return tuple(
        cnp.gradient(input, step, axis=axis, edge_order=edge_order)
        for axis, step in zip(several, given)
    )


@torch_function("combinations", is_method=False)
def _combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of r elements, as rows."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1, r)
    return cnp.take(input, places)


@torch_function("index_reduce", is_inplace=True)
def _index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """source reduced into places of a dimension: "prod", "mean", "amax" or "amin"."""
    shape = [1] * source.ndim
    shape[dim] = -1
    places = cnp.broadcast_to(cnp.reshape(index, tuple(shape)), tuple(source.shape))
    return indexing.scatter_reduce_of(input, dim, places, source, reduce, include_self=include_self)


_EMPTY = {"sum": 0.0, "mean": 0.0, "max": -math.inf, "min": math.inf, "prod": 1.0}
_REDUCTIONS = {"sum": "sum", "mean": "sum", "max": "amax", "min": "amin", "prod": "prod"}


@torch_function("segment_reduce", is_method=False)
def _segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None,
    dim: int = 0, unsafe: bool = False, initial: float | None = None,
) -> Any:  # fmt: skip
    """The rows of data reduced in segments of given lengths, or between offsets: "sum", "mean",
    "max", "min" or "prod"; without initial the mean of none is NaN. Lengths that do not add up to
    the number of rows are refused, unless unsafe."""
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"segment_reduce: unsupported reduction {reduce}. One of {list(_REDUCTIONS)} is "
            "required."
        )
    if indices is not None:
        raise RuntimeError(
            "segment_reduce(): indices based reduction is not supported yet. Lengths or offsets "
            "are required."
        )
    if (lengths is None) == (offsets is None):
        raise RuntimeError(
            "segment_reduce(): Either lengths or offsets must be defined, and not both."
        )
    given = lengths if offsets is None else offsets
    if dim != 0 or given.ndim != 1:
        raise NotImplementedError(
            f"segment_reduce: axis {dim} with segments of shape {tuple(given.shape)}. Axis 0 and "
            "one dimension of segments are built."
        )
    counts = lengths if offsets is None else offsets[1:] - offsets[:-1]
    rows = data.shape[0]
    if not unsafe:
        values = np.asarray(counts.evaluated())
        if (values < 0).any() or values.sum() != rows:
            raise RuntimeError(
                f"segment_reduce: lengths {values.tolist()} for {rows} rows. Lengths from 0 that "
                "add up to the number of rows are required."
            )
    start = _EMPTY[reduce] if initial is None else initial
    # Rows beside all segments go to one behind the last.
    count = counts.shape[0]
    row = cnp.arange(rows)
    if offsets is None:
        places = cnp.searchsorted(cnp.cumsum(lengths), row, side="right")
    else:
        places = cnp.searchsorted(offsets, row, side="right") - 1
        places = cnp.where(places < 0, count, places)
    places = cnp.broadcast_to(cnp.reshape(places, (-1, *[1] * (data.ndim - 1))), data.shape)
    found = indexing.scatter_reduce_of(
        cnp.full((count + 1, *data.shape[1:]), start, data.dtype), 0, places, data,
        _REDUCTIONS[reduce],
    )[:-1]  # fmt: skip
    if reduce != "mean":
        return found
    counts = cnp.reshape(counts, (-1, *[1] * (data.ndim - 1)))
    mean = found / cnp.astype(cnp.maximum(counts, 1), data.dtype)
    return cnp.where(counts == 0, math.nan if initial is None else initial, mean)


# ----- signals


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
