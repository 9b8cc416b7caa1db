"""The text of derivatives: how long, and what makes it short."""

# ruff: noqa: F821

import math
import re
import statistics

import audited_numerics
import lengths
import numpy as np
import pytest
import written

from composit import knossos
from composit.knossos import Tensor


@pytest.mark.long_tail
def test_lines_of_derivatives_per_line():
    """No more than they are: what becomes shorter lowers these."""
    ratios = [text / python for _, python, text in lengths.measured()]
    assert len(ratios) == 38
    assert statistics.median(ratios) <= 3.0
    assert max(ratios) <= 6


@pytest.mark.long_tail
def test_lines_have_at_most_100_columns():
    wide = [line for kernel in lengths.kernels() for made in (kernel, kernel.vjp, kernel.jvp)
            for line in made.procedure().source.splitlines() if len(line) > 100]  # fmt: skip
    assert not wide, wide


def test_long_lines_are_broken_before_loose_operators(tmp_path):
    @knossos.register
    def long_sum(first_factor: float, second_factor: float, third_factor: float) -> float:
        return (
            math.exp(first_factor * second_factor) * third_factor
            + math.exp(second_factor * third_factor) * first_factor * second_factor
        )

    source = long_sum.source
    lines = source.splitlines()
    assert max(map(len, lines)) <= 100 and any(line.startswith(" " * 12 + "+ ") for line in lines)
    long_sum.export(tmp_path)
    for file in tmp_path.iterdir():
        wide = [line for line in file.read_text().splitlines() if len(line) > 100]
        assert not wide, wide


def test_variables_hide_no_function():
    @knossos.register
    def own(exp: float, n: int) -> float:
        log = math.exp(exp) * math.sin(exp)
        return log * log + math.exp(-exp) * math.cos(exp)

    for source in (own.source, own.vjp.procedure().source, own.jvp.procedure().source):
        for name in ("exp", "log", "sin", "cos"):
            assert not re.search(rf"\b{name}\b(?!\()", source), source
    assert "exp_1" in own.source and own(exp=0.5, n=1) == own(0.5, 1)


def test_slopes_of_powers_are_calls():
    @knossos.register
    def sums(x: "Tensor[float, n]", w: float) -> float:
        total = 0.0
        for i in range(len(x)):
            total += x[i] * w**i
        return total

    source = sums.vjp.procedure().source
    assert source.count("slope_of_power_float64(") == 1 and " == 0.0 ?" not in source, source
    for w in (0.5, 0.0, -1.5, math.inf):
        dx, dw = sums.vjp(np.array([2.0, 3.0, 4.0]), w, 1.0)
        assert dw == 3.0 + 8.0 * w and np.array_equal(dx, [1.0, w, w * w])


def rate(x: float, alpha: float, beta: float, gamma: float) -> float:
    return alpha * x - beta * x * x + gamma * math.sin(x)


def runge_kutta(x: float, alpha: float, beta: float, gamma: float) -> float:
    h = 0.1
    k1 = rate(x, alpha, beta, gamma)
    k2 = rate(x + h / 2 * k1, alpha, beta, gamma)
    k3 = rate(x + h / 2 * k2, alpha, beta, gamma)
    k4 = rate(x + h * k3, alpha, beta, gamma)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def test_functions_that_are_0_are_not_added():
    for made in (knossos.register(runge_kutta).jvp, knossos.register(runge_kutta).vjp.jvp):
        source = made.procedure().source
        assert "+ 0.0" not in source and "1.0 * " not in source, source


def derivative(function):
    return knossos.register(function).vjp.procedure().source


def test_an_index_that_is_made_again_is_not_logged():
    source = derivative(written.elo)
    assert "_place" not in source and source.count("take_last(") == 2, source
    assert "std::vector<double> ratings_2(ratings, ratings + n), " in source


def test_equal_indices_are_computed_once():
    source = derivative(written.walsh)
    back = source[source.index("take_last") :]
    assert back.count("wrapped_index(") == 2, source


