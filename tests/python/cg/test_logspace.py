"""logspace: equal to the logarithm of the plain computation, and exact where that underflows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import composit
import composit.numpy as cnp
from composit import cg, nn
from composit.cg import op


def module(function, *inputs):
    return cg.Module.build("f", function, tuple(map(cg.Variable, inputs)))


def test_a_product_that_underflows():
    p = np.random.RandomState(0).uniform(0.01, 0.2, 1000)
    m = module(lambda self, p: op.prod(p), "p")
    assert m(p).value == 0
    in_logs = cg.logspace(m)
    result = in_logs(p)
    assert result.value == pytest.approx(math.fsum(np.log(p)), rel=1e-14)
    result.back()
    assert np.allclose(result.grad(in_logs.input("p")), 1 / p, rtol=1e-15)
    assert "log f" in result.module.functional_name


def test_a_hidden_markov_chain_of_a_thousand_steps():
    """The forward algorithm: products of matrices of probabilities, beside exact fractions."""
    from fractions import Fraction

    transition = np.array([[0.75, 0.25], [0.5, 0.5]])
    emission = np.array([[0.5, 0.125], [0.25, 0.0625]])
    seen = np.random.RandomState(1).randint(0, 2, 1000)

    def likelihood(transition, emission, start):
        state = start
        for i in seen:
            state = (state @ transition) * emission[:, i]
        return cnp.sum(state)

    start = np.array([0.5, 0.5])
    exact = [Fraction(1, 2), Fraction(1, 2)]
    for i in seen:
        exact = [
            sum(exact[j] * Fraction(transition[j, k]) for j in range(2)) * Fraction(emission[k, i])
            for k in range(2)
        ]
    total = sum(exact)
    expected = math.log(total.numerator) - math.log(total.denominator)
    assert composit.evaluate(likelihood(*map(cnp.asarray, (transition, emission, start)))) == 0
    in_logs = cg.logspace(likelihood)
    value, gradient = composit.value_and_grad(in_logs, argnums=2)(transition, emission, start)
    assert composit.evaluate(value) == pytest.approx(expected, rel=1e-13)
    gradient = composit.evaluate(gradient)
    assert np.isfinite(gradient).all() and gradient @ start == pytest.approx(1, rel=1e-10)
    compiled = composit.compile(in_logs, transition, emission, start)
    assert compiled(transition, emission, start) == composit.evaluate(value)


def test_parameters_keep_their_gradients():
    class Mixture(cg.Module):
        def __init__(self):
            params = (cg.Parameter("weights", np.array([0.25, 0.75])),)
            super().__init__(cg.Variable("x"), params)

        def call(self, x):
            means = np.array([-1.0, 2.0])
            distance = op.square(op.subtract(op.expand_dims(x, axis=1), means))
            densities = op.exp(op.mult(distance, -0.5))
            return op.prod(op.matmul(densities, self.param("weights")))

    m = Mixture()
    x = np.random.RandomState(0).standard_normal(2000) * 3
    assert m(x).value == 0
    in_logs = cg.logspace(m)
    result = in_logs(x)
    densities = np.exp(-0.5 * (x[:, None] - np.array([-1.0, 2.0])) ** 2)
    weights = m.param("weights").value
    assert result.value == pytest.approx(np.log(densities @ weights).sum(), rel=1e-13)
    result.back()
    expected = (densities / (densities @ weights)[:, None]).sum(axis=0)
    assert np.allclose(result.grad(m.param("weights")), expected, rtol=1e-12)


STEPS = {
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "add": lambda a, b: a + b,
    "difference": lambda a, b: (a + b) - b / 2,
    "power": lambda a, b: a**1.5 * b**2,
    "sqrt": lambda a, b: cnp.sqrt(a) + cnp.square(b),
    "exp": lambda a, b: cnp.exp(-a) * nn.sigmoid(b),
    "reciprocal": lambda a, b: cnp.reciprocal(a) * b,
    "matmul": lambda a, b: a @ b.T,
    "einsum": lambda a, b: cnp.einsum("ij,ik->jk", a, b),
    "outer": lambda a, b: cnp.outer(a, b)[: a.shape[0], : a.shape[1]],
    "sum": lambda a, b: a * cnp.sum(b, axis=1, keepdims=True),
    "mean": lambda a, b: a * cnp.mean(b, axis=0),
    "prod": lambda a, b: a * cnp.prod(b, axis=0),
    "max": lambda a, b: cnp.max(a, axis=1, keepdims=True) * cnp.minimum(a, b),
    "where": lambda a, b: cnp.where(a > b, a, b) * 0.5,
    "moves": lambda a, b: cnp.concatenate([a, b[::-1]])[cnp.asarray([0, 2, 1])].T,
    "scans": lambda a, b: cnp.cumsum(a, axis=0) * cnp.cumprod(b, axis=1),
    "running": lambda a, b: cnp.maximum.accumulate(a, axis=1) * cnp.minimum.accumulate(b, axis=0),
    "roots": lambda a, b: cnp.cbrt(a) + cnp.hypot(-a, b),
    "others": lambda a, b: cnp.sin(a) * cnp.log1p(b),
    "numbers": lambda a, b: 2 * a + 0.5,
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_rule_beside_the_plain_computation(name, dtype):
    random = np.random.RandomState(3)
    a, b = (random.uniform(0.1, 1.5, (3, 3)).astype(dtype) for _ in range(2))
    total = lambda x, y: cnp.sum(STEPS[name](x, y))
    plain = cnp.log(total(cnp.asarray(a), cnp.asarray(b)))
    in_logs = cg.logspace(total)(a, b)
    assert in_logs.dtype == dtype
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    assert np.allclose(composit.evaluate(in_logs), composit.evaluate(plain), rtol=tolerance)
    expected = composit.grad(lambda x: cnp.log(total(x, cnp.asarray(b))))(a)
    made = composit.grad(lambda x: cg.logspace(total)(x, b))(a)
    assert np.allclose(*composit.evaluate(made, expected), rtol=10 * tolerance, atol=tolerance)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4), st.integers(0, 2**31))
def test_rules_one_after_the_other(names, seed):
    random = np.random.RandomState(seed)
    a, b = (random.uniform(0.2, 1.2, (3, 3)) for _ in range(2))

    def chain(x, y):
        for name in names:
            x = STEPS[name](x, y)
            x = x / cnp.max(x) + 0.1
        return x

    plain, in_logs = cnp.log(chain(cnp.asarray(a), cnp.asarray(b))), cg.logspace(chain)(a, b)
    assert np.allclose(*composit.evaluate(plain, in_logs), rtol=1e-9, atol=1e-9)


@np.errstate(all="ignore")
def test_zeros_and_impossible_values():
    def log_of(function, values):
        return composit.evaluate(cg.logspace(function)(np.array(values)))

    assert log_of(lambda p: cnp.prod(p) + 0.0, [0.0, 0.5]) == -np.inf
    assert log_of(lambda p: cnp.sum(p), [0.0, 0.0]) == -np.inf
    assert log_of(lambda p: cnp.sum(p), np.zeros(0)) == -np.inf
    assert log_of(lambda p: cnp.sum(p), [0.0, 1.0]) == 0
    assert np.isnan(log_of(lambda p: p * p, -1.0))
    assert log_of(lambda n: n * 3, 2) == np.log(2) + np.log(3)


def test_operators_and_bad_input():
    in_logs = cg.logspace(op.Multiply())
    assert in_logs(0.25, 0.5).value == np.log(0.25) + np.log(0.5)
    with pytest.raises(TypeError, match=r"logspace: 3, of type int, is given. A module, an op"):
        cg.logspace(3)


def test_differences_of_nearly_equal_numbers_and_of_nothing():
    m = module(lambda self, a, b: op.sub(op.exp(a), op.exp(b)), "a", "b")
    in_logs = cg.logspace(m)
    for b in (-1e-20, -1e-3, -0.5, -1.0, -40.0, -1000.0):
        result = in_logs(0.0, b)
        is_near = b > -0.7
        expected = math.log(-math.expm1(b)) if is_near else math.log1p(-math.exp(b))
        assert result.value == pytest.approx(expected, rel=1e-15, abs=1e-300)
        result.back()
        # d log(exp(a) - exp(b)) / db = -exp(b) / (exp(a) - exp(b))
        slope = -1 / math.expm1(-b) if b > -700 else 0.0
        assert result.grad(in_logs.input("b")) == pytest.approx(slope, rel=1e-14)
    difference = cg.logspace(module(lambda self, a, b: op.sub(a, b), "a", "b"))
    assert difference(0.0, 0.0).value == -math.inf and difference(2.0, 2.0).value == -math.inf
    assert difference(2.0, 0.0).value == math.log(2)
    result = difference(2.0, 0.5)
    result.back()
    assert result.grad(difference.input("b")) == pytest.approx(-1 / 1.5, rel=1e-15)


def test_the_power_zero_is_one():
    m = cg.logspace(module(lambda self, a, n: op.power(a, n), "a", "n"))
    assert m(0.0, 0.0).value == 0 and m(3.0, 0.0).value == 0 and m(0.0, 2.0).value == -math.inf


def test_derivatives_that_operators_give():
    class Round(cg.Operator):
        def __init__(self):
            super().__init__(cg.Variable("a"))

        def call(self, a):
            return cnp.round(a.value)

        def _gradfn(self, inpt):
            return lambda a: 1.0

    m = cg.Module.build("m", lambda self, x: op.square(Round()(x)), cg.Variable("x"))
    in_logs = cg.logspace(m)
    result = in_logs(2.3)
    assert np.isclose(result.value, np.log(4.0))
    result.back()
    assert result.grad(in_logs.input("x")) == 1.0  # 2 · 2 · 1 / 4


def test_running_sums_and_products_that_underflow():
    p = np.full(300, 1e-3)
    in_logs = composit.evaluate(cg.logspace(cnp.cumprod)(p))
    assert np.allclose(in_logs, np.arange(1, 301) * np.log(1e-3), rtol=1e-13)
    tiny = lambda x: cnp.cumsum(cnp.prod(x, axis=1))
    made = composit.evaluate(cg.logspace(tiny)(np.full((7, 200), 1e-3)))
    assert np.allclose(made, 200 * np.log(1e-3) + np.log(np.arange(1, 8)), rtol=1e-14)
    # What comes early is tiny beside what comes late.
    rising = np.exp(-np.arange(200.0, 0, -1) * 10)
    expected = np.logaddexp.accumulate(np.log(rising[-70:]))
    assert np.allclose(composit.evaluate(cg.logspace(cnp.cumsum)(rising[-70:])), expected)


def test_numbers_that_become_wider_have_wider_logarithms():
    for narrow in ("float16", "float32"):
        x = np.asarray([0.1, 0.3, 0.7], narrow)
        for wide in (lambda x: x.astype("float64"), lambda x: cnp.prod(x * x.astype("float64"))):
            plain = cnp.log(wide(cnp.asarray(x)))
            made = cg.logspace(wide)(x)
            assert made.dtype == np.float64
            assert np.allclose(*composit.evaluate(plain, made), rtol=1e-15, atol=0)


def test_complex_numbers_have_no_logarithm_in_log_space():
    with pytest.raises(TypeError, match=r"logspace: .*complex128"):
        cg.logspace(lambda x: x * 1j)(np.asarray([0.5, 0.25]))
