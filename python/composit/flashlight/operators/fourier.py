"""torch's Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

from composit import numpy as cnp
from composit.flashlight.operators.table import operator


def _scaled(x: Any, lengths: Any, normalization: int) -> Any:
    """torch's codes: 0 for nothing, 1 for a division by the root of the number of elements, 2 for
    one by the number itself."""
    count = math.prod(lengths)
    if normalization == 0:
        return x
    return x * (1 / math.sqrt(count) if normalization == 1 else 1 / count)


@operator("_fft_c2c")
def _fft_c2c(self, dim, normalization, forward):
    if not dim:
        return self
    lengths = [self.shape[d] for d in dim]
    if forward:
        result = cnp.fft.fftn(self, axes=tuple(dim))
    else:
        result = cnp.fft.ifftn(self, axes=tuple(dim), norm="forward")
    return _scaled(result, lengths, normalization)


@operator("_fft_r2c")
def _fft_r2c(self, dim, normalization, onesided):
    lengths = [self.shape[d] for d in dim]
    transform = cnp.fft.rfftn if onesided else cnp.fft.fftn
    return _scaled(transform(self, axes=tuple(dim)), lengths, normalization)


@operator("_fft_c2r")
def _fft_c2r(self, dim, normalization, last_dim_size):
    lengths = [self.shape[d] for d in dim[:-1]] + [last_dim_size]
    result = cnp.fft.irfftn(self, s=lengths, axes=tuple(dim), norm="forward")
    return _scaled(result, lengths, normalization)
