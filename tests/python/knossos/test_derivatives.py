"""Derivatives of kernels beside dual numbers, and beside one another."""

from fractions import Fraction

import duals
import kernels
import numpy as np
import pytest

import composit
from composit import knossos

SMOOTH = ["relu3", "gelu", "newton", "ordered", "loops", "guarded", "polynomial", "smooth"]


def arguments_of(name, random):
    x = float(np.clip(random.normal() * 2, -2.9, 2.9))
    if name == "newton":
        return (abs(x) + 0.2,)
    if name in ("ordered", "smooth"):
        return x, float(random.normal())
    if name in ("loops", "guarded"):
        return x, int(random.integers(0, 9))
    return (x,)


def as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


@pytest.mark.parametrize("name", SMOOTH)
def test_beside_duals(name):
    function = getattr(kernels, name)
    kernel = knossos.register(function)
    random = np.random.default_rng(3)
    for _ in range(100):
        arguments = arguments_of(name, random)
        want = duals.slopes(function, arguments)
        got = as_tuple(kernel.vjp(*arguments, 1.0))
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10, err_msg=str(arguments))
        np.testing.assert_allclose(as_tuple(kernel.grad(*arguments)), want, rtol=1e-10, atol=1e-10)
        directions = [float(random.normal()) for _ in want]
        moved = kernel.jvp(*arguments, *directions)
        np.testing.assert_allclose(moved, np.dot(want, directions), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_graphs_have_the_same_bits(name):
    kernel = knossos.register(getattr(kernels, name))
    random = np.random.default_rng(4)
    calls = [arguments_of(name, random) for _ in range(50)]
    arrays = [np.array(column) for column in zip(*calls)]
    floats = [i for i, array in enumerate(arrays) if array.dtype == np.float64]
    received = random.normal(size=50)

    def of_floats(*chosen):
        every = list(arrays)
        for i, x in zip(floats, chosen):
            every[i] = x
        return kernel(*every)

    _, pull = composit.vjp(of_floats, *[composit.asarray(arrays[i]) for i in floats])
    in_graph = composit.evaluate(*as_tuple(pull(composit.asarray(received))))
    direct = as_tuple(kernel.vjp(*arrays, received))
    for a, b in zip(as_tuple(in_graph) if len(floats) > 1 else (in_graph,), direct, strict=True):
        assert np.asarray(a).tobytes() == b.tobytes()


@pytest.mark.parametrize("name", ["gelu", "newton", "smooth"])
def test_second_derivatives(name):
    kernel = knossos.register(getattr(kernels, name))
    random = np.random.default_rng(6)
    for _ in range(20):
        arguments = arguments_of(name, random)
        step = 1e-5

        def first(x, rest=arguments[1:]):
            return as_tuple(kernel.vjp(x, *rest, 1.0))[0]

        difference = (first(arguments[0] + step) - first(arguments[0] - step)) / (2 * step)
        ones = (1.0, *[0.0] * (len(arguments) - 1))
        second = as_tuple(kernel.vjp.jvp(*arguments, 1.0, *ones, 0.0))[0]
        np.testing.assert_allclose(second, difference, rtol=1e-5, atol=1e-6)


def test_grad_is_a_kernel():
    slope = knossos.vmap(knossos.register(kernels.relu3).grad)
    np.testing.assert_allclose(slope(np.array([-1.0, 0.5, 2.0])), [0.0, 0.25, 1.0])
    assert slope.grad(0.5) == pytest.approx(1.0)
    assert slope.grad.grad(0.5) == pytest.approx(2.0)


def test_branches_not_taken_contribute_zero():
    """Neither as statements nor as choices do infinite slopes of the other side show."""
    import math

    def chosen(x: float) -> float:
        return math.sqrt(x) if x > 0 else 0.0

    def branch(x: float) -> float:
        if x > 0:
            y = math.log(x)
        else:
            y = 3 * x
        return y

    x = np.array([-1.0, 0.0, 4.0])
    assert knossos.register(chosen).grad(x).tolist() == [0.0, 0.0, 0.25]
    assert knossos.register(branch).grad(x).tolist() == [3.0, 3.0, 0.25]
    graph = composit.grad(lambda v: knossos.register(branch)(v).sum())(composit.asarray(x))
    assert composit.evaluate(graph).tolist() == [3.0, 3.0, 0.25]


def test_steps_are_flat():
    import math

    def sawtooth(x: float) -> float:
        return x - math.floor(x) + int(x) + x // 2

    assert knossos.register(sawtooth).grad(2.7) == 1.0


def test_stop_gradient():
    def stopped(x: float) -> float:
        return x * knossos.stop_gradient(x * x)

    kernel = knossos.register(stopped)
    assert kernel(3.0) == 27.0 and kernel.grad(3.0) == 9.0
    assert knossos.stop_gradient(2.0) == 2.0


def test_functions_of_integers_have_none():
    with pytest.raises(NotImplementedError, match="collatz: it has no derivative"):
        knossos.register(kernels.collatz).vjp(5, 1.0)


@knossos.register
def shares(x: float, y: float, z: float) -> tuple[float, float]:
    total = x + y * z
    return x / total, (y - z) / (total * total)


def test_tangents_of_quotients_have_the_same_bits_on_every_way():
    """Along one parameter, along all, forward and reverse, as numbers and in graphs."""
    x, y, z = np.random.default_rng(3).normal(size=(3, 200)) * 10.0 ** np.arange(-100, 100)
    for k in range(2):
        received = [np.full(200, float(i == k)) for i in range(2)]
        pulled = shares.vjp(x, y, z, *received)
        operands = [composit.asarray(each) for each in (x, y, z)]
        graph = composit.grad(lambda *a, k=k: composit.sum(shares(*a)[k]), argnums=(0, 1, 2))
        in_graph = composit.evaluate(*graph(*operands))
        for p in range(3):
            along = [np.full(200, float(i == p)) for i in range(3)]
            pushed = shares.jvp(x, y, z, *along)[k]
            fine = np.isfinite(pushed) & np.isfinite(pulled[p])
            assert fine.sum() > 100
            np.testing.assert_array_equal(pulled[p][fine], pushed[fine])
            np.testing.assert_array_equal(in_graph[p][fine], pulled[p][fine])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_tangents_of_quotients_are_exact_to_some_units():
    @knossos.register
    def quotient(x: float, y: float) -> float:
        return x / y

    random = np.random.default_rng(4)
    for x, y in random.normal(size=(200, 2)) * 10.0 ** random.integers(-150, 150, (200, 2)):
        by_x, by_y = quotient.grad(x, y)
        a, b = Fraction(float(x)), Fraction(float(y))
        for found, wanted in ((by_x, 1 / b), (by_y, -a / (b * b))):
            if 1e-300 < abs(wanted) < 1e300:
                assert abs(Fraction(found) - wanted) <= abs(wanted) * Fraction(1, 2**51)
