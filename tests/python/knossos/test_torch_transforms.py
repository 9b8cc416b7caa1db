"""Kernels under torch.func, forward mode and torch.compile."""

# ruff: noqa: F821

import copy
import subprocess
import sys
from typing import NamedTuple

import array_kernels
import kernels
import ml_dtypes
import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from composit import knossos
from composit.errors import NotSupported
from composit.knossos import Tensor

relu3, gelu, smooth, ordered = (
    knossos.register(getattr(kernels, name)) for name in ("relu3", "gelu", "smooth", "ordered")
)
logsumexp, affine, two_results, recurrence, polynomials, made = (
    knossos.register(getattr(array_kernels, name))
    for name in ("logsumexp", "affine", "two_results", "recurrence", "polynomials", "made")
)
torch.manual_seed(0)


class Point(NamedTuple):
    x: float
    y: float


@knossos.register
def polar(p: Point, n: int) -> tuple[Point, int]:
    return Point(p.x * p.y, p.x + n * p.y), n * n


def normal(*shape, dtype=torch.float64, requires_grad=False):
    return torch.randn(shape, dtype=dtype, requires_grad=requires_grad)


# ----- derivatives beside differences


@pytest.mark.long_tail
@pytest.mark.parametrize("kernel, shapes", [
    (gelu, [(5,)]), (smooth, [(3, 1), (4,)]), (ordered, [(4,), (2, 4)]), (gelu.vjp, [(3,), (3,)]),
    (smooth.grad, [(3,), (3,)]), (logsumexp, [(5,)]), (affine, [(2, 3), (3,), (2,)]),
    (recurrence, [(4,), ()]), (two_results, [(3,), ()]), (affine.vjp, [(2, 3), (3,), (2,), (2,)]),
    (logsumexp.grad, [(4,)]), (knossos.vmap(logsumexp), [(2, 3)]),
    (knossos.vmap(recurrence), [(2, 3), (2,)]),
], ids=lambda each: getattr(each, "__name__", ""))  # fmt: skip
def test_gradcheck(kernel, shapes):
    given = [normal(*shape, requires_grad=True) for shape in shapes]
    assert gradcheck(kernel, given, check_forward_ad=True)
    assert gradgradcheck(kernel, given, check_fwd_over_rev=True)


# ----- torch.func


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_elementwise_under_vmap(dtype):
    x, y = normal(4, 3, dtype=dtype), normal(5, dtype=dtype)
    assert torch.equal(vmap(gelu)(x), gelu(x))
    assert torch.equal(vmap(gelu, 1, 1)(x), gelu(x))
    # (4, 3) of each of 5: the kernel's own broadcasting stands behind the calls' axis.
    assert torch.equal(vmap(ordered, (None, 0))(x, y), torch.stack([ordered(x, v) for v in y]))
    both = vmap(vmap(ordered, (0, None)), (None, 0))(x[0], y)
    assert torch.equal(both, torch.stack([ordered(x[0], v) for v in y]))
    z = normal(2, 4, dtype=dtype)
    columns = vmap(ordered, (1, None))(x, z)  # of fewer axes than what all calls share
    assert torch.equal(columns, torch.stack([ordered(column, z) for column in x.T]))
    assert torch.equal(vmap(lambda v: ordered(v, 0.5))(x), ordered(x, 0.5))
    assert torch.equal(vmap(relu3.nnModule)(x), relu3(x))


def test_derivatives_of_elementwise():
    x = normal(6)
    one = grad(lambda x: gelu(x).sum())(x)
    torch.testing.assert_close(one, gelu.grad(x))
    torch.testing.assert_close(vmap(grad(grad(gelu)))(x), gelu.grad.grad(x))
    torch.testing.assert_close(jvp(gelu, (x,), (x,))[1], gelu.jvp(x, x))
    torch.testing.assert_close(vjp(gelu, x)[1](x)[0], gelu.vjp(x, x))
    for jacobian in (jacrev, jacfwd):
        torch.testing.assert_close(jacobian(gelu)(x), torch.diag(gelu.grad(x)))
    second = torch.diag(gelu.grad.grad(x))
    torch.testing.assert_close(hessian(lambda x: gelu(x).sum())(x), second)
    torch.testing.assert_close(jacrev(jacrev(lambda x: gelu(x).sum()))(x), second)


