"""composit.torch's functions and methods beside PyTorch's, for the samples of PyTorch's own list of
operators: values, dtypes, shapes and gradients, also of tensors without elements or dimensions."""

import functools
import itertools

import numpy as np
import pytest
import torch
from operator_samples import RANDOM, UNORDERED, as_array, name_of, op_db

import composit.torch as ours

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.long_tail]

SAMPLES = 20
DTYPES = ["float64", "int64", "bool", "complex128"]
DRAWN = RANDOM | {
    "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d",
    "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout_with_train",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.feature_alpha_dropout_without_train", "nn.functional.rrelu",
    "nn.functional.multi_head_attention_forward", "normal_in_place",
}  # fmt: skip
# PyTorch's list calls these through functions of its own, with other arguments.
CALLED_OTHERWISE = {
    "einsum", "where", "polygamma", "special.polygamma", "nn.functional.embedding", "zero_",
    "linalg.pinv", "bfloat16", "sparse.mm", "to_sparse", "nn.functional.embedding_bag",
    "nn.functional.triplet_margin_with_distance_loss", "as_strided",
}  # fmt: skip
# Where the two differ in some sample, or composit refuses one, and why.
_PLACES = "the gradient of several elements in one place is not defined"
_TRIANGLE = "PyTorch gives gradients to elements that it does not read"
_NOT_BUILT = "refused by name"
DEVIATIONS = {
    "as_strided_scatter": "PyTorch's gradient of an element that is written over is not 0",
    "cholesky-complex128": "PyTorch's gradient depends on imaginary parts that are 0",
    "linalg.cholesky-complex128": "the same",
    "linalg.cholesky_ex-complex128": "the same",
    "cholesky_inverse": _TRIANGLE,
    "cholesky_solve": _TRIANGLE,
    "cov": "PyTorch rounds weights of float32 before it adds",
    "istft-complex128": "the samples' own function gives windows no gradient",
    "histogramdd": "edges that do not rise are refused, as NumPy's",
    "linalg.eig": "eigenvalues have no order",
    "linalg.eigh": "eigenvectors have any sign",
    "linalg.norm.subgradients_at_zero": "of negative powers it is not a number at 0",
    "linalg.lstsq": "PyTorch leaves out what its driver does not compute",
    "linalg.lstsq.grad_oriented": "the same",
    "logdet-complex128": "of no matrix it is real",
    "mode": "of equal elements the last place is given, in PyTorch any",
    "nn.functional.batch_norm-float64": "a tensor of one dimension has no channels",
    "nn.functional.linear_cross_entropy.chunked": _NOT_BUILT,
    "nn.functional.linear_cross_entropy.chunked_none": _NOT_BUILT,
    "nn.functional.local_response_norm-int64": "PyTorch rounds means of integers down",
    "nn.functional.max_unpool1d": _PLACES,
    "nn.functional.max_unpool2d": _PLACES,
    "nn.functional.max_unpool3d": _PLACES,
    "__rpow__-float64": "the slope of 0 ** y is 0, in PyTorch NaN",
    "__rpow__-int64": "integers to negative powers are refused, as NumPy's",
    "special.bessel_j0": "composit is nearer to the value, by 1e-8",
    "special.bessel_j1": "the same",
    "special.bessel_y0": "the same",
    "special.bessel_y1": "the same",
    "sum_to_size-bool": "nothing is summed",
}


@functools.cache
def function_of(name):
    """The function of that name, or the method: operators of PyTorch's list are either."""
    found = ours
    for part in name.split("."):
        found = getattr(found, part, None)
    found = found if callable(found) else getattr(ours.Tensor, name, None)
    return found.fget if isinstance(found, property) else found


def given(value):
    """A sample's argument for composit: its tensors with equal values, its dtypes."""
    if isinstance(value, torch.Tensor):
        made = ours.tensor(as_array(value))
        return made.requires_grad_() if value.requires_grad else made
    if isinstance(value, (torch.dtype, torch.memory_format)):
        return getattr(ours, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return ours.device(str(value))
    if isinstance(value, (list, tuple)):
        made = [given(item) for item in value]
        return tuple(made) if isinstance(value, torch.Size) else type(value)(made)
    if isinstance(value, dict):
        return {name: given(item) for name, item in value.items()}
    return value


def tensors(value, kind):
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item, kind)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()), kind)


