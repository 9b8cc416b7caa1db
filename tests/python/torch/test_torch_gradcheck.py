"""gradcheck, in float64, of all differentiable functions and modules of composit.torch that have an
example call."""

import numpy as np
import pytest
from torch_conformance import names
from torch_conformance.arrays import ARRAYS
from torch_conformance.compare import _NAME, _flat, examples

import composit.torch as torch
from composit.torch.autograd import gradcheck

# Where differences of values are not the gradient that PyTorch defines, and why.
_SYMMETRIC = "reads one triangle of a symmetric matrix; the gradient is that of both, halved"
_ORDER = "the first argument has no gradient: PyTorch refuses it, and so does composit"
REASONS = {
    "geqrf": "PyTorch has no derivative of it, and neither has composit",
    "nan_to_num": "differences of infinities are not numbers",
    "igamma": _ORDER,
    "igammac": _ORDER,
    "special.gammainc": _ORDER,
    "special.gammaincc": _ORDER,
    "cholesky": _SYMMETRIC,
    "linalg.cholesky": _SYMMETRIC,
    "linalg.cholesky_ex": _SYMMETRIC,
    "linalg.eigh": _SYMMETRIC,
    "linalg.eigvalsh": _SYMMETRIC,
}

_by_path = {}
for _example in examples():
    if _example.space not in ("Tensor", "optim") and names.has(_example.space, _example.name):
        _by_path.setdefault(_example.path, []).append(_example)


def wide(array):
    kinds = {"f": np.float64, "c": np.complex128}
    return array.astype(kinds.get(array.dtype.kind, array.dtype))


def end_of_call(text):
    depth, end = 1, text.index("(") + 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return end


def checked(example):
    """None where nothing is differentiable, else whether gradcheck agrees."""
    named = sorted(set(_NAME.findall(example.text)) & set(ARRAYS))
    moving = [name for name in named if ARRAYS[name].dtype.kind in "fc"]
    fixed = {name: torch.tensor(wide(ARRAYS[name])) for name in named if name not in moving}
    scope = {"t": torch}
    text = f"t.{example.space}.{example.text}" if example.space else f"t.{example.text}"
    text = text.replace(".float()", ".double()")
    parameters = {}
    if example.space == "nn":
        end = end_of_call(text)
        torch.manual_seed(0)
        module = eval(text[:end], scope).double()
        scope["module"], text = module, f"module{text[end:]}"
        if example.name.startswith("Lazy"):
            plain = {name: torch.tensor(wide(ARRAYS[name])) for name in named}
            eval(text, {**scope, **plain})
        parameters = dict(module.named_parameters())

    def function(*tensors):
        given = dict(zip(moving, tensors))
        others = dict(zip(parameters, tensors[len(moving) :]))
        inside = {**scope, **fixed, **given}
        if others:
            module = scope["module"]
            inside["module"] = lambda *args: torch.func.functional_call(module, others, args)
        results = _flat(eval(text, inside))
        return tuple(x for x in results if isinstance(x, torch.Tensor) and x.requires_grad)

    inputs = [torch.tensor(wide(ARRAYS[name]), requires_grad=True) for name in moving]
    inputs += [x.detach().clone().requires_grad_() for x in parameters.values()]
    if not inputs or not function(*inputs):
        return None
    return gradcheck(function, inputs, fast_mode=True, eps=1e-6, atol=1e-6, rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", _by_path)
def test_gradients_are_differences_of_values(path):
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        for example in _by_path[path]:
            if path in REASONS:
                with pytest.raises((RuntimeError, NotImplementedError)):
                    checked(example)
            else:
                assert checked(example) in (None, True)
    finally:
        torch.set_default_dtype(default)


def test_what_has_no_derivative_says_so():
    a, x = torch.tensor([1.5], requires_grad=True), torch.tensor([0.5], requires_grad=True)
    y = torch.special.gammainc(a, x)
    with pytest.raises(RuntimeError, match="'SpecialGammainc: input' is not implemented"):
        y.backward()
    y = torch.special.gammainc(a.detach(), x)
    y.backward()
    assert float(x.grad) > 0


def test_most_functions_and_modules_are_checked():
    assert len(_by_path) - len(REASONS) > 600


def test_fast_mode_finds_wrong_gradients():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2.01

    x = torch.tensor(wide(ARRAYS["A"]), requires_grad=True)
    z = torch.tensor(wide(ARRAYS["Z"]), requires_grad=True)
    assert gradcheck(lambda x: x * 2, (x,), fast_mode=True)
    assert gradcheck(lambda x, z: (z.exp() * x, (z * z.conj()).real), (x, z), fast_mode=True)
    assert not gradcheck(Wrong.apply, (x,), fast_mode=True, raise_exception=False)
    with pytest.raises(RuntimeError, match="with respect to input 0"):
        gradcheck(Wrong.apply, (x,), fast_mode=True)
