"""Kernels with arrays: values against CPython's, reverse against forward mode and differences."""

# ruff: noqa: F821

import math
import re

import array_kernels
import numpy as np
import pytest

import composit
from composit import knossos
from composit.errors import NotSupported
from composit.knossos import Tensor

EXAMPLES = array_kernels.examples()
IDS = [f"{kernel.__name__}-{i}" for i, (kernel, _) in enumerate(EXAMPLES)]


def parts_of(value):
    return value if isinstance(value, tuple) else (value,)


def is_float(value):
    return isinstance(value, float) or getattr(value, "dtype", np.dtype(int)).kind == "f"


def like(value, random):
    return random.normal(size=np.shape(value)) if np.ndim(value) else float(random.normal())


def paired(a, b):
    return sum(float(np.sum(np.asarray(x) * y)) for x, y in zip(a, b))


def differences(function, arguments, place, step=1e-6):
    x = np.array(arguments[place], float)
    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        values = []
        for sign in (1, -1):
            moved = x.copy()
            moved[index] += sign * step
            own = moved if x.ndim else float(moved)
            values.append(function(*arguments[:place], own, *arguments[place + 1 :]))
        slopes[index] = (values[0] - values[1]) / (2 * step)
    return slopes


@pytest.mark.long_tail
@pytest.mark.parametrize(("function", "arguments"), EXAMPLES, ids=IDS)
def test_value_and_derivatives(function, arguments):
    kernel = knossos.register(function)
    found, wanted = parts_of(kernel(*arguments)), parts_of(function(*arguments))
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
        assert np.shape(a) == np.shape(b)
    random = np.random.default_rng(1)
    floats = [i for i, each in enumerate(arguments) if is_float(each)]
    received = [like(each, random) for each in wanted]
    tangents = [like(arguments[i], random) for i in floats]

    def weighted(*given):
        return paired(parts_of(function(*given)), received)

    gradients = parts_of(kernel.vjp(*arguments, *received))
    assert len(gradients) == len(floats)
    for gradient, place in zip(gradients, floats):
        slopes = differences(weighted, arguments, place)
        np.testing.assert_allclose(gradient, slopes, rtol=2e-5, atol=2e-6)
    # Forward and reverse mode are two transformations: their products are the same number.
    moved = parts_of(kernel.jvp(*arguments, *tangents))
    np.testing.assert_allclose(paired(gradients, tangents), paired(moved, received), rtol=1e-10)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(f, a) for f, a in EXAMPLES if f.__name__ in ("logsumexp", "affine", "roots", "early")],
)
def test_second_derivatives(function, arguments):
    """The tangent of the gradient against differences of the gradient."""
    kernel = knossos.register(function)
    random = np.random.default_rng(2)
    received = [like(each, random) for each in parts_of(function(*arguments))]
    floats = [i for i, each in enumerate(arguments) if is_float(each)]
    tangents = [like(arguments[i], random) for i in floats]
    still = [np.zeros_like(each) if np.ndim(each) else 0.0 for each in received]
    second = parts_of(kernel.vjp.jvp(*arguments, *received, *tangents, *still))
    step = 1e-6
    moved = []
    for sign in (1, -1):
        given = list(arguments)
        for place, tangent in zip(floats, tangents):
            given[place] = given[place] + sign * step * tangent
        moved.append(parts_of(kernel.vjp(*given, *received)))
    for a, high, low in zip(second, *moved):
        difference = (np.asarray(high) - low) / (2 * step)
        np.testing.assert_allclose(a, difference, rtol=1e-4, atol=1e-5)


def test_arithmetic_is_equal_to_the_bit():
    random = np.random.default_rng(3)
    points, centres = random.normal(size=(20, 3)), random.normal(size=(4, 3))
    kernel = knossos.register(array_kernels.distances)
    assert kernel(points, centres) == array_kernels.distances(points, centres)
    x, w = random.normal(size=50), random.normal(size=7)
    found = knossos.register(array_kernels.convolution)(x, w)
    assert np.array_equal(found, array_kernels.convolution(x, w))


