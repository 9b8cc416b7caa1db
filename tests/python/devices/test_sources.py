"""What devices would run, printed without one."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp

X = np.ones((64, 100), "float32")


def test_both_languages(opencl):
    compiled = composit.compile(lambda x: cnp.tanh(x) @ x.T, X)
    ours, cuda = compiled.source_for("opencl"), compiled.source_for("cuda")
    assert "__kernel void" in ours and "__global__ void" in cuda
    for text in (ours, cuda):
        assert "fma(" in text and "test_sources.py:13" in text
    assert "__kernel void" in composit.compile(cnp.tanh, X, backend=opencl).source_for("opencl")


def test_what_cannot_be_printed():
    compiled = composit.compile(cnp.tanh, X)
    with pytest.raises(
        ValueError, match=r"^source_for: there is no language 'metal'\. One of open"
    ):
        compiled.source_for("metal")
    inverse = composit.compile(cnp.linalg.inv, np.eye(3))
    with pytest.raises(NotImplementedError, match=r"Foreign kernels are not written for devices"):
        inverse.source_for("cuda")