def difference(expected, found, tolerance):
    """What is different about two tensors; empty where nothing is."""
    if str(expected.dtype) != str(found.dtype) or tuple(expected.shape) != tuple(found.shape):
        return f"{found.dtype} {found.shape}, PyTorch's is {expected.dtype} {expected.shape}"
    a, b = as_array(expected), found.detach().numpy()
    # Elementwise functions of integers are of float32, and rounded there.
    tolerance = max(tolerance, 1e-5 if a.dtype in (np.float32, np.complex64) else 0)
    if np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
        return ""
    return f"values {b.ravel()[:4]}, PyTorch's are {a.ravel()[:4]}"


def difference_of_gradients(expected, found, inputs, leaves):
    wanted = [x for x in expected if x.requires_grad]
    made = [y for x, y in zip(expected, found, strict=True) if x.requires_grad]
    if not wanted or not inputs:
        return ""
    seeds = [torch.linspace(-1, 1, x.numel(), dtype=torch.float64).reshape(x.shape).to(x.dtype)
             for x in wanted]  # fmt: skip
    try:
        right = torch.autograd.grad(wanted, inputs, seeds, allow_unused=True)
    except RuntimeError:
        return ""  # PyTorch has none here
    ours_of = ours.autograd.grad(made, leaves, [given(x) for x in seeds], allow_unused=True)
    for a, b, leaf in zip(right, ours_of, inputs, strict=True):
        a = torch.zeros_like(leaf) if a is None else a + torch.zeros_like(leaf)
        b = ours.zeros(tuple(leaf.shape), dtype=given(leaf.dtype)) if b is None else b
        if text := difference(a, b, 1e-6):
            return f"gradient: {text}"
    return ""


def difference_of_sample(op, sample, with_gradients):
    args = (sample.input, *sample.args)
    try:
        expected = list(tensors(op.op(*args, **sample.kwargs), torch.Tensor))
    except Exception:
        return ""
    plain, named = given(args), given(sample.kwargs)
    try:
        found = list(tensors(function_of(op.name)(*plain, **named), ours.Tensor))
        for made in found:
            made.tolist()  # what values refuse
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    if len(found) != len(expected):
        return f"{len(found)} results, PyTorch has {len(expected)}"
    for a, b in zip(expected, found, strict=True):
        if text := difference(a, b, 1e-8):
            return text
    if not with_gradients:
        return ""
    inputs = [x for x in tensors([*args, sample.kwargs], torch.Tensor) if x.requires_grad]
    leaves = [x for x in tensors([*plain, named], ours.Tensor) if x.requires_grad]
    return difference_of_gradients(expected, found, inputs, leaves)


def cases():
    for op in op_db:
        if op.name in DRAWN | CALLED_OTHERWISE or function_of(op.name) is None:
            continue
        for dtype in DTYPES:
            is_ordered = op.name not in UNORDERED or dtype == "float64"
            if getattr(torch, dtype) in op.supported_dtypes("cpu") and is_ordered:
                yield pytest.param(op, dtype, id=f"{name_of(op)}-{dtype}")


def is_drawn(sample):
    return any(sample.kwargs.get(name) for name in ("training", "train", "dropout_p"))


@pytest.mark.parametrize("op, dtype", list(cases()))
def test_samples(op, dtype):
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    is_differentiable = op.supports_autograd and kind in op.supported_backward_dtypes("cpu")
    every = op.sample_inputs("cpu", kind, requires_grad=is_differentiable)
    texts = []
    for sample in itertools.islice(every, SAMPLES):
        if is_drawn(sample) and "batch_norm" not in op.name:
            continue
        if text := difference_of_sample(op, sample, is_differentiable):
            shapes = [getattr(x, "shape", x) for x in (sample.input, *sample.args)]
            texts.append(f"{shapes} {sample.kwargs}: {text}")
    name = f"{name_of(op)}-{dtype}"
    known = DEVIATIONS.get(name, DEVIATIONS.get(name_of(op)))
    assert not texts or known, "\n".join(texts[:3])
    assert texts or not known or name not in DEVIATIONS, f"{name} agrees now: {known}"
