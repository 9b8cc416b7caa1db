"""Writes docs/jax-programs.md: the programs of JAX and its libraries that tests trace, and how far
their results are from JAX's. `--write` writes the page; without it the page is printed."""

import argparse
import importlib
import math
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "jax-programs.md"
HEAD = """# Programs of JAX

<!-- written by tools/jax_programs_page.py -->

What [the tests](../tests/jax_models) trace with `flashlight.trace_jax`
([exchange.md](exchange.md#from-jax)) and compare with JAX {version}: {counts}.

"value": the results. "gradient": also composit's derivative of their mean of squares, by the first
argument. "step": the first argument is a state; three steps in a row. The greatest difference of
all results from JAX's, relative to the greatest result, is below the power of ten that is shown, in
float32; integers and keys are equal. Compiled programs have the interpreter's bits; "no" where the
program has a loop that ends by values of its arguments.

| program | library | compared | difference | compiled |
|---|---|---|---|---|
"""


def words(value: float) -> str:
    """The power of ten above it: 4e-08 is 1e-7."""
    return "0" if value == 0 else f"1e{math.ceil(math.log10(value))}"


def page() -> str:
    sys.path.insert(0, str(ROOT / "tests"))
    programs = importlib.import_module("jax_models").PROGRAMS
    compared = importlib.import_module("jax_models.compared")
    counts = Counter(program.library for program in programs.values())
    text = HEAD.format(
        version=importlib.import_module("jax").__version__,
        counts=", ".join(f"{count} of {library}" for library, count in counts.items()),
    )
    for name, program in programs.items():
        differences = compared.differences(program)
        compiled = "no" if name in compared.NOT_COMPILED else "yes"
        text += (
            f"| {name} | {program.library} | {program.compared} | "
            f"{words(max(differences.values()))} | {compiled} |\n"
        )
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
