"""What derivatives need not log, name or count, beside complex steps and to the bit."""

# ruff: noqa: F821

import lengths
import numpy as np
import pytest
from complex_steps import check_gradients

from composit import knossos
from composit.knossos import Tensor

RANDOM = np.random.default_rng(40)
X, Y = RANDOM.normal(size=6) + 3.0, RANDOM.normal(size=6)


def of_both_ends(x: "Tensor[float, n]", y: "Tensor[float, n]") -> "Tensor[float, 2]":
    """Only adds to its array."""
    p = np.zeros(2)
    total = 0.0
    for a, b in zip(x, y):
        total += b
        p += a * np.array([np.cos(total), np.sin(total)])
    return p


def added_where_it_is_read(x: "Tensor[float, n]", k: int) -> "Tensor[float, n]":
    y = x.copy()
    for _ in range(k):
        for i in range(1, len(y)):
            y[i] = y[i] + 0.3 * y[i - 1] * y[i - 1]
    return y


def asked_of_three(w: "Tensor[float, n, n]") -> "Tensor[float, n, n]":
    d = w.copy()
    for k in range(len(d)):
        for i in range(len(d)):
            for j in range(len(d)):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def asked_and_read(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """What a condition reads, the branch multiplies with."""
    y = x.copy()
    for i in range(1, len(y)):
        before = y[i - 1] * 0.5
        if before > 1.0:
            y[i] = y[i] * before
    return y


def halves(x: "Tensor[float, n]") -> "Tensor[float, n]":
    y = x.copy()
    h = 1
    while h < len(y):
        for i in range(0, len(y) - h, 2 * h):
            y[i], y[i + h] = y[i] * y[i + h], y[i] - y[i + h]
        h *= 2
    return y


def of_steps(x: "Tensor[float, n]", k: int) -> "Tensor[float, n]":
    """The step is read again behind the loop that it bounds."""
    y = x.copy()
    step = 1
    for _ in range(k):
        for i in range(len(y) - step):
            y[i] = y[i] * y[i + step]
        step += 1
        y[0] = y[0] * step
    return y


def of_one_condition(x: "Tensor[float, n]", most: float) -> float:
    size = np.sum(x)
    if size < most:
        scale = size * most
    else:
        scale = np.sqrt(size) + most
    return scale * x[0]


def of_squares(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    """An array of each inner iteration, beside others that are kept."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            t = np.sin(x * y[j]) * x[i]
            total += np.sum(t * t) * y[i]
    return total


def of_two_questions(x: "Tensor[float, n]", most: float) -> float:
    """The second one is asked where the first one holds."""
    if any(v < -most for v in x) and not all(v < most for v in x):
        return 0.0
    return np.sum(x * x)


def of_either_question(x: "Tensor[float, n]", most: float) -> float:
    if all(v < most for v in x) or any(v < -most for v in x):
        return np.sum(x * x)
    return x[0] * most


def triangular(x: "Tensor[float, n]", k: int) -> float:
    """Down to 0, and up to where that is."""
    y = [x[j] * x[0] for j in range(k + 1)]
    for i in range(k - 1, -1, -1):
        for j in range(i + 1):
            y[j] = 0.5 * (y[j + 1] + y[j] * y[j])
    return y[0]


def of_one_part(r: "Tensor[float, n]", winners: "Tensor[int, m]", factor: float) -> float:
    """1 - expected is read in the value and three times behind it."""
    rating = r * factor
    total = 0.0
    for winner in winners:
        expected_of_this = 1 / (1 + np.exp(rating[winner] - rating[0]))
        rating[winner] += factor * (1 - expected_of_this)
        rating[0] -= factor * (1 - expected_of_this)
        total += rating[winner]
    return total


KERNELS = {
    of_both_ends: (X, Y), added_where_it_is_read: (X / 4, 2), asked_and_read: (X,),
    asked_of_three: (np.abs(RANDOM.normal(size=(5, 5))) + 0.1,), halves: (X,), of_steps: (X, 3),
    of_one_condition: (X, 2.0), of_squares: (X, Y), of_two_questions: (X, 9.0),
    of_either_question: (X, 9.0), triangular: (X / 4, 5),
    of_one_part: (X, np.array([2, 3, 2]), 0.3),
}  # fmt: skip


@pytest.mark.parametrize("function", KERNELS, ids=lambda function: function.__name__)
def test_gradients(function):
    given = KERNELS[function]
    kernel = knossos.register(function)
    made = kernel(*given)
    check_gradients(kernel, given, np.cos(np.arange(np.size(made))).reshape(np.shape(made)))


def test_the_other_side_of_one_condition():
    check_gradients(knossos.register(of_one_condition), (X, 50.0), 1.0)


def source_of(function):
    return knossos.register(function).vjp.procedure().source


def test_what_is_only_added_to_is_not_logged():
    source = source_of(of_both_ends)
    assert "_log" not in source
    assert "total_at[i] = total;" in source  # behind the sum, which is not made again
    assert source.count(" total += ") == 1
    assert "y_log" in source_of(added_where_it_is_read)


def test_branches_log_what_they_find():
    source = source_of(asked_of_three)
    assert source.count("_log.push_back(") == 1
    assert "std::vector<uint8_t> is_taken_log" in source
    assert "std::vector<double> d(w, w + n * n);" in source  # a copy of two axes at once
    assert "dd_rest" not in source


def test_integers_are_made_again():
    source = source_of(halves)
    assert "while (!h_log.empty()) {" in source
    assert "trips" not in source
    assert source.count("_log.push_back(") + source.count("logged(") == 3  # h and two elements


def test_conditions_are_asked_again():
    source = source_of(of_one_condition)
    assert source.count("if (size < most)") == 2
    assert "is_taken" not in source


def test_questions_of_several_statements_are_one_condition():
    for function in (of_two_questions, of_either_question):
        source = source_of(function)
        assert "chosen" not in source
        kernel = knossos.register(function)
        for most in (0.1, 0.9, 3.0, 3.2, 9.0):
            for x in (X - 3.0, X, -X, X[:0]):
                if function is of_either_question and len(x) == 0:
                    continue
                assert kernel(x, most) == function(x, most)
                if len(x) > 0:
                    check_gradients(kernel, (x, most), 1.0)


def test_counters_bound_the_loops_within():
    source = source_of(triangular)
    assert "for (int64_t i = k - 1; i >= 0; --i)" in source
    assert "for (int64_t j = 0; j < i + 1; ++j)" in source
    assert "assert(j" not in source and "stop" not in source


def test_parts_have_names_where_lines_become_fewer():
    kernel = next(each for each in lengths.kernels() if each.__name__ == "elo")
    source = kernel.vjp.procedure().source
    assert ", t = 1.0 - expected;" in source
    assert source.count("scaled_slope(t, ") == 2


def test_adjoints_live_as_long_as_their_arrays():
    kernel = next(each for each in lengths.kernels() if each.__name__ == "gaussian_mixture")
    source = kernel.vjp.procedure().source
    assert " moved(k_ * d_)" in source
    assert " dmoved(d_)" in source
