"""What Generator and RandomState share: vectors of a covariance, bytes."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, with_location
from composit._floating_point import in_default_state
from composit.numpy.creation import asarray

float64, float32 = np.dtype(np.float64), np.dtype(np.float32)


def with_covariance(
    normal: Any, mean: Any, cov: Any, size: Any, check_valid: str, tol: float, method: str,
    is_legacy: bool = False,
) -> LazyTensor:  # fmt: skip
    """multivariate_normal, from normal(shape): NumPy's own sums of products, for its bits."""

    @in_default_state
    def fail(message: str, kind: type[Exception] = ValueError) -> None:
        raise kind(with_location(f"multivariate_normal: {message}"))

    if method not in ("eigh", "svd", "cholesky"):
        fail("method must be one of {'eigh', 'svd', 'cholesky'}")
    center, covariance = (np.array(x.evaluated() if isinstance(x, LazyTensor) else x)
                          for x in (mean, cov))  # fmt: skip
    if "c" in (center.dtype.kind, covariance.dtype.kind):
        fail("mean and cov must not be complex", TypeError)
    shape = () if size is None else tuple(_core.integers(size))
    if center.ndim != 1:
        fail("mean must be 1 dimensional")
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        fail("cov must be 2 dimensional and square")
    if center.shape[0] != covariance.shape[0]:
        fail("mean and cov must have same length")
    whole = (*shape, center.shape[0])
    x = normal(whole).evaluated().reshape(-1, center.shape[0])
    covariance = covariance.astype(np.double)
    is_psd = True
    if method == "cholesky":
        factor = np.linalg.cholesky(covariance)
    elif method == "eigh":
        s, u = np.linalg.eigh(covariance)
        factor = u * np.sqrt(abs(s))
        is_psd = not np.any(s < -tol)
    else:
        u, s, vh = np.linalg.svd(covariance)
        is_psd = np.allclose(np.dot(vh.T * s, vh), covariance, rtol=tol, atol=tol)
        factor = np.sqrt(s)[:, None] * vh if is_legacy else u * np.sqrt(s)
    if check_valid != "ignore" and method != "cholesky":
        if check_valid not in ("warn", "raise"):
            fail("check_valid must equal 'warn', 'raise', or 'ignore'")
        message = "covariance is not symmetric positive-semidefinite."
        if not is_psd and check_valid == "warn":
            warnings.warn(message, RuntimeWarning, stacklevel=3)
        elif not is_psd:
            fail(message)
    values = np.dot(x, factor) + center if is_legacy else center + x @ factor.T
    return asarray(values.reshape(whole), name=f"multivariate_normal({size})")


def check_sequence(p: Any) -> None:
    """TypeError for probabilities that have no length."""
    if p is not None:
        len(p)


def counts(numbers: Any) -> Any:
    """Of sequences of floats the whole parts, as NumPy takes them; arrays must have integers."""
    return np.asarray(numbers, np.int64) if type(numbers) in (list, tuple) else numbers


def as_bytes(draw: Any, length: int) -> Any:
    """Bytes of words of 32 bits, the lowest byte first."""
    count = operator.index(length)
    words = draw(0, 2**32, max((count - 1) // 4 + 1, 1), np.uint32)  # one for none, too
    return words.evaluated().astype("<u4").tobytes()[:count]
