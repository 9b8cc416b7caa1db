"""Writes what composit._core offers as .pyi files, for type checkers and editors.

    python write_stubs.py PACKAGES OUTPUT

PACKAGES is the folder with the built package composit, OUTPUT the folder for __init__.pyi and a
file for each submodule. nanobind's stubgen describes the C++ functions; the methods that Python
attaches to LazyTensor are added with their own signatures.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

Replacements = list[tuple[str, str]]

# What the names in signatures of C++ functions mean to a type checker.
NAMES: Replacements = [
    (r"(?<!\.)\bnumpy\.(dtype|ndarray)\b", r"np.\1"),  # `numpy` may be the submodule
    (r"(\| None) \| None", r"\1"),
    # Lengths and axes: any sequence goes in, a tuple comes out.
    (r"-> int \| tuple\[int, \.\.\.\]", "-> tuple[int, ...]"),
    (r"\bint \| tuple\[int, \.\.\.\]", "int | Sequence[int]"),
    # What is converted: to dtypes, to tensors.
    (r": np\.dtype\b", ": npt.DTypeLike"),
    (r": LazyTensor( \| np\.ndarray \| float)?( \| None)?(?=[,)= ])", ": Any"),
    (r": list\[LazyTensor\](?=[,)= ])", ": Iterable[Any]"),
    # Fields and methods of composit.torch's structs, and what makes such objects.
    (r"\b(?:types\.M\w+DescriptorType|getset_descriptor) = \.\.\.", "Any"),
    (
        r"^(class (?:TraceFields|TorchFunction|FunctionAtOnce|SumsAtOnce|Evaluate|GradFn):"
        r"\n    \"\"\".*\"\"\"\n)",
        r"\1\n    def __init__(self, *args: Any) -> None: ...\n",
    ),
    # Of kernels: blocks of statements, arrays, what Python's objects stand behind.
    (r"\bSequence\[Statement\]", "Iterable[Statement]"),
    (r"(def (?:reads|parts_of)\(self\)) -> object:", r"\1 -> frozenset[int]:"),
    (
        r"(def (?:elsewhere|known|construct|__iter__|extents|mask_of_container|prune|pruned|"
        r"parametrized_value|weight_to_be_normalised|without_norm)\(.*\)) -> object:",
        r"\1 -> Any:",
    ),
    (
        r"(def (?:wanted_places|follow|record_of|exported_to_cuda)\(.*\)) -> object:",
        r"\1 -> Any:",
    ),
    (
        r"(def (?:constant|input|named|array_of|view|own_constant|laid_out|copied_in_order|memory|"
        r"alias|transfer|placed|imported_from_cuda)\(.*\)) -> object:",
        r"\1 -> LazyTensor:",
    ),
]
# Methods whose C++ returns any Python object, in a class CLASS.
OBJECTS: Replacements = [
    (r"(def __(?:eq|ne)__\(self, arg: )\w+", r"\1object"),
    (r"(def __(?:eq|ne)__\(.*\)) -> object: \.\.\.", r"\1 -> CLASS: ...  # type: ignore[override]"),
    (r"(def (?:__\w+__|copied|T)\(.*\)) -> object:", r"\1 -> CLASS:"),
    (r"(def (?:evaluated|taken_out)\(.*\)) -> object:", r"\1 -> np.ndarray:"),
    (r"(def dtype\(.*\)) -> object:", r"\1 -> np.dtype:"),
]
IMPORTS = """\
import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt
"""
OWN = """\
__version__: str

class NotSupported(NotImplementedError): ...
class PyTorchValueError(ValueError): ...
class OutOfMemoryError(MemoryError, RuntimeError): ...

class InternalError(RuntimeError): ...

