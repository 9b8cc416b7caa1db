"""Calls of procedures as kernels of programs: runs of a batch are shared among threads, to the same
bits and with the same error; operands that all runs share are read where they are."""

import numpy as np
import pytest

import composit
from composit import knossos
from composit.knossos import Tensor

# ruff: noqa: F821


@knossos.register
def slow(x: "Tensor[float, n]", k: int) -> "tuple[Tensor[float, n], float]":
    """Long enough for threads; fails where k is out of bounds."""
    y = np.zeros(len(x))
    s = 0.0
    for turn in range(300):
        for i in range(len(x)):
            s = s * 0.999 + x[i] * x[k] + turn
            y[i] = s
    return y, s


def batch(backend, threads, x, k):
    mapped = composit.vmap(slow, in_axes=(0, 0))
    return composit.compile(mapped, x, k, backend=backend, threads=threads)(x, k)


@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
def test_threads_do_not_change_a_bit(backend):
    x = np.random.default_rng(0).normal(size=(64, 9))
    k = np.arange(64) % 9
    one = batch(backend, 1, x, k)
    for several in (batch(backend, 2, x, k), batch(backend, 4, x, k)):
        for a, b in zip(one, several, strict=True):
            np.testing.assert_array_equal(a, b)
    for row in (0, 17, 63):
        y, s = slow(x[row], int(k[row]))
        np.testing.assert_array_equal(one[0][row], y)
        assert one[1][row] == s


@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_run_that_fails_is_reported(backend, threads):
    x = np.ones((64, 9))
    k = np.arange(64) % 9
    k[41], k[60], k[23] = 50, 60, 70
    with pytest.raises(IndexError, match="70"):
        batch(backend, threads, x, k)


def test_a_call_is_a_kernel_of_its_own_kind():
    mapped = composit.vmap(slow, in_axes=(0, 0))
    compiled = composit.compile(mapped, np.ones((8, 3)), np.zeros(8, int))
    (kernel,) = [each for each in compiled.kernels if each.kind == "Call"]
    fields = kernel.fields
    assert fields["batch"] == (8,)
    assert [*fields["inputs_extents"], *fields["outputs_extents"]] == [(3,), (), (), (3,)]
    assert fields["procedure"].startswith("slow")


def test_what_all_runs_share_is_read_where_it_is():
    x, k = np.random.default_rng(1).normal(size=9), np.arange(30) % 9
    shared = composit.vmap(slow, in_axes=(None, 0))
    compiled = composit.compile(shared, x, k)
    y, _ = compiled(x, k)
    for run in range(30):
        np.testing.assert_array_equal(y[run], slow(x, int(k[run]))[0])
    (kernel,) = [each for each in compiled.kernels if each.kind == "Call"]
    assert kernel.fields["inputs"][0].strides == (0, 1)
