"""Each operator of torch's own list on torch's samples: traced, it is equal, or it is refused."""

import numpy as np
import pytest
import torch
from operator_samples import REFUSED, as_array, called, chosen, name_of, samples

import composit
from composit import flashlight

pytestmark = pytest.mark.filterwarnings("ignore")


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
