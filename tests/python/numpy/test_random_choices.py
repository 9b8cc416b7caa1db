"""Integers, choices, orders, vectors and RandomState's states against NumPy's, bit for bit."""

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composit.numpy as cnp

ours, theirs = cnp.random, np.random
DTYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
]  # fmt: skip


def pair(family, seed=0):
    if family == "Generator":
        return ours.default_rng(seed), theirs.default_rng(seed)
    return ours.RandomState(seed), theirs.RandomState(seed)


def state_of(rng):
    return rng.get_state(legacy=False) if hasattr(rng, "get_state") else rng.bit_generator.state


def value(x):
    return np.asarray(x.evaluated() if hasattr(x, "evaluated") else x)


def check(both, draw, *arguments, **options):
    """The same numbers and state, or an error of the same class."""
    mine, numpys = both
    if isinstance(draw, str):
        name = draw
        draw = lambda rng, *arguments, **options: getattr(rng, name)(*arguments, **options)
    try:
        expected = draw(numpys, *copy.deepcopy(arguments), **options)
    except Exception as error:
        with pytest.raises(Exception) as found:
            draw(mine, *copy.deepcopy(arguments), **options)
        assert issubclass(found.type, type(error)), (found.value, error)
        return
    x, y = value(draw(mine, *copy.deepcopy(arguments), **options)), np.asarray(expected)
    assert (x.dtype, x.shape) == (y.dtype, y.shape)
    np.testing.assert_array_equal(x, y)
    assert str(state_of(mine)) == str(state_of(numpys))


def limits(dtype):
    return (0, 1) if dtype == "bool" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def integers(rng, low, high, size, dtype, endpoint=False):
    if hasattr(rng, "integers"):
        return rng.integers(low, high, size, dtype, endpoint)
    return rng.randint(low, high, size, dtype)


