"""Operators on neighbouring elements are calls in the C++, loops that look like them are none, and
all give the bits of the statements that they stand for."""

# ruff: noqa: F821

import math
import re

import numpy as np
import pytest

from composit import _core, knossos
from composit.knossos import Tensor

RANDOM = np.random.default_rng(0)
A, X, Y = RANDOM.normal(size=(4, 3)), RANDOM.normal(size=3), RANDOM.normal(size=4)


def source_of(kernel):
    return kernel.procedure().source


def check_bits(kernel, *given):
    """Compiled, and interpreted statement by statement; the compiled results."""
    found = kernel(*given)
    again = _core.procedure.interpreted(kernel.procedure())
    other = knossos.register(kernel.__wrapped__)
    other._use(again)
    assert np.asarray(found).tobytes() == np.asarray(other(*given)).tobytes()
    return found


def check_gradient(kernel, *given):
    """Reverse beside forward mode, and compiled beside interpreted."""
    found = kernel.grad(*given)
    found = found if isinstance(found, tuple) else (found,)
    tangents = [RANDOM.normal(size=np.shape(each)) for each in given]
    wanted = kernel.jvp(*given, *tangents)
    assert math.isclose(sum(map(np.vdot, found, tangents)), wanted, rel_tol=1e-11)
    other = knossos.register(kernel.__wrapped__)
    other.vjp._use(_core.procedure.interpreted(other.vjp.procedure()))
    again = other.vjp(*given, 1.0)
    for one, two in zip(found, again if isinstance(again, tuple) else (again,), strict=True):
        assert np.asarray(one).tobytes() == np.asarray(two).tobytes()


# ----- sums of products


@knossos.register
def residuals(a: "Tensor[float, n, m]", x: "Tensor[float, m]", b: "Tensor[float, n]") -> float:
    r = a @ x - b
    return np.sum(r * r)


def test_a_sum_of_products_is_a_call_where_it_is_read():
    source = source_of(residuals)
    assert "r[i] = dot_product(a + i * m, x, m) - b[i];" in source
    assert "return dot_product(r.data(), r.data(), n);" in source
    assert check_bits(residuals, A, X, Y) == pytest.approx(np.sum((A @ X - Y) ** 2))


def test_of_no_elements_it_is_zero():
    assert residuals(np.empty((0, 0)), np.empty(0), np.empty(0)) == 0.0
    assert residuals(np.empty((2, 0)), np.empty(0), np.ones(2)) == 2.0


@knossos.register
def read_twice(x: "Tensor[float, n]", y: "Tensor[float, n]") -> float:
    both = np.sum(x * y)
    return both / (1.0 + both * both)


@knossos.register
def changed_between(x: "Tensor[float, n]") -> float:
    y = x.copy()
    total = 0.0
    for i in range(len(x)):
        total += x[i] * y[i]
    y[0] = 2.0
    return total * y[0]


@knossos.register
def compared(x: "Tensor[float, n]") -> float:
    squares = np.sum(x * x)
    return squares if squares > 1.0 else -squares


def test_else_the_sum_has_a_name():
    assert "const double both = dot_product(x, y, n);" in source_of(read_twice).replace(
        "total", "both"
    )
    for kernel, given in [(read_twice, (X, X + 1)), (changed_between, (X,)), (compared, (X,))]:
        assert source_of(kernel).count("dot_product(") == 1
        assert check_bits(kernel, *given) == pytest.approx(kernel.__wrapped__(*given), rel=1e-14)


@knossos.register
def of_columns(a: "Tensor[float, n, m]", y: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i, 0] * y[i]
    return total


@knossos.register
def of_a_last_index(x: "Tensor[float, n]") -> float:
    total = 0.0
    last = 0
    for i in range(len(x)):
        last = i
        total += x[i] * x[i]
    return total + last


@knossos.register
def from_one_on(x: "Tensor[float, n]") -> float:
    total = 1.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


@knossos.register
def of_three(x: "Tensor[float, 3]") -> float:
    return np.sum(x * x)


