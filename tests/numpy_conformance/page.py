"""docs/numpy-conformance.md: the outcome of each function's cases as a line of a table."""

import collections
import importlib
import math
import re
import warnings
from dataclasses import dataclass, field

import numpy as np

from numpy_conformance.cases import Row, cases_of
from numpy_conformance.judge import Deviation

TABLES = ("elementwise", "reducing", "moving", "making", "linear")
HEAD = """# composit.numpy against NumPy {version}

`python tools/compare_with_numpy.py --write` makes this page: {count} functions, {cases} calls of
each side, of which {deviating} deviate. A test repeats all of them and holds each line to what is
said here.

Every function is called with arrays of 14 dtypes and of ranks 0 to 3, with empty ones, with numbers
and lists, and with special values (zeros of both signs, infinities, NaN, the smallest and the
largest); with the values of its options (`axis`, `dtype`, `keepdims`, `order`, `casting`, `where`,
and others, wrong ones among them); with `out=` that fits, is wider, narrower, larger, of another
shape, and no array; with arguments by keyword, as lists, as strided and transposed views, as
ndarrays; through NumPy's own function; and with too few and too many arguments. Values, dtypes,
shapes and the classes of errors are compared. *Calls* counts all of that. NumPy's own results
differ between processors: each line is the worst of four instruction sets.

*Exact bits* means equal bytes, any NaN equal to any NaN. *Within N ulp* is the largest difference:
of each element for elementwise functions; for sums, products and transforms on the scale of the
largest operand or result, since NumPy's own order of adding depends on the layout (there, the sign
of a zero counts as one ulp). N is rounded up to a power of two. *Foreign* functions are computed by
NumPy's own LAPACK ([numpy.md](numpy.md)). Where NumPy would return objects, texts, dates or
records, composit must raise a TypeError; that counts as agreement. *Refused* is an error that says
what to do instead. An example follows each difference.

| function | calls | outcome |
|---|---:|---|
"""


@dataclass
class Outcome:
    """What came of a function's cases: the largest distance in ulps, and those that deviate."""

    row: Row
    count: int = 0
    ulps: float = 0.0
    deviations: dict[str, list[str]] = field(default_factory=lambda: collections.defaultdict(list))

    @property
    def deviating(self) -> int:
        return sum(map(len, self.deviations.values()))

    @property
    def within(self) -> int:
        """The ulps, rounded up to a power of two."""
        return 0 if self.ulps == 0 else 2 ** max(0, math.ceil(math.log2(self.ulps)))

    def add_worse(self, ulps: float, deviations: dict[str, list[str]]) -> None:
        """Takes over what is worse in another run of the same cases."""
        self.ulps = max(self.ulps, ulps)
        for kind, calls in deviations.items():
            if len(calls) > len(self.deviations[kind]):
                self.deviations[kind] = calls

    def line(self) -> str:
        """The page's line."""
        words = "foreign; " if self.row.foreign else ""
        words += "dtype and shape only" if self.row.like else ""
        if not self.row.like:
            words += f"within {self.within} ulp" if self.within else "exact bits"
        words += f" ({self.row.note})" if self.row.note else ""
        for kind, calls in sorted(self.deviations.items()):
            example = min(calls, key=len).replace("|", "\\|")
            words += f"; {kind} ({len(calls)}): `{example}`"
        return f"| {self.row.name} | {self.count} | {words} |"


def rows() -> list[Row]:
    """All functions, by name; those of numpy itself first."""
    found = [
        row
        for table in TABLES
        for row in importlib.import_module(f"numpy_conformance.{table}").rows()
    ]
    return sorted(found, key=lambda row: ("." in row.name, row.name))


def tried(row: Row) -> Outcome:
    """Runs a function's cases."""
    outcome = Outcome(row)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in cases_of(row):
            outcome.count += 1
            try:
                outcome.ulps = max(outcome.ulps, case.run())
            except Deviation as deviation:
                outcome.deviations[str(deviation)].append(str(case))
    return outcome


def page(outcomes: list[Outcome]) -> str:
    """The whole page."""
    head = HEAD.format(
        version=np.__version__,
        count=len(outcomes),
        cases=sum(o.count for o in outcomes),
        deviating=sum(o.deviating for o in outcomes),
    )
    return head + "".join(o.line() + "\n" for o in outcomes)


@dataclass
class Line:
    """A line of the page, read back."""

    count: int
    within: int
    kinds: dict[str, int]


def lines_of(text: str) -> dict[str, Line]:
    """The page's lines by function."""
    found = {}
    for name, count, words in re.findall(r"^\| ([\w.]+) \| (\d+) \| (.*) \|$", text, re.MULTILINE):
        ulps = re.search(r"within (\d+) ulp", words)
        kinds = {kind: int(n) for kind, n in re.findall(r"; ([^;`(]+) \((\d+)\): `", words)}
        found[name] = Line(int(count), int(ulps[1]) if ulps else 0, kinds)
    return found
