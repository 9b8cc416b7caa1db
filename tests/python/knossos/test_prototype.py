"""The spellings of the original Knossos: register_direct, torch.Tensor with example inputs,
compile, _entry, and PyTorch's functions within kernels."""

import copy
import pickle

import numpy as np
import pytest
import torch

from composit import _core, knossos
from composit.knossos import Tensor


@knossos.register
def relux(x: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, 0.1 * x * x, 0.0 * x)


@knossos.register
def weighted(a: int, x: "torch.Tensor") -> float:
    total = 0.0
    for i in range(x.size(0)):
        total += a * x[i]
    return total


def sqrl(x: torch.Tensor) -> torch.Tensor:
    """A choice by the sum of a tensor."""
    y = torch.sum(x)
    if y < 0.0:
        return -0.125 * x
    return 1 / 2 * x**2


@knossos.register
def squared(x: float) -> float:
    return x * x


def leaf(*shape):
    torch.manual_seed(0)
    return torch.randn(shape, dtype=torch.float64).requires_grad_()


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 4)])
def test_axes_are_those_of_the_tensor(shape):
    x, dy = leaf(*shape), torch.rand(shape, dtype=torch.float64)
    want = torch.where(x > 0, 0.1 * x * x, 0.0)
    torch.testing.assert_close(relux(x), want)
    (wanted,) = torch.autograd.grad(want, x, dy)
    torch.testing.assert_close(torch.autograd.grad(relux(x), x, dy)[0], wanted)
    torch.testing.assert_close(relux.vjp(x.detach(), dy), wanted)
    assert relux.of(x) is relux.of(torch.ones(shape)) and "relux_vjp" in relux.of(x).source


def test_numbers_and_tensors_beside_each_other():
    x = leaf(3)
    weighted(2, x).backward()
    assert x.grad.tolist() == [2.0] * 3
    assert weighted(2, x=[1.0, 2.0]) == 6.0
    assert weighted.grad(3, np.ones(2)).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("make", [knossos.vmap, lambda f: knossos.register_direct(f, vmap=True)])
def test_rows(make):
    x = leaf(4, 3)
    made, want = make(sqrl)(x), torch.stack([sqrl(row) for row in x])
    torch.testing.assert_close(made, want)
    got, wanted = (torch.autograd.grad(y.sum(), x)[0] for y in (made, want))
    torch.testing.assert_close(got, wanted)


def test_register_direct():
    x = torch.tensor([1.0, 3.0])
    for kernel in (
        knossos.register_direct(squared), knossos.register_direct(squared, elementwise=True),
        knossos.register_direct(squared.__wrapped__, vmap=True, generate_lm=True),
    ):  # fmt: skip
        assert kernel(x).tolist() == [1.0, 9.0]
    with pytest.raises(TypeError, match="elementwise and vmap are both true"):
        knossos.register_direct(squared, elementwise=True, vmap=True)
    with pytest.raises(TypeError, match="register_direct: 3 is no function of Python"):
        knossos.register_direct(3)


def test_compile_for_examples():
    x = leaf(3)
    for examples in (x, (x,)):
        function = relux.compile(example_inputs=examples, torch_extension_name="relux")
        torch.testing.assert_close(function.apply(x), relux(x))
    function = squared.compile(example_inputs=(torch.tensor(2.0),), configuration=None)
    assert torch.equal(function.apply(x), squared(x)) and function is squared.autogradFunction
    function = relux.compile((x,), "name_of_an_extension")  # as the original's was called
    torch.testing.assert_close(function.apply(x), relux(x))
    assert squared.compile((2.0,), "name") is squared.autogradFunction
    both = weighted.ensure_compiled((2, x))
    assert both.apply(2, x) == weighted(2, x)


def test_entries():
    x = torch.tensor([1.0, 2.0])
    assert squared._entry(3.0) == 9.0 and squared._entry_vjp(3.0, 2.0) == 12.0
    assert weighted._entry(2, x) == weighted._entry((2, x)) == 6.0
    nothing, slope = weighted._entry_vjp((2, x), 1.0)
    assert nothing == () and slope.tolist() == [2.0, 2.0]
    assert relux._entry_vjp(x, torch.ones(2)).tolist() == pytest.approx([0.2, 0.4])
    assert relux._reset_allocator(x) is None and squared._reset_allocator(1.0) is None


