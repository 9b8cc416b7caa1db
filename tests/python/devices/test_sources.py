"""What devices would run, printed without one."""

import composit._core as _core
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
        assert "fma(" in text and "test_sources.py:14" in text
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


def test_a_kernel_of_many_operands_is_launched_in_parts(opencl):
    a, x = np.full((4, 50), 2.5), np.linspace(0.1, 9, 200).reshape(4, 50)
    gamma = lambda a, x: _core.aten.gammainc(cnp.asarray(a), cnp.asarray(x))
    compiled = composit.compile(gamma, a, x, backend=opencl)
    assert max(text.count("_memory") for text in compiled.source.split("__kernel")) <= 60 * 2
    whole = composit.compile(gamma, a, x, backend="interpreter")
    assert np.asarray(compiled(a, x)).tobytes() == np.asarray(whole(a, x)).tobytes()
