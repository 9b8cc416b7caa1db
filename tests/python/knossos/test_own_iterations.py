"""Loops whose iterations make the arrays that they change run again in reverse; the loops within
log what they overwrite."""

# ruff: noqa: F821

import math

import numpy as np
import pytest
from complex_steps import check_gradients
from kernel_examples import example

from composit import knossos
from composit.knossos import Tensor

hand_tracking = example("hand_tracking")
RANDOM = np.random.default_rng(0)


def running(x: "Tensor[float, n, m]") -> "Tensor[float, n]":
    """Each row is summed up in place."""
    sums = np.zeros(len(x))
    for i in range(len(x)):
        row = x[i] * 2.0
        for k in range(1, len(row)):
            row[k] += math.sin(row[k - 1]) * row[k]
        for k in range(len(row) - 1):
            row[k] = row[k] * row[k + 1]
        sums[i] = np.sum(row)
    return sums


def along_a_tree(x: "Tensor[float, n, m]", parents: "Tensor[int, m]") -> float:
    """Nodes take what their parents have, with a small array for each of them."""
    total = 0.0
    for i in range(len(x)):
        place = np.zeros((len(parents), 2))
        for j in range(len(parents)):
            own = np.zeros(2)
            s = math.sin(x[i, j])
            for r in range(2):
                own[r] = s * x[i, j] + r * math.cos(x[i, j])
            parent = parents[j]
            for r in range(2):
                if parent < 0:
                    place[j, r] = own[r]
                else:
                    place[j, r] = place[parent, r] * own[1 - r] + own[r]
        total += np.sum(place * place)
    return total


def handed_on(x: "Tensor[float, n, m]") -> float:
    """A number goes from one iteration to the next, the array does not."""
    a = 0.5
    for i in range(len(x)):
        row = x[i].copy()
        for _ in range(3):
            for k in range(len(row)):
                row[k] = math.tanh(row[k] * a) + row[k]
        a = math.sin(np.sum(row)) + a
    return a


def within_three(x: "Tensor[float, n, m]") -> float:
    total = 0.0
    for t in range(2):
        for i in range(len(x)):
            row = x[i] * (t + 1.0)
            k = 0
            while k < len(row) and k < i + 1:
                row[k] = row[k] * row[-1] + 0.5
                k += 1
            for k in range(1, len(row)):
                if row[k] * row[k] > 4.0:
                    continue
                row[k] *= row[k - 1]
                row[k - 1] = row[k] * row[k]
            total += math.sin(np.sum(row))
    return total


def also_outside(x: "Tensor[float, n, m]") -> float:
    """One array is of the iteration, another one stays: both are logged."""
    kept = x[0].copy()
    for i in range(len(x)):
        row = x[i].copy()
        for k in range(1, len(row)):
            row[k] = row[k] * row[k - 1] + kept[k]
            kept[k] = kept[k] * row[k]
    return np.sum(kept)


def several_elements(x: "Tensor[float, n]") -> float:
    """Elements beside one another are overwritten, which no statement between reads."""
    y = x.copy()
    for i in range(len(x) - 2):
        y[i] = y[i] * x[i]
        y[i + 1] = math.sin(x[i])
        y[i + 2] = x[i + 1] * x[i]
    return np.sum(y * y)


TREE = np.array([-1, 0, 0, 2, 1])
CASES = [
    (running, (RANDOM.normal(size=(3, 5)),)),
    (along_a_tree, (RANDOM.normal(size=(3, 5)), TREE)),
    (handed_on, (RANDOM.normal(size=(3, 4)),)),
    (within_three, (RANDOM.normal(size=(3, 4)),)),
    (also_outside, (RANDOM.normal(size=(3, 4)),)),
    (several_elements, (RANDOM.normal(size=6),)),
]


@pytest.mark.parametrize("function, given", CASES)
def test_gradients(function, given):
    kernel = knossos.register(function)
    value = kernel(*given)
    np.testing.assert_allclose(value, function(*given), rtol=1e-13)
    received = RANDOM.normal(size=np.shape(value))
    check_gradients(kernel, given, received if received.ndim else float(received))


@pytest.mark.parametrize("function", [running, along_a_tree])
def test_the_outer_loop_is_there_once(function):
    source = knossos.register(function).vjp.procedure().source
    heads = [line for line in source.splitlines() if line.strip().startswith("for (int64_t i =")]
    assert len(heads) == 1 and heads[0].startswith("    for"), source


def test_arrays_of_an_inner_iteration_are_kept_and_what_inputs_hold_is_read_again():
    source = knossos.register(along_a_tree).vjp.procedure().source
    logs = {word for word in source.replace("(", " ").replace(".", " ").split() if "_log" in word}
    assert {each.strip(",;)") for each in logs} == {"place_log"}, source
    assert source.count("const int64_t parent = parents[j];") == 2
    assert source.count("if (parent < 0) {") == 2


def test_nothing_is_put_back_that_nothing_reads():
    source = knossos.register(several_elements).vjp.procedure().source
    assert "_before" not in source, source


def test_poses():
    """The gradient of hand tracking's bones, beside complex steps, in few lines."""
    kernel = knossos.register(hand_tracking.poses.__wrapped__)
    parents, base, inverse = hand_tracking.example(RANDOM)[:3]
    thetas = 0.3 * RANDOM.normal(size=(2, 26))
    check_gradients(kernel, (thetas, parents, base, inverse), RANDOM.normal(size=(22, 4, 4, 2)))
    lines = [line.strip() for line in kernel.vjp.procedure().source.splitlines()]
    assert sum(bool(line) and not line.startswith("//") for line in lines) <= 3 * 42
