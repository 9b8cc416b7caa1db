"""Filters with a channel of their own: one chain of fma for each window, whatever runs it."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn

SHAPES = {  # image, window, strides, dilation, padding
    "3 x 3": ((2, 5, 17, 18), (3, 3), 1, 1, 1),
    "5 x 5, every second": ((1, 6, 21, 35), (5, 5), 2, 1, 2),
    "dilated": ((1, 3, 19, 40), (3, 3), 1, (2, 3), (2, 3)),
    "narrow image": ((1, 9, 7, 5), (3, 3), 1, 1, 1),
    "7 x 7": ((1, 4, 14, 14), (7, 7), 1, 1, 3),
    "9 x 9": ((1, 2, 20, 20), (9, 9), 1, 1, 4),
    "one row of the window": ((1, 4, 9, 33), (1, 4), 1, 1, 0),
    "strides of three": ((1, 4, 20, 31), (3, 3), 3, 1, 1),
    "sequence": ((2, 4, 65), (31,), 1, 1, 15),
    "volume": ((1, 3, 6, 7, 19), (3, 3, 3), 1, 1, 1),
}


def chain(x, w, strides, dilation, padding):
    """Element by element, depth by depth; products and sums in exact integers, as the values are
    small ones."""
    rank = w.ndim - 2
    each = [v if isinstance(v, tuple) else (v,) * rank for v in (strides, dilation, padding)]
    step, spread, pads = each
    x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in pads]])
    lengths = [
        (x.shape[2 + i] - spread[i] * (w.shape[2 + i] - 1) - 1) // step[i] + 1 for i in range(rank)
    ]
    out = np.zeros((*x.shape[:2], *lengths), x.dtype)
    for at in np.ndindex(*w.shape[2:]):
        window = tuple(
            slice(spread[i] * at[i], spread[i] * at[i] + step[i] * (lengths[i] - 1) + 1, step[i])
            for i in range(rank)
        )
        factor = w[(slice(None), 0, *at)].reshape(-1, *[1] * rank)
        out += x[(slice(None), slice(None), *window)] * factor
    return out


def operands(name, dtype, draw):
    image, window, *rest = SHAPES[name]
    return draw(image).astype(dtype), draw((image[1], 1, *window)).astype(dtype), rest


def convolution(strides, dilation, padding, groups):
    options = {"strides": strides, "dilation": dilation, "padding": padding, "groups": groups}
    return lambda x, w: nn.convolution(x, w, channels_last=False, **options)


@pytest.mark.long_tail
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_small_integers_are_exact(name, dtype):
    rng = np.random.default_rng(1)
    x, w, rest = operands(name, dtype, lambda shape: rng.integers(-3, 4, shape))
    found = composit.compile(convolution(*rest, x.shape[1]), x, w, threads=2)(x, w)
    np.testing.assert_array_equal(found, chain(x, w, *rest))


def special(shape):
    """Zeros of both signs, infinities, NaN and subnormal numbers among others."""
    rng = np.random.default_rng(2)
    values = rng.standard_normal(shape)
    few = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3e38]
    return np.where(rng.random(shape) < 0.02, rng.choice(few, shape), values)


@pytest.mark.long_tail
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("draw", [np.random.default_rng(3).standard_normal, special])
def test_compiled_and_interpreted_bits(name, dtype, draw):
    x, w, rest = operands(name, dtype, draw)
    bias = draw((x.shape[1], *[1] * (x.ndim - 2))).astype(dtype)
    plain = convolution(*rest, x.shape[1])

    def block(x, w, bias):  # what follows is done with the sums
        return plain(x, w), cnp.minimum(cnp.maximum(plain(x, w) + bias, 0), 6)

    with np.errstate(all="ignore"):
        wanted = [np.asarray(value) for value in block(*map(cnp.asarray, (x, w, bias)))]
        for threads in (1, 3):
            for fuse in (True, False):
                compiled = composit.compile(block, x, w, bias, threads=threads, fuse=fuse)
                for ours, theirs in zip(compiled(x, w, bias), wanted, strict=True):
                    is_number = ~np.isnan(theirs)
                    np.testing.assert_array_equal(np.isnan(ours), ~is_number)
                    assert ours[is_number].tobytes() == theirs[is_number].tobytes()


@pytest.mark.long_tail
@pytest.mark.parametrize("name", ["3 x 3", "5 x 5, every second", "sequence"])
def test_gradients_have_the_same_bits(name):
    x, w, rest = operands(name, "float32", np.random.default_rng(4).standard_normal)
    plain = convolution(*rest, x.shape[1])

    def gradients(x, w):
        return composit.grad(lambda x, w: cnp.sum(plain(x, w) ** 2), argnums=(0, 1))(x, w)

    wanted = [np.asarray(value) for value in gradients(cnp.asarray(x), cnp.asarray(w))]
    for ours, theirs in zip(composit.compile(gradients, x, w)(x, w), wanted, strict=True):
        assert ours.tobytes() == theirs.tobytes()
