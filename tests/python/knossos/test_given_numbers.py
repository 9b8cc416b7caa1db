"""Numbers and arrays that kernels are called with: of which dtype the results are."""

# ruff: noqa: F821

import jax
import jax.numpy as jnp
import kernels
import numpy as np
import pytest
import torch

import composit
from composit import knossos
from composit.errors import NotSupported
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


@knossos.register
def shifted(x: "Tensor[float, n]", k: int) -> "Tensor[float, n]":
    return x + k


@knossos.register
def counted(x: float, k: int) -> float:
    return x + k


LARGE, ONES = 10**400, np.ones(2)
UNKNOWN = torch.float8_e5m2fnuz
GRADIENTS = [torch.ones(2, requires_grad=True)] * 2
NO_ARRAYS = [
    (lambda: cube(LARGE), OverflowError, "cube: an integer of 1329 bits stands for float, and"),
    (lambda: cube(-(10**5000)), OverflowError, "cube: an integer of 16610 bits stands for float"),
    (lambda: ordered(LARGE, ONES), OverflowError, "ordered: an integer of 1329 bits"),
    (lambda: ordered(torch.ones(2), LARGE), OverflowError, "ordered: an integer of 1329 bits"),
    (lambda: counted(1.0, 2**63), OverflowError, "counted: an integer of 64 bits stands for int, "),
    (lambda: counted(ONES, 2**63), OverflowError, "counted: an integer of 64 bits stands for int"),
    (lambda: scaled(ONES, LARGE), OverflowError, "scaled: an integer of 1329 bits stands for floa"),
    (lambda: shifted(ONES, 2**63), OverflowError, "shifted: an integer of 64 bits stands for int"),
    (lambda: shifted(composit.asarray(ONES), LARGE), OverflowError, "shifted: an integer of 1329 "),
    (lambda: cube([[1.0], [1.0, 2.0]]), ValueError, "cube: a list whose parts have several length"),
    (lambda: scaled([[1.0], [1.0, 2.0]], 1.0), ValueError, "scaled: a list whose parts have sever"),
    (lambda: knossos.vmap(scaled)([[1.0], [1.0, 2.0]], 1.0), ValueError, "vscaled: a list whose p"),
    (lambda: cube(GRADIENTS), TypeError, "cube: an argument is a list of tensors that require gra"),
    (lambda: cube([g.sum() for g in GRADIENTS]), TypeError, "cube: an argument is a list of tenso"),
    (lambda: scaled(GRADIENTS, 1.0), TypeError, "scaled: an argument is a list of tensors that re"),
    (lambda: cube(torch.ones(2).to(UNKNOWN)), TypeError, "cube: a tensor of torch.float8_e5m2fnu"),
    (lambda: scaled(torch.ones(2).to(UNKNOWN), 1.0), TypeError, "scaled: a tensor of torch.float"),
    (lambda: cube(torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)), TypeError,
     "cube: a tensor of torch.qint8 is no array of numbers"),
    (lambda: cube(torch.eye(2).to_sparse()), TypeError,
     "cube: a tensor of torch.float32 in torch.sparse_coo is no"),
    (lambda: jax.vmap(lambda x: cube(x))(jnp.ones(2)), NotSupported, "cube: it is called while JA"),
    (lambda: jax.jit(cube)(jnp.ones(2)), NotSupported, "cube: it is called while JAX traces"),
    (lambda: jax.jit(lambda x: scaled(x, 1.0))(jnp.ones(2)), NotSupported, "scaled: it is called "),
    (lambda: jax.grad(lambda x: total([x, x], 1.0))(1.0), NotSupported, "total: it is called whil"),
    (lambda: cube.derivative(3), TypeError, "cube.derivative: 3 is no function of Python. One mad"),
    (lambda: cube.derivative(None), TypeError, "cube.derivative: None is no function"),
    (lambda: scaled.derivative("x"), TypeError, "scaled.derivative: 'x' is no function"),
    (lambda: scaled.derivative(np.sin), TypeError, "scaled.derivative: <ufunc 'sin'> is no functi"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize("call, kind, text", NO_ARRAYS)
def test_errors_name_the_kernel_and_the_line(call, kind, text):
    for _ in range(2):  # the general way, then short ones
        with pytest.raises(kind) as error:
            call()
        assert str(error.value).startswith(text) and "[test_given_numbers.py:" in str(error.value)
    assert cube(2.0) == 8.0 and cube(10**40) == 1e120 and counted(1.0, -(2**63)) == 1.0 - 2.0**63


def test_kernels_called_back_by_jax():
    shape = jax.ShapeDtypeStruct((2,), "float32")
    made = jax.jit(lambda x: jax.pure_callback(cube, shape, x))(jnp.ones(2))
    assert made.dtype == "float32" and np.array_equal(made, ONES)
