"""Diagonals and triangles of matrices, numbers that are rounded, methods of arrays."""

# ruff: noqa: F821

import numpy as np
import pytest
from as_python import check

from composit import knossos
from composit.knossos import Tensor

random = np.random.default_rng(60)


def of_square(a: Tensor[float, "n", "n"]) -> float:
    return np.sum(np.log(np.diag(a) ** 2)) + np.sum(np.diagonal(a) * a.diagonal())


def of_columns(a: Tensor[float, 3, 2]) -> Tensor[float, 2]:
    return np.diag(a) * 2


def as_matrix(x: Tensor[float, "n"]) -> Tensor[float, "n", "n"]:
    return np.diag(x) * 2.0


def triangles(a: Tensor[float, "n", "n"]) -> Tensor[float, "n", "n"]:
    return np.tril(a) @ np.triu(a)


def rounded_elements(x: Tensor[float, "n"]) -> Tensor[float, "n"]:
    return x - np.round(x) + x.round() * np.around(x)


def by_methods(x: Tensor[float, "n"]) -> Tensor[float, "n"]:
    return x.clip(-0.5, 0.5) if (x > 0).any() and not (x > 9).all() else x


def rounded_number(x: float) -> float:
    return x * np.round(x)


def of_any(a: Tensor[float, "n", "m"]) -> float:
    return np.sum(np.diag(a) * 2)


def beside(a: Tensor[float, "n", "n"]) -> float:
    return np.sum(np.diag(a, 1) * a.diagonal(-1)) + np.sum(np.tril(a, -1) * np.triu(a, k=1).T)


def of_wide(a: Tensor[float, "n", "m"]) -> float:
    return np.sum(np.diagonal(a, offset=1)) * np.sum(np.tril(a, 1))


def rounded_integer(x: int) -> float:
    return 2.5 * np.round(x)


def matrix_of(*shape):
    return (random.normal(size=shape),)


CALLS = [
    (of_square, matrix_of(3, 3)), (of_columns, matrix_of(3, 2)), (as_matrix, matrix_of(3)),
    (triangles, matrix_of(3, 3)), (rounded_elements, (3 * random.normal(size=5),)),
    (by_methods, matrix_of(5)), (rounded_number, (2.6,)), (of_any, matrix_of(4, 3)),
    (beside, matrix_of(3, 3)), (of_wide, matrix_of(3, 5)), (rounded_integer, (3,)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_values_and_derivatives_are_pythons(function, arguments):
    check(function, arguments)


def test_of_square_matrices_the_diagonal_has_their_extent():
    assert "?" not in knossos.register(of_square).source


def beside_of_vector(x: Tensor[float, "n"]) -> Tensor[float, "n", "n"]:
    return np.diag(x, 1)


def with_digits(x: Tensor[float, "n"]) -> Tensor[float, "n"]:
    return np.round(x, 2)


def by_trace(a: Tensor[float, "n", "n"]) -> float:
    return a.trace()


def of_nothing(x: Tensor[float, "n"]) -> float:
    last = None
    for v in x:
        last = v
    return last


@pytest.mark.parametrize(("function", "text"), [
    (beside_of_vector, "a matrix with a vector beside its diagonal"),
    (with_digits, "round of 2 arguments"),
    (by_trace, "arrays have no method trace here, in `a.trace()`. Write np.trace(…)."),
    (of_nothing, "None is no number. Assign a number, such as 0.0, until there is another one."),
])  # fmt: skip
def test_others_are_refused(function, text):
    arguments = random.normal(size=(2, 2)) if function is by_trace else random.normal(size=2)
    with pytest.raises(Exception) as error:
        knossos.register(function)(arguments)
    assert text in str(error.value), error.value
