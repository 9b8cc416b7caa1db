"""Programs, not calls: what is written, looked at and looped over is as in NumPy."""

import subprocess
import sys
from pathlib import Path

import imperative_programs as programs
import numpy as np
import pytest
from composit._core import LazyTensor

import composit.numpy as cnp
from composit import _core

PARTS, OF_A_PART = 8, 250


@pytest.fixture
def first_calls_at_once():
    """Functions of known arrays are computed at once from their first call on."""
    before = _core.set_calls_before_at_once(0)
    yield
    _core.set_calls_before_at_once(before)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_at_once(part, first_calls_at_once):
    test_random_programs(part + PARTS)


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part):
    for seed in range(part * OF_A_PART, (part + 1) * OF_A_PART):
        text = programs.Writer(seed).program()
        assert not programs.differ(text, np, cnp), (
            f"seed {seed}:\n{text}\n{programs.run(text, np)}\n{programs.run(text, cnp)}"
        )


CANCELLED = """
x = np.array([1e15 + 1, 0.3, -1e15, 0.1])
log(x[0] + x[1] + x[2])
"""


def test_programs_that_rounding_decides_say_nothing():
    class InAnotherOrder:
        def __getattr__(self, name):
            return getattr(np, name)

        def array(self, values):
            return np.array(values)[[0, 2, 1, 3]]

    assert not programs.differ(CANCELLED, np, InAnotherOrder())
    assert programs.differ(CANCELLED.replace("1e15", "2") + "log(x[1])", np, InAnotherOrder())


def test_random_programs_have_every_construct():
    counts = {}
    for seed in range(200):
        programs.Writer(seed, counts).program()
    assert len(counts) == 18 and min(counts.values()) > 50


FAULTS = {
    # x[i] is a view of its array.
    "element views": ("__getitem__", lambda get: lambda x, key: get(x, _with_ellipsis(key))),
    # What lies otherwise in memory is seen, not copied.
    "ravel views": ("ravel", lambda ravel: lambda x, *order: _core.numpy.flat_of(x)),
    "copies share": ("copy", lambda copy: lambda x, *order: x[...]),
    "flatten views": ("flatten", lambda flatten: lambda x, *order: x.reshape(-1)),
    # `x += y` binds the name again.
    "new arrays": ("__iadd__", lambda add: lambda x, y: x + y),
    "lost writes": ("__isub__", lambda subtract: lambda x, y: subtract(x.copy(), y)),
}


def _with_ellipsis(key):
    keys = key if isinstance(key, tuple) else (key,)
    return (..., *keys) if all(isinstance(k, int) for k in keys) else key


def find(fault):
    """AssertionError where 2,000 programs do not find the fault, put back in this process."""
    name, broken = FAULTS[fault]
    setattr(LazyTensor, name, broken(getattr(LazyTensor, name)))

    def differs(text):
        return programs.differ(text, np, cnp)

    for seed in range(2000):
        text = programs.Writer(seed).program()
        if differs(text):
            break
    else:
        raise AssertionError("2,000 programs do not find it")
    small = programs.smallest(text, differs)
    assert differs(small) and len(small) <= len(text)


# Each in a process of its own: a class of C's does not become again in all it was before.
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_put_back_is_found(fault):
    text = f"import sys; sys.path[:0] = {sys.path!r}; import test_programs as t; t.find({fault!r})"
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
