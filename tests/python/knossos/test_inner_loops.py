"""What derivatives keep of inner loops, checks that are asked once, and loops for vectors."""

# ruff: noqa: F821

import math

import numpy as np
import pytest

from composit import _core, knossos
from composit.knossos import Tensor

DOUBLE = np.dtype("float64")


@knossos.register
def shares(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            near = np.zeros(3)
            for k in range(3):
                near[k] = math.tanh(x[i] * y[j] + k)
            for k in range(2):
                near[k] += math.sin(x[i]) * y[j]
            total += near[0] * near[1] / (2 + near[2] * near[2])
    return total


@knossos.register
def changed_after_a_read(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            near = np.zeros(2)
            near[0] = x[i] * y[j]
            first = near[0] * near[0]
            near[0] = math.exp(first)
            near[1] = first * near[0]
            total += near[0] * near[1]
    return total


@knossos.register
def of_steps(x: "Tensor[float, n]", first: int, last: int) -> float:
    total = 0.0
    for i in range(2):
        for j in range(last, first, -2):
            value = math.exp(x[j]) * (i + 1)
            for k in range(first, last):
                total = total * 0.5 + value * math.sin(value * x[k])
    return total


@knossos.register
def of_rows_behind(x: "Tensor[float, n]", y: "Tensor[float, m]") -> float:
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            slope = math.tanh(x[i] * x[j])
            if slope > 0.1:
                continue
            total += slope * math.exp(slope * y[0])
    return total


X, Y = np.random.default_rng(0).normal(size=(2, 5))


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        (shares, (X, Y[:4])), (shares, (X[:0], Y)), (shares, (X, Y[:0])),
        (changed_after_a_read, (X / 2, Y / 2)), (of_steps, (X, 0, 4)), (of_steps, (X, 3, 1)),
        (of_rows_behind, (X, Y)),
    ],
)  # fmt: skip
def test_gradients_are_those_of_forward_mode(kernel, arguments):
    assert math.isclose(kernel(*arguments), kernel.__wrapped__(*arguments), rel_tol=1e-13)
    floats = [each for each in arguments if isinstance(each, np.ndarray)]
    made = kernel.grad(*arguments)
    gradients = made if isinstance(made, tuple) else (made,)
    random = np.random.default_rng(1)
    for _ in range(3):
        tangents = [random.normal(size=each.shape) for each in floats]
        forward = kernel.jvp(*arguments, *tangents)
        backward = sum(float(g @ t) for g, t in zip(gradients, tangents))
        assert math.isclose(forward, backward, rel_tol=1e-11, abs_tol=1e-12)
    interpreted = _core.procedure.interpreted(kernel.vjp.procedure())
    compiled = kernel.vjp(*arguments, 1.0)
    known, kernel.vjp._compiled[DOUBLE] = kernel.vjp._compiled[DOUBLE], interpreted
    again = kernel.vjp(*arguments, 1.0)
    kernel.vjp._compiled[DOUBLE] = known
    for a, b in zip(*(each if isinstance(each, tuple) else (each,) for each in (compiled, again))):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_inner_loops_keep_what_they_compute():
    source = shares.vjp.procedure().source
    # The values are results of no interest: each is computed once, and kept for all j.
    assert source.count(" = tanh_float64(") == 1
    assert "near[j * 3 + k]" in source
    assert "dnear[k]" in source  # adjoints live in one iteration


def test_elements_that_change_after_they_were_read_are_computed_again():
    source = changed_after_a_read.vjp.procedure().source
    assert "near[j * 2]" not in source


def test_values_are_kept_for_one_iteration_of_the_outermost_loop():
    source = of_rows_behind.vjp.procedure().source
    assert "_kept" not in source  # the extents would differ from iteration to iteration
    source = of_steps.vjp.procedure().source
    assert source.count("std::vector<double> exp_kept") == 1


@knossos.register
def checked(x: "Tensor[float, n]", k: int, count: int) -> float:
    total = 0.0
    for i in range(count):
        total += x[k] * i
        total += x[k + 1]
    return total


def test_a_check_that_is_the_same_in_all_iterations_is_asked_before_the_loop():
    source = checked.procedure().source
    assert "assert((0 >= count) | (index >= 0));" in source
    loop = source[source.index("for (") :]
    assert "assert" not in loop
    assert checked(X, 9, 0) == 0.0
    assert checked(X, 1, 3) == checked.__wrapped__(X, 1, 3)
    for k, line in ((5, 9), (4, 10)):  # the first that fails is told
        start = checked.__wrapped__.__code__.co_firstlineno
        with pytest.raises(IndexError, match=rf"test_inner_loops\.py:{start + line - 5}\b"):
            checked(X, k, 3)


@knossos.register
def checked_behind_a_branch(x: "Tensor[float, n]", k: int) -> float:
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            continue
        total += x[k]
    return total


def test_a_check_behind_what_ends_the_iteration_stays():
    assert checked_behind_a_branch(np.ones(3), 7) == 0.0
    with pytest.raises(IndexError):
        checked_behind_a_branch(-np.ones(3), 7)


@knossos.register
def recurrent(x: "Tensor[float, n]") -> "Tensor[float, n]":
    made = np.zeros(len(x))
    for i in range(len(x)):
        made[i] = math.exp(x[i])
    for i in range(1, len(x)):
        made[i] = math.tanh(made[i - 1])
    for i in range(len(x)):
        made[0] += math.sin(x[i])
    return made


@knossos.register
def summed(x: "Tensor[float, n]") -> float:
    made = np.zeros(len(x))
    for i in range(len(x)):
        made[i] = math.exp(x[i])
    for i in range(1, len(x)):
        made[i] = math.tanh(made[i - 1])
    for i in range(len(x)):
        made[0] += math.sin(x[i])
    return np.sum(made)


def test_only_loops_with_elements_of_their_own_become_vectors():
    source = summed.procedure().source
    assert source.count("#pragma GCC ivdep") == 1
    assert source.index("#pragma GCC ivdep") < source.index("exp_float64")
    x = np.random.default_rng(2).normal(size=100)
    assert np.isclose(summed(x), summed.__wrapped__(x), rtol=1e-13)


def test_of_outputs_compilers_know_that_they_are_no_inputs():
    assert "ivdep" not in recurrent.procedure().source
    x = np.random.default_rng(2).normal(size=100)
    np.testing.assert_allclose(recurrent(x), recurrent.__wrapped__(x), rtol=1e-13)


@knossos.register
def returning(x: "Tensor[float, n]", s: float) -> float:
    for i in range(len(x)):
        for j in range(len(x)):
            near = np.zeros(len(x))
            near[0] += math.exp(s)
            if x[i] + x[j] > 1.0:
                return near[j] * s
    return 0.5


@pytest.mark.parametrize("x", [[0.2, 0.9], [0.9, 0.2], [0.6, 0.6], [0.1, 0.2]])
def test_arrays_of_loops_that_a_return_ends(x):
    """No iteration finds what the run before it wrote."""
    x, s = np.array(x), 0.7
    assert returning(x, s) == returning.__wrapped__(x, s)
    dx, ds = returning.vjp(x, s, 1.0)
    assert not dx.any()
    assert ds == returning.jvp(x, s, np.zeros(2), 1.0)
