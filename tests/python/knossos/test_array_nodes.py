"""Kernels with arrays as nodes of graphs: evaluated, compiled, batched, differentiated."""

# ruff: noqa: F821

import array_kernels
import numpy as np
import pytest

import composit
from composit import knossos
from composit import numpy as cnp
from composit.graph import GraphView
from composit.knossos import Tensor


@knossos.register
def weighted(x: "Tensor[float, n]", w: float, k: int) -> "tuple[Tensor[float, n], float]":
    h = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        h[i] = np.tanh(w * x[i]) * k
        total += h[i] * x[i]
    return h, total


X = np.random.default_rng(0).normal(size=(3, 4))


def loss(x, w):
    h, total = weighted(x, w, 2)
    return cnp.sum(h * h) + total


def numpy_loss(x, w):
    h = np.tanh(w * x) * 2
    return np.sum(h * h) + h @ x


def numpy_gradient(x, w):
    t = np.tanh(w * x)
    dh = 4 * t + x  # of h, where total = h @ x
    slope = 2 * (1 - t * t)
    return dh * slope * w + 2 * t, np.sum(dh * slope * x)


@pytest.mark.parametrize("way", ["evaluated", "compiled"])
def test_values_and_gradients(way):
    def all_of(x, w):
        return loss(x, w), *composit.grad(loss, (0, 1))(x, w)

    x, w = composit.asarray(X[0]), composit.asarray(0.7)
    function = composit.compile(all_of) if way == "compiled" else all_of
    value, dx, dw = (np.asarray(each) for each in composit.evaluate(*function(x, w)))
    np.testing.assert_allclose(value, numpy_loss(X[0], 0.7))
    wanted = numpy_gradient(X[0], 0.7)
    np.testing.assert_allclose(dx, wanted[0])
    np.testing.assert_allclose(dw, wanted[1])
    # The bits are those of a call with arrays.
    h, total = weighted(X[0], 0.7, 2)
    lazy_h, lazy_total = composit.evaluate(*weighted(x, w, 2))
    assert np.asarray(lazy_h).tobytes() == h.tobytes() and float(lazy_total) == total


def test_derivatives_of_tensors_have_the_bits_of_those_of_arrays():
    """Of an array and a number, in this order: the procedure takes their gradients in another."""
    x, dh, dt = X[0], X[1], 0.3
    for kernel, more in ((weighted.vjp, (dh, dt)), (weighted.jvp, (dh, dt))):
        wanted = kernel(x, 0.7, 2, *more)
        found = composit.evaluate(*kernel(composit.asarray(x), 0.7, 2, *more))
        for each, want in zip(found, wanted):
            assert np.asarray(each).tobytes() == np.asarray(want).tobytes()


def test_a_call_is_one_node():
    h, total = weighted(composit.asarray(X[0]), 0.7, 2)
    assert (h.shape, total.shape) == ((4,), ())
    assert GraphView((h, total)).text.count(" = procedure(") == 1


def test_batches():
    x = composit.asarray(X)
    value = composit.vmap(lambda row: loss(row, 0.7))(x)
    np.testing.assert_allclose(composit.evaluate(value), [numpy_loss(row, 0.7) for row in X])
    gradient = composit.vmap(composit.grad(lambda row: loss(row, 0.7)))(x)
    wanted = [numpy_gradient(row, 0.7)[0] for row in X]
    np.testing.assert_allclose(composit.evaluate(gradient), wanted)
    total = composit.grad(lambda w: cnp.sum(composit.vmap(lambda row: loss(row, w))(x)))(
        composit.asarray(0.7)
    )
    np.testing.assert_allclose(
        composit.evaluate(total), sum(numpy_gradient(row, 0.7)[1] for row in X)
    )
    twice = composit.vmap(composit.vmap(lambda row: weighted(row, 0.5, 1)[0]))(
        composit.asarray(X.reshape(3, 1, 4))
    )
    np.testing.assert_allclose(composit.evaluate(twice)[:, 0], np.tanh(0.5 * X))
    # Rows of a transposed tensor do not lie side by side.
    columns = composit.vmap(lambda row: weighted(row, 0.5, 1)[1])(composit.asarray(X).T)
    wanted = [weighted(np.ascontiguousarray(row), 0.5, 1)[1] for row in X.T]
    assert composit.evaluate(columns).tolist() == wanted


