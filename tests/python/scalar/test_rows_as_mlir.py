"""Elementwise functions as MLIR: each row of the table is its formula there, to the bit."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from composit import _core

sys.path.insert(0, str(Path(__file__).parents[1] / "knossos"))
import as_mlir

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

PARTS = 8
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.75, 3.0, 1e-310, -1e-40, 1e300, -3e38, 1e10, 0.1,
          np.inf, -np.inf, np.nan]  # fmt: skip
INTEGERS = [0, 1, -1, 2, 3, -7, 12, 127, -128, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]


def values_of(dtype):
    if dtype == "bool":
        return [True, False]
    if dtype.startswith("float"):
        return [float(each) for each in np.array(FLOATS).astype(dtype)]
    info = np.iinfo(dtype)
    return sorted({min(max(each, int(info.min)), int(info.max)) for each in INTEGERS})


def procedure_of(name, arity, dtype):
    """None where the row takes no such operands."""
    names = [f"x{i}" for i in range(arity)]
    dtypes = ["bool" if name == "where" and i == 0 else dtype for i in range(arity)]
    heads = ", ".join(f"{each}: {own}" for each, own in zip(names, dtypes, strict=True))
    text = f"({heads}) -> numpy.{name}({', '.join(names)})"
    try:
        made = _core.procedure.parse(f"row_{name}", text, "float64", 2**31)
        _core.procedure.print_mlir([[made]])
    except (TypeError, ValueError, NotImplementedError):
        return None
    return made


def procedures_of(part, dtype):
    made = []
    for row in _core.scalar.all_rows()[part::PARTS]:
        procedure = procedure_of(row.name, row.arity, dtype)
        # What an interpreted procedure returns as uint64 is rounded to a float.
        if procedure is None or str(procedure.results[0][1]) == "uint64":
            continue
        made.append(procedure)
        if dtype.startswith("float") and str(procedure.results[0][1]) == dtype:
            made.append(_core.procedure.jvp(procedure))
    return made


@pytest.mark.long_tail
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("part", range(PARTS))
def test_rows(part, dtype, tmp_path):
    procedures = procedures_of(part, dtype)
    random = np.random.default_rng(part)
    for code in as_mlir.beside(procedures, tmp_path):
        kinds = [str(kind) for _, kind in code.procedure.parameters]
        calls = list(itertools.product(*map(values_of, kinds)))
        if len(calls) > 400:
            calls = [calls[i] for i in random.choice(len(calls), 400, replace=False)]
        if dtype.startswith("float") and "bool" not in kinds:
            calls += (3 * random.normal(size=(50, len(kinds)))).astype(dtype).tolist()
        for call in calls:
            numbers = [*zip(kinds, call, strict=True)]
            floats = [each for kind, each in numbers if kind.startswith("float")]
            integers = [int(each) for kind, each in numbers if not kind.startswith("float")]
            code(floats, integers, [])
    assert procedures or dtype != "float64"
