"""Which derivatives of autograd.functional may be differentiated further, of complex results, and
cotangents of other dtypes, as in PyTorch."""

import pytest
import torch as peer

import composit.torch as torch

FUNCTIONS = {
    "cube": lambda t, x: (x * x * x).sum(),
    "linear": lambda t, x: (3 * x).sum(),
    "constant": lambda t, x: t.ones(2).sum(),
    "of a weight": lambda t, x: (x * t.tensor([2.0, 3.0], requires_grad=True)).sum(),
}
DERIVATIVES = {
    "hvp": lambda t, f, x, new: t.hvp(f, x, new(2), create_graph=True),
    "vhp": lambda t, f, x, new: t.vhp(f, x, new(2), create_graph=True),
    "jvp": lambda t, f, x, new: t.jvp(f, x, new(2), create_graph=True),
    "vjp": lambda t, f, x, new: t.vjp(f, x, new(()), create_graph=True),
    "jacobian": lambda t, f, x, new: t.jacobian(f, x, create_graph=True),
    "hessian": lambda t, f, x, new: t.hessian(f, x, create_graph=True),
    "hvp alone": lambda t, f, x, new: t.hvp(f, x, new(2)),
}


def marks(value):
    if isinstance(value, tuple):
        return [marks(each) for each in value]
    return value.tolist(), value.requires_grad, value.is_leaf


@pytest.mark.parametrize("is_recorded", [False, True])
@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_may_be_differentiated_further(function, derivative, is_recorded):
    def run(t):
        x = t.tensor([1.0, 2.0], requires_grad=is_recorded)

        def of(x):
            return FUNCTIONS[function](t, x)

        return marks(DERIVATIVES[derivative](t.autograd.functional, of, x, t.ones))

    assert run(torch) == run(peer)


def test_jacobians_of_identities_are_no_functions():
    def run(t):
        x = t.tensor([1.0, 2.0])
        find = t.autograd.functional.jacobian
        return [marks(find(f, x, create_graph=True)) for f in (lambda x: x, lambda x: 3 * x)]

    assert run(torch) == run(peer)


def test_complex_results_have_no_jacobian_of_real_rows():
    for t in (torch, peer):
        find, x = t.autograd.functional.jacobian, t.tensor([1.0, 2.0])
        for of in (x, t.tensor([1.0 + 1j, 2.0])):
            with pytest.raises(RuntimeError, match="only for real scalar outputs but got"):
                find(lambda x: x * (1 + 2j), of)
        with pytest.raises(RuntimeError, match="only for real scalar outputs but got"):
            t.ones((), dtype=t.complex64).requires_grad_().backward()
        assert find(lambda x: x * (1 + 2j), x, vectorize=True).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "bool"])
def test_cotangents_become_of_the_results_dtype(dtype):
    def run(t):
        _, pull = t.func.vjp(lambda x, y: (x * y, {"sum": x.sum()}), *t.ones(2, 2))
        given = t.ones(2, dtype=getattr(t, dtype)), {"sum": t.ones((), dtype=getattr(t, dtype))}
        return [(str(g.dtype), g.tolist()) for g in pull(given)]

    assert run(torch) == run(peer)


def test_cotangents_that_do_not_fit():
    for t in (torch, peer):
        _, pull = t.func.vjp(lambda x: x * x, t.tensor([1.0, 2.0]))
        with pytest.raises(RuntimeError, match=r"grad_output\[0\] has a shape of torch.Size"):
            pull(t.ones(1))
        with pytest.raises(RuntimeError, match="both grad_output and output are required"):
            pull(t.ones(2, dtype=t.complex64))
