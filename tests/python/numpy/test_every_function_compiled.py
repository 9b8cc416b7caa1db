"""Every function of the table compiled and exported: the interpreter's bits."""

import warnings

import numpy as np
import pytest
from fuzz import exported
from numpy_agreement import leaves
from numpy_conformance import judge, page

import composit.numpy as cnp

PARTS = 10  # one for each share of the long tail
CALLS = 1  # of a function
# Foreign functions are refused by export; draws are values.
ROWS = [row for row in page.rows() if not row.foreign and not row.name.startswith("random.")]


def results_of(row, count):
    """What so many of the function's calls return, and what they write, as tensors."""
    found = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for arguments, keywords in row.some(10 * count):
            given = tuple(judge.composits(a) for a in arguments)
            try:
                made = row.ours(*given, **{n: judge.composits(v) for n, v in keywords.items()})
                written = [] if row.changes is None else [given[row.changes]]
                some = [x for x in leaves((made, *written)) if cnp.evaluate(x).size]
            except Exception:
                continue  # wrong calls are among them
            found += some
            count -= bool(some)
            if count == 0:
                break
    return found


class Results:
    """What exported.run takes for a graph: here a function that does not need its input."""

    def __init__(self, tensors):
        self.inputs = {"unused": np.zeros(1)}
        self.tensors = tuple(tensors)

    def function(self):
        return lambda unused: self.tensors


def assert_same_bits(found, expected, tensors, way):
    for a, b, tensor in zip(found, expected, tensors, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind == "c":
            a, b = (np.ascontiguousarray(x).view(x.real.dtype) for x in (a, b))
        numbers = ~np.isnan(a) if a.dtype.kind == "f" else ...
        assert np.array_equal(a != a, b != b), f"{way}: {tensor}"
        assert a[numbers].tobytes() == b[numbers].tobytes(), f"{way}: {tensor}"


@pytest.mark.long_tail
@pytest.mark.parametrize("part", range(PARTS))
def test_bits(part, tmp_path):
    rows = ROWS[part::PARTS]
    found = [results_of(row, CALLS) for row in rows]
    # Of some rows every call is refused, or has an empty result.
    assert sum(map(bool, found)) > 0.85 * len(rows)
    tensors = [x for results in found for x in results]
    expected = cnp.evaluate(*tensors)
    assert_same_bits(cnp.evaluate(*tensors, backend="cpp"), expected, tensors, "compiled")
    graph = Results(tensors)
    for way, values in exported.run([graph], [expected], tmp_path / "p", ["avx512"]).items():
        assert_same_bits(values[0], expected, tensors, way)
