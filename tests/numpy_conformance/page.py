"""docs/numpy-conformance.md: the outcome of each function's cases as a line of a table."""

import collections
import importlib
import math
import re
import textwrap
import warnings
from dataclasses import dataclass, field

import numpy as np

from numpy_conformance import series
from numpy_conformance.cases import Row, cases_of
from numpy_conformance.judge import Deviation
from numpy_conformance.reasons import Reason, reason_for

TABLES = (
    "elementwise", "reducing", "moving", "making", "linear", "methods", "series", "drawing",
)  # fmt: skip
HEAD = """# composit.numpy against NumPy {version}

{summary}

`python tools/compare_with_numpy.py --write` makes this page. A test repeats all calls and holds
each line to what is said here.

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

`ndarray.sum` is the method, `operator.add` Python's `+` with operands of every pair of dtypes and
Python's numbers on either side, `operator.iadd` `+=`; `add.reduce` and its like are called with
`out=` and options. `random.` is called with seeds: the numbers are compared, and those drawn next.

## What deviates

{reasons}

## All functions

| function | calls | outcome |
|---|---:|---|
"""
UNEXPLAINED = Reason("Not explained", "", "", "To be looked into.")
# The summary, of functions by outcome.
KINDS = {
    "exact": "the same bits in every call",
    "within": "results within the ulps that their line says",
    "like": "dtype and shape only, as NumPy leaves the values open",
    "deviating": "some calls deviate, for the reasons below",
}


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

    @property
    def kind(self) -> str:
        """Which of KINDS it is."""
        if self.deviating:
            return "deviating"
        return "like" if self.row.like else "within" if self.within else "exact"

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


def summary(outcomes: list[Outcome]) -> str:
    """How many functions come out how, and of how many calls."""
    calls, deviating = (sum(getattr(o, name) for o in outcomes) for name in ("count", "deviating"))
    share = 100 - 100 * deviating / calls
    lines = [f"{calls} calls of {len(outcomes)} functions, of which {share:.2f} % agree and",
             f"{deviating} deviate.\n", "| functions | calls | |", "|---:|---:|---|"]  # fmt: skip
    for kind, words in KINDS.items():
        some = [o for o in outcomes if o.kind == kind]
        lines.append(f"| {len(some)} | {sum(o.count for o in some)} | {words} |")
    bounds = sorted({o.within for o in outcomes if o.kind == "within"})
    counts = [f"{sum(o.within == b for o in outcomes if o.kind == 'within')} within {b}"
              for b in bounds]  # fmt: skip
    foreign = [o.row.name for o in outcomes if o.row.foreign]
    lines += ["", _wrapped(f"By ulps: {', '.join(counts)}."), "",
              _wrapped(f"{len(foreign)} of them are foreign, computed by NumPy's own LAPACK: "
                       f"{', '.join(foreign)}.")]  # fmt: skip
    absent = series.missing()
    if absent:
        names = ", ".join(name.removeprefix("polynomial.") for name in absent)
        lines += ["", _wrapped(f"NumPy has, and composit lacks, of numpy.polynomial: {names}.")]
    return "\n".join(lines)


def reasons(outcomes: list[Outcome]) -> str:
    """What explains the deviations, with the number of calls and the functions."""
    found: dict[Reason, dict[str, int]] = collections.defaultdict(collections.Counter)
    for outcome in outcomes:
        for kind, calls in outcome.deviations.items():
            reason = reason_for(outcome.row.name, kind)
            found[reason or UNEXPLAINED][outcome.row.name] += len(calls)
    lines = []
    for reason, counts in sorted(found.items(), key=lambda item: -sum(item[1].values())):
        names = sorted(counts)
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        said = f"- **{reason.title}** ({sum(counts.values())}; {shown}). {reason.text}"
        lines.append(_wrapped(said, "  "))
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, 100, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip


def page(outcomes: list[Outcome]) -> str:
    """The whole page."""
    head = HEAD.format(version=np.__version__, summary=summary(outcomes), reasons=reasons(outcomes))
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
    for name, count, words in re.findall(
        r"^\| ([A-Za-z_][\w.]*) \| (\d+) \| (.*) \|$", text, re.MULTILINE
    ):
        ulps = re.search(r"within (\d+) ulp", words)
        kinds = {kind: int(n) for kind, n in re.findall(r"; ([^;`(]+) \((\d+)\): `", words)}
        found[name] = Line(int(count), int(ulps[1]) if ulps else 0, kinds)
    return found