def test_other_loops_stay_loops():
    for kernel, given in [
        (of_columns, (A, Y)), (of_a_last_index, (X,)), (from_one_on, (X,)),
    ]:  # fmt: skip
        assert "dot_product(" not in source_of(kernel), source_of(kernel)
        assert check_bits(kernel, *given) == pytest.approx(kernel.__wrapped__(*given), rel=1e-14)


def test_sums_of_a_known_length_are_called():
    assert "return dot_product(x, x, 3);" in source_of(of_three)
    assert check_bits(of_three, X) == pytest.approx(of_three.__wrapped__(X), rel=1e-14)


@knossos.register
def shifted(x: "Tensor[float, n]", k: int) -> float:
    total = 0.0
    for i in range(1, len(x)):
        total += x[i] * x[i - 1]
    return total * k


def test_neighbours_may_begin_anywhere():
    assert "dot_product(x + 1, x, n - 1)" in source_of(shifted)
    assert check_bits(shifted, X, 3) == pytest.approx(shifted.__wrapped__(X, 3), rel=1e-14)
    assert shifted(np.empty(0), 3) == 0.0


# ----- multiples


def test_the_gradient_of_a_product_adds_and_sets_multiples():
    source = source_of(residuals.vjp)
    assert source.count(", a + i * m, x, da + i * m, dx, m);") == 1
    assert "set_dot_product_vjp(" in source  # of a product, what both of its rows receive
    assert "std::vector" not in source  # of residuals, which loops would hand to one another
    check_gradient(residuals, A, X, Y)


@knossos.register
def added(x: "Tensor[float, n]", s: float) -> "Tensor[float, n]":
    y = np.ones(len(x))
    for i in range(len(x)):
        y[i] -= x[i] * s
    return y


@knossos.register
def of_those_before(x: "Tensor[float, n]", s: float) -> "Tensor[float, n]":
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += y[i - 1] * s
    return y


@knossos.register
def of_what_another_writes(x: "Tensor[float, n]", s: float) -> "Tensor[float, n]":
    y = np.zeros(len(x))
    z = np.zeros(len(x))
    for i in range(len(x) - 1):
        y[i + 1] += x[i] * s
        z[i] += y[i] * s
    return z + y


def test_multiples_of_elements_that_the_loop_writes_are_none():
    assert "add_multiple(y, x, -s, n);" in source_of(added)
    for kernel in (of_those_before, of_what_another_writes):
        assert "_multiple(" not in source_of(kernel)
    for kernel in (added, of_those_before, of_what_another_writes):
        np.testing.assert_array_equal(check_bits(kernel, X, 0.7), kernel.__wrapped__(X, 0.7))


def test_of_single_precision_too():
    given = [np.asarray(each, "float32") for each in (A, X, Y)]
    assert math.isclose(residuals(*given), residuals(A, X, Y), rel_tol=1e-5)
    for found, wanted in zip(residuals.grad(*given), residuals.grad(A, X, Y), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4)


# ----- the largest


@knossos.register
def spread(x: "Tensor[float, n]") -> float:
    return max(x) - min(x)


def test_the_largest_has_a_place():
    source = source_of(spread)
    assert "place_of_largest(x, n)" in source and "place_of_least(x, n)" in source
    assert "assert" not in source
    assert check_bits(spread, X) == max(X) - min(X)
    with pytest.raises(ValueError, match=r"there is no element, in `max\(x\)`.*test_runs.py:\d+"):
        spread(np.empty(0))


def test_names_of_the_functions_are_free_for_kernels(tmp_path):
    @knossos.register
    def dot_product(add_multiple: "Tensor[float, n]", place_of_largest: float) -> float:
        return np.sum(add_multiple * add_multiple) * place_of_largest + max(add_multiple)

    assert dot_product(X, 2.0) == pytest.approx(2.0 * X @ X + X.max())
    dot_product.export(tmp_path)
    assert "double dot_product_1(" in (tmp_path / "dot_product.cpp").read_text()


# ----- two axes as one


