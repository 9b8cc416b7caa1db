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


@pytest.mark.long_tail
@pytest.mark.parametrize("op", chosen(torch.float32))
def test_of_floats(op):
    check(op, torch.float32)


@pytest.mark.long_tail
@pytest.mark.parametrize("op", chosen(torch.int64))
def test_of_integers(op):
    check(op, torch.int64)


# Places between pixels are rounded where torch's kernel keeps them in float32, or the reverse.
LOOSE = {"nn.functional.grid_sample": 8, "grid_sampler_2d": 24}
NOT_NARROW = {"complex", "view_as_complex"}  # complex numbers of 32 bits


@pytest.mark.long_tail
@pytest.mark.parametrize("op", chosen(torch.bfloat16))
def test_of_bfloat16(op):
    check_narrow(op, torch.bfloat16)


@pytest.mark.long_tail
@pytest.mark.parametrize("op", chosen(torch.float16))
def test_of_float16(op):
    check_narrow(op, torch.float16)


def check_narrow(op, dtype):
    """Steps of 16-bit floats may be rounded elsewhere than torch rounds them: twice the dtype's
    precision of the largest element. What torch overflows may be finite."""
    bound = LOOSE.get(name_of(op), 2.5) * torch.finfo(dtype).eps
    for sample in samples(op, dtype):
        try:
            expected = called(op, sample)
        except Exception:
            continue  # torch refuses it
        try:
            with flashlight.tracer.trace():
                outputs = called(op, sample)
        except NotImplementedError as refusal:
            assert name_of(op) in REFUSED | NOT_NARROW, str(refusal)
            continue
        values = composit.evaluate(*outputs, always_return_tuple=True) if outputs else ()
        assert len(values) == len(expected)
        for value, right in zip(values, expected):
            assert value.shape == tuple(right.shape)
            assert value.dtype.name == str(right.dtype).removeprefix("torch.")
            a, b = wide(value), wide(as_array(right.float() if right.dtype is dtype else right))
            finite = np.isfinite(b)
            scale = np.abs(b[finite]).max(initial=0)
            np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=bound * scale)
            np.testing.assert_array_equal(np.isnan(a), np.isnan(b))


def wide(array):
    return np.asarray(array).astype("complex128" if array.dtype.kind == "c" else "float64")
