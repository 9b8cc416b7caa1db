"""Sorting and searching of every length and distribution: positions, and values bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp
from composit import nn

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
          "float32", "float64"]  # fmt: skip
# Around what is sorted side by side (128), by digits, and by fewer digits than a key has.
LENGTHS = [0, 1, 2, 3, 17, 127, 128, 129, 500, 3000]


def special(dtype):
    """Both zeros, infinities, and NaN of several signs and payloads; the ends of integers."""
    if dtype.kind != "f":
        return np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 0], dtype)
    bits = {4: np.uint32, 8: np.uint64}[dtype.itemsize]
    nan = np.array([np.nan, np.nan, np.nan], dtype).view(bits)
    nan[1] |= bits(1) << bits(8 * dtype.itemsize - 1)
    nan[2] += bits(5)
    zeros = np.array([0.0, -0.0, np.inf, -np.inf], dtype)
    tiny = np.array([1, 2], bits).view(dtype)
    return np.concatenate([nan.view(dtype), zeros, tiny, -tiny])


def drawn(dtype, shape, kind, seed):
    draw = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return draw.random(shape) < 0.5
    if kind == "bits":
        count = int(np.prod(shape, dtype=int)) * dtype.itemsize
        x = np.frombuffer(draw.bytes(count), dtype).reshape(shape).copy()
    elif kind == "equals":
        x = draw.integers(0, 5, shape).astype(dtype)
    elif kind == "near":  # equal in their upper bits
        bits = np.dtype(f"u{dtype.itemsize}")
        low = draw.integers(0, min(1 << 20, np.iinfo(bits).max // 4), shape).astype(bits)
        x = (low + bits.type(np.iinfo(bits).max // 2)).astype(bits).view(dtype)
    else:  # two heaps far apart, each equal in its upper bits
        near = drawn(dtype, shape, "near", seed)
        x = np.where(draw.random(shape) < 0.5, near, np.zeros((), dtype)).astype(dtype)
        x = np.where(draw.random(shape) < 0.5, x, drawn(dtype, shape, "bits", seed))
    if dtype.kind in "f" and x.size and kind != "near":
        place = draw.random(shape) < 0.3
        x = np.where(place, draw.choice(special(dtype), shape), x).astype(dtype)
    return x


def bits_of(x):
    return np.ascontiguousarray(x).view(np.uint8)


def order_of(x):
    """NumPy's stable order; NaN behind the rest in the order in which they stand."""
    return np.argsort(x, axis=-1, kind="stable")


@pytest.mark.parametrize("kind", ["bits", "equals", "near", "heaps"])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_order_and_bits(dtype, length, kind):
    for rows in (1, 5, 37):
        x = drawn(dtype, (rows, length), kind, length + rows)
        order = order_of(x)
        found, values = composit.evaluate(cnp.argsort(x), cnp.sort(x))
        np.testing.assert_array_equal(found, order)
        np.testing.assert_array_equal(bits_of(values), bits_of(np.take_along_axis(x, order, 1)))
        turned = composit.evaluate(cnp.sort(x.T, axis=0))
        np.testing.assert_array_equal(bits_of(turned.T), bits_of(values))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DTYPES), st.integers(0, 700), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_any_rows(dtype, length, rows, seed):
    x = drawn(dtype, (rows, length), "bits", seed)[:, ::-1]
    order = order_of(x)
    found, values = composit.evaluate(cnp.argsort(x), cnp.sort(x))
    np.testing.assert_array_equal(found, order)
    np.testing.assert_array_equal(bits_of(values), bits_of(np.take_along_axis(x, order, 1)))


def test_keys_that_digits_do_not_tell_apart():
    """As many equal upper bits as there are values: compared one with another instead."""
    draw = np.random.default_rng(0)
    low = draw.integers(0, 1 << 30, 20000)
    x = np.where(draw.random(20000) < 0.5, low, low + (1 << 62)).astype(np.int64)
    found, values = composit.evaluate(cnp.argsort(x), cnp.sort(x))
    np.testing.assert_array_equal(found, np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(values, np.sort(x))


@pytest.mark.long_tail
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int64"])
def test_compiled_returns_the_same_bits(dtype):
    for length in (50, 128, 700):
        x = drawn(dtype, (9, length), "bits", 4)
        known = np.sort(drawn(dtype, (40,), "equals", 5))

        def function(x, known):
            return cnp.sort(x, axis=1), cnp.argsort(x, axis=0), cnp.searchsorted(known, x)

        expected = composit.evaluate(*function(cnp.asarray(x), cnp.asarray(known)), threads=1)
        for backend in ("interpreter", "cpp"):
            for threads in (1, 3):
                call = composit.compile(function, x, known, backend=backend, threads=threads)
                for ours, theirs in zip(call(x, known), expected):
                    np.testing.assert_array_equal(bits_of(ours), bits_of(theirs))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_search(dtype, side):
    for length in (0, 1, 2, 5, 64, 65, 1000):
        known = np.sort(drawn(dtype, (length,), "bits", length))
        x = np.resize(np.concatenate([drawn(dtype, (70,), "bits", 3), known[:40]]), (50, 2, 1))
        for values in (x, x.transpose(1, 2, 0), x[:0], x[0, 0, 0]):
            found = composit.evaluate(cnp.searchsorted(known, values, side=side))
            np.testing.assert_array_equal(found, np.searchsorted(known, values, side=side))


def test_search_of_each():
    draw = np.random.default_rng(0)
    rows, values = np.sort(draw.random((6, 20))), draw.random((6, 3, 4))

    def search(row, x):
        return cnp.searchsorted(row, x)

    both = composit.evaluate(composit.vmap(search)(rows, values))
    for i in range(6):
        np.testing.assert_array_equal(both[i], np.searchsorted(rows[i], values[i]))
    for axes, call in (((None, 0), lambda i: (rows[0], values[i])),
                       ((0, None), lambda i: (rows[i], values[0]))):  # fmt: skip
        mapped = composit.vmap(search, in_axes=axes)
        first = rows if axes[0] == 0 else rows[0]
        found = composit.evaluate(mapped(first, values if axes[1] == 0 else values[0]))
        for i in range(6):
            np.testing.assert_array_equal(found[i], np.searchsorted(*call(i)))


def test_gradient_of_sorted_values():
    x = cnp.asarray(np.array([[3.0, np.nan, 1.0], [2.0, 2.0, -5.0]]))
    weights = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    gradient = nn.chain_rule({cnp.sort(x, axis=1): cnp.asarray(weights)}, [x])[0]
    expected = np.array([[2.0, 4.0, 1.0], [16.0, 32.0, 8.0]])
    np.testing.assert_array_equal(composit.evaluate(gradient), expected)
