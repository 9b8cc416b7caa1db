"""Kernels of knossos on a device: one thread an item of the batch, with the CPU's bits."""

# ruff: noqa: F821

import math
import re
from typing import NamedTuple

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import knossos
from composit.knossos import Tensor

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.normal(size=(5, 6))


@knossos.register
def root(a: float) -> float:
    x = a
    for _ in range(50):
        old = x
        x = 0.5 * (x + a / x)
        if abs(x - old) < 1e-12:
            break
    return x


@knossos.register
def digits(n: int) -> tuple[int, bool]:
    count = 0
    while n != 0:
        n //= 10
        count += 1
    return count, count > 2


@knossos.register
def smoothed(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
    h = np.zeros(len(x))
    h[0] = x[0]
    for i in range(1, len(x)):
        h[i] = math.tanh(w * h[i - 1] + x[i])
    return h


@knossos.register
def eliminated(a: "Tensor[float, n, n]") -> float:
    b = a.copy()
    product = 1.0
    for k in range(len(b)):
        for i in range(k + 1, len(b)):
            factor = b[i, k] / b[k, k]
            for j in range(k, len(b)):
                b[i, j] -= factor * b[k, j]
        product *= b[k, k]
    return product


@knossos.register
def settled(x: "Tensor[float, n]", rate: float) -> float:
    """The number of turns is not known before it runs, nor how many elements are overwritten."""
    z = x.copy()
    total = 0.0
    while np.sum(z * z) > 1e-3:
        for i in range(len(z)):
            z[i] = z[i] * rate + 0.1 * math.sin(z[i]) * (1 - rate)
        total += z[0]
    return total


@knossos.register
def summed(x: "Tensor[float, n]", k: int) -> float:
    """An array as large as a number of each item says."""
    kept = np.zeros(k)
    for i in range(k):
        kept[i] = x[i % len(x)] + i
    return np.sum(kept)


@knossos.register
def picked(x: "Tensor[float, n]", i: int) -> float:
    if i == 3:
        return 0.0
    if i == 7:
        raise ValueError(f"i is {i}")
    return x[i] ** 2


class Layer(NamedTuple):
    weight: "Tensor[float, n, m]"
    bias: "Tensor[float, n]"


@knossos.register
def applied(layer: Layer, x: "Tensor[float, m]") -> tuple["Tensor[float, n]", float]:
    y = np.maximum(layer.weight @ x + layer.bias, 0.0)
    return y, np.max(y)


def leaves(value):
    return [np.asarray(each) for each in (value if isinstance(value, (list, tuple)) else [value])]


def check(f, device, *arrays):
    """The same bits on the device, and there alone."""
    here = f(*(cnp.asarray(each) for each in arrays))
    there = f(*(cnp.asarray(each, device=device) for each in arrays))
    several = there if isinstance(there, (list, tuple)) else [there]
    assert all(each.device == device for each in several)
    for a, b in zip(leaves(here), leaves(there), strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


def runs_there(f, device, *arrays):
    compiled = composit.compile(f, *arrays, backend=device)
    compiled(*arrays)
    assert {where for _, where, _ in compiled.placements} == {device}, compiled.placements
    return compiled


def test_numbers(device):
    values = np.exp(RANDOM.normal(size=(3, 100)))
    check(root, device, values)
    check(root, device, values.astype("float32"))
    check(composit.vmap(root), device, values[0])
    check(composit.grad(lambda x: cnp.sum(root(x) ** 2)), device, values)
    check(lambda x: composit.jvp(root, (x,), (x,)), device, values)
    check(digits, device, np.array([0, 7, 10, 12345, 10**15]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_arrays_and_derivatives(device, dtype):
    rows = ROWS.astype(dtype)
    over = composit.vmap(lambda x: smoothed(x, 0.5))

    def loss(x):
        return cnp.sum(over(x) ** 2)

    check(lambda x: smoothed(x, 0.5), device, rows[0])
    check(over, device, rows)
    check(composit.grad(loss), device, rows)
    check(lambda x: composit.jvp(over, (x,), (x * 2,)), device, rows)
    check(lambda x: composit.grad(lambda x: cnp.sum(composit.grad(loss)(x) ** 2))(x), device, rows)


def test_maps_of_kernels(device):
    mapped = knossos.vmap(smoothed)
    weights = RANDOM.normal(size=5)
    check(lambda x: mapped(x, 0.5), device, ROWS)
    check(mapped, device, ROWS, weights)
    check(knossos.vmap(mapped), device, np.stack([ROWS] * 3), np.stack([weights] * 3))

    def loss(x, w):
        return cnp.sum(mapped(x, w) ** 2)

    check(composit.grad(loss, argnums=(0, 1)), device, ROWS, weights)
    check(lambda x, w: composit.jvp(mapped, (x, w), (x, w)), device, ROWS, weights)


def test_operands_in_any_layout(device):
    matrices = RANDOM.normal(size=(4, 3, 4, 4))
    determinants = composit.vmap(composit.vmap(eliminated))
    check(determinants, device, matrices)
    check(lambda a: determinants(cnp.swapaxes(a, -1, -2)), device, matrices)
    check(lambda a: determinants(cnp.transpose(a, (1, 0, 3, 2))), device, matrices)
    check(lambda a: determinants(a[::2, :, ::-1]), device, matrices)
    check(lambda a: composit.vmap(lambda b: eliminated(b * 2))(a[0]), device, matrices)
    check(composit.grad(lambda a: cnp.sum(determinants(a))), device, matrices)
    weight, bias = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=3)
    check(
        lambda w, b, rows: composit.vmap(lambda x: applied(Layer(w, b), x))(rows),
        device, weight, bias, matrices[0, 0],
    )  # fmt: skip


def test_work_whose_memory_is_not_known_before(device):
    rates = np.array([0.5, 0.9, 0.97, 0.8, 0.3])
    check(composit.vmap(settled), device, ROWS, rates)
    check(composit.grad(lambda x, r: cnp.sum(composit.vmap(settled)(x, r))), device, ROWS, rates)
    counts = np.array([0, 3, 1000, 7, 5000])
    check(composit.vmap(summed), device, ROWS, counts)
    check(composit.grad(lambda x, k: cnp.sum(composit.vmap(summed)(x, k))), device, ROWS, counts)


def test_large_arrays_of_many_items(device):
    @knossos.register
    def long(x: float) -> float:
        kept = np.zeros(20000)
        kept[0] = x
        for i in range(1, 20000):
            kept[i] = 0.5 * kept[i - 1] + i
        return kept[19999] + kept[7]

    check(composit.vmap(long), device, RANDOM.normal(size=2500))


def test_what_is_wrong_is_said_as_on_the_cpu(device):
    x, line = cnp.asarray(ROWS, device=device), picked.__wrapped__.__code__.co_firstlineno
    wrong = [
        (IndexError, [1, 9, 2, 7, 0], "picked: index 9 lies outside of an axis of 6, in `x[i]`", 6),
        (ValueError, [1, 2, 7, 9, 0], "picked: i is 7", 5),
    ]
    for error, indices, told, behind in wrong:
        i = cnp.asarray(np.array(indices), device=device)
        for f in (composit.vmap(picked), knossos.vmap(picked)):
            with pytest.raises(
                error, match=re.escape(told) + rf".*test_kernels.py:{line + behind}"
            ):
                np.asarray(f(x, i))
    check(composit.vmap(picked), device, ROWS, np.array([1, 3, -1, 0, 5]))  # it goes on
    with pytest.raises(ValueError, match="summed: an extent is negative"):
        np.asarray(composit.vmap(summed)(x, cnp.asarray(np.array([1, -1, 2, 3, 4]), device=device)))


def test_work_for_which_there_is_no_memory(opencl):
    x = cnp.asarray(ROWS, device=opencl)
    held = composit.devices.describe(opencl)["held_bytes"]
    for _ in range(3):
        k = cnp.asarray(np.array([1, 2, 10**11, 3, 4]), device=opencl)
        told = rf"summed.*: \d+ bytes of {opencl} are not available"
        with pytest.raises(MemoryError, match=told):
            np.asarray(composit.vmap(summed)(x, k))
    del k
    assert composit.devices.describe(opencl)["held_bytes"] <= held + (1 << 16)
    check(composit.vmap(summed), opencl, ROWS, np.array([1, 2, 30, 3, 4]))  # it goes on


def test_everything_runs_there(opencl):
    def program(x, w):
        total = cnp.sum(composit.vmap(smoothed)(x, w) * 2)
        return total + cnp.sum(composit.vmap(settled)(x, cnp.abs(w) * 0 + 0.5))

    compiled = runs_there(composit.grad(program), opencl, ROWS, RANDOM.normal(size=5))
    text = compiled.source_for("cuda")
    assert 'extern "C" __global__ void smoothed_vjp' in text and "append(double, " in text
    a = RANDOM.normal(size=(4, 3, 3))
    left = composit.compile(lambda a: cnp.linalg.eigh(a)[0], a, backend=opencl)
    left(a)
    reasons = [reason for _, where, reason in left.placements if where != opencl]
    assert reasons == ["Foreign kernels are not written for devices"]
