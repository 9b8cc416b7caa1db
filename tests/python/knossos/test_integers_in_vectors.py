"""Integers that become floats in loops to make vectors of: what Python's float makes of them."""

# ruff: noqa: F821

import math

import numpy as np

from composit import knossos
from composit.knossos import Tensor


@knossos.register
def scaled(v: "Tensor[int, n]", x: "Tensor[float, n]") -> "Tensor[float, n]":
    return np.array([math.exp(b) * float(a) for a, b in zip(v, x)])


@knossos.register
def powers(base: float, n: int) -> "Tensor[float, m]":
    return np.array([base ** (k - n) for k in range(2 * n + 1)])


def test_all_sizes_and_roundings():
    random = np.random.default_rng(5)
    ends = [0, 1, -1, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 2**62 + 2**9, 2**62 + 2**9 + 1]
    near = [a + b for a in ends for b in range(-3, 4) if -(2**63) <= a + b < 2**63]
    halves = [(2**53 + a) * 2**b + 2 ** max(b - 1, 0) + c
              for a in (0, 1, 2, 3) for b in range(1, 9) for c in (-1, 0, 1)]  # fmt: skip
    all_bits = random.integers(-(2**63), 2**63 - 1, size=5000)
    v = np.concatenate([near, halves, [-each for each in halves], all_bits >> (all_bits & 63)])
    v = v.astype(np.int64)
    made = scaled(v, np.zeros(len(v)))
    np.testing.assert_array_equal(made.view(np.int64), v.astype(float).view(np.int64))


def test_what_is_loaded_has_the_bits_of_single_calls():
    made = powers(1.0125, 300)
    single = [powers(1.0125, k)[-1] for k in range(1, 300)]
    np.testing.assert_array_equal(made[301:-1], single)
