"""Each operator of torch's own list on torch's samples: traced, it is equal, or it is refused."""

import itertools
import os
import sys
import types
import unittest
import warnings

import numpy as np
import pytest
import torch

import composit
from composit import flashlight
from composit.nn import chain_rule

# torch's list of operators imports this; its classes for tests, which are not used here, need it.
_bare = types.ModuleType("expecttest")
_bare.TestCase = unittest.TestCase
sys.modules.setdefault("expecttest", _bare)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

pytestmark = pytest.mark.filterwarnings("ignore")

# What torch draws anew each time, or leaves as memory was; equal elements in an order of its own.
RANDOM = {
    "bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential",
    "geometric", "log_normal", "multinomial", "new_empty", "new_empty_strided", "normal",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform", "svd_lowrank", "pca_lowrank",
}  # fmt: skip
UNORDERED = {"argsort", "kthvalue", "sort", "topk", "median", "msort"}
# Half-wide results, which NumPy's arrays of torch are not.
OTHER = {"bfloat16"}
SAMPLES = 2
with open(os.path.join(os.path.dirname(__file__), "refused_operators.txt")) as _file:
    REFUSED = {line.strip() for line in _file if line.strip() and not line.startswith("#")}


def name_of(op):
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def chosen(dtype):
    left_out = RANDOM | OTHER | (UNORDERED if dtype is not torch.float32 else set())
    return [
        pytest.param(op, id=name_of(op))
        for op in op_db
        if dtype in op.supported_dtypes("cpu") and op.name not in left_out
    ]


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def samples(op, dtype, requires_grad=False):
    torch.manual_seed(0)
    every = op.sample_inputs("cpu", dtype, requires_grad=requires_grad)
    for sample in itertools.islice(every, SAMPLES):
        if not any(sample.kwargs.get(name) for name in ("training", "train", "dropout_p")):
            yield sample


def called(op, sample):
    given = sample.input
    given = given.clone() if isinstance(given, torch.Tensor) else given
    return list(tensors(op.op(given, *sample.args, **sample.kwargs)))


def as_array(tensor):
    return tensor.detach().resolve_conj().resolve_neg().numpy()


def check(op, dtype):
    for sample in samples(op, dtype):
        try:
            expected = called(op, sample)
        except Exception:
            continue  # torch refuses it
        try:
            with flashlight.tracer.trace():
                outputs = called(op, sample)
        except NotImplementedError as refusal:
            known = name_of(op) in REFUSED
            assert known, str(refusal)
            continue
        values = composit.evaluate(*outputs, always_return_tuple=True) if outputs else ()
        assert len(values) == len(expected)
        for value, right in zip(values, map(as_array, expected)):
            assert value.shape == right.shape
            assert value.dtype == right.dtype
            np.testing.assert_allclose(value, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", chosen(torch.float32))
def test_of_floats(op):
    check(op, torch.float32)


@pytest.mark.parametrize("op", chosen(torch.int64))
def test_of_integers(op):
    check(op, torch.int64)


# Where torch has no gradient of what is traced, or composit none of what it is made of.
def differentiable():
    return [
        pytest.param(op, id=name_of(op))
        for op in op_db
        if op.supports_autograd
        and torch.float64 in op.supported_dtypes("cpu")
        and op.name not in RANDOM | UNORDERED | OTHER
    ]


@pytest.mark.parametrize("op", differentiable())
def test_gradients(op):
    for sample in samples(op, torch.float64, requires_grad=True):
        leaves = [x for x in tensors([sample.input, sample.args]) if x.requires_grad]
        try:
            expected = [
                x for x in called(op, sample) if x.requires_grad and x.dtype.is_floating_point
            ]
            seeds = [torch.randn_like(x) for x in expected]
            right = torch.autograd.grad(expected, leaves, seeds, allow_unused=True)
        except Exception:
            continue  # torch has no gradient here
        if not expected or not leaves:
            continue
        try:
            with flashlight.tracer.trace() as tracer:
                outputs = [x for x in called(op, sample) if x.dtype.is_floating_point]
                inputs = [tracer.read(x) for x in leaves]
        except NotImplementedError:
            continue  # test_of_floats knows about it
        if len(outputs) != len(expected):
            continue
        given = {x.lazy_tensor: composit.asarray(s.numpy()) for x, s in zip(outputs, seeds)}
        if len(given) != len(seeds):
            continue
        try:
            gradients = chain_rule(given, inputs)
        except NotImplementedError as refusal:
            known = name_of(op) in WITHOUT_GRADIENT
            assert known, str(refusal)
            continue
        for gradient, wanted, leaf in zip(gradients, right, leaves):
            wanted = torch.zeros_like(leaf) + (0 if wanted is None else wanted)
            value = composit.evaluate(gradient)
            np.testing.assert_allclose(value, wanted.numpy(), rtol=1e-5, atol=1e-7)


WITHOUT_GRADIENT: set[str] = set()