def test_single_precision_and_other_arrays():
    kernel = knossos.register(array_kernels.recurrence)
    x = np.random.default_rng(4).normal(size=6)
    found = kernel(x.astype("float32"), 0.5)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, array_kernels.recurrence(x, 0.5), rtol=1e-5)
    np.testing.assert_array_equal(kernel(x[::-1], 0.5), kernel(x[::-1].copy(), 0.5))
    lazy = kernel(composit.asarray(x), 0.5)
    np.testing.assert_array_equal(composit.evaluate(lazy), kernel(x, 0.5))
    assert knossos.register(array_kernels.made)(3, 2.0).tolist() == [2.0, 4.0, 8.0]
    assert knossos.register(array_kernels.sorted_pair)([3.0, 2.0]) == (4.0, 1.5)


def test_torch_gradients():
    import torch

    kernel = knossos.register(array_kernels.affine)
    random = np.random.default_rng(5)
    given = [torch.tensor(random.normal(size=s), requires_grad=True) for s in ((3, 4), (4,), (3,))]
    other = [each.detach().clone().requires_grad_() for each in given]
    (kernel(*given) ** 2).sum().backward()
    a, x, b = other
    (torch.tanh(a @ x + b) ** 2).sum().backward()
    for ours, theirs in zip(given, other):
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_torch_names_inside_kernels():
    import torch

    def squirrel(x: "knossos.Tensor[float, n]") -> float:
        y = torch.mean(x)
        t = -0.125 * x if False else 1 / 2 * x**2
        return torch.mean(torch.sin(t) * t) + 0.0 * y

    x = np.random.default_rng(6).normal(size=5) + 2
    np.testing.assert_allclose(knossos.register(squirrel)(x), array_kernels.sqrl(x), rtol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "kind", "wrong"),
    [
        (([1.0, 2.0], 3), IndexError, "array_kernels.py:"),
        ((np.zeros((2, 2)), 1), ValueError, "1 axes"),
        ((["a"], 1), TypeError, "Elements of that type"),
        (([1.0], 1.5), TypeError, "of type int"),
        (([1.0],), TypeError, "2 are required"),
    ],
)
def test_bad_arguments(arguments, kind, wrong):
    with pytest.raises(kind) as caught:
        knossos.register(beyond)(*arguments)
    assert wrong in str(caught.value).replace("test_arrays.py:", "array_kernels.py:")


def beyond(x: "knossos.Tensor[float, n]", k: int) -> float:
    return x[k]


def test_extents_must_fit():
    kernel = knossos.register(array_kernels.affine)
    with pytest.raises(ValueError, match=r"x has the shape \[3\]. \[4\] is required"):
        kernel(np.zeros((3, 4)), np.zeros(3), np.zeros(3))


def overwritten(x: "knossos.Tensor[float, n]") -> float:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i] * y[i - 1]
    return y[-1]


def test_overwritten_elements():
    kernel = knossos.register(overwritten)
    x = np.random.default_rng(7).normal(size=5)
    np.testing.assert_allclose(kernel(x), np.prod(x))
    np.testing.assert_allclose(kernel.jvp(x, x), 5 * np.prod(x))
    np.testing.assert_allclose(kernel.grad(x), np.prod(x) / x)


def aliased(x: "knossos.Tensor[float, n]") -> float:
    y = x
    y[0] = 1.0
    return y[0]


def assigned(x: "knossos.Tensor[float, n]") -> float:
    x[0] = 1.0
    return x[0]


def listed(x: "knossos.Tensor[float, n]") -> float:
    y = [v + 1.0 for v in x] + [v + 2.0 for v in x]
    return y[0]


def of_values(x: "knossos.Tensor[float, n]") -> "knossos.Tensor[float, m]":
    k = int(x[0])
    return np.zeros(k)