"""


def replaced(text: str, replacements: Replacements) -> str:
    """The text after each pattern was replaced, in order."""
    for pattern, replacement in replacements:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def native(module: ModuleType) -> str:
    """What stubgen says of a module: definitions alone, in the words of NAMES."""
    from nanobind.stubgen import StubGen

    generator = StubGen(module, quiet=True)
    generator.put(module)
    text = re.sub(r'\A"""(.|\n)*?"""\n', "", generator.get())
    text = re.sub(r"^(from|import) .*?(\((.|\n)*?\))?\n", "", text, flags=re.MULTILINE)
    parts = re.split(r"^(?=\S)", replaced(text, NAMES), flags=re.MULTILINE)
    for i, part in enumerate(parts):
        if found := re.match(r"class (\w+)", part):
            names = [(pattern, made.replace("CLASS", found[1])) for pattern, made in OBJECTS]
            parts[i] = replaced(part, names)
    return "".join(parts).strip() + "\n"


class Bare(str):
    """A text that signatures print without quotes."""

    def __repr__(self) -> str:
        return str(self)


def method(name: str, function: Any) -> str:
    """A method written in Python, as a stub."""
    if isinstance(function, property):
        return f"    @property\n    def {name}(self) -> Any: ...\n"
    signature = inspect.signature(function)
    empty = signature.empty
    parameters = [
        parameter.replace(
            annotation=Bare(parameter.annotation) if parameter.annotation is not empty else empty
        )
        for parameter in signature.parameters.values()
    ]
    parameters[0] = parameters[0].replace(name="self", annotation=empty)
    result = signature.return_annotation
    result = Bare(result) if result is not empty else empty
    text = str(signature.replace(parameters=parameters, return_annotation=result))
    return f"    def {name}{text}: ...\n"


def attached_methods(type_: type) -> dict[str, Any]:
    """What Python put on a class of C++, also where C++ answers its calls first."""
    return {
        name: value
        for name, value in vars(type_).items()
        if inspect.isfunction(inspect.unwrap(value))
        or (isinstance(value, property) and inspect.isfunction(value.fget))
    }


def stubs(core: ModuleType) -> dict[str, str]:
    """The files' texts by name."""
    tensor: Any = vars(core)["LazyTensor"]
    attached = attached_methods(tensor)
    for name in attached:
        delattr(tensor, name)
    integer: Any = vars(core)["LazyInteger"]
    parts = {name: x for name, x in attached_methods(integer).items() if isinstance(x, property)}
    for name in parts:  # which stubgen does not describe
        delattr(integer, name)
    submodules = {name: m for name, m in vars(core).items() if isinstance(m, ModuleType)}
    methods = "".join(method(name, function) for name, function in attached.items())
    listed = ", ".join(f"{name} as {name}" for name in submodules)
    main = f"{IMPORTS}\nfrom composit._core import {listed}\n\n{OWN}{native(core)}"
    main = main.replace("class LazyTensor:\n", f"class LazyTensor:\n{methods}\n", 1)
    fraction = "".join(method(name, part) for name, part in parts.items())
    head = r'^(class LazyInteger\(LazyScalar\):\n    """.*"""\n)'
    main = re.sub(head, rf"\1\n{fraction}", main, flags=re.MULTILINE)
    files = {"__init__.pyi": main}
    for name, module in submodules.items():
        text = native(module)
        if name == "numpy":
            text = text.replace("-> object:", "-> LazyTensor:")
        imports = f"{IMPORTS}\nimport composit._core\nfrom composit._core import LazyTensor\n"
        files[f"{name}.pyi"] = f"{imports}\n{text}"
    return files


def elementwise(numpy: ModuleType) -> str:
    """A module that exists for type checkers only: the rows of the table, in composit.numpy."""
    kinds = [vars(numpy)[name] for name in ("Ufunc", "PairUfunc")]
    lines = [
        f"{name}: {type(value).__name__}\n"
        for name, value in vars(numpy).items()
        if type(value) in kinds and not name.startswith("_")
    ]
    return "from composit.numpy._ufunc import PairUfunc, Ufunc\n\n" + "".join(lines)


def main(packages: str, output: str) -> int:
    """The command."""
    sys.path.insert(0, packages)
    from composit import _core, numpy

    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    files = {"elementwise.pyi": elementwise(numpy), **stubs(_core)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
