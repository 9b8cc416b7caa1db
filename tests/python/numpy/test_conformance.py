"""docs/numpy-conformance.md is true: every function has a line, no call deviates beyond it."""

from pathlib import Path

import numpy as np
import pytest
from numpy_conformance import page
from numpy_conformance.judge import Deviation, judge
from numpy_conformance.reasons import reason_for

import numpy_names

PAGE = Path(__file__).parents[3] / "docs/numpy-conformance.md"
ROWS = page.rows()
LINES = page.lines_of(PAGE.read_text())


# Rows of what is no function of those modules: methods, operators, series, generators.
WIDER = ("ndarray.", "operator.", "polynomial.", "lib.", "random.")


def is_wider(name):
    holder = getattr(np, name.partition(".")[0], None)
    return name.startswith(WIDER) or ("." in name and isinstance(holder, np.ufunc))


def test_every_function_has_a_line():
    meant = {name for module in numpy_names.MODULES for name in numpy_names.public(module)}
    assert {row.name for row in ROWS if not is_wider(row.name)} == meant
    assert {row.name for row in ROWS} == set(LINES)
    assert len(ROWS) == len(LINES)
    assert f"NumPy {np.__version__}" in PAGE.read_text().partition("\n")[0]


@pytest.mark.long_tail
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_line(row):
    line, outcome = LINES[row.name], page.tried(row)
    assert outcome.count == line.count, "python tools/compare_with_numpy.py --write"
    # Instruction sets that the page was not made with may round otherwise.
    assert outcome.within <= 2 * line.within
    for kind, calls in outcome.deviations.items():
        reason = reason_for(row.name, kind)
        assert reason, f"{kind}: {calls}"
        assert len(calls) <= reason.dtypes * line.kinds.get(kind, 0), f"{kind}: {calls}"


@pytest.mark.parametrize(
    "ours, theirs, scale, expected",
    [
        (np.float32(1), np.float32(1), None, 0),
        (np.float32(1), np.nextafter(np.float32(1), np.float32(2)), None, 1),
        (np.float64(1), np.float32(1), None, "another dtype"),
        (np.zeros(2), np.zeros(3), None, "another shape"),
        (np.float64(0.0), np.float64(-0.0), None, "another sign of zero"),
        (np.float64(np.inf), np.float64(1), None, "other special values"),
        (np.float64(np.nan), np.float64(np.nan), None, 0),
        (np.float64(0), np.float64(2.0**-43), 1000.0, 1),
        (np.array([1, 2]), np.array([1, 3]), None, "other values"),
        (ValueError("x"), ValueError("y"), None, 0),
        (np.ones(2), ValueError("y"), None, "returns where NumPy raises ValueError"),
        (ValueError("x"), np.ones(2), None, "raises ValueError"),
        (TypeError("x"), ValueError("y"), None, "raises TypeError where NumPy raises ValueError"),
        ((1, 2), [1, 2], None, "returns tuple for list"),
        (TypeError("x"), np.array(["a"]), None, 0),
        (1, 2, None, "returns another value"),
    ],
)
def test_judgement(ours, theirs, scale, expected):
    try:
        found = judge(ours, theirs, scale)
    except Deviation as deviation:
        found = str(deviation)
    assert found == expected
