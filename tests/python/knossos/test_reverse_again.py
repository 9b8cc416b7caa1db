"""Derivatives in reverse of derivatives in reverse that keep tapes: beside the tangents of the
first, and compiled beside interpreted, to the bit."""

# ruff: noqa: F821

import numpy as np
import pytest
import torch
from composit._core import NotSupported
from test_overwritten import CASES

from composit import _core, knossos
from composit.knossos import Tensor


def left(
    x: "Tensor[float, n]", y: "Tensor[float, n]", limit: float
) -> "tuple[float, Tensor[float, n]]":
    total = 1.0
    z = x * 1.0
    for i in range(len(x)):
        total *= x[i] * y[i]
        z[i] = total * y[i]
        if total > limit:
            break
    return total, z


def counted(x: "Tensor[float, n]", k: int) -> "tuple[int, float]":
    """A result that is no float between those that are."""
    s, steps = 0.0, 0
    while s < 3.0:
        s = s + x[steps % len(x)] ** 2
        steps += 1
        if steps > k:
            break
    return steps, s


RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=4) + 2
MORE = [
    (left, (X, X[::-1].copy(), 30.0)), (left, (X, X - 1, 1e9)),
    (counted, (X, 9)), (counted, (X, 0)),
]  # fmt: skip


def flat(made):
    return list(made) if isinstance(made, tuple) else [made]


def like(value):
    shape = np.shape(value)
    return RANDOM.normal(size=shape) if shape else float(RANDOM.normal())


def paired(some, others):
    return sum(np.sum(a * b) for a, b in zip(some, others, strict=True))


@pytest.mark.parametrize("function, given", CASES + MORE)
def test_beside_the_tangents_of_the_derivative(function, given):
    kernel = knossos.register(function)
    received = [like(each) for each in flat(kernel(*given)) if not isinstance(each, int)]
    back = kernel.vjp
    floats = [each for each in given if not isinstance(each, int)]
    tangents = [like(each) for each in [*floats, *received]]
    forward = flat(back.jvp(*given, *received, *tangents))
    v = [like(each) for each in forward]
    again = flat(back.vjp(*given, *received, *v))
    assert [np.shape(each) for each in again] == [np.shape(each) for each in [*floats, *received]]
    np.testing.assert_allclose(paired(again, tangents), paired(forward, v), rtol=1e-11)
    compiled = [np.asarray(each).tobytes() for each in again]
    back.vjp._use(_core.procedure.interpreted(back.vjp.procedure()))
    interpreted = flat(back.vjp(*given, *received, *v))
    assert [np.asarray(each).tobytes() for each in interpreted] == compiled


@pytest.mark.parametrize("function, given", [CASES[0], CASES[1], CASES[5], CASES[6], MORE[0]])
def test_torch_differentiates_twice(function, given):
    kernel = knossos.register(function)
    inputs = [torch.tensor(each, requires_grad=True) if isinstance(each, np.ndarray) else each
              for each in given]  # fmt: skip
    assert torch.autograd.gradcheck(kernel, inputs)
    assert torch.autograd.gradgradcheck(kernel, inputs)


def test_rows():
    kernel = knossos.vmap(knossos.register(left))
    x, y = np.stack([X, X - 0.5]), np.stack([X, X + 0.5])
    inputs = [torch.tensor(each, requires_grad=True) for each in (x, y, np.array([30.0, 1e3]))]
    assert torch.autograd.gradgradcheck(kernel, inputs)


def test_the_third_in_reverse_is_refused():
    back = knossos.register(left).vjp
    with pytest.raises(NotSupported) as caught:
        back.vjp.vjp.procedure()
    line = left.__code__.co_firstlineno
    assert str(caught.value).startswith(
        "left_vjp_jvp: its arrays grow, as the tapes of derivatives in reverse do, of which none "
        f"in reverse is built. Take the jvp instead. [test_reverse_again.py:{line}]"
    )

    assert "left_vjp_vjp(" in back.vjp.source


def test_integer_arrays_among_the_results_receive_nothing():
    def both(x: "Tensor[float, n]", k: int) -> "tuple[float, Tensor[int, n]]":
        return np.sum(x * x * x), (x > 0.0) * k

    kernel = knossos.register(both)
    x = np.array([1.0, 2.0, -3.0])
    np.testing.assert_array_equal(kernel.vjp(x, 2, 1.0), 3 * x * x)
    np.testing.assert_array_equal(kernel.vjp.vjp(x, 2, 1.0, x)[0], 6 * x * x)
