"""Checks that composit's functions are the same in Python and in C++: composit.numpy and
composit::numpy, linalg, fft and nn. tools/cpp_parity.txt lists those of one side, and why.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

import cpp_headers
import numpy_names

EXCEPTIONS = Path(__file__).with_name("cpp_parity.txt")
KEYWORDS = {"delete_": "delete"}  # of C++
SPACES = {
    "numpy": ("composit::numpy", "numpy"),
    "numpy.linalg": ("composit::numpy::linalg", "numpy"),
    "numpy.fft": ("composit::numpy::fft", "numpy"),
    "nn": ("composit::nn", "nn"),
}


@dataclass
class Exceptions:
    """Names that one side has alone, with reasons."""

    python: dict[str, str]
    cpp: dict[str, str]


def read_exceptions(text: str) -> Exceptions:
    found = Exceptions({}, {})
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        side, names, reason = (part.strip() for part in line.split(":", 2))
        if side not in ("python", "cpp") or not reason:
            raise ValueError(f"{line!r}: 'python: names: reason' or 'cpp: …' is required")
        getattr(found, side).update(dict.fromkeys(names.split(), reason))
    return found


def of_cpp(space: str) -> set[str]:
    """The functions of a namespace that the public headers declare."""
    namespace, folder = SPACES[space]
    public = cpp_headers.public_headers()
    return {
        KEYWORDS.get(declaration.name, declaration.name)
        for path in cpp_headers.headers(folder)
        if f"{folder}/{path.name}" in public
        for declaration in cpp_headers.declarations(path.read_text())
        if declaration.is_function
        and declaration.namespace == namespace
        and not declaration.name.startswith("operator")
    }


def of_python(space: str) -> set[str]:
    """The functions of a module: what it exports and can be called, but for types."""
    module = importlib.import_module(f"composit.{space}")
    names = set(getattr(module, "__all__", ())) or {n for n in vars(module) if n[0] != "_"}
    if space.startswith("numpy"):
        names |= {name.rpartition(".")[2] for name in numpy_names.public(space[6:])}
    values = {name: getattr(module, name, None) for name in names}
    return {n for n, v in values.items() if callable(v) and not isinstance(v, type)}


def differences(exceptions: Exceptions) -> list[str]:
    """What one side lacks without a reason, and reasons that nothing needs."""
    wrong, needed_python, needed_cpp = [], set(), set()
    for space in SPACES:
        python, cpp = of_python(space), of_cpp(space)
        for name in sorted(python - cpp):
            needed_python.add(f"{space}.{name}")
            if f"{space}.{name}" not in exceptions.python:
                wrong.append(f"composit.{space}.{name} is missing in {SPACES[space][0]}")
        for name in sorted(cpp - python):
            needed_cpp.add(f"{space}.{name}")
            if f"{space}.{name}" not in exceptions.cpp:
                wrong.append(f"{SPACES[space][0]}::{name} is missing in composit.{space}")
    for name in sorted(exceptions.python.keys() - needed_python):
        wrong.append(f"{EXCEPTIONS.name}: {name} is there in C++; take it off")
    for name in sorted(exceptions.cpp.keys() - needed_cpp):
        wrong.append(f"{EXCEPTIONS.name}: {name} is there in Python; take it off")
    return wrong


def main() -> int:
    wrong = differences(read_exceptions(EXCEPTIONS.read_text()))
    print(*wrong, sep="\n")
    if not wrong:
        count = sum(len(of_cpp(space)) for space in SPACES)
        print(f"parity: {count} functions of C++ are those of Python")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
