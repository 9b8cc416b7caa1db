"""logsumexp, k-means and least squares, GradBench's, and an LSTM of operators, beside C++ by hand
and complex steps."""

import cmath

import numpy as np
import pytest
from kernel_examples import example

STEP = 1e-30


def by_hand(name, *given):
    call, made = getattr(example("by_hand"), name)(*given)
    return call(), made


def complex_steps(function, x):
    """The gradient of an analytic function, to the last bits: no difference is taken."""
    gradient = np.empty_like(x)
    for place in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[place] += 1j * STEP
        gradient[place] = np.imag(function(moved)) / STEP
    return gradient


@pytest.mark.parametrize("n", [1, 2, 50])
def test_logsumexp(n):
    kernel = example("logsumexp").logsumexp
    x = np.random.default_rng(n).normal(size=n) * 5
    gradient = kernel.grad(x)
    stepped = complex_steps(lambda z: cmath.log(np.sum(np.exp(z - x.max()))), x)
    np.testing.assert_allclose(gradient, stepped, rtol=1e-13, atol=1e-15)
    assert kernel(x) == pytest.approx(np.logaddexp.reduce(x), rel=1e-14)
    value, made = by_hand("logsumexp_gradient", x)
    assert kernel(x) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(gradient, made[0], rtol=1e-13)
    assert np.isfinite(kernel.grad(np.array([1000.0, -1000.0]))).all()


def cost_of(points, centres):
    distances = ((points[:, None] - centres) ** 2).sum(2)
    nearest = distances.real.argmin(1)
    return distances[np.arange(len(points)), nearest].sum()


@pytest.mark.parametrize("n, k, d", [(1, 1, 1), (40, 3, 2), (30, 7, 4)])
def test_kmeans(n, k, d):
    module = example("kmeans")
    random = np.random.default_rng(n)
    points, centres = random.normal(size=(n, d)), random.normal(size=(k, d))
    gradient, diagonal = module.direction(points, centres)
    value, made = by_hand("kmeans_direction", points, centres)
    assert module.cost(points, centres) == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(gradient, made[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(diagonal, made[1])
    stepped = complex_steps(lambda z: cost_of(points, z), centres)
    np.testing.assert_allclose(gradient, stepped, rtol=1e-12, atol=1e-12)
    to_points, _ = module.cost.vjp(points, centres, 1.0)
    stepped = complex_steps(lambda z: cost_of(z, centres), points)
    np.testing.assert_allclose(to_points, stepped, rtol=1e-12, atol=1e-12)


def test_kmeans_finds_the_means():
    module = example("kmeans")
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 50)
    points = random.normal(size=(150, 2)) / 10 + labels[:, None]
    found = module.moved(points, points[[0, 50, 100]], 5)
    np.testing.assert_allclose(found, [points[labels == k].mean(0) for k in range(3)], rtol=1e-12)


@pytest.mark.parametrize("m, n", [(1, 2), (4, 11), (9, 100)])
def test_least_squares(m, n):
    module = example("least_squares")
    x = np.random.default_rng(m).normal(size=m)
    t = 2 * np.arange(n) / (n - 1) - 1
    powers = t[:, None] ** np.arange(m)

    def half(z):
        return 0.5 * np.sum((np.sign(t) - powers @ z) ** 2)

    assert module.polynomial(x, n) == pytest.approx(half(x), rel=1e-12)
    gradient = module.polynomial.grad(x, n)
    np.testing.assert_allclose(gradient, complex_steps(half, x), rtol=1e-11, atol=1e-12)
    value, made = by_hand("polynomial_gradient", x, n)
    assert module.polynomial(x, n) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(gradient, made[0], rtol=1e-11, atol=1e-12)


def test_linear_least_squares():
    module = example("least_squares")
    random = np.random.default_rng(0)
    a, x, b = random.normal(size=(7, 3)), random.normal(size=3), random.normal(size=7)
    assert module.linear(a, x, b) == pytest.approx(np.sum((a @ x - b) ** 2), rel=1e-13)
    da, dx, db = module.linear.grad(a, x, b)
    for found, at, function in (
        (da, a, lambda z: np.sum((z @ x - b) ** 2)),
        (dx, x, lambda z: np.sum((a @ z - b) ** 2)),
        (db, b, lambda z: np.sum((a @ x - z) ** 2)),
    ):
        np.testing.assert_allclose(found, complex_steps(function, at), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n, d, m", [(1, 1, 1), (4, 3, 2), (6, 9, 17)])
def test_lstm_layer(n, d, m):
    module = example("lstm_layer")
    given = module.example(np.random.default_rng(n), n, d, m)
    made = module.lstm_layer(*given)
    np.testing.assert_allclose(made, module.lstm_layer.__wrapped__(*given), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(made, by_hand("lstm_layer", *given)[1][0], rtol=1e-13, atol=1e-15)
    received = np.random.default_rng(0).normal(size=(n, d))
    gradients = module.lstm_layer.vjp(*given, received)
    _, written = by_hand("lstm_layer_gradient", *given, received)
    for place, (gradient, hand) in enumerate(zip(gradients, written, strict=True)):
        np.testing.assert_allclose(gradient, hand, rtol=1e-11, atol=1e-14)

        def moved(z, place=place):
            arguments = [*given[:place], z, *given[place + 1 :]]
            return np.sum(layer_of(*arguments) * received)

        stepped = complex_steps(moved, given[place])
        np.testing.assert_allclose(gradient, stepped, rtol=1e-11, atol=1e-14)


def layer_of(weight, recurrent, bias, hidden, cell, inputs):
    """With NumPy, of complex numbers too."""
    made = []
    for x in inputs:
        forget, write, change, read = weight @ x + recurrent @ hidden + bias
        forget, write, read = (1 / (1 + np.exp(-gate)) for gate in (forget, write, read))
        cell = forget * cell + write * np.tanh(change)
        hidden = read * np.tanh(cell)
        made.append(hidden)
    return np.array(made)
