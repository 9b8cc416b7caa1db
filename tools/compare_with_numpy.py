"""Compares every function of composit.numpy with NumPy's: prints a line for each that is named (all
without names); `--write` makes docs/numpy-conformance.md of all.

    python tools/compare_with_numpy.py sum linalg.svd
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/numpy-conformance.md"


def main() -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    from numpy_conformance import page  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    outcomes = []
    for row in page.rows():
        if not arguments.names or row.name in arguments.names:
            outcomes.append(outcome := page.tried(row))
            print(outcome.line(), flush=True)
            if arguments.names:
                for kind, calls in outcome.deviations.items():
                    print(f"    {kind}:", *calls, sep="\n        ")
    if arguments.write and not arguments.names:
        PAGE.write_text(page.page(outcomes))


if __name__ == "__main__":
    main()