def test_arrays_under_vmap():
    w, x, b = normal(3, 4), normal(5, 4), normal(3)
    wanted = torch.stack([affine(w, row, b) for row in x])
    assert torch.equal(vmap(affine, (None, 0, None))(w, x, b), wanted)
    assert torch.equal(vmap(affine, (None, 1, None), 1)(w, x.T, b), wanted.T)
    assert torch.equal(vmap(lambda row: affine(w.numpy(), row, b))(x), wanted)
    twice = vmap(vmap(affine, (None, 0, None)), (0, 0, None))(torch.stack([w, 2 * w]),
                                                              torch.stack([x, x]), b)  # fmt: skip
    assert torch.equal(twice[0], wanted)
    assert torch.equal(twice[1], torch.stack([affine(2 * w, row, b) for row in x]))
    s = normal(5)
    total, scaled = vmap(two_results)(x, s)
    for i in range(5):
        want = two_results(x[i], s[i].item())
        assert torch.equal(total[i], want[0]) and torch.equal(scaled[i], want[1])
    assert torch.equal(vmap(lambda row: polynomials(row, 0.3, 2))(x),
                       torch.stack([polynomials(row, 0.3, 2) for row in x]))  # fmt: skip
    mapped = knossos.vmap(logsumexp)
    assert torch.equal(vmap(mapped)(torch.stack([x, 2 * x])),
                       torch.stack([mapped(x), mapped(2 * x)]))  # fmt: skip


def test_derivatives_of_arrays():
    x, rows = normal(4), normal(5, 4)
    torch.testing.assert_close(grad(logsumexp)(x), torch.softmax(x, 0))
    torch.testing.assert_close(vmap(grad(logsumexp))(rows), torch.softmax(rows, 1))
    wanted = hessian(lambda x: torch.logsumexp(x, 0))
    for made in (hessian(logsumexp), jacrev(jacrev(logsumexp)), jacfwd(jacrev(logsumexp))):
        torch.testing.assert_close(made(x), wanted(x))
        torch.testing.assert_close(vmap(made)(rows), vmap(wanted)(rows))
    w, b = normal(3, 4), normal(3)
    per_sample = vmap(grad(lambda w, x: affine(w, x, b).sum()), (None, 0))(w, rows)
    each = torch.stack([affine.vjp(w, row, b, torch.ones(3, dtype=w.dtype))[0] for row in rows])
    torch.testing.assert_close(per_sample, each)


def test_records_and_integers():
    x, y = normal(3), normal(3)
    (p, n) = vmap(lambda x, y: polar(Point(x, y), 2))(x, y)
    assert torch.equal(p.x, x * y) and torch.equal(n, torch.full((3,), 4))
    (p, _), (moved, _) = jvp(lambda x: polar(Point(x, y), 2), (x,), (x,))
    assert torch.equal(p.y, x + 2 * y) and torch.equal(moved.x, x * y)
    pulled = vjp(lambda x: polar(Point(x, y), 2)[0].x, x)[1](x)[0]
    assert torch.equal(pulled, x * y)


def test_models():
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), relu3.nnModule, torch.nn.Linear(3, 1))
    parameters = dict(model.named_parameters())
    x = torch.randn(5, 4)

    def loss(parameters, row):
        return functional_call(model, parameters, (row,)).sum()

    each = vmap(grad(loss), (None, 0))(parameters, x)
    model(x).sum().backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(each[name].sum(0), parameter.grad)


def test_forward_mode_alone():
    from torch.autograd import forward_ad

    x, t = normal(3), normal(3)
    with forward_ad.dual_level():
        made = forward_ad.unpack_dual(gelu(forward_ad.make_dual(x, t)))
        assert torch.equal(made.primal, gelu(x)) and torch.equal(made.tangent, gelu.jvp(x, t))


def test_refusals():
    @knossos.register
    def scaled(x: "Tensor[float, n]") -> float:
        return np.sum(x)

    @scaled.derivative
    def scaled_vjp(x: "Tensor[float, n]", dy: float) -> "Tensor[float, n]":
        return x * 0.0 + dy

    x = normal(3)
    torch.testing.assert_close(vmap(grad(scaled))(normal(2, 3)), torch.ones(2, 3).double())
    with pytest.raises(NotSupported, match="scaled: its derivative is one that was given"):
        jvp(scaled, (x,), (x,))
    with pytest.raises(NotSupported, match=r"an extent of .* is made of k, which each row has one"):
        vmap(made, (0, None))(torch.tensor([2, 3]), 0.5)


