"""Writes the table of scikit-learn's estimators into docs/exchange.md, from one run: the difference
from scikit-learn's own results, and the size of the plain C++. `--write` writes it; without it the
table is printed."""

import argparse
import importlib
import math
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "exchange.md"
START, END = "<!-- table of estimators: tools/sklearn_table.py -->\n", "<!-- end of the table -->\n"


def words(value: float) -> str:
    """The power of ten above it: 4e-08 is 1e-7."""
    return "0" if value == 0 else f"1e{math.ceil(math.log10(value))}"


def table() -> str:
    sys.path.insert(0, str(ROOT / "tests"))
    estimators = importlib.import_module("sklearn_estimators")

    lines = [
        "| estimator | data | float32 | float64 | lines | bytes |",
        "|---|---|---|---|---|---|",
    ]
    for name, case in estimators.CASES.items():
        of_float32 = words(estimators.difference(name, "float32"))
        has_float64 = name not in estimators.ONLY_FLOAT32
        of_float64 = words(estimators.difference(name, "float64")) if has_float64 else ""
        count, size = estimators.size_of_export(name)
        lines.append(
            f"| {name} | {case.data} | {of_float32} | {of_float64} | {count:,} | {size:,} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    is_written = parser.parse_args().write
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = table()
    if not is_written:
        print(made, end="")
        return 0
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    PAGE.write_text(before + START + "\n" + made + "\n" + END + rest.split(END)[1], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
