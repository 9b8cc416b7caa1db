"""Checks that composit's functions are the same in Python and in C++: composit.numpy and
composit::numpy, linalg, fft, polynomial, random and nn; and that composit::aten is bound.
tools/cpp_parity.txt lists those of one side, and why.
"""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import cpp_headers
import numpy_names

EXCEPTIONS = Path(__file__).with_name("cpp_parity.txt")
KEYWORDS = {"delete_": "delete", "integ": "int"}  # of C++
SPACES = {
    "numpy": ("composit::numpy", "numpy"),
    "numpy.linalg": ("composit::numpy::linalg", "numpy"),
    "numpy.fft": ("composit::numpy::fft", "numpy"),
    "nn": ("composit::nn", "nn"),
    # What composit.torch and flashlight call: all of it, so that no formula is Python's alone.
    "_core.aten": ("composit::aten", "aten"),
    # One set of functions serves all bases there: val(Basis::chebyshev, …) is chebval.
    "numpy.polynomial": ("composit::numpy::polynomial", "numpy"),
}
SERIES = {"polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm",
          "hermite_e": "herme", "laguerre": "lag"}  # fmt: skip
# Methods of classes: the module and the class in Python, the header in C++.
CLASSES = {
    f"numpy.random.{name}": ("composit.numpy.random", name, f"composit/numpy/random/{header}.h")
    for name, header in {
        "Generator": "generator", "RandomState": "random_state", "SeedSequence": "seed_sequence",
    }.items()
}  # fmt: skip
METHOD = re.compile(
    r"^    (?:\[\[nodiscard\]\] )?(?!using|static|explicit|return)[\w:<>]+[ &*]+(\w+)\(",
    re.MULTILINE,
)


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
    """The functions of a namespace, or methods of a class, that the public headers declare."""
    if space in CLASSES:
        text = (cpp_headers.ROOT / CLASSES[space][2]).read_text()
        members = text.partition("class ")[2].partition("  private:")[0]
        return {KEYWORDS.get(name, name) for name in METHOD.findall(members)}
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
    """The functions of a module: what it exports and can be called, but for types; and those of a
    class, or of every basis without its prefix."""
    if space in CLASSES:
        found = getattr(importlib.import_module(CLASSES[space][0]), CLASSES[space][1])
        return {n for n in dir(found) if n[0] != "_" and callable(getattr(found, n))}
    if space == "numpy.polynomial":
        modules = {b: importlib.import_module(f"composit.{space}.{b}") for b in SERIES}
        return {
            n.removeprefix(SERIES[b]) for b, m in modules.items() for n in vars(m) if n[0] != "_"
        }
    module = importlib.import_module(f"composit.{space}")
    names = set(getattr(module, "__all__", ())) or {n for n in vars(module) if n[0] != "_"}
    if space.startswith("numpy"):
        names |= {name.rpartition(".")[2] for name in numpy_names.public(space[6:])}
    values = {name: getattr(module, name, None) for name in names}
    return {n for n, v in values.items() if callable(v) and not isinstance(v, type)}


def _in_cpp(space: str) -> str:
    return SPACES[space][0] if space in SPACES else f"composit::{space.replace('.', '::')}"


def differences(exceptions: Exceptions) -> list[str]:
    """What one side lacks without a reason, and reasons that nothing needs."""
    wrong, needed_python, needed_cpp = [], set(), set()
    for space in (*SPACES, *CLASSES):
        python, cpp = of_python(space), of_cpp(space)
        for name in sorted(python - cpp):
            needed_python.add(f"{space}.{name}")
            if f"{space}.{name}" not in exceptions.python:
                wrong.append(f"composit.{space}.{name} is missing in {_in_cpp(space)}")
        for name in sorted(cpp - python):
            needed_cpp.add(f"{space}.{name}")
            if f"{space}.{name}" not in exceptions.cpp:
                wrong.append(f"{_in_cpp(space)}::{name} is missing in composit.{space}")
    for name in sorted(exceptions.python.keys() - needed_python):
        wrong.append(f"{EXCEPTIONS.name}: {name} is there in C++; take it off")
    for name in sorted(exceptions.cpp.keys() - needed_cpp):
        wrong.append(f"{EXCEPTIONS.name}: {name} is there in Python; take it off")
    return wrong


def main() -> int:
    wrong = differences(read_exceptions(EXCEPTIONS.read_text()))
    print(*wrong, sep="\n")
    if not wrong:
        count = sum(len(of_cpp(space)) for space in (*SPACES, *CLASSES))
        print(f"parity: {count} functions of C++ are those of Python")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