def test_forward_mode_and_its_gradient():
    x, dx = composit.asarray(X[0]), composit.asarray(X[1])
    _, moved = composit.jvp(lambda x: loss(x, 0.7), (x,), (dx,))
    np.testing.assert_allclose(composit.evaluate(moved), numpy_gradient(X[0], 0.7)[0] @ X[1])
    # Forward over reverse: a product with the Hessian.
    _, product = composit.jvp(composit.grad(lambda x: loss(x, 0.7)), (x,), (dx,))
    step = 1e-6 * X[1]
    above, below = (numpy_gradient(X[0] + s, 0.7)[0] for s in (step, -step))
    np.testing.assert_allclose(composit.evaluate(product), (above - below) / 2e-6, rtol=1e-6)


def test_float32_and_mixed_arguments():
    x = composit.asarray(X[0].astype("float32"))
    h, total = weighted(x, 0.7, 2)
    assert h.dtype == total.dtype == np.dtype("float32")
    wanted, _ = weighted(X[0].astype("float32"), 0.7, 2)
    assert np.asarray(composit.evaluate(h)).tobytes() == wanted.tobytes()
    # An array beside a tensor; a tensor that is computed.
    made = array_kernels_result(composit.asarray(X[:2].T) * 2.0, X[0, :2])
    np.testing.assert_allclose(composit.evaluate(made), 2 * X[:2].T @ X[0, :2])


def array_kernels_result(a, x):
    @knossos.register
    def product(a: "Tensor[float, n, m]", x: "Tensor[float, m]") -> "Tensor[float, n]":
        return a @ x

    return product(a, x)


def test_every_example_as_a_node():
    for function, arguments in array_kernels.examples():
        kernel = knossos.register(function)
        lazy = [composit.asarray(each) if isinstance(each, np.ndarray) else each
                for each in arguments]  # fmt: skip
        wanted = kernel(*arguments)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        made = kernel(*lazy)
        made = made if isinstance(made, tuple) else (made,)
        for a, b in zip(made, wanted, strict=True):
            found = composit.evaluate(a) if isinstance(a, composit.LazyTensor) else a
            assert np.asarray(found).tobytes() == np.asarray(b).tobytes(), function.__name__


def test_composit_torch():
    from composit import torch

    x = torch.tensor(X[0], requires_grad=True)
    w = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    h, total = weighted(x, w, 2)
    ((h * h).sum() + total).backward()
    wanted = numpy_gradient(X[0], 0.7)
    np.testing.assert_allclose(x.grad.numpy(), wanted[0])
    np.testing.assert_allclose(w.grad.item(), wanted[1])

    @knossos.register
    def centred(x: "Tensor[float, n]") -> "Tensor[float, n]":
        return x - np.mean(x)

    y = torch.tensor(X[0], requires_grad=True)
    (centred.nnModule(y) ** 2).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), 2 * (X[0] - X[0].mean()))


def test_errors():
    x = composit.asarray(X[0])

    @knossos.register
    def picked(x: "Tensor[float, n]", i: int) -> float:
        return x[i]

    assert composit.evaluate(picked(x, 1)) == X[0, 1]
    with pytest.raises(IndexError, match=r"picked: .*test_array_nodes\.py:"):
        composit.evaluate(picked(x, 9))
    with pytest.raises(ValueError, match="operand 0 has shape"):
        picked(composit.asarray(X), 1)
    with pytest.raises(TypeError, match="got 1 arguments"):
        picked(x)

    @knossos.register
    def repeated(x: float, n: int) -> "Tensor[float, n]":
        return x * np.ones(n)

    made = repeated(composit.asarray(2.0), 3)
    assert composit.evaluate(made).tolist() == [2.0] * 3
    n = cnp.sum(composit.asarray(np.array([1, 2])))
    with pytest.raises(TypeError, match="depend on the value of n, which is a tensor"):
        repeated(composit.asarray(2.0), n)


def test_without_a_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "/does/not/exist")

    @knossos.register
    def recurrence(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
        h = np.zeros(len(x))
        h[0] = x[0]
        for i in range(1, len(x)):
            h[i] = np.exp(-w * h[i - 1] * h[i - 1]) + x[i]
        return h

    with pytest.warns(RuntimeWarning):
        h = recurrence(X[0], 0.5)
    with pytest.warns(RuntimeWarning):
        dx, dw = recurrence.vjp(X[0], 0.5, X[1])
    monkeypatch.delenv("CXX")
    recurrence._use(None)
    recurrence.vjp._use(None)
    assert recurrence(X[0], 0.5).tobytes() == h.tobytes()
    again = recurrence.vjp(X[0], 0.5, X[1])
    assert again[0].tobytes() == dx.tobytes() and again[1] == dw
    with pytest.raises(AssertionError, match=r"the assertion .* does not hold"):
        failing = knossos.register(asserts).procedure()
        composit._core.procedure.interpreted(failing)([], [4], [X[0]])


def asserts(x: "Tensor[float, n]") -> float:
    assert x[0] > 100.0
    return x[0]
