"""where gives its operands' bits as they are: also those of NaNs, infinities, zeros with signs.
Halves are computed as float32, where a signalling NaN becomes a quiet one: they are not here."""

import numpy as np
import pytest

from composit import numpy as cnp

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
          "float32", "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [1, 7, 64, 1000])
def test_where_keeps_bits(dtype, length):
    drawn = np.random.default_rng(length)

    def bits():
        if dtype == "bool":
            return drawn.integers(0, 2, length).astype(bool)
        return np.frombuffer(drawn.bytes(length * np.dtype(dtype).itemsize), dtype)

    mask, a, b = drawn.integers(0, 2, length).astype(bool), bits(), bits()
    found = cnp.where(cnp.array(mask), cnp.array(a), cnp.array(b)).evaluated()
    assert found.tobytes() == np.where(mask, a, b).tobytes()