@knossos.register
def scaled(a: "Tensor[float, n, m]", s: float) -> "Tensor[float, n, m]":
    b = np.zeros((len(a) + 1, len(a[0])))
    for i in range(len(a)):
        for j in range(len(a[0])):
            b[i + 1, j] = math.sin(a[i, j]) * s
    return b[1:]


@knossos.register
def handed_on(a: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    b = np.zeros((len(a) + 1, len(a[0])))
    for i in range(len(a)):
        for j in range(len(a[0])):
            b[i + 1, j] = math.sin(b[i, j] + a[i, j])
    return b[1:]


@knossos.register
def transposed(a: "Tensor[float, n, m]") -> "Tensor[float, m, n]":
    b = np.zeros((len(a[0]), len(a)))
    for i in range(len(a)):
        for j in range(len(a[0])):
            b[j, i] = a[i, j]
    return b


@knossos.register
def with_counters(a: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    b = np.zeros((len(a), len(a[0])))
    for i in range(len(a)):
        for j in range(len(a[0])):
            b[i, j] = a[i, j] * i
    return b


@knossos.register
def until_one_is_large(a: "Tensor[float, n, m]", s: float) -> "Tensor[float, n, m]":
    b = np.zeros((len(a), len(a[0])))
    for i in range(len(a)):
        for j in range(len(a[0])):
            if a[i, j] * s > 0.5:
                break
            b[i, j] = a[i, j] * s
    return b


@knossos.register
def up_to_one_that_is_large(a: "Tensor[float, n, m]", s: float) -> "Tensor[float, n, m]":
    b = np.zeros((len(a), len(a[0])))
    for i in range(len(a)):
        for j in range(len(a[0])):
            if a[i, j] * s > 0.5:
                continue
            b[i, j] = a[i, j] * s
    return b


@knossos.register
def as_often_as(x: "Tensor[float, n]", k: int) -> float:
    total = x[0]
    for _ in range(len(x) - k):
        for _ in range(len(x) - k - 1):
            total = math.sin(total) + 1.0
    return total


def test_a_break_leaves_the_inner_loop_alone():
    for kernel in (until_one_is_large, up_to_one_that_is_large):
        found, wanted = check_bits(kernel, A, 1.3), kernel.__wrapped__(A, 1.3)
        np.testing.assert_array_equal(found, wanted)
        assert not wanted.all() and wanted[1:].any()
    assert "i < n * m" not in source_of(until_one_is_large)


@pytest.mark.parametrize("k", range(6))
def test_ends_that_are_negative_run_nothing(k):
    found, wanted = check_bits(as_often_as, X, k), as_often_as.__wrapped__(X, k)
    assert math.isclose(found, wanted, rel_tol=1e-14)


def test_two_loops_through_two_axes_are_one():
    assert "for (int64_t k = 0; k < n * m; ++k)" in source_of(scaled)
    assert "const double b = sin_float64(a[k]) * s;" in source_of(scaled)
    for kernel in (handed_on, transposed, with_counters):
        assert "for (int64_t j = 0; j < m; ++j)" in source_of(kernel)
    for kernel, given in [
        (scaled, (A, 0.7)), (handed_on, (A,)), (transposed, (A,)), (with_counters, (A,)),
    ]:  # fmt: skip
        found, wanted = check_bits(kernel, *given), kernel.__wrapped__(*given)
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


# ----- what is computed once, and where


@knossos.register
def recurrent(w: "Tensor[float, d, d]", x: "Tensor[float, n, d]") -> float:
    h = np.zeros((len(x) + 1, len(w)))
    for t in range(len(x)):
        gates = w @ h[t] + x[t]
        h[t + 1] = np.tanh(gates) * np.sin(gates)
    return np.sum(h[len(x)])


@knossos.register
def partly_filled(w: "Tensor[float, d, d]", x: "Tensor[float, n, d]") -> float:
    """The first gate is never written: it is zero in each iteration."""
    h = np.zeros((len(x) + 1, len(w)))
    h[0] = x[0]
    for t in range(len(x)):
        gates = np.zeros(len(w))
        for j in range(1, len(w)):
            total = 0.0
            for k in range(len(w)):
                total += w[j, k] * h[t, k]
            gates[j] = total + x[t, j]
        h[t + 1] = np.sin(gates) + 0.5 * np.cos(gates)
    return np.sum(h[len(x)])


@knossos.register
def too_large(w: "Tensor[float, m, d]", x: "Tensor[float, n, d]") -> float:
    """Its products take more memory than what its iterations hand on."""
    h = np.zeros((len(x) + 1, len(x[0])))
    for t in range(len(x)):
        gates = w @ h[t] + 1.0
        h[t + 1] = np.sin(x[t]) * np.sum(np.sin(gates))
    return np.sum(h[len(x)])


def test_products_of_recurrences_are_computed_once():
    w, x = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(5, 3))
    assert source_of(recurrent.vjp).count("dot_product(w + i * d") == 1
    assert re.search(r"std::vector<double> .*\bgates\(n \* d\)", source_of(recurrent.vjp))
    assert source_of(too_large.vjp).count("dot_product(w + i * d") == 2
    assert source_of(partly_filled.vjp).count("dot_product(w + j * d") == 1
    check_gradient(recurrent, w, x)
    check_gradient(partly_filled, w, x)
    check_gradient(too_large, RANDOM.normal(size=(4, 3)), x)


@knossos.register
def with_a_return(x: "Tensor[float, n]", s: float) -> float:
    if s > 0:
        return s * s
    return np.sum(np.sin(x)) * s


def test_outputs_that_a_return_leaves_out_are_zero():
    found, ds = with_a_return.grad(X, 2.0)
    assert list(found) == [0, 0, 0] and ds == 4.0
    np.testing.assert_array_equal(with_a_return.grad(X, -1.0)[0], -np.cos(X))
    check_gradient(with_a_return, X, -0.5)
    check_gradient(with_a_return, X, 0.5)


@knossos.register
def of_four(x: "Tensor[float, n]") -> float:
    parts = np.zeros((4, len(x)))
    for i in range(len(x)):
        parts[0, i] = x[i]
        parts[1, i] = math.sin(x[i])
        parts[2, i] = x[i] * x[i]
        parts[3, i] = math.exp(x[i])
    total = 0.0
    for i in range(len(x)):
        total += parts[0, i] * parts[1, i] + parts[2, i] * parts[3, i]
    return total * parts[0, 0]


@knossos.register
def of_three_of_four(x: "Tensor[float, n]") -> float:
    parts = np.zeros((4, len(x)))
    for i in range(len(x)):
        parts[0, i] = x[i]
        parts[2, i] = x[i] * x[i]
        parts[3, i] = math.exp(x[i])
    total = 0.0
    for k in range(4):
        for i in range(len(x)):
            total += parts[k, i] * parts[0, i] * k
    return total


def test_additions_that_fill_an_array_are_stores():
    check_gradient(of_four, X)
    check_gradient(of_three_of_four, X)


def test_of_rows_and_of_derivatives():
    w, x = RANDOM.normal(size=(2, 3, 3)), RANDOM.normal(size=(2, 5, 3))
    rows = knossos.vmap(recurrent)
    np.testing.assert_array_equal(rows(w, x), [recurrent(*each) for each in zip(w, x, strict=True)])
    for i, each in enumerate(zip(*rows.vjp(w, x, np.ones(2)), strict=True)):
        for found, wanted in zip(each, recurrent.grad(w[i], x[i]), strict=True):
            np.testing.assert_array_equal(found, wanted)
    # The derivative of the gradient, beside differences of gradients.
    dw, dx, step = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(5, 3)), 1e-6
    second = recurrent.vjp.jvp(w[0], x[0], 1.0, dw, dx, 0.0)
    ahead = recurrent.grad(w[0] + step * dw, x[0] + step * dx)
    behind = recurrent.grad(w[0] - step * dw, x[0] - step * dx)
    for found, high, low in zip(second, ahead, behind, strict=True):
        np.testing.assert_allclose(found, (high - low) / (2 * step), rtol=1e-6, atol=1e-7)
