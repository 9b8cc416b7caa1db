"""Sorts of few short rows, whose elements find their places by counting: NumPy's stable order, with
the bits of zeros and NaN as they were."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp

DTYPES = (
    "float32",
    "float64",
    "int8",
    "uint8",
    "int16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "bool",
)


def drawn(random, shape, dtype):
    """With many equal elements; floats with zeros of both signs, infinities and NaN."""
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    numbers = (
        random.integers(-40, 40, shape)
        if random.integers(2)
        else random.integers(0, 1 << 62, shape)
    )
    values = numbers.astype(dtype)
    if dtype.startswith("float"):
        odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
        values = np.where(random.random(shape) < 0.3, odd[random.integers(0, 5, shape)], values)
    return values


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_and_positions(dtype):
    random = np.random.default_rng(DTYPES.index(dtype))
    for length in (1, 2, 7, 16, 17, 63, 64, 65, 100, 127, 128, 129):
        for rows in (1, 2, 3, 4):
            x = drawn(random, (rows, length), dtype)
            order = np.argsort(x, 1, kind="stable")
            sorted_rows = np.take_along_axis(x, order, 1)
            np.testing.assert_array_equal(composit.evaluate(cnp.argsort(x, 1, stable=True)), order)
            found = np.asarray(composit.evaluate(cnp.sort(x, 1)))
            assert found.tobytes() == np.ascontiguousarray(sorted_rows).tobytes(), (length, rows)
            columns = np.ascontiguousarray(x.T)
            found = np.asarray(composit.evaluate(cnp.sort(columns, 0)))
            assert found.tobytes() == np.ascontiguousarray(sorted_rows.T).tobytes(), (length, rows)


@pytest.mark.parametrize("dtype", ("float32", "uint8", "int64"))
def test_compiled(dtype):
    x = drawn(np.random.default_rng(3), (2, 100), dtype)
    compiled = composit.compile(lambda x: (cnp.sort(x, 1), cnp.argsort(x, 1, stable=True)), x)
    order = np.argsort(x, 1, kind="stable")
    values, positions = compiled(x)
    np.testing.assert_array_equal(positions, order)
    assert values.tobytes() == np.take_along_axis(x, order, 1).tobytes()