def test_gradients_are_made_where_they_are_returned():
    source = derivative(written.triangle)
    assert "argument, db, dc);" in source and "dc[i] = " not in source, source
    assert source.count("fill_zeros(") == 1 and "da[i] = -dc[i] - db[i];" in source, source


def test_how_many_share_an_extremum_is_part_of_its_call():
    source = derivative(written.viterbi)
    assert source.count("max_vjp(") == 1 and "equal" not in source, source


def test_loops_between_literals_run_a_known_number_of_times():
    source = derivative(audited_numerics.ewald)
    assert "ull" not in source and "phase(5 * 5 * n_)" in source, source
    assert "double k[5 * 5 * 3];" in source and "(ky + 2) * 15" in source, source


def test_rows_are_logged_at_once():
    source = derivative(written.heat)
    assert "add_run(new_log, new_1.data() + 1, n - 2);" in source
    assert "take_run(new_log, new_1.data() + 1, n - 2);" in source and "push_back" not in source


def test_what_goes_on_by_one_does_not_wrap():
    for function in (written.losses, written.irr):
        assert "uint64_t" not in derivative(function), derivative(function)
    assert "    trips += 1;" in derivative(written.irr)

    @knossos.register
    def last(x: "Tensor[float, n]", k: int) -> float:
        at = k
        for i in range(len(x)):
            if x[i] > 0.0:
                at += 1
        return x[at - k]

    assert "uint64_t(at) + " in last.source, last.source  # it may begin at the end of int64


def test_what_both_sides_begin_with_stands_before():
    source = derivative(written.irr)  # iterations that break go back as all others do
    assert source.count("if (") == 1, source


def test_counters_do_not_wrap():
    source = derivative(written.product_by_lists)
    assert "uint64_t" not in source, source


@knossos.register
def least(x: "Tensor[float, n]", most: float) -> float:
    total = 0.0
    for i in range(len(x)):
        if x[i] > most:
            v = x[i] * most
            w = most
        else:
            v = 0.0
            w = 0.0
        total += v * w
    return total


def test_branches_say_nothing_twice():
    source = least.vjp.procedure().source
    assert source.count("if (") <= 3 and "else" not in source, source
    x = np.array([1.0, 2.0, 3.0])
    dx, dmost = least.grad(x, 1.5)
    assert list(dx) == [0.0, 2.25, 2.25] and dmost == 2 * 1.5 * 5.0


@knossos.register
def root_of_squares(x: float, y: float) -> float:
    return math.sqrt(x * x + y * y)


def test_slopes_that_may_be_infinite_are_calls():
    source = root_of_squares.vjp.procedure().source
    assert "== 0.0 ?" not in source and "scaled_slope(" in source, source
    assert np.allclose(root_of_squares.grad(3.0, 4.0), (0.6, 0.8), rtol=1e-15)
    assert root_of_squares.vjp(0.0, 0.0, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize("exponent", [0.5, 1.5, -0.5, -1.5])
def test_powers_of_halves(exponent):
    """By square roots, with pow's special values."""

    @knossos.register
    def power(x: float, y: float) -> float:
        return x**y

    values = np.array([0.0, -0.0, math.inf, -math.inf, math.nan, -2.0, 1.0, 4.0, 5e-324, 1e300])
    with np.errstate(all="ignore"):
        wanted = [float(np.float_power(v, exponent)) for v in values]
        found = power(values, np.full(len(values), exponent))
    for value, want, got in zip(values, wanted, found, strict=True):
        if exponent == 0.5 and value == -math.inf:
            want = math.inf  # as C's pow and Python's
        if exponent == 0.5 and value == 0:
            want = 0.0
        assert (got != got) == (want != want), (value, got, want)
        assert got != got or math.isclose(got, want, rel_tol=4e-16), (value, got, want)
        assert got != got or math.copysign(1, got) == math.copysign(1, want), (value, got, want)