def wrong_axes(x: "knossos.Tensor[float, n]") -> float:
    return x[0, 1]


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        (aliased, "Write x = x.copy() at the beginning, or .copy() where y is assigned"),
        (assigned, "Write x = x.copy() before, and return x"),
        (listed, "Write np.array"),
        (of_values, "extents depend on what is computed"),
        (wrong_axes, "2 indices of an array of 1 axes"),
    ],
)
def test_refused_by_line(function, wrong):
    with pytest.raises((NotSupported, TypeError)) as caught:
        knossos.register(function)(np.ones(3))
    assert wrong in str(caught.value)
    assert "test_arrays.py:" in str(caught.value)


def ended(x: "knossos.Tensor[float, n]", s: float) -> float:
    a = s
    b = x[0]
    for _ in range(1, 3):
        a += math.sin(b)
        b = 0.3
    return a


def ended_within(x: "knossos.Tensor[float, n]", s: float) -> float:
    a = 0.5 * s
    b = x[0]
    for i in range(3):
        for _ in range(2):
            b += math.sin(a)
            if x[1] > a:
                break
            b += math.sin(b)
        for _ in range(2):
            a += math.sin(b) * x[i]
            b = x[i] if a > 0.2 else 0.3
    return a


@pytest.mark.parametrize("function", [ended, ended_within])
def test_what_an_iteration_overwrites_ends_its_gradient(function):
    """The adjoint of b is that of the first iteration alone: their order matters."""
    kernel = knossos.register(function)
    for seed in range(8):
        random = np.random.default_rng(seed)
        x, dx = random.normal(size=(2, 4))
        s, ds = random.normal(size=2).tolist()
        gx, gs = kernel.grad(x, s)
        np.testing.assert_allclose(gx @ dx + gs * ds, kernel.jvp(x, s, dx, ds), rtol=1e-11)


@knossos.register
def blocks(a: "Tensor[float, 2, n, m]", x: "Tensor[float, m]", b: "Tensor[float, m, k]") -> float:
    y = 0.0
    z = a @ b
    for each in a @ x:
        for value in each:
            y = y * 0.5 + math.sin(value)
    return y + np.sum(np.cos(z) * np.cos(z))


def test_products_of_more_axes():
    random = np.random.default_rng(0)
    given = random.normal(size=(2, 3, 4)), random.normal(size=4), random.normal(size=(4, 5))
    np.testing.assert_allclose(blocks(*given), blocks.__wrapped__(*given), rtol=1e-13)
    along = [random.normal(size=each.shape) for each in given]
    slope = sum(np.sum(g * d) for g, d in zip(blocks.grad(*given), along))
    np.testing.assert_allclose(slope, blocks.jvp(*given, *along), rtol=1e-11)


def test_products_with_more_axes_on_the_right_are_refused():
    @knossos.register
    def product(x: "Tensor[float, n]", a: "Tensor[float, 2, n, m]") -> float:
        return np.sum(x @ a)

    wanted = (
        "product: a product with an array of 3 axes on the right, in `x @ a`. A vector or a "
        "matrix is required, or a loop."
    )
    with pytest.raises(TypeError, match=re.escape(wanted)):
        product(np.ones(3), np.ones((2, 3, 4)))


@knossos.register
def sums_of_sines(x: "Tensor[float, n]") -> "Tensor[float, n]":
    sums = np.zeros(len(x) + 1)
    for i in range(len(x)):
        sums[i + 1] = sums[i] + math.sin(x[i])
    return sums[1:]


@knossos.register
def later(x: "Tensor[float, n]") -> float:
    return np.sum(x[2:])


def test_extents_of_slices():
    x = np.arange(4.0)
    np.testing.assert_allclose(sums_of_sines(x), np.cumsum(np.sin(x)), rtol=1e-15)
    source = sums_of_sines.procedure().source
    assert "i < n;" in source and "- 1" not in source
    assert later(x) == 5.0 and later(x[:2]) == 0.0
    with pytest.raises((IndexError, ValueError)):
        later(x[:1])
