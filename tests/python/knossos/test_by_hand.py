"""The kernels of examples/kernels beside C++ that is written by hand: equal but for rounding."""

import numpy as np
import pytest
from kernel_examples import example


def compare(name, *given):
    """What the hand-written function leaves and returns."""
    call, made = getattr(example("by_hand"), name)(*given)
    return [*made, call()]


def mixture(random, n, k, d):
    return [
        random.normal(size=k), random.normal(size=(k, d)),
        random.normal(size=(k, d * (d + 1) // 2)) / 3, random.normal(size=(n, d)),
        0.7, 2,
    ]  # fmt: skip


@pytest.mark.parametrize("n, k, d", [(1, 1, 1), (13, 4, 5), (20, 7, 10)])
def test_gaussian_mixture(n, k, d):
    kernel = example("gaussian_mixture").gaussian_mixture
    given = mixture(np.random.default_rng(n), n, k, d)
    assert kernel(*given) == pytest.approx(compare("gaussian_mixture", *given)[-1], rel=1e-12)
    for found, wanted in zip(kernel.grad(*given), compare("gaussian_mixture_gradient", *given)):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("n, layers, d", [(2, 1, 1), (5, 2, 3), (9, 3, 14)])
def test_lstm(n, layers, d):
    module = example("lstm")
    given = module.example(np.random.default_rng(n), n, layers, d)
    assert module.lstm(*given) == pytest.approx(compare("lstm", *given)[-1], rel=1e-13)
    for found, wanted in zip(module.lstm.grad(*given), compare("lstm_gradient", *given)):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("is_still", [False, True])
def test_bundle_adjustment(is_still):
    module = example("bundle_adjustment")
    given = module.example(np.random.default_rng(1), 3, 5, 50)
    if is_still:
        given[0][:, :3] = 0
    for found, wanted in zip(module.errors(*given), compare("bundle_adjustment", *given)):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    values = module.jacobian_values(*given)
    wanted = compare("bundle_adjustment_jacobian", *given)
    np.testing.assert_allclose(values, wanted[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_hand_tracking(mirror):
    module = example("hand_tracking")
    random = np.random.default_rng(2)
    model = module.example(random, 40)._replace(mirror=mirror)
    theta, points = 0.5 * random.normal(size=26), random.normal(size=(30, 3))
    triangles, us = random.integers(0, 40, size=(30, 3)), random.random((30, 2))
    found = module.errors(model, theta, triangles, module.shares_of(us), points)
    wanted = compare("hand_tracking", model, theta, triangles, us, points)[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
    values = module.jacobian_values(model, theta, triangles, us)
    wanted = compare("hand_tracking_jacobian", model, theta, triangles, us)
    np.testing.assert_allclose(values, wanted[0], rtol=1e-10, atol=1e-10)
