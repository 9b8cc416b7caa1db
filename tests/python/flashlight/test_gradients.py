"""Gradients of what is traced from torch's own list of operators are autograd's."""

import numpy as np
import pytest
import torch
from operator_samples import OTHER, RANDOM, UNORDERED, called, name_of, op_db, samples, tensors

import composit
from composit import flashlight
from composit.nn import chain_rule

pytestmark = pytest.mark.filterwarnings("ignore")

# Several elements may go to one place there: torch says what is kept is undefined.
UNDEFINED = {
    "nn.functional.max_unpool1d",
    "nn.functional.max_unpool2d",
    "nn.functional.max_unpool3d",
}


# Where torch has no gradient of what is traced, or composit none of what it is made of.
def differentiable():
    return [
        pytest.param(op, id=name_of(op))
        for op in op_db
        if op.supports_autograd
        and torch.float64 in op.supported_dtypes("cpu")
        and op.name not in RANDOM | UNORDERED | OTHER
        and name_of(op) not in UNDEFINED
    ]


@pytest.mark.long_tail
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
