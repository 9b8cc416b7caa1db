"""torch's own list of operators and its samples of their arguments, for flashlight's tests."""

import itertools
import os
import sys
import types
import unittest
import warnings

import pytest
import torch

# torch's list of operators imports this; its classes for tests, which are not used here, need it.
_bare = types.ModuleType("expecttest")
_bare.TestCase = unittest.TestCase
sys.modules.setdefault("expecttest", _bare)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

# What torch draws anew each time, or leaves as memory was; equal elements in an order of its own.
RANDOM = {
    "bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential",
    "geometric", "log_normal", "multinomial", "new_empty", "new_empty_strided", "normal",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform", "svd_lowrank",
    "pca_lowrank",
}  # fmt: skip
UNORDERED = {"argsort", "kthvalue", "sort", "topk", "median", "msort"}
# Half-wide results, which NumPy's arrays of torch are not.
OTHER = {"bfloat16"}
SAMPLES = 2
_folder = os.path.join(os.path.dirname(__file__), "python/flashlight")
with open(os.path.join(_folder, "refused_operators.txt")) as _file:
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