@pytest.mark.parametrize("family", ["Generator", "RandomState"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_integers(dtype, family):
    least, most = limits(dtype)
    for low, high in [
        (least, most), (least, most + 1), (0, 1), (0, 100), (least - 1, 1), (0, most + 2), (5, 3),
        (0, 0), (0, 1 << 20), (3, None), (0.5, 1.7), (np.int64(0), np.uint64(1)),
    ]:  # fmt: skip
        for size in (None, 7, (3, 50), 0):
            if size is None and dtype == "int64" and high is None:
                continue  # a Python integer there
            for endpoint in (False, True):
                check(pair(family), integers, low, high, size, dtype, endpoint)
    for low, high, size in [
        ([0, 1, 0], [[1], [2]], None), (0, [1, 1, 2], (4, 3)), ([0], [most + 1], 5),
        (np.array([0], "int8"), np.array([1], "int8"), 5), ([0, 1], [1, 0], None),
        (0, [1.9, 1.2], None), ([least - 1], [1], None), ([0], [most + 2], None),
    ]:  # fmt: skip
        for endpoint in (False, True):
            check(pair(family), integers, low, high, size, dtype, endpoint)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_integers_of_any_bounds(data):
    family = data.draw(st.sampled_from(["Generator", "RandomState"]))
    both = pair(family, data.draw(st.integers(0, 2**32 - 1)))
    for _ in range(data.draw(st.integers(1, 3))):
        dtype = data.draw(st.sampled_from(DTYPES))
        bound = st.integers(*limits(dtype))
        low, high = sorted((data.draw(bound), data.draw(bound)))
        size = data.draw(st.sampled_from([3, (2, 2), 40]))
        if data.draw(st.booleans()):
            check(both, integers, low, high, size, dtype, True)
        else:
            lows, highs = np.full(size, low, dtype), np.full(size, high, dtype)
            check(both, integers, lows, highs, None, dtype, True)


@pytest.mark.parametrize("dtype", ["float64", "complex64", ">i4", "U3"])
def test_dtypes_that_are_no_integers(dtype):
    for rng in pair("Generator"):
        with pytest.raises((TypeError, ValueError)):
            rng.integers(0, 9, 3, dtype=dtype)


P = [0.1, 0.2, 0.3, 0.4]
CHOICES = [
    (5,), (5, 3), (5, 3, False), (20000, 1000, False), (20000, (3, 2), False), ([1, 2, 3], 5),
    ([1.5, 2, 3], 2, False), (5, 6, False), (0, 3), ([], 2), (4, 3, True, P), (4, 3, False, P),
    (4, 3, False, [0.5, 0.5, 0, 0]), (4, 3, True, P[:3]), (4, 3, True, [0.1, 0.2, 0.3, 0.3]),
    (4, 3, True, [-0.1, 0.5, 0.3, 0.3]), (4, 3, True, [np.nan, 0.5, 0.3, 0.3]), (4, 3, True, 0.5),
    (["a", "b", "c"], 4), (4, -1), (4, ()), (0, 0), (1.5, 2), ("x", 2), ([1, 2, 3], ()), (3.0, 2),
    (4, 3, True, [P]), (50, (5, 2), False, np.full(50, 0.02)), ([[1, 2], [3, 4], [5, 6]], 4),
    (4, 2000, True, np.array(P, "f4")), (30000, 20000, False),
]  # fmt: skip


@pytest.mark.parametrize("family", ["Generator", "RandomState"])
@pytest.mark.parametrize("arguments", CHOICES, ids=lambda x: str(x)[:30])
def test_choices(arguments, family):
    for seed in range(3):
        check(pair(family, seed), "choice", *arguments)


def test_choices_along_an_axis_and_in_order():
    table = np.arange(24).reshape(2, 3, 4)
    for axis in (0, 1, 2, -1):
        for shuffle in (False, True):
            options = {"replace": False, "axis": axis, "shuffle": shuffle}
            check(pair("Generator"), "choice", table, 2, **options)
    check(pair("Generator"), "choice", 30000, 20000, False, shuffle=False)
    lazy = cnp.exp(cnp.asarray(np.arange(5.0)))
    drawn = ours.default_rng(2).choice(lazy, 4)
    expected = theirs.default_rng(2).choice(lazy.evaluated(), 4)
    np.testing.assert_array_equal(drawn.evaluated(), expected)


def shuffled(rng, x, *axis):
    rng.shuffle(x, *axis)
    return x


@pytest.mark.parametrize("family", ["Generator", "RandomState"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_orders(family):
    for x in (
        7, np.int32(5), [1, 2, 3, 4], np.arange(12.0).reshape(4, 3), ["a", "b"], 0, -3,
        np.array(5), 2.5, np.float32(3), [],
    ):  # fmt: skip
        check(pair(family), "permutation", x)
    for x in (
        list(range(9)), np.arange(10), np.arange(12.0).reshape(4, 3),
        np.arange(12).reshape(3, 4).T, ["a", "b", "c"], np.zeros((3, 0)), 5, (1, 2, 3),
        np.array(["a", "b", None], object), np.array(4), np.zeros((0, 3)),
    ):  # fmt: skip
        check(pair(family), shuffled, x)
    for length in (0, 1, 5, 17):
        check(pair(family), lambda rng, n: np.frombuffer(rng.bytes(n), np.uint8), length)
    tensor, array = cnp.arange(12).reshape(4, 3), np.arange(12).reshape(4, 3)
    mine, numpys = pair(family, 5)
    mine.shuffle(tensor), numpys.shuffle(array)
    np.testing.assert_array_equal(tensor.evaluated(), array)
    fixed = np.arange(3)
    fixed.flags.writeable = False
    for rng in (mine, numpys):
        with pytest.raises(ValueError, match="read-only"):
            rng.shuffle(fixed)


def test_orders_along_axes():
    for x in (np.arange(12).reshape(3, 4), np.arange(24.0).reshape(2, 3, 4), [[1, 2], [3, 4]]):
        for axis in (0, 1, -1, 2, 5):
            check(pair("Generator"), "permutation", x, axis)
            check(pair("Generator"), shuffled, np.asarray(x), axis)
            check(pair("Generator"), shuffled, np.asarray(x).T, axis)
            check(pair("Generator"), "permuted", x, axis=axis)
        for y in (x, np.asarray(x).T):
            check(pair("Generator"), "permuted", y, axis=None)
    check(pair("Generator"), shuffled, [1, 2, 3], 1)
    for out in (np.zeros((3, 4)), np.zeros((4, 3)).T, np.zeros((3, 4), "i1"), np.zeros(3)):
        for axis in (None, 0, 1):
            check(pair("Generator"), "permuted", np.arange(12).reshape(3, 4), axis=axis, out=out)
    mine, numpys = pair("Generator")
    out = cnp.zeros((3, 4))
    assert mine.permuted(cnp.arange(12).reshape(3, 4), axis=1, out=out) is out
    expected = numpys.permuted(np.arange(12).reshape(3, 4), axis=1)
    np.testing.assert_array_equal(out.evaluated(), expected)


@pytest.mark.parametrize("family", ["Generator", "RandomState"])
def test_vectors(family):
    sizes = (None, 3, (2, 2), 0)
    for n, p in [
        (10, [0.2, 0.3, 0.5]), ([5, 10], [0.2, 0.8]), (10, [[0.2, 0.8], [0.5, 0.5]]),
        (10, [0.9, 0.9, 0.1]), (-1, [0.5, 0.5]), (10, 0.5), (10, [1.5, 0.2]), (0, [0.5, 0.5]),
        (2.5, [0.5, 0.5]), (10, np.array([0.1] * 10, "f4")), (10**6, [0.3, 0.3, 0.4]),
    ]:  # fmt: skip
        for size in sizes:
            check(pair(family), "multinomial", n, p, size)
    for alpha in [
        [1.0, 2, 3], [0.01, 0.02, 0.03], [0.0, 0.0], [0, 0.05, 0, 0], [-1, 2], [], [[1, 2]], 3.0,
        [np.nan, 1], [0, 1, 2], [0.05],
    ]:  # fmt: skip
        for size in sizes:
            check(pair(family), "dirichlet", alpha, size)
    covariance = [[2, 0.5], [0.5, 1]]
    for size in (None, 3, (3, 4)):
        check(pair(family), "multivariate_normal", [1, 2], covariance, size)
        for mean, cov in [([[1]], covariance), ([1, 2], [1, 2]), ([1, 2, 3], covariance)]:
            check(pair(family), "multivariate_normal", mean, cov, size)
    check(pair(family), "multivariate_normal", [1, 2], [[1, 0], [0, -1]], check_valid="raise")
    check(pair(family), "multivariate_normal", [1, 2], covariance, check_valid="x")
    for rng in pair(family):
        with pytest.warns(RuntimeWarning, match="positive-semidefinite"):
            rng.multivariate_normal([1, 2], [[1, 0], [0, -1]])


def test_vectors_of_generator():
    for method in ("eigh", "cholesky", "svd", "x"):
        covariance = [[2, 0.5], [0.5, 1]]
        check(pair("Generator"), "multivariate_normal", [1, 2], covariance, 9, method=method)
    for colors, count, method in [
        ([5, 6, 7], 8, "marginals"), ([5, 6, 7], 8, "count"), ([5, 6, 7], 19, "count"),
        ([], 0, "count"), ([5, -1], 2, "count"), ([5.0, 1], 2, "count"), ([5, 1], 2.5, "count"),
        ([5, 1], -1, "count"), ([5, 1], 2, "x"), ([10**9, 1], 2, "marginals"),
        ([[1, 2]], 2, "count"), ([500, 600], 700, "marginals"), ([5, 1], 2**70, "count"),
    ]:  # fmt: skip
        for size in (None, 3, (2, 2)):
            check(pair("Generator"), "multivariate_hypergeometric", colors, count, size, method)


# ----- RandomState


@pytest.mark.parametrize(
    "seed", [0, 2**32 - 1, [1, 2, 3], np.arange(700), np.array(5), np.int64(4)]
)
def test_seeds_of_random_state(seed):
    mine, numpys = ours.RandomState(seed), theirs.RandomState(seed)
    np.testing.assert_array_equal(mine.rand(3, 4).evaluated(), numpys.rand(3, 4))
    np.testing.assert_array_equal(mine.randn(3).evaluated(), numpys.randn(3))
    assert str(mine.get_state()) == str(numpys.get_state())
    mine.seed(seed), numpys.seed(seed)
    assert str(mine.get_state(legacy=False)) == str(numpys.get_state(legacy=False))


@pytest.mark.parametrize("seed", [-1, 2**32, [], [-1], [2**32], [[1, 2]], 1.5, "a", [1.5]])
def test_seeds_that_are_refused(seed):
    with pytest.raises(Exception) as expected:
        theirs.RandomState(seed)
    with pytest.raises(expected.type):
        ours.RandomState(seed)


def test_states_of_random_state():
    mine, numpys = pair("RandomState", 3)
    mine.randn(3), numpys.randn(3)  # half of a pair is kept
    for legacy in (True, False):
        a, b = theirs.RandomState(1), ours.RandomState(1)
        a.set_state(mine.get_state(legacy=legacy))
        b.set_state(numpys.get_state(legacy=legacy))
        assert str(a.get_state()) == str(b.get_state()) == str(numpys.get_state())
        np.testing.assert_array_equal(a.randn(5), b.randn(5).evaluated())
    for other in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert str(other.get_state()) == str(mine.get_state())
    for state in (5, {"a": 1}, ("x", 1, 2), ("MT19937", [1], 2), ("MT19937", np.zeros(624), 700)):
        with pytest.raises((TypeError, ValueError)):
            ours.RandomState(0).set_state(state)
    over = ours.RandomState(ours.PCG64(4))
    check((over, theirs.RandomState(theirs.PCG64(4))), "standard_normal", 7)
    with pytest.raises(TypeError, match="re-seed"):
        over.seed(1)
    with pytest.warns(RuntimeWarning):
        assert isinstance(over.get_state(), dict)


def test_the_functions_of_the_module():
    names = [name for name in theirs.__all__ if callable(getattr(theirs, name))]
    assert [name for name in names if not hasattr(ours, name)] == []
    kept = theirs.get_state()
    try:
        for name, arguments in [
            ("rand", (2,)), ("ranf", (3,)), ("sample", (3,)), ("normal", (1, 2, 3)),
            ("binomial", (9, 0.5, 4)), ("randint", (9,)), ("permutation", (5,)), ("choice", (9, 3)),
        ]:  # fmt: skip
            ours.seed(5)
            x = value(getattr(ours, name)(*arguments))
            theirs.seed(5)
            np.testing.assert_array_equal(x, getattr(theirs, name)(*arguments))
        for module in (ours, theirs):
            with pytest.warns(DeprecationWarning):
                assert 1 <= int(module.random_integers(5)) <= 5
        check((ours.RandomState(1), theirs.RandomState(1)), "tomaxint", (2, 3))
        bits = ours.get_bit_generator()
        ours.set_bit_generator(ours.PCG64(2))
        expected = theirs.RandomState(theirs.PCG64(2)).random(3)
        np.testing.assert_array_equal(ours.random(3).evaluated(), expected)
        ours.set_bit_generator(bits)
        with pytest.raises(ValueError, match="Invalid bit generator"):
            ours.set_bit_generator(5)
    finally:
        theirs.set_state(kept)


# Calls of the module that draw one number or several, pairs of normal numbers among them.
CALLS = [
    ("rand", ()), ("randn", ()), ("randn", (3,)), ("normal", (1.0, 2.0)), ("random", (4,)),
    ("standard_t", (3,)), ("gamma", (2.0, 3.0, 2)), ("standard_cauchy", ()), ("wald", (1, 2, 3)),
    ("dirichlet", ([1, 2],)), ("multivariate_normal", ([0, 1], [[2, 1], [1, 2]])), ("bytes", (3,)),
    ("randint", (0, 9, 3)), ("choice", (9, 3)), ("permutation", (5,)),
    ("multinomial", (9, [0.5] * 2)),
    ("negative_binomial", (3, 0.5)), ("lognormal", ()), ("uniform", (0, [1, 2])),
]  # fmt: skip


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(CALLS)), max_size=12))
@settings(max_examples=60, deadline=None)
def test_the_module_and_numpys_draw_from_one_stream(calls):
    """As where a library calls numpy.random between a program's own draws."""
    kept = theirs.get_state()
    try:
        theirs.seed(7)
        expected = [getattr(theirs, name)(*arguments) for _, (name, arguments) in calls]
        state = theirs.get_state()
        ours.seed(7)
        for (is_ours, (name, arguments)), numbers in zip(calls, expected):
            drawn = getattr(ours if is_ours else theirs, name)(*arguments)
            np.testing.assert_array_equal(value(drawn), numbers)
        assert str(ours.get_state()) == str(theirs.get_state()) == str(state)
    finally:
        theirs.set_state(kept)


def test_the_shared_stream_is_copied_and_refused_by_name():
    kept = theirs.get_state()
    try:
        for draw in (copy.deepcopy(ours.normal), pickle.loads(pickle.dumps(ours.normal))):
            ours.seed(3)
            x = draw(size=3).evaluated()
            np.testing.assert_array_equal(x, theirs.RandomState(3).normal(size=3))
        for draw, message in [
            (lambda: ours.normal(0, -1), "normal: scale < 0: -1."),
            (lambda: ours.seed(-1), "seed: Seed must be between 0 and 2**32 - 1, not -1."),
        ]:
            with pytest.raises(ValueError, match=re.escape(message)):
                draw()
    finally:
        theirs.set_state(kept)
