"""Numbers and arrays that kernels are called with: of which dtype the results are."""

# ruff: noqa: F821

import jax.numpy as jnp
import kernels
import numpy as np
import pytest
import torch

import composit
from composit import knossos
from composit.knossos import Tensor

relu3 = knossos.register(kernels.relu3)
ordered = knossos.register(kernels.ordered)


@knossos.register
def cube(x: float) -> float:
    return x * x * x


@knossos.register
def scaled(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
    return w * x


@knossos.register
def total(x: "Tensor[float, n]", w: float) -> float:
    return w * np.sum(x)


INTEGERS = [
    np.int8(100), np.uint8(200), np.int16(3001), np.uint16(3001), np.int32(7), np.int64(7),
    np.True_,
]  # fmt: skip


@pytest.mark.parametrize("number", INTEGERS, ids=repr)
def test_small_integers_are_float64(number):
    """As arrays without axes, Python's integers and torch's tensors of them are."""
    for before in (2.0, np.ones(3), np.ones(3, "float32")):  # whose code stays at hand
        cube(before)
        for kernel in (cube, cube.grad):
            wanted = kernel(float(number))
            for given in (number, np.array(number), jnp.asarray(number)):
                made = kernel(given)
                assert made.dtype == "float64" and made == wanted
            assert kernel(torch.from_numpy(np.array(number))).item() == wanted
    rows = np.array([number])
    for made in (cube(rows), cube(jnp.asarray(rows)), cube([number])):
        assert made.dtype == "float64" and made == cube(float(number))
    assert cube(composit.asarray(number)).dtype == "float64"


@pytest.mark.parametrize("number", INTEGERS, ids=repr)
def test_small_integers_beside_floats(number):
    """A number is treated as the array without axes of its dtype."""
    for other in (np.ones(2, "float32"), np.ones(2), np.float32(1), 1.0, np.ones(2, "int8")):
        made, wanted = ordered(number, other), ordered(np.array(number), other)
        assert made.dtype == wanted.dtype and np.array_equal(made, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_arrays_of_jax(dtype):
    """They are computed in their dtype, as NumPy's are."""
    x = jnp.asarray([0.1, 0.2, 0.3], dtype)
    rows = jnp.stack([x, 2 * x])
    for kernel, given in [
        (cube, (x,)), (cube, (x[0],)), (cube.grad, (x,)), (ordered, (x, 0.1)), (scaled, (x, 2.0)),
        (scaled, (x, x[0])), (scaled.vjp, (x, 0.5, x)), (total, (x, x[0])), (total.grad, (x, 0.5)),
        (knossos.vmap(scaled), (rows, 0.5)), (knossos.vmap(total), (rows, x[:2])),
        (scaled, (np.asarray(x), x[0])), (scaled, (x.astype("float32"), x[0])),
    ]:  # fmt: skip
        made = kernel(*given)
        wanted = kernel(*(np.asarray(each) if hasattr(each, "dtype") else each for each in given))
        both = zip(made, wanted, strict=True) if isinstance(made, tuple) else [(made, wanted)]
        for one, two in both:
            assert type(one) is type(two) and getattr(one, "dtype", 0) == getattr(two, "dtype", 0)
            assert np.array_equal(one, two)
    assert scaled(x, 2.0).dtype == knossos.vmap(scaled)(rows, 2.0).dtype == dtype
    assert scaled(torch.ones(3), x[0]).dtype == torch.float32
    assert scaled(composit.asarray(np.ones(3, "float32")), x[0]).dtype == "float32"
