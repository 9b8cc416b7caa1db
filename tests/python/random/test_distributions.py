"""composit.random's distributions, by the tests of SciPy: Kolmogorov and Smirnov's, chi-square, and
moments. Keys are fixed, so that a test that passes once always does."""

import numpy as np
import pytest
from scipy import stats

import composit
import composit.numpy as cnp
from composit import random

COUNT = 40_000
KEY = random.key(20)

CONTINUOUS = {
    "uniform": (lambda k, n, d: random.uniform(k, n, d), stats.uniform()),
    "uniform between": (
        lambda k, n, d: random.uniform(k, n, d, minval=-2, maxval=3.0),
        stats.uniform(-2, 5),
    ),
    "uniform below": (lambda k, n, d: random.uniform(k, n, d, maxval=3), stats.uniform(0, 3)),
    "uniform above": (lambda k, n, d: random.uniform(k, n, d, minval=-1), stats.uniform(-1, 2)),
    "normal": (random.normal, stats.norm()),
    "exponential": (random.exponential, stats.expon()),
    "laplace": (random.laplace, stats.laplace()),
    "logistic": (random.logistic, stats.logistic()),
    "gumbel": (random.gumbel, stats.gumbel_r()),
    **{
        f"gamma {a}": (lambda k, n, d, a=a: random.gamma(k, a, n, d), stats.gamma(a))
        for a in (0.3, 1.0, 3.5, 80.0)
    },
    **{
        f"normal in {low}, {high}": (
            lambda k, n, d, low=low, high=high: random.truncated_normal(k, low, high, n, d),
            stats.truncnorm(low, high),
        )
        for low, high in [(-2, 2), (-1, 0.5), (1.5, 9), (-30, -8), (8.5, np.inf), (-np.inf, np.inf)]
    },
}


def value(tensor):
    return composit.evaluate(tensor)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name, dtype):
    draw, expected = CONTINUOUS[name]
    x = value(draw(KEY, (COUNT,), dtype))
    assert x.dtype == dtype and np.isfinite(x).all()
    x = x.astype("float64")
    assert stats.kstest(x, expected.cdf).pvalue > 1e-3
    low, high = expected.support()
    assert low <= x.min() and x.max() <= high
    # Mean and variance, in units of their own deviations.
    mean, variance, kurtosis = (float(m) for m in expected.stats("mvk"))
    deviation = np.sqrt(variance / COUNT)
    assert abs(x.mean() - mean) < 4 * deviation
    if np.isfinite(kurtosis):
        spread = variance * np.sqrt((kurtosis + 2) / COUNT)
        assert abs(x.var() - variance) < 4 * spread


@pytest.mark.parametrize("name", ["normal", "exponential", "laplace", "logistic", "gumbel"])
def test_float32_is_float64_rounded(name):
    single, double = (value(getattr(random, name)(KEY, 5000, d)) for d in ("float32", "float64"))
    np.testing.assert_array_equal(single, double.astype("float32"))


def test_tails_of_the_normal_distribution():
    x = value(random.normal(random.key(3), (1 << 21,)))
    for deviations in (3, 4):
        expected = x.size * stats.norm.sf(deviations)
        for count in ((x > deviations).sum(), (x < -deviations).sum()):
            assert abs(count - expected) < 4 * np.sqrt(expected)
    # No two of the largest are equal: float32 is fine enough there, and so are the bits.
    largest = np.sort(np.abs(x))[-300:]
    assert len(np.unique(largest)) > 295


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_bernoulli(p):
    x = value(random.bernoulli(KEY, p, (COUNT,)))
    assert x.dtype == bool
    assert abs(x.mean() - p) <= 4 * np.sqrt(p * (1 - p) / COUNT)