def test_results_of_entries_are_those_of_the_original():
    @knossos.register
    def mean(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.mean(torch.cat([x, y], dim=1))

    made = mean._entry(torch.ones(2, 3), torch.zeros(2, 1))
    assert type(made) is float and made == 0.75
    first, second = mean._entry_vjp((torch.ones(2, 1), torch.zeros(2, 1)), 1.0)
    assert first.tolist() == second.tolist() == [[0.25], [0.25]]


def test_the_function_of_a_kernel():
    assert squared.raw_f(3.0) == 9.0 and relux.raw_f is relux.__wrapped__
    rows = knossos.register_direct(squared, vmap=True)
    assert knossos.vmap(relux).raw_f is relux.raw_f and rows.raw_f(2.0) == 4.0
    text = knossos.from_text("same", "(x: float) -> x")
    with pytest.raises(
        AttributeError, match=r"raw_f: the kernel same is made of text. A kernel of"
    ):
        assert text.raw_f


@pytest.mark.parametrize(
    "name", ["cpp_string_to_autograd_function", "ksc_string_to_autograd_function"]
)
def test_what_the_original_compiled_is_refused_when_it_is_called(name):
    with pytest.raises(NotImplementedError, match=f"^{name}: texts for the original's compiler"):
        getattr(knossos, name)("(def f Float (x : Float) x)", "name")


def test_modules():
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), relux.nnModule(example_input=torch.ones(1)))
    assert model(torch.ones(4, 3)).shape == (4, 2)


def test_copies_are_themselves():
    rows = knossos.vmap(relux)
    for kernel in (relux, rows):
        assert pickle.loads(pickle.dumps(kernel)) is copy.deepcopy(kernel) is kernel
    inner = knossos.register(sqrl)  # whose name means the function
    with pytest.raises(pickle.PicklingError, match=r"sqrl is not what .*sqrl is or makes now"):
        pickle.dumps(inner)


def test_parts_of_other_kernels():
    def tripled(y: torch.Tensor) -> torch.Tensor:
        return y * 3.0

    @knossos.register
    def total(x: Tensor[float, "n"]) -> float:  # noqa: F821
        return torch.sum(relux(x) + tripled(x))

    assert total(np.array([1.0, -1.0, 2.0])) == pytest.approx(0.5 + 6.0)


REFUSED = {
    "none": (lambda: relux(), "relux: missing a required argument: 'x'. A value for each"),
    "more": (lambda: relux(torch.ones(1), 2), "relux: too many positional arguments. A value"),
    "by name": (lambda: relux(y=torch.ones(1)), "relux: missing a required argument: 'x'."),
    "complex": (
        lambda: relux(torch.ones(1, dtype=torch.complex64)),
        "relux: x has elements of torch.complex64. Floats, integers or bools are required.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(TypeError) as caught:
        call()
    assert message in str(caught.value)


FUNCTIONS = {
    "sum of an axis": lambda x: torch.sum(x, dim=1),
    "kept axes": lambda x: x - torch.mean(x, dim=0, keepdim=True),
    "methods": lambda x: x.exp() + x.sum(dim=0) * x.numel() + x.dim(),
    "rows of methods": lambda x: x.abs().sqrt()[:, 0] * x.size()[0],
    "cat": lambda x: torch.cat([x, 2.0 * x], dim=1),
    "stack": lambda x: torch.stack([x[0], x[1]]),
    "tensor": lambda x: x[0, :2] * torch.tensor([2.0, 3.0]),
    "zeros": lambda x: torch.zeros(2, 3) + x + torch.ones(3, dtype=torch.float64),
    "clamp": lambda x: torch.clamp(x, -0.5, 0.5),
    "functions": lambda x: torch.sigmoid(x) + torch.erf(x) + torch.relu(x) + torch.special.expit(x),
    "functional": lambda x: torch.nn.functional.relu(x) + torch.nn.functional.silu(x),
    "numbers": lambda x: x * torch.exp(x[0, 0]),
    "products": lambda x: torch.matmul(x, x[0]) + torch.einsum("ij,j->i", x, x[1]),
    "maxima": lambda x: torch.amax(x, 1) + torch.maximum(x[:, 0], x[:, 1]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_torch(name):
    function = FUNCTIONS[name]

    def of_tensor(x: torch.Tensor):
        return function(x)

    x = leaf(2, 3)
    kernel = knossos.register(of_tensor).of(x)
    for each in (kernel, kernel.vjp):
        each._use(_core.procedure.interpreted(each.procedure()))
    got, want = kernel(x), function(x)
    torch.testing.assert_close(got, want.to(torch.float64), rtol=1e-13, atol=1e-15)
    got, wanted = (torch.autograd.grad(y.sum(), x)[0] for y in (got, want))
    torch.testing.assert_close(got, wanted, rtol=1e-12, atol=1e-14)
