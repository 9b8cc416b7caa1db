"""Floats of 16 bits: computed in float32, rounded once, wherever they come from."""

# ruff: noqa: F821

import array_kernels
import kernels
import ml_dtypes
import numpy as np
import pytest
import torch

import composit
import composit.torch as ct
from composit import knossos
from composit import numpy as cnp
from composit.knossos import Tensor

RANDOM = np.random.default_rng(0)
SHORT = [np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)]
gelu, ordered, loops = (
    knossos.register(getattr(kernels, name)) for name in ("gelu", "ordered", "loops")
)
logsumexp, affine, two_results = (
    knossos.register(getattr(array_kernels, name))
    for name in ("logsumexp", "affine", "two_results")
)


@knossos.register
def halves(x: float, n: int) -> tuple[float, int, bool]:
    return x / 3.0, n + 1, x > 0.0


@knossos.register
def counted(x: "Tensor[float, n]", k: int) -> "tuple[Tensor[float, n], int, float]":
    return x / 3.0, k + len(x), np.sum(x * x)


def once(made, dtype):
    """What a kernel gives for float32, rounded."""
    if isinstance(made, tuple):
        return tuple(once(each, dtype) for each in made)
    if isinstance(made, float) and not isinstance(made, np.generic):
        return float(np.float32(made).astype(dtype))
    return made.astype(dtype) if getattr(made, "dtype", None) == "float32" else made


def wide(value):
    return value.astype("float32") if getattr(value, "dtype", None) in SHORT else value


def check(kernel, given, dtype):
    made, wanted = kernel(*given), once(kernel(*map(wide, given)), dtype)
    both = zip(made, wanted, strict=True) if isinstance(made, tuple) else [(made, wanted)]
    for one, two in both:
        assert type(one) is type(two) and getattr(one, "dtype", 0) == getattr(two, "dtype", 0)
        assert np.asarray(one).tobytes() == np.asarray(two).tobytes()


@pytest.mark.parametrize("dtype", SHORT, ids=lambda each: each.name)
def test_of_numbers(dtype):
    x, y = (RANDOM.normal(size=shape).astype(dtype) for shape in ((4, 3), (3,)))
    n = RANDOM.integers(0, 5, size=(4, 3))
    for kernel, given in [
        (gelu, (x,)), (gelu, (x[0, 0],)), (gelu.vjp, (x, x)), (gelu.grad, (x,)), (ordered, (x, y)),
        (ordered, (x, 0.1)), (ordered.grad, (x, y)), (loops, (x, 5)), (loops, (x, n)),
        (halves, (x, n)), (gelu, (x[:0],)), (gelu, (x.T,)),
    ]:  # fmt: skip
        check(kernel, given, dtype)
    for other in ("float32", "float64"):  # the larger dtype of two is that of the result
        made = ordered(x, y.astype(other))
        assert np.array_equal(made, ordered(x.astype(other), y.astype(other)))
        assert made.dtype == other
    lazy = gelu(composit.asarray(x))
    assert lazy.dtype == dtype and np.asarray(lazy).tobytes() == gelu(x).tobytes()


@pytest.mark.parametrize("dtype", SHORT, ids=lambda each: each.name)
def test_with_arrays(dtype):
    a, x, b = (RANDOM.normal(size=shape).astype(dtype) for shape in ((2, 3), (3,), (2,)))
    rows = np.stack([x, x + x])
    for kernel, given in [
        (affine, (a, x, b)), (affine.vjp, (a, x, b, b)), (affine.jvp, (a, x, b, a, x, b)),
        (logsumexp, (x,)), (logsumexp.grad, (x,)), (two_results, (x, 0.1)), (counted, (x, 3)),
        (two_results, (x, x[0])), (knossos.vmap(two_results), (rows, 0.1)),
        (knossos.vmap(logsumexp).grad, (rows,)), (affine, (a, x, b.astype("float32"))),
    ]:  # fmt: skip
        check(kernel, given, np.dtype("float32") if given[-1].__class__ is np.ndarray
              and given[-1].dtype == "float32" else dtype)  # fmt: skip
    mixed = affine(a, x.astype("float64"), b)
    assert mixed.dtype == "float64"
    assert np.array_equal(mixed, affine(*(each.astype("float64") for each in (a, x, b))))
    lazy = affine(composit.asarray(a), x, b)
    assert lazy.dtype == dtype and np.asarray(lazy).tobytes() == affine(a, x, b).tobytes()
    gradient = composit.grad(lambda x: cnp.sum(affine(a, x, b)))(composit.asarray(x))
    assert gradient.dtype == dtype


