"""What names mean where the translation stands: variables, values, Python's objects outside."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import types
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from composit._core import NotSupported
from composit._core.knossos import Code
from composit.knossos.annotations import Leaf, check_constructor, fields_of, leaves_of
from composit.knossos.source import Source, shown
from composit.knossos.translator.arrays import ArrayOf
from composit.knossos.translator.found import State
from composit.knossos.translator.mentions import appended_in
from composit.knossos.values import Record, is_number


class Loop:
    """A loop whose body is being translated."""

    def __init__(self, runs_for_ever: bool, flag: int | None, trips: Any) -> None:
        self.runs_for_ever = runs_for_ever
        self.trips = trips  # how often it runs, as far as lists ask; None: it is not known
        self.flag = flag  # the variable that says whether a break has left the loop
        self.defined_at_stops: list[set[str]] = []
        # What names are parts of, where the loop is left and where it goes on.
        self.parts_at_stops: list[State] = []
        self.parts_at_continues: list[State] = []
        self.defined_at_continues: list[set[str]] = []


@dataclasses.dataclass(eq=False)
class Scope:
    """The function whose text is translated, the kernel's or one that becomes part of it."""

    code: Code
    source: Source
    locals: set[str]  # the names that mean variables or arguments

    def __post_init__(self) -> None:
        # Names that stand for values: of comprehensions, of arguments that do not change.
        self.bound: list[dict[str, Any]] = []
        self.structures: dict[str, Any] = {}  # of variables
        self.symbols: dict[str, str] = {}  # of extents that annotations name: the parameters
        self.defined: set[str] | None = set()  # None: this place is never reached
        # Whether the text that is translated is the library's, of calls from the outermost on.
        self.is_in_library = [False]
        self.appended = appended_in(self.source.tree.body)  # the names of lists that grow
        self.loops: list[Loop] = []  # around this place, within the function
        self.nesting = 0  # how deep branches and loops are nested, in all functions
        self.declare(None)

    def declare(self, structure: Leaf | None) -> None:
        """What the annotation of the result says."""
        self.declared = structure
        kinds = [] if structure is None else [kind for _, kind in leaves_of(structure, "y")]
        self.declared_kinds: list[str] | None = None if structure is None else kinds

    @contextlib.contextmanager
    def within(
        self, source: Source, names: set[str], bound: list[dict[str, Any]], is_in_library: bool
    ) -> Iterator[None]:
        """Names mean what they do in another function."""
        before = (self.source, self.locals, self.bound, self.defined, self.declared,
                  self.declared_kinds, self.loops)  # fmt: skip
        self.source, self.locals, self.bound, self.loops = source, names, bound, []
        self.is_in_library.append(is_in_library)
        try:
            yield
        finally:
            self.is_in_library.pop()
            (self.source, self.locals, self.bound, self.defined, self.declared,
             self.declared_kinds, self.loops) = before  # fmt: skip

    def refuse(
        self, node: Any, wrong: str, instead: str, kind: type[Exception] = NotSupported
    ) -> NoReturn:
        """An error that names the line of `node`."""
        self.source.refuse(node, wrong, instead, kind)

    def read(self, node: ast.AST, name: str) -> Any:
        """The value of a variable."""
        structure = self.structures.get(name)
        if structure is None or self.defined is None or name not in self.defined:
            kind = self.code.kind_named(name, structure.kind if type(structure) is Leaf else "")
            first = {"float": " = 0.0", "int": " = 0", "bool": " = False"}.get(kind, " = …")
            if isinstance(structure, ArrayOf):
                extents = ", ".join("n" for _ in structure.stored.shape)
                first = f" = np.zeros({extents if ',' not in extents else f'({extents})'})"
            self.refuse(
                node, f"{name} may have no value here",
                f"Give it one on every path that leads here, as {name}{first} before the "
                "branch or loop.", NameError,
            )  # fmt: skip
        return structure.build(self.code.leaf, name)

    def is_read_behind_a_break(self, name: str) -> bool:
        """Whether a loop around may have been left already, with the array that a name has now."""
        return any(name in stops for loop in self.loops for stops in loop.defined_at_stops)

    def meaning(self, node: ast.expr) -> Any:
        """The Python object that a name, or a name of a module, means."""
        found = self.meaning_or_none(node)
        if found is None:
            self.refuse(node, f"`{shown(node)}` means nothing", "Is it spelled as it is defined?",
                        NameError)  # fmt: skip
        return found

    def meaning_or_none(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            if node.id in self.locals:
                return None
            try:
                return self.source.meaning(node.id)
            except KeyError:
                return None
        if isinstance(node, ast.Attribute):
            holder = self.meaning_or_none(node.value)
            if holder is not None:
                return getattr(holder, node.attr, None)
        return None

    def is_local(self, name: str) -> bool:
        return name in self.locals or any(name in names for names in self.bound)

    def check_module(self, node: ast.Attribute) -> None:
        """Refuses what a module has not."""
        holder = self.meaning_or_none(node.value)
        if isinstance(holder, types.ModuleType) and not hasattr(holder, node.attr):
            self.refuse(node, f"{shown(node.value)} has no {node.attr}",
                        "Is it spelled as it is defined?", NameError)  # fmt: skip

    def from_outside(self, node: ast.expr, found: Any) -> Any:
        """A number, or a tuple or record of such, that was made outside of the kernel."""
        fields = fields_of(type(found))
        if fields is not None:
            check_constructor(self.refuse, node, type(found))
            return Record(type(found), {name: self.from_outside(node, getattr(found, name))
                                        for name in fields})  # fmt: skip
        if isinstance(found, tuple):
            return tuple(self.from_outside(node, part) for part in found)
        if is_number(found) and not hasattr(found, "dtype"):  # np.float64 is a float
            plain = bool if isinstance(found, bool) else int if isinstance(found, int) else float
            return plain(found)  # those of an IntEnum, too
        if isinstance(found, (np.generic, np.ndarray)) and not found.shape:
            if found.dtype in ("float64", "int64", "bool"):
                return found.item()
            self.refuse(
                node, f"`{shown(node)}` is a number of {found.dtype}, whose arithmetic kernels "
                "have not",
                "A number of Python, float64 or int64 is required: float(…) or int(…) of it, "
                "outside of the kernel.", TypeError,
            )  # fmt: skip
        self.refuse(
            node, f"`{shown(node)}` is {type(found).__name__}, no number",
            "Numbers and tuples of numbers may come from outside. "
            "Arrays and tensors are arguments." if hasattr(found, "dtype") else
            "Numbers and tuples of numbers may come from outside.", TypeError,
        )  # fmt: skip
