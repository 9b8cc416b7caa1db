"""Results of traces are lazy tensors to who asks, unless the trace ran torch."""

import numpy as np
import pytest
import torch

import composit
import composit.numpy as cnp
from composit import flashlight


@pytest.mark.parametrize("run_torch", [False, True])
def test_results_of_traces(run_torch):
    with flashlight.tracer.trace(run_torch=run_torch):
        output = torch.exp(torch.ones(2)) @ torch.ones(2, 3)
    assert isinstance(output, flashlight.Tensor)
    assert isinstance(output, composit.types.LazyTensor) is not run_torch
    assert np.allclose(composit.evaluate(output.lazy_tensor), np.e * 2)


def test_what_lazy_tensors_are_to_who_asks():
    lazy = composit.types.LazyTensor
    x = cnp.ones(3) + 1
    assert isinstance(x, lazy) and issubclass(type(x), lazy)
    assert not isinstance(np.ones(3), lazy) and not isinstance(torch.ones(3), lazy)
    assert not isinstance(3.0, lazy) and not issubclass(int, lazy)
    assert lazy.sum is type(x).sum
