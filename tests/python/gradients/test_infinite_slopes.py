"""Where a path was not taken or a value is not used, it has no part in derivatives, even where its
slope is infinite: kernels in both directions, grad, vjp, jvp, cg and composit.torch agree."""

# ruff: noqa: F821

import math

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import cg, knossos
from composit.cg import op
from composit.knossos import Tensor

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# ----- kernels of one number: the function, where, and its slope there


def relu_sqrt(x: float) -> float:
    return math.sqrt(max(x, 0.0))


def relu_sqrt_in_a_branch(x: float) -> float:
    v = x if x > 0 else 0.0
    return math.sqrt(v)


def relu_sqrt_by_statements(x: float) -> float:
    v = 0.0
    if x > 0.0:
        v = x
    root = math.sqrt(v)
    return 3.0 * root + x


def relu_power(x: float) -> float:
    return max(x, 0.0) ** 0.5


def relu_log(x: float) -> float:
    return math.log(max(x, 0.0))


def clamped_acos(x: float) -> float:
    return math.acos(min(max(x, -1.0), 1.0))


def clamped_atanh(x: float) -> float:
    return math.atanh(min(x, 1.0))


def clamped_cbrt(x: float) -> float:
    return math.cbrt(min(x, 0.0))


def root_before_a_choice(x: float) -> float:
    s = math.sqrt(x)
    return s if x > 0.0 else 2.0 * x


def choice_of_where(x: float) -> float:
    return np.where(x < 1.0, x, np.sqrt(x))


def root_of_a_step(x: float) -> float:
    return math.sqrt(1.0 * math.floor(x)) + x


def root_of_a_loop(x: float) -> float:
    total = 0.0
    for i in range(3):
        total += math.sqrt(max(x - 3.0 * i, 0.0))
    return total


NUMBERS = [
    (relu_sqrt, -1.0, 0.0), (relu_sqrt, 0.0, 0.0), (relu_sqrt, 4.0, 0.25),
    (relu_sqrt_in_a_branch, -1.0, 0.0), (relu_sqrt_in_a_branch, 0.0, 0.0),
    (relu_sqrt_by_statements, -1.0, 1.0), (relu_power, -1.0, 0.0), (relu_log, -1.0, 0.0),
    (clamped_acos, 1.5, 0.0), (clamped_acos, -1.5, 0.0), (clamped_atanh, 2.0, 0.0),
    (clamped_cbrt, 3.0, 0.0), (root_before_a_choice, 0.0, 2.0), (choice_of_where, 0.0, 1.0),
    (root_of_a_step, 0.5, 1.0), (root_of_a_loop, 4.0, 0.75),
]  # fmt: skip
# The kink of max at 0 shares, and the root's slope is infinite there.
NUMBERS = [each for each in NUMBERS if each[:2] != (relu_sqrt, 0.0)]


def both_ways(function):
    """The function as a kernel of arrays, whose derivative runs in reverse."""

    def over_rows(x: "Tensor[float, n]") -> float:
        total = 0.0
        for v in x:
            total += function(v)
        return total

    return knossos.register(over_rows)


@pytest.mark.parametrize(
    "function, x, slope", NUMBERS, ids=[f"{f.__name__}-{x}" for f, x, _ in NUMBERS]
)
def test_kernels_of_numbers(function, x, slope):
    kernel = knossos.register(function)
    assert kernel.grad(x) == slope and kernel.vjp(x, 2.0) == 2.0 * slope
    assert kernel.jvp(x, 1.0) == slope and kernel.jvp(x, 0.0) == 0.0 and kernel.vjp(x, 0.0) == 0.0
    graph = composit.evaluate(composit.grad(lambda t: cnp.sum(kernel(t)))(np.array([x])))
    assert graph == slope


@pytest.mark.parametrize(
    "function, x, slope", NUMBERS, ids=[f"{f.__name__}-{x}" for f, x, _ in NUMBERS]
)
def test_the_same_in_reverse(function, x, slope):
    kernel, rows = both_ways(function), np.array([x, x])
    assert np.array_equal(kernel.grad(rows), [slope, slope])
    assert np.array_equal(kernel.vjp(rows, 0.0), [0.0, 0.0])
    assert kernel.jvp(rows, np.array([1.0, 0.0])) == slope


