"""Choices between values of small arrays, compiled: the bits of the interpreter. (g++ 12 gave loads
within a branch the condition of another element.)"""

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn

SHAPES = [(16, 7), (5, 3), (4, 4, 7), (3, 16), (7, 2), (9, 12), (2, 3, 5)]


def both(function, *arrays):
    results = []
    for backend in ("cpp", "interpreter"):
        made = composit.compile(function, backend=backend)(*arrays)
        results.append(made if isinstance(made, (list, tuple)) else [made])
    return zip(*results)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_branches_of_a_choice(shape, dtype):
    random = np.random.RandomState(sum(shape))
    a, b, c, d = ((random.standard_normal(shape) * 4).astype(dtype) for _ in range(4))
    row = (random.standard_normal(shape[-1]) * 4).astype(dtype)

    def choices(a, b, c, d, row):
        return [
            cnp.where(a + row <= 0, 0, b),
            cnp.where(a > row, b, c),
            cnp.where(a > row, b, row),
            cnp.where(a > b, cnp.where(b > c, c + d, d), row),
            cnp.where(a < row, b * c + 1, d),
        ]

    for number in range(5):
        one = lambda *x, number=number: choices(*x)[number]
        for compiled, expected in both(one, a, b, c, d, row):
            assert np.array_equal(compiled, expected)


@pytest.mark.long_tail
@pytest.mark.parametrize("batch, inputs, hidden", [(16, 5, 7), (7, 3, 5), (4, 2, 3), (12, 8, 9)])
@pytest.mark.parametrize("activation", [nn.relu, nn.gelu, cnp.tanh, cnp.absolute])
def test_gradients_of_small_networks(batch, inputs, hidden, activation):
    random = np.random.RandomState(batch)
    x = random.standard_normal((batch, inputs)).astype("float32")
    weights = [
        random.standard_normal((inputs, hidden)).astype("float32"),
        random.standard_normal(hidden).astype("float32"),
        random.standard_normal((hidden, 3)).astype("float32"),
    ]
    labels = np.arange(batch) % 3

    def loss(w, b, v, x, labels):
        return nn.cross_entropy(activation(x @ w + b) @ v, labels)

    for compiled, expected in both(composit.grad(loss, (0, 1, 2)), *weights, x, labels):
        assert np.array_equal(compiled, expected)


@pytest.mark.long_tail
@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 67])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "float32"])
def test_masks_out_of_memory(length, dtype):
    random = np.random.RandomState(length)
    masks = random.randint(0, 2, (3, length)).astype(bool)
    other = random.randint(0, 2, length).astype(bool)
    a, b = (random.randint(-9, 9, (3, length)).astype(dtype) for _ in range(2))

    def choices(masks, other, a, b):
        return [
            cnp.where(masks, a, b),
            cnp.where(other, a, b),
            cnp.where(masks, cnp.where(other, a, b), a),
            cnp.where(masks == other, a, b),
            cnp.logical_not(masks),
            masks.astype(dtype),
            cnp.count_nonzero(masks, axis=1),
        ]

    expected = [
        np.where(masks, a, b),
        np.where(other, a, b),
        np.where(masks, np.where(other, a, b), a),
        np.where(masks == other, a, b),
        np.logical_not(masks),
        masks.astype(dtype),
        np.count_nonzero(masks, axis=1),
    ]
    for backend in ("cpp", "interpreter"):
        found = composit.compile(choices, backend=backend)(masks, other, a, b)
        for value, wanted in zip(found, expected, strict=True):
            assert value.dtype == wanted.dtype and np.array_equal(value, wanted)