def test_two_dtypes_of_16_bits_are_float32():
    x = RANDOM.normal(size=3)
    one, two = (x.astype(dtype) for dtype in SHORT)
    assert ordered(one, two).dtype == "float32"
    assert two_results(one, two[0])[1].dtype == "float32"
    made = ordered(torch.from_numpy(one), torch.from_numpy(wide(two)).bfloat16())
    assert made.dtype == torch.float32
    assert np.array_equal(made.numpy(), ordered(one, two))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_with_torch(dtype):
    x = torch.randn(4, 3).to(dtype).requires_grad_()
    y = torch.randn(3).to(dtype).requires_grad_()
    for kernel, given in [(gelu, (x,)), (ordered, (x, y)), (ordered, (x, 0.1))]:
        made = kernel(*given)
        wanted = kernel(*(each.float() if torch.is_tensor(each) else each for each in given))
        assert made.dtype == dtype and torch.equal(made, wanted.to(dtype))
    gelu(x).backward(torch.ones_like(x))
    assert x.grad.dtype == dtype
    assert torch.equal(x.grad, gelu.grad(x.detach().float()).to(dtype))
    w, b = torch.randn(2, 3).to(dtype), torch.randn(2).to(dtype)
    made = torch.func.vmap(affine, (None, 0, None))(w, x.detach(), b)
    wanted = torch.stack([affine(w.float(), row, b.float()) for row in x.detach().float()])
    assert torch.equal(made, wanted.to(dtype))
    loss = logsumexp(y)
    loss.backward()
    assert loss.dtype == y.grad.dtype == dtype
    assert torch.equal(y.grad, torch.softmax(y.detach().float(), 0).to(dtype)) or torch.allclose(
        y.grad.float(), torch.softmax(y.detach().float(), 0), rtol=1e-2
    )
    assert ordered(x, y.float()).dtype == torch.float32
    assert ordered(x, np.ones(3)).dtype == torch.float64
    value, count, is_positive = halves(x, torch.arange(3))
    assert (value.dtype, count.dtype, is_positive.dtype) == (dtype, torch.int64, torch.bool)


def test_models_of_16_bits():
    for front, bfloat16 in ((torch, torch.bfloat16), (ct, ct.bfloat16)):
        model = front.nn.Sequential(front.nn.Linear(4, 3), gelu.nnModule, front.nn.Linear(3, 1))
        model = model.bfloat16()
        made = model(front.randn(5, 4).bfloat16())
        made.sum().backward()
        assert made.dtype == bfloat16
        assert all(each.grad.dtype == bfloat16 for each in model.parameters())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), gelu.nnModule, torch.nn.Linear(3, 1))
        model(torch.randn(5, 4)).float().sum().backward()
    assert model[0].weight.grad.dtype == torch.float32


def test_numbers_of_tensors_have_their_dtype():
    """A number that a kernel with arrays computes of float32 is a tensor of it."""
    for dtype in (torch.float32, torch.float64):
        x = torch.randn(4, dtype=dtype, requires_grad=True)
        total, scaled = two_results(x, torch.tensor(0.5, dtype=dtype))
        assert total.dtype == scaled.dtype == logsumexp(x).dtype == dtype
        assert logsumexp.vjp(x, 1.0).dtype == dtype
