"""ADBench's four problems: derivatives of kernels beside complex steps of the same Python text."""

import complex_steps
import numpy as np
import pytest
from kernel_examples import example

CLOSE = {"rtol": 1e-11, "atol": 1e-12}


def check(kernel, given, received=1.0):
    wanted = complex_steps.gradients(kernel.__wrapped__, given, received)
    found = kernel.vjp(*given, received)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        np.testing.assert_allclose(one, other, **CLOSE)


@pytest.mark.parametrize("n, k, d", [(1, 1, 1), (7, 3, 4)])
def test_gaussian_mixture(n, k, d):
    random = np.random.default_rng(n)
    shapes = [(k,), (k, d), (k, d * (d + 1) // 2), (n, d)]
    given = [*(random.normal(size=shape) for shape in shapes), 0.7, 2]
    check(example("gaussian_mixture").gaussian_mixture, given)


@pytest.mark.parametrize("n, layers, d", [(2, 1, 1), (5, 2, 3)])
def test_lstm(n, layers, d):
    module = example("lstm")
    check(module.lstm, module.example(np.random.default_rng(n), n, layers, d))


@pytest.mark.parametrize("received", [(1.0, 0.0), (0.3, -2.0)])
def test_bundle_adjustment(received):
    """Of one observation: the block of the Jacobian."""
    module = example("bundle_adjustment")
    values = np.random.default_rng(4).normal(size=17)

    def structures(numbers):
        rotation, centre = (module.Vector(*numbers[i : i + 3]) for i in (0, 3))
        camera = module.Camera(rotation, centre, *numbers[6:11])
        return camera, module.Vector(*numbers[11:14]), *numbers[14:]

    kernel = module.residuals
    moved = complex_steps.on_complex_numbers(kernel.__wrapped__)
    wanted = np.empty(17)
    for i in range(17):
        stepped = values.astype(complex)
        stepped[i] += 1j * complex_steps.STEP
        results = moved(*structures(stepped.tolist()))
        wanted[i] = np.dot(np.imag(results), received) / complex_steps.STEP
    found = kernel.vjp(*values.tolist(), *received)
    np.testing.assert_allclose(np.ravel(found), wanted, **CLOSE)


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_hand_tracking(mirror):
    """The three kernels that residuals are made of; `poses` has a forward derivative alone."""
    module = example("hand_tracking")
    random = np.random.default_rng(3)
    model, thetas = module.example(random, 12), 0.5 * random.normal(size=(1, 26))
    whole = module.rotations(thetas, mirror)
    check(module.rotations, [thetas, mirror], random.normal(size=(1, 3, 3)))

    parents, bases = model.parents, (model.base, model.inverse)
    direction = random.normal(size=(1, 26))
    still = [np.zeros_like(each) for each in bases]
    along = module.poses.jvp(thetas, parents, *bases, direction, *still)
    moved = complex_steps.on_complex_numbers(module.poses.__wrapped__)
    stepped = moved(thetas + 1j * complex_steps.STEP * direction, parents, *bases)
    np.testing.assert_allclose(along, np.imag(stepped) / complex_steps.STEP, **CLOSE)

    moves = np.ascontiguousarray(module.poses(thetas, parents, *bases)[..., 0])
    corners, shares = random.integers(0, 12, size=(3, 2)), random.random((3, 2))
    given = [thetas[0], whole, moves, model.rest, model.bones, model.weights, corners, shares,
             random.normal(size=(3, 3))]  # fmt: skip
    check(module.skin, given, random.normal(size=(3, 3)))
