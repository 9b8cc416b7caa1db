"""The derivatives of every row of the table, in every signature with floats in it: a new row is
tested without being named here."""

import itertools

import numpy as np
import pytest
from composit._core import scalar
from differences import check_derivatives

import composit
from composit import _core

KINDS = ("float64", "int32", "bool")


def signatures(row):
    """The combinations of kinds that the row computes in as they are, a float64 among them, and
    whose result is a float64."""
    found = []
    for dtypes in itertools.product(KINDS, repeat=row.arity):
        try:
            computed, result = row.types(list(dtypes))
        except (TypeError, NotImplementedError):
            continue
        if (
            "float64" in dtypes
            and [d.name for d in computed] == list(dtypes)
            and result == "float64"
        ):
            found.append(dtypes)
    return found


# Without the rows that other tests register.
TABLE = [row.name for row in scalar.all_rows()]
ROWS = [(row.name, dtypes) for row in scalar.all_rows() for dtypes in signatures(row)]


def points(row, dtypes):
    """Five points of the row's domain for each operand, none near a whole number or a tie."""
    random = np.random.RandomState(row.arity)
    operands = []
    for i, dtype in enumerate(dtypes):
        low, high = row.domain[min(i, len(row.domain) - 1)] if row.domain else (-3.0, 3.0)
        if dtype == "bool":
            operands.append(np.array([True, False, True, True, False]) & ((low, high) != (0, 0)))
        elif dtype == "int32":
            operands.append(random.randint(-3, 4, 5).astype("int32"))
        else:
            fractions = (np.arange(5) + random.uniform(0.2, 0.8, 5)) / 5
            operands.append(low + (high - low) * random.permutation(fractions))
    return operands


@pytest.mark.parametrize("name, dtypes", ROWS, ids=[f"{n} {' '.join(d)}" for n, d in ROWS])
def test_row(name, dtypes):
    row = scalar.find_row(name)
    check_derivatives(lambda *x: _core.numpy.apply(name, *x), *points(row, dtypes))


def test_rows_without_derivatives_have_no_floats():
    tested = {name for name, _ in ROWS}
    for row in map(scalar.find_row, sorted({*TABLE} - tested)):
        for dtypes in itertools.product(KINDS, repeat=row.arity):
            try:
                _, result = row.types(list(dtypes))
            except (TypeError, NotImplementedError):
                continue
            assert result.kind != "f", f"{row.name} {dtypes}: no derivative is tested"


def test_a_wrong_slope_is_found():
    wrong = composit.register(
        "wrong_slope", value=lambda x: x * x, slope=lambda x, y: x * 1.9999, doc="x squared"
    )
    with pytest.raises(AssertionError, match="first"):
        check_derivatives(wrong, np.array([0.5, 2.0]))
