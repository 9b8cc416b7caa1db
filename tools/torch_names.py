"""Compares composit.torch with PyTorch, name by name: prints what differs in the example calls of
the names that are given (all without names); `--write` makes docs/torch-conformance.md of all.

    python tools/torch_names.py linalg sum
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/torch-conformance.md"


def main() -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    from torch_conformance import compare, page  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.write:
        PAGE.write_text(page.page(page.outcomes()))
        return
    for example in compare.examples():
        if given.names and not {example.space, example.name, example.path} & set(given.names):
            continue
        outcome = compare.tried(example)
        if outcome.refusal or outcome.values or outcome.gradients:
            said = outcome.refusal or f"{outcome.values} {outcome.gradients}"
            print(f"{example.path}: {example.text}: {said}")


if __name__ == "__main__":
    main()