# ----- torch.compile


@pytest.fixture
def compiled():
    yield lambda function: torch.compile(function, backend="aot_eager")
    torch._dynamo.reset()


def gradients(model, x):
    model.zero_grad()
    model(x).square().sum().backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


def test_compiled_functions_have_the_bits_of_eager_ones(compiled):
    x = torch.randn(5, 4)
    w, v, b = normal(3, 4), normal(4), normal(3)
    for function, given in [
        (relu3, (x,)), (relu3.vjp, (x, x)), (lambda x: relu3(x * 2.0) + 1.0, (x,)),
        (affine, (w, v, b)), (lambda *a: affine(*a) * 2.0, (w, v, b)), (relu3.nnModule, (x,)),
        (lambda x: relu3.autogradFunction.apply(x + 1.0) * 3.0, (x,)), (polar, (Point(x, x), 2)),
        (lambda x: x * relu3(0.5), (x,)), (lambda x: vmap(relu3)(x), (x,)),
    ]:  # fmt: skip
        found, wanted = compiled(function)(*given), function(*given)
        torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_compiled_models_have_the_bits_of_eager_ones(compiled):
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), relu3.nnModule, torch.nn.Linear(8, 2), gelu.nnModule
    )
    x = torch.randn(5, 4)
    made = compiled(copy.deepcopy(model))
    assert torch.equal(made(x), model(x))
    for found, wanted in zip(gradients(made, x), gradients(model, x), strict=True):
        assert torch.equal(found, wanted)


def test_a_graph_break_is_explained(compiled):
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"composit\.knossos is compiled"):
        torch.compile(lambda x: relu3(x) + 1.0, backend="eager", fullgraph=True)(torch.ones(2))


PROGRAM = """
import sys
from composit import knossos

@knossos.register
def bend(x: float) -> float:
    return x * x * x if x > 0.0 else 0.0

@knossos.register
def halved(x: "knossos.Tensor[float, n]") -> "knossos.Tensor[float, n]":
    return x * 0.5

import torch
{before}
assert "torch._dynamo" not in sys.modules

@torch.compile(backend="eager")
def f(x):
    return bend(x * 2.0) + halved(x)

x = torch.randn(4)
for _ in range(2):
    assert torch.equal(f(x), bend(x * 2.0) + halved(x))
    torch._dynamo.reset()
print("done")
"""


@pytest.mark.parametrize("before", ["", "bend(torch.ones(2)), halved(torch.ones(2))"])
def test_whatever_is_imported_and_called_first(before, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM.format(before=before))
    command = [sys.executable, "-W", "ignore", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_graph_of_torch_would_hold_the_result_as_a_constant():
    from torch.fx.experimental.proxy_tensor import make_fx

    @knossos.register
    def squared(x: float) -> float:
        return x * x

    x = torch.tensor([1.0, 2.0])
    text = "squared: it is called while torch writes down a graph of operations"
    with pytest.raises(NotImplementedError, match=text):
        make_fx(lambda a: squared(a) + 1)(x)
    with pytest.raises(NotImplementedError, match=text):
        torch.func.linearize(squared, x)
    assert squared(x).tolist() == [1.0, 4.0]


@knossos.register
def beside(x: float, y: float) -> float:
    return x + 1.0 / y


@knossos.register
def weighted(x: "Tensor[float, n]", w: float, y: "Tensor[float, n]") -> float:
    return np.sum(x / y) * w


def test_arrays_of_numpy_do_not_move():
    """Forward mode takes them as constants, infinite ones too."""
    x, w, ones = torch.tensor([1.0]), torch.tensor(1.0), torch.ones(2)
    infinite = [
        made
        for dtype in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
        for made in (np.full(1, np.inf, dtype), np.full((), np.inf, dtype), dtype(np.inf))
    ]
    for y in [*infinite, np.array([2], "int8"), np.int64(2), np.array([True])]:
        assert jvp(lambda x, y=y: beside(x, y), (x,), (torch.ones(1),))[1] == 1.0
        assert jacfwd(lambda x, y=y: beside(x, y))(x) == 1.0
    for one in infinite[::3]:
        y = np.array([one[0], 4.0], one.dtype)
        assert jacfwd(lambda w, y=y: weighted(ones, w, y))(w) == 0.25