def test_bernoulli_takes_probabilities():
    p = np.linspace(0, 1, 5)
    many = value(random.bernoulli(KEY, p, (COUNT // 4, 5))).mean(axis=0)
    np.testing.assert_allclose(many, p, atol=0.02)
    assert random.bernoulli(KEY, p).shape == (5,)
    assert random.bernoulli(KEY).shape == ()


INTERVALS = [
    ("int64", 0, 6),
    ("int64", -7, 30),
    ("int32", -(2**31), 2**31),
    ("uint8", 0, 256),
    ("int8", -128, 0),
    ("uint32", 5, 2**32),
    ("int64", -(2**63), 2**63 - 1),
    ("uint64", 0, np.uint64(2**64 - 1)),
    ("int16", 3, 4),
]


@pytest.mark.parametrize("dtype, low, high", INTERVALS)
def test_randint(dtype, low, high):
    x = value(random.randint(KEY, (COUNT,), low, high, dtype))
    assert x.dtype == dtype
    low, high = int(low), int(high)
    exact = [int(v) for v in x[:2000]]
    assert low <= min(exact) and max(exact) < high
    span = high - low
    boxes = min(span, 16)
    shares = np.array([(int(v) - low) * boxes // span for v in x])
    counts = np.bincount(shares, minlength=boxes)
    # Boxes of equal width hold as many integers each, or one more.
    edges = np.array([-(-span * i // boxes) for i in range(boxes + 1)], float)
    if boxes > 1:
        assert stats.chisquare(counts, COUNT * np.diff(edges) / span).pvalue > 1e-3


def test_randint_of_tensors():
    low, high = np.array([0, 10, -5]), np.array([[3], [11], [-5]])
    x = value(random.randint(KEY, (200, 3, 3), low, high))
    least, greatest = np.broadcast_arrays(low, np.maximum(high - 1, low))
    np.testing.assert_array_equal(x.min(axis=0), least)
    np.testing.assert_array_equal(x.max(axis=0), greatest)
    empty = value(random.randint(KEY, 3, 4, 4))
    assert empty.tolist() == [4, 4, 4]


def test_rademacher():
    for dtype in ("int64", "int8", "float32"):
        x = value(random.rademacher(KEY, (COUNT,), dtype))
        assert x.dtype == dtype and set(np.unique(x)) == {-1, 1}
        assert abs(x.mean(dtype="float64")) < 4 / np.sqrt(COUNT)


def test_categorical():
    p = np.array([0.5, 0.25, 0.2, 0.05, 0.0])
    with np.errstate(divide="ignore"):
        logits = np.broadcast_to(np.log(p) + 3, (COUNT, 5))
    x = value(random.categorical(KEY, logits))
    counts = np.bincount(x, minlength=5)
    assert counts[4] == 0
    assert stats.chisquare(counts[:4], COUNT * p[:4]).pvalue > 1e-3
    np.testing.assert_array_equal(value(random.categorical(KEY, logits.T, axis=0)).shape, COUNT)


def test_keys_are_independent():
    """Draws of neighbouring seeds, of split keys and of folded ones do not correlate."""
    keys = cnp.concatenate(
        [
            cnp.stack([random.key(seed) for seed in range(12)]),
            random.split(random.key(99), 12),
            cnp.stack([random.fold_in(random.key(98), i) for i in range(12)]),
        ]
    )
    x = value(composit.vmap(lambda key: random.normal(key, (COUNT // 4,), "float64"))(keys))
    correlation = np.corrcoef(x) - np.eye(len(x))
    assert np.abs(correlation).max() < 5 / np.sqrt(COUNT // 4)
    uniform = stats.norm.cdf(x[:, 0])
    assert stats.kstest(uniform, "uniform").pvalue > 1e-3


def test_neighbouring_elements_are_independent():
    x = value(random.uniform(KEY, (COUNT, 2), "float64"))
    boxes = np.floor(x * 8).astype(int) @ [8, 1]
    assert stats.chisquare(np.bincount(boxes, minlength=64)).pvalue > 1e-3
    bits = value(random.bits(KEY, COUNT, "uint64"))
    ones = [((bits >> np.uint64(i)) & np.uint64(1)).sum() for i in range(64)]
    assert np.abs(np.array(ones, float) - COUNT / 2).max() < 4.5 * np.sqrt(COUNT) / 2


@pytest.mark.parametrize("a", [0.1, 0.7, 1.0, 4.0, 7.9, 8.1, 60.0, 2e4])
def test_draws_of_gamma_move_as_their_quantiles(a):
    shares = np.array([0.02, 0.3, 0.5, 0.9, 0.999])
    step = 1e-4 * a
    quantiles = [stats.gamma.ppf(shares, a + s) for s in (-step, 0, step)]
    expected = (quantiles[2] - quantiles[0]) / (2 * step)
    np.testing.assert_allclose(value(random.gamma_slope(a, quantiles[1])), expected, 3e-6)


def test_gradients_reach_the_concentration():
    slope = composit.grad(lambda a: cnp.mean(random.gamma(KEY, a, (COUNT,), "float64")))
    assert abs(value(slope(np.float64(2.5))) - 1) < 0.02  # the mean is a
