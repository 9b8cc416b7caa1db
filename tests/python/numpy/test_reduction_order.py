"""Reductions of any length have the order of docs/semantics.md, whichever kernel computes them."""

import operator

import numpy as np
import pytest

import composit
from composit import numpy as cnp

LENGTHS = [*range(1, 20), 31, 32, 33, 40, 64, 95, 520, 4096]
SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 3.0])


def in_lanes(elements, combine):
    """Up to 4096 elements: lane i mod 32 combines in order, then lanes by halving."""
    lanes = list(elements[:32])
    for i, element in enumerate(elements[32:]):
        lanes[i % 32] = combine(lanes[i % 32], element)
    for half in (16, 8, 4, 2, 1):
        for j in range(len(lanes) - half):
            lanes[j] = combine(lanes[j], lanes[j + half])
        lanes = lanes[:half] if len(lanes) > half else lanes
    return lanes[0]


def drawn(length, special):
    draw = np.random.default_rng(length)
    values = draw.standard_normal((length, 6)).astype("float32") * 1000
    chosen = draw.random(values.shape) < special
    values[chosen] = draw.choice(SPECIAL, chosen.sum())
    return values


def same_bits(got, expected):
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(got), nan)
    np.testing.assert_array_equal(got[~nan].view("u4"), expected[~nan].view("u4"))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("special", [0, 0.4])
def test_sums_and_products(length, special):
    x = drawn(length, special)
    with np.errstate(all="ignore"):
        for axis, values in ((0, x), (1, np.ascontiguousarray(x.T))):
            for function, combine in ((cnp.sum, operator.add), (cnp.prod, operator.mul)):
                got = composit.evaluate(function(cnp.asarray(values), axis=axis))
                same_bits(got, in_lanes(x, combine))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin", "any", "all"])
def test_extrema_positions_and_truth(length, name):
    for special in (0, 0.2, 0.9):
        x = drawn(length, special)
        for dtype in ("float32", "int16", "bool"):
            with np.errstate(invalid="ignore"):
                values = x.astype(dtype)
            for keepdims in (False, True):
                made = getattr(cnp, name)(cnp.asarray(values), axis=0, keepdims=keepdims)
                expected = getattr(np, name)(values, axis=0, keepdims=keepdims)
                np.testing.assert_array_equal(composit.evaluate(made), expected, strict=True)


def larger(a, b):
    """NaN if either is NaN; of equal operands the first one."""
    return b if b > a or np.isnan(b) else a


@pytest.mark.parametrize("length", [32, 33, 70, 128, 4096, 5000])
@pytest.mark.parametrize("run", ["evaluated", "compiled"])
def test_extrema_of_rows_find_nan_anywhere_and_keep_the_first_zero(length, run):
    def extrema(x):
        return cnp.max(x, axis=1), -cnp.min(-x, axis=1)

    places = [*range(min(length, 70)), length - 1]
    x = np.full((len(places) + 2, length), -1, dtype="float32")
    for row, place in enumerate(places):
        x[row, place] = np.nan
        x[row, (place + 1) % length] = np.inf
    x[-2, [3, 3 + 8]] = -0.0, 0.0
    x[-1, [3, 3 + 8]] = 0.0, -0.0
    call = composit.compile(extrema, x) if run == "compiled" else extrema
    made = call(x if run == "compiled" else cnp.asarray(x))
    got = made if run == "compiled" else [composit.evaluate(y) for y in made]
    expected = np.array([in_lanes(row, larger) for row in x[:, : 32 * (length // 32)]])
    if length <= 4096 and length % 32 == 0:
        same_bits(got[0], expected)
    assert np.isnan(got[0][: len(places)]).all()
    np.testing.assert_array_equal(got[0], got[1])
    np.testing.assert_array_equal(np.signbit(got[0][-2:]), [True, False])


def test_several_axes_and_fused_neighbours():
    x = drawn(3, 0).reshape(3, 2, 3)
    for axes in ((0, 1), (0, 2), (1, 2), (0, 1, 2)):
        y = cnp.asarray(x)
        made = cnp.sqrt(cnp.sum(cnp.abs(y) * 2, axis=axes)) + 1
        moved = np.moveaxis(np.abs(x) * 2, axes, range(len(axes)))
        flat = moved.reshape(-1, *moved.shape[len(axes):])  # fmt: skip
        expected = np.sqrt(in_lanes(flat, operator.add)) + np.float32(1)
        same_bits(np.atleast_1d(composit.evaluate(made)), np.atleast_1d(expected))


@pytest.mark.parametrize("window", [1, 2, 3, (2, 3)])
def test_windows_that_tile_are_put_back(window):
    from composit import nn

    x = drawn(12, 0.2).reshape(1, 2, 6, 6)
    x[x == 0] = -0.0

    def loss(y):
        pooled = nn.max_pool(y, kernel_size=window, strides=window, channels_last=False)
        return -cnp.sum(pooled)

    got = composit.evaluate(composit.grad(loss)(cnp.asarray(x)))
    h, w = (window, window) if isinstance(window, int) else window
    expected = np.zeros_like(x)
    for c, i, j in np.ndindex(2, 6 // h, 6 // w):
        part = x[0, c, i * h : i * h + h, j * w : j * w + w]
        place = np.unravel_index(np.argmax(part), part.shape)
        expected[0, c, i * h + place[0], j * w + place[1]] = -1
    same_bits(got, expected)