# ----- kernels with arrays


def relu_sqrt_array(x: "Tensor[float, n]") -> float:
    return np.sum(np.sqrt(np.maximum(x, 0.0)))


def clipped_sqrt_array(x: "Tensor[float, n]") -> float:
    return np.sum(np.sqrt(np.clip(x, 0.0, 9.0)))


def where_array(x: "Tensor[float, n]") -> float:
    return np.sum(np.where(x > 0.0, np.log(x), 0.0)) + np.sum(np.where(x > 1.0, np.sqrt(x), 0.0))


def norm_array(x: "Tensor[float, n]") -> float:
    return np.linalg.norm(np.where(x > 4.0, x, 0.0))


ARRAYS = [
    (relu_sqrt_array, [0.0, 0.25]), (clipped_sqrt_array, [0.0, 0.25]), (where_array, [0.0, 0.5]),
    (norm_array, [0.0, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize("function, slopes", ARRAYS, ids=[f.__name__ for f, _ in ARRAYS])
def test_kernels_with_arrays(function, slopes):
    kernel, x = knossos.register(function), np.array([-1.0, 4.0])
    assert np.array_equal(kernel.vjp(x, 1.0), slopes)
    along = [kernel.jvp(x, np.eye(2)[i]) for i in range(2)]
    assert np.array_equal(along, slopes)


def rotate(v: "Tensor[float, 3]", r: "Tensor[float, 3]") -> "Tensor[float, 3]":
    theta = np.linalg.norm(r)
    if theta < 1e-12:
        return v + np.array([r[1] * v[2] - r[2] * v[1], r[2] * v[0] - r[0] * v[2],
                             r[0] * v[1] - r[1] * v[0]])  # fmt: skip
    k = r / theta
    cross = np.array([k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2],
                      k[0] * v[1] - k[1] * v[0]])  # fmt: skip
    return v * np.cos(theta) + cross * np.sin(theta) + k * np.dot(k, v) * (1 - np.cos(theta))


def test_rotations_at_zero():
    kernel, v, r = knossos.register(rotate), np.array([1.0, 2.0, 3.0]), np.zeros(3)
    jacobian = np.array([kernel.vjp(v, r, each)[1] for each in np.eye(3)])
    right = np.array([[0.0, 3.0, -2.0], [-3.0, 0.0, 1.0], [2.0, -1.0, 0.0]])
    assert np.array_equal(jacobian, right)
    along = np.array([kernel.jvp(v, r, np.zeros(3), each) for each in np.eye(3)]).T
    assert np.array_equal(along, right)


@knossos.register
def norm(x: "Tensor[float, n]") -> float:
    return np.linalg.norm(x)


def test_norms_at_zero():
    x = np.zeros(2)
    assert norm(x) == 0.0 and math.isnan(norm(np.array([np.nan, 0.0])))
    assert np.array_equal(norm.grad(x), composit.evaluate(composit.grad(cnp.linalg.norm)(x)))
    assert np.array_equal(norm.grad(x), x) and norm.jvp(x, np.ones(2)) == 0.0
    assert np.allclose(norm.grad(np.array([3.0, 4.0])), [0.6, 0.8], rtol=1e-15)


def heston(S0: float, v0: float, kappa: float, theta: float, xi: float, rho: float, r: float,
           T: float, dW: "Tensor[float, n, 2]") -> float:  # fmt: skip
    n = dW.shape[0]
    dt = T / n
    S, v = S0, v0
    for z1, z2 in dW:
        vp = max(v, 0.0)
        S *= math.exp((r - 0.5 * vp) * dt + math.sqrt(vp * dt) * z1)
        v += kappa * (theta - vp) * dt + xi * math.sqrt(vp * dt) * (
            rho * z1 + math.sqrt(1 - rho**2) * z2
        )
    return S


def test_a_variance_below_zero():
    kernel = knossos.register(heston)
    shocks = np.array([[1.0, -3.0], [0.5, 1.0], [-0.2, 0.3], [1.0, 1.0]])
    numbers = [100.0, 0.01, 0.5, 0.01, 1.5, -0.7, 0.02, 1.0]
    back = kernel.vjp(*numbers, shocks, 1.0)
    for i, x in enumerate(numbers):
        h = 1e-7 * max(1.0, abs(x))
        above, below = (
            heston(*numbers[:i], x + step, *numbers[i + 1 :], shocks) for step in (h, -h)
        )
        seeds = [1.0 if j == i else 0.0 for j in range(8)]
        forward = kernel.jvp(*numbers, shocks, *seeds, np.zeros_like(shocks))
        assert np.isclose(back[i], (above - below) / (2 * h), rtol=1e-5, atol=1e-4)
        assert np.isclose(back[i], forward, rtol=1e-12, atol=1e-12)
    assert np.all(np.isfinite(back[8]))


# ----- graphs


GRAPHS = [
    (lambda x: cnp.where(x < 1.0, x, cnp.sqrt(x)), [1.0, 1.0, 0.25]),
    (lambda x: cnp.where(x > 0.0, cnp.log(x), x), [1.0, 2.0, 0.25]),
    (lambda x: cnp.where(x > 0.0, x**0.5, 0.0 * x), [0.0, 0.5**0.5, 0.25]),
    (lambda x: cnp.where(x < 1.0, cnp.arccos(cnp.minimum(x, 1.0)), x),
     [-1.0, -1.0 / 0.75**0.5, 1.0]),
    (lambda x: cnp.sqrt(cnp.maximum(x - 1.0, 0.0)), [0.0, 0.0, 0.5 / 3.0**0.5]),
    (lambda x: cnp.sqrt(cnp.clip(x, 0.25, 1.0)), [0.0, 0.5 / 0.5**0.5, 0.0]),
]  # fmt: skip
X = np.array([0.0, 0.5, 4.0])


@pytest.mark.parametrize("which", range(len(GRAPHS)))
def test_graphs(which):
    function, slopes = GRAPHS[which]

    def total(x):
        return cnp.sum(function(x))

    made = composit.evaluate(composit.grad(total)(X))
    np.testing.assert_allclose(made, slopes, rtol=1e-15)
    for i in range(3):
        along = composit.jvp(function, (X,), (np.eye(3)[i],))[1]
        np.testing.assert_allclose(composit.evaluate(along), slopes * np.eye(3)[i], rtol=1e-15)
    compiled = composit.compile(composit.grad(total), X)
    assert np.array_equal(compiled(X), made)


def test_cg():
    module = cg.Module.build(
        "w", lambda self, x: op.sum(op.where(op.less(x, 1.0), x, op.sqrt(x))), cg.Variable("x")
    )
    made = module(X)
    made.back()
    np.testing.assert_allclose(made.grad(module.input("x")), [1.0, 1.0, 0.25])


def test_torch():
    from composit import torch

    x = torch.tensor([0.0, 0.5, 4.0], dtype=torch.float64, requires_grad=True)
    torch.where(x < 1.0, x, torch.sqrt(x)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1.0, 1.0, 0.25])


# ----- loops of graphs


def unused(state, _):
    return (state[0], np.nan * state[0]), None


def unused_in_turn(state, _):  # nan meets the second, which meets the third
    return (2.0 * state[0], np.nan * state[0], state[1] + state[2] * np.inf), None


@pytest.mark.parametrize("body, count, slope", [(unused, 2, 1.0), (unused_in_turn, 3, 4.0)])
def test_states_of_scans_that_nothing_uses(body, count, slope):
    length = 1 if body is unused else 2

    def function(x):
        return composit.scan(body, (x,) * count, None, length=length)[0][0]

    assert composit.evaluate(composit.grad(function)(1.0)) == slope
    x = np.array(1.0)
    assert composit.evaluate(composit.jvp(function, (x,), (np.array(1.0),))[1]) == slope


def test_states_of_loops_that_do_not_move():
    def function(x):
        def body(i, state):
            return state[0] * 3.0, cnp.sqrt(state[1])

        return composit.fori_loop(0, 2, body, (x, cnp.asarray(0.0)))

    values, along = composit.jvp(function, (np.array(2.0),), (np.array(1.0),))
    assert [float(composit.evaluate(each)) for each in along] == [9.0, 0.0]
    assert [float(composit.evaluate(each)) for each in values] == [18.0, 0.0]
    total = composit.grad(lambda x: function(x)[0] + function(x)[1])(2.0)
    assert composit.evaluate(total) == 9.0
