"""Products with constant operands are packed, and turned where rows fill tiles and columns do not:
the bits are those of operands that are arguments."""

from itertools import product

import numpy as np

import composit
from composit import nn

RNG = np.random.default_rng(0)


def drawn(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


def same(function, xs, weights):
    """All products are one program: few compilations."""
    expected = composit.compile(function)(xs, weights)
    for options in ({"backend": "interpreter"}, {"threads": 1}, {"threads": 2}):
        found = composit.compile(lambda xs: function(xs, weights), **options)(xs)
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes(), (options, place)


def test_convolutions_of_few_positions():
    kinds = [(258, 1, 256), (129, 64, 3), (33, 40, 5)]
    cases = list(product(kinds, (1, 4, 33), (1, 2)))
    xs = [drawn(1, c, (positions - 1) * stride + k) for (_, c, k), positions, stride in cases]
    weights = [drawn(*kind) for kind, _, _ in cases]

    def function(xs, weights):
        return [
            nn.convolution(x, w, channels_last=False, strides=(stride,))
            for x, w, (_, _, stride) in zip(xs, weights, cases)
        ]

    same(function, xs, weights)


def test_constants_on_the_left():
    sizes = list(product([(32, 200), (130, 257), (512, 128), (31, 300)], (1, 3, 31, 32)))
    dtypes = ["float32", "float64"] * (len(sizes) // 2)
    xs = [drawn(depth, n, dtype=dtype) for ((_, depth), n), dtype in zip(sizes, dtypes)]
    weights = [drawn(*matrix, dtype=dtype) for (matrix, _), dtype in zip(sizes, dtypes)]

    def function(xs, weights):
        made = []
        for x, w in zip(xs, weights):
            made += [w @ x, nn.relu(w @ x + w[:, :1]), w[::-1] @ x[:, ::-1], w @ x[:, 0]]
        return made

    same(function, xs, weights)
