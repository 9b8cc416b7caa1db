"""Every distribution of Generator and of RandomState against NumPy's, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp

ours, theirs = cnp.random, np.random
PAIRS = {
    "Generator": lambda seed: (ours.default_rng(seed), theirs.default_rng(seed)),
    "RandomState": lambda seed: (ours.RandomState(seed), theirs.RandomState(seed)),
}
for _kind in ("MT19937", "Philox", "SFC64", "PCG64DXSM"):
    PAIRS[_kind] = lambda seed, kind=_kind: (
        ours.Generator(getattr(ours, kind)(seed)), theirs.Generator(getattr(theirs, kind)(seed)),
    )  # fmt: skip
NAN = float("nan")
# Parameters that reach every branch of every algorithm.
PARAMETERS = {
    "beta": [(2.0, 3.0), (0.5, 0.4), (0.01, 0.02), (NAN, 1), (1e-200, 1e-200)],
    "binomial": [
        (10, 0.3),
        (1000, 0.6),
        (100, 0.99),
        (10**9, 0.5),
        (0, 0.4),
        (5, 0),
        (5, 1),
        (7.5, 0.5),
    ],
    "chisquare": [(3,), (0.5,), (NAN,)],
    "exponential": [(), (2.5,), (0,)],
    "f": [(3, 4)],
    "gamma": [(0.5,), (3.0, 2.0), (0.0,)],
    "geometric": [(0.5,), (0.01,), (1.0,), (1e-12,)],
    "gumbel": [(), (1, 2)],
    "hypergeometric": [(10, 20, 5), (100, 50, 60), (1000, 2000, 100), (50, 20, 70), (0, 5, 3)],
    "laplace": [(), (1, 3)],
    "logistic": [(), (1, 3)],
    "lognormal": [(), (1, 0.5)],
    "logseries": [(0.5,), (0.999,), (0.0,)],
    "negative_binomial": [(5, 0.3), (2.5, 0.9), (5, 1)],
    "noncentral_chisquare": [(3, 2), (0.5, 1.0), (0.5, 0), (3, NAN), (0.5, NAN)],
    "noncentral_f": [(3, 4, 1.0), (0.5, 4, 2.0)],
    "normal": [(), (1, 2), (True, np.float32(2))],
    "pareto": [(3,)],
    "poisson": [(), (3,), (1000.0,), (0,), (1e18,)],
    "power": [(2.0,)],
    "rayleigh": [(), (3,)],
    "standard_cauchy": [()],
    "standard_exponential": [()],
    "standard_gamma": [(0.0,), (0.3,), (1,), (8,)],
    "standard_normal": [()],
    "standard_t": [(4,)],
    "triangular": [(0, 1, 5)],
    "uniform": [(), (-2, 7), (3, 3)],
    "vonmises": [(0.0, 1.0), (1, 1e-9), (1, 1e-6), (2, 50.0), (1, 1e8), (-4, 2), (1, NAN)],
    "wald": [(1, 2)],
    "weibull": [(2,), (0,)],
    "zipf": [(2.0,), (1.1,), (1.001,)],
}


def state_of(rng):
    return rng.get_state(legacy=False) if hasattr(rng, "get_state") else rng.bit_generator.state


def check(pair, name, *parameters, **options):
    """The same numbers and, afterwards, the same state."""
    mine, numpys = pair
    x = getattr(mine, name)(*parameters, **options).evaluated()
    y = np.asarray(getattr(numpys, name)(*parameters, **options))
    assert (x.dtype, x.shape) == (y.dtype, y.shape)
    np.testing.assert_array_equal(x, y)
    assert str(state_of(mine)) == str(state_of(numpys))


@pytest.mark.long_tail
@pytest.mark.parametrize("family", PAIRS)
@pytest.mark.parametrize("name", PARAMETERS)
def test_numbers_and_states(name, family):
    for seed in range(3):
        for parameters in PARAMETERS[name]:
            for size in (None, 5, (30, 40), (0, 2), ()):
                check(PAIRS[family](seed), name, *parameters, size=size)
            if parameters:  # arrays, broadcast to (3, 4), and to more
                shapes = [(4,), (3, 1), (1, 4)]
                arrays = [np.full(shape, x) for shape, x in zip(shapes, parameters)]
                if name == "binomial" or name == "hypergeometric":
                    arrays = [
                        x if name == "binomial" and i else x.astype(int)
                        for i, x in enumerate(arrays)
                    ]
                for size in (None, (2, 3, 4)):
                    check(PAIRS[family](seed), name, *arrays, size=size)


@pytest.mark.parametrize("family", PAIRS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_any_seed_shape_and_parameters(family, data):
    pair = PAIRS[family](data.draw(st.integers(0, 2**32 - 1)))
    positive = st.floats(1e-3, 1e3)
    names = ["normal", "gamma", "beta", "f", "wald", "vonmises", "gumbel", "logistic", "lognormal"]
    for _ in range(data.draw(st.integers(1, 4))):  # one stream
        name = data.draw(st.sampled_from(names))
        shape = tuple(data.draw(st.lists(st.integers(1, 3), max_size=3)))
        x, y = data.draw(positive), np.full(shape, data.draw(positive))
        size = data.draw(st.sampled_from([None, shape, (2, *shape)]))
        check(pair, name, x, y, size=size)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_both_widths_and_outputs(dtype):
    for name, options in [
        ("random", {}), ("standard_normal", {}), ("standard_exponential", {}),
        ("standard_exponential", {"method": "inv"}), ("standard_gamma", {"shape": 2.5}),
        ("standard_gamma", {"shape": [0.5, 1, 2, 3]}),
    ]:  # fmt: skip
        for size in (4, (3, 4), (500, 4)):
            check(PAIRS["Generator"](4), name, size=size, dtype=dtype, **options)
        mine, numpys = PAIRS["Generator"](7)
        for order in "CF":
            if order == "F" and name == "standard_gamma":
                continue
            out, expected = np.zeros((3, 4), dtype, order), np.zeros((3, 4), dtype, order)
            assert getattr(mine, name)(out=out, dtype=dtype, **options) is out
            getattr(numpys, name)(out=expected, dtype=dtype, **options)
            np.testing.assert_array_equal(out, expected)
        tensor = cnp.zeros((3, 4), dtype)
        assert getattr(mine, name)(out=tensor, dtype=dtype, **options) is tensor
        np.testing.assert_array_equal(
            tensor.evaluated(), getattr(numpys, name)(size=(3, 4), dtype=dtype, **options)
        )


def test_sequences_of_counts():
    for family in ("Generator", "RandomState"):
        check(PAIRS[family](0), "binomial", [5.9, 7, True], 0.5)
        check(PAIRS[family](0), "hypergeometric", (5.9, 7), [4], [3.5])


def test_outputs_that_do_not_fit():
    for rng in (ours.default_rng(0), theirs.default_rng(0)):
        for out, kind in [
            (np.zeros(3, "f4"), TypeError), (np.zeros((2, 6))[:, ::2], ValueError),
            (np.zeros(3, ">f8"), ValueError),
        ]:  # fmt: skip
            with pytest.raises(kind):
                rng.random(out=out)
        with pytest.raises(ValueError, match="size must match"):
            rng.random(4, out=np.zeros(3))
        fixed = np.zeros(3)
        fixed.flags.writeable = False
        with pytest.raises(ValueError, match="writable"):
            rng.random(out=fixed)
        with pytest.raises(ValueError):
            rng.standard_gamma(1.0, out=np.zeros((3, 4), order="F"))
        for dtype in ("float16", int, "complex128"):
            with pytest.raises(TypeError):
                rng.standard_normal(3, dtype=dtype)
    for out in ("a", 5):
        with pytest.raises(TypeError):
            ours.default_rng(0).random(out=out)


@pytest.mark.parametrize("family", ["Generator", "RandomState"])
@pytest.mark.parametrize("name, parameters", [
    ("normal", (0, -1)), ("normal", (0, -0.0)), ("normal", (0, [1, -1])), ("normal", (1j, 1)),
    ("normal", ([1, 2], [1, 2, 3])), ("normal", (None, 1)), ("uniform", (0, np.inf)),
    ("uniform", ([0, 1], [1, np.inf])), ("beta", (0, 1)), ("binomial", (-1, 0.5)),
    ("binomial", (5, 1.5)), ("binomial", (5, NAN)), ("binomial", ([5, -1], 0.5)),
    ("binomial", (np.array([5.5]), 0.5)), ("poisson", (-1,)), ("poisson", (NAN,)),
    ("poisson", (1e20,)), ("poisson", ([1, NAN],)), ("zipf", (1,)), ("zipf", (NAN,)),
    ("geometric", (0,)), ("geometric", (1.1,)), ("logseries", (1,)), ("logseries", (-0.1,)),
    ("hypergeometric", (1, 2, 4)), ("hypergeometric", (-1, 2, 1)),
    ("hypergeometric", ([1, 5], 2, [4, 2])), ("negative_binomial", (0, 0.5)),
    ("triangular", (1, 0, 2)), ("triangular", (0, 3, 2)), ("triangular", (1, 1, 1)),
    ("triangular", ([0, 1], [1, 2], [1, 0])), ("triangular", (0, [0.5, 2], 1)),
    ("vonmises", (0, -1)), ("gamma", (-1,)), ("f", (0, 1)), ("noncentral_chisquare", (1, -1)),
    ("standard_t", (0,)), ("weibull", (-1,)), ("pareto", (0,)), ("wald", (0, 1)), ("power", (0,)),
    ("rayleigh", (-1,)), ("exponential", (-1,)), ("standard_gamma", (-0.5,)),
])  # fmt: skip
def test_parameters_that_are_refused(name, parameters, family):
    mine, numpys = PAIRS[family](0)
    before = str(state_of(mine))
    for size in (None, 2, (3, 2)):
        with pytest.raises(Exception) as expected:
            getattr(numpys, name)(*parameters, size=size)
        with pytest.raises(expected.type, match=rf"^{name}: "):
            getattr(mine, name)(*parameters, size=size)
    assert str(state_of(mine)) == before


def test_what_one_family_refuses():
    for name, parameters in [
        ("uniform", (3, 1)), ("hypergeometric", (10**10, 2, 1)), ("negative_binomial", (5, 1e-30)),
        ("negative_binomial", (5, 0)), ("negative_binomial", (NAN, 0.5)),
    ]:  # fmt: skip
        for rng in PAIRS["Generator"](0):
            with pytest.raises(ValueError):
                getattr(rng, name)(*parameters)
    check(PAIRS["RandomState"](0), "uniform", 3, 1, 4)
    for rng in PAIRS["RandomState"](0):
        with pytest.raises(ValueError):
            rng.hypergeometric(2, 2, 0)


def test_sizes_that_do_not_fit():
    for rng in (*PAIRS["Generator"](0), *PAIRS["RandomState"](0)):
        for size in ((2, 2), (3, 1), 1, (1, 3, 1)):
            with pytest.raises(ValueError):
                rng.normal([1, 2, 3], 1, size=size)
        for size in (-1, (2, -1)):
            with pytest.raises(ValueError, match="negative dimensions"):
                rng.random(size)


def test_tensors_are_parameters():
    mine, numpys = PAIRS["Generator"](3)
    loc = cnp.exp(cnp.asarray(np.array([0.5, 1.0])))  # a lazy tensor
    draw = mine.normal(loc, 2.0, (4, 2))
    assert len(draw.graph) == 1
    loc_values = loc.evaluated()
    np.testing.assert_array_equal(draw.evaluated(), numpys.normal(loc_values, 2.0, (4, 2)))
    np.testing.assert_array_equal(
        mine.integers(cnp.arange(3), 9).evaluated(), numpys.integers(np.arange(3), 9)
    )
    with pytest.raises(NotImplementedError, match="normal: the numbers depend on loc"):
        composit.vmap(lambda x: mine.normal(x, 1.0))(np.ones(3))


def test_draws_keep_their_values_and_are_named():
    rng = ours.default_rng(0)
    x = rng.normal(1.5, 2, (2, 3))
    np.testing.assert_array_equal(x.evaluated(), x.evaluated())
    assert x.describe().startswith("LazyTensor(normal(1.5, 2, (2, 3)): float64[2, 3])")
    # Names are kept for good: numbers of many digits would make a new one for each call.
    assert "normal(..., 1)" in rng.normal(0.123456789, 1).describe()
    step = composit.compile(lambda y: y + x, np.zeros((2, 3)))
    np.testing.assert_array_equal(step(np.zeros((2, 3))), x.evaluated())
