"""A kernel's Python text as a procedure: statements over typed variables.

Types come from the annotations of the arguments and from what is assigned. What a translation
finds out too late, it begins again with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core.knossos import ArrayFunctions, Code
from composit._core.procedure import Procedure
from composit.knossos.annotations import Leaf
from composit.knossos.functions import known
from composit.knossos.source import Source
from composit.knossos.translator.arguments import Arguments
from composit.knossos.translator.arithmetic import Arithmetic
from composit.knossos.translator.array_calls import ArrayCalls
from composit.knossos.translator.array_variables import ArrayVariables
from composit.knossos.translator.assignments import Assignments
from composit.knossos.translator.branches import Branches
from composit.knossos.translator.call_stack import CallStack
from composit.knossos.translator.calls import Calls
from composit.knossos.translator.choices import Choices
from composit.knossos.translator.einsum import Einsum
from composit.knossos.translator.element_assignments import ElementAssignments
from composit.knossos.translator.expressions import Expressions
from composit.knossos.translator.found import Found, Restart
from composit.knossos.translator.inlining import Inlining, without_documentation
from composit.knossos.translator.kinds import Kinds
from composit.knossos.translator.lists import Lists
from composit.knossos.translator.loops import Loops
from composit.knossos.translator.mentions import assigned_in, text_of
from composit.knossos.translator.names import Names
from composit.knossos.translator.parameters import Parameters
from composit.knossos.translator.paths import Paths
from composit.knossos.translator.raising import Raising
from composit.knossos.translator.returns import Returns
from composit.knossos.translator.scope import Scope
from composit.knossos.translator.sequences import Sequences
from composit.knossos.translator.statements import Statements
from composit.knossos.translator.subscripts import Subscripts
from composit.knossos.translator.targets import Targets


def translate(
    source: Source, dtype: Any, as_kernel: Callable[[Any], Any]
) -> tuple[Procedure, Leaf]:  # fmt: skip
    """The procedure in one floating dtype, and the structure of what it returns.

    `as_kernel(function)` is the kernel of another function that is called."""
    found = Found()
    made, structure = _translated(source, dtype, as_kernel, found)
    if found.has_texts_for_derivatives:
        again = Found(for_derivatives=True)
        made = made.with_text_for_derivatives(_translated(source, dtype, as_kernel, again)[0])
    return made, structure


def _translated(source: Source, dtype: Any, as_kernel: Any, found: Found) -> tuple[Procedure, Leaf]:
    while True:
        try:
            return _run(source, dtype, as_kernel, found)
        except Restart:
            continue


# Those of C++ (composit/knossos/array_functions.h).
_OF_ARRAYS = ("operators", "code", "integers", "sharing", "storage", "elements", "slices", "makers",
              "reductions")  # fmt: skip
# By the names of the fields that hold them. A part needs those that stand above it.
_PARTS: dict[str, type[Any]] = {
    # What is known along the way.
    "kinds": Kinds, "stack": CallStack, "paths": Paths, "parameters": Parameters,
    # Functions of arrays.
    "array_calls": ArrayCalls,
    # Expressions.
    "expressions": Expressions, "lists": Lists, "names": Names, "arithmetic": Arithmetic,
    "choices": Choices, "subscripts": Subscripts, "targets": Targets, "sequences": Sequences,
    "einsum": Einsum, "arguments": Arguments,
    # Statements.
    "statements": Statements, "array_variables": ArrayVariables,
    "element_assignments": ElementAssignments, "assignments": Assignments, "branches": Branches,
    "loops": Loops, "raising": Raising, "returns": Returns,
    # Calls, which may become statements.
    "inlining": Inlining, "calls": Calls,
}  # fmt: skip
_NEEDS = {name: [field.name for field in dataclasses.fields(kind)]
          for name, kind in _PARTS.items()}  # fmt: skip
_OF_EXPRESSIONS = ("names", "arithmetic", "choices", "subscripts", "sequences", "calls")
_OF_STATEMENTS = ("assignments", "branches", "loops", "raising", "returns")


def _parts(source: Source, dtype: Any, as_kernel: Any, found: Found) -> dict[str, Any]:
    tree = source.tree
    assigned, arguments = assigned_in(tree.body), {each.arg for each in tree.args.args}
    arrays = ArrayFunctions(dtype, found, assigned, text_of(tree).counts_of_names(True), known)
    parts: dict[str, Any] = {name: getattr(arrays, name) for name in _OF_ARRAYS}
    parts |= {
        "arrays": arrays, "scope": Scope(arrays.code, source, assigned | arguments),
        "found": found, "as_kernel": as_kernel,
    }  # fmt: skip
    for name, kind in _PARTS.items():
        parts[name] = kind(*(parts[need] for need in _NEEDS[name]))
    parts["expressions"].use(*(parts[name] for name in _OF_EXPRESSIONS))
    parts["statements"].use(*(parts[name] for name in _OF_STATEMENTS))
    return parts


def _run(source: Source, dtype: Any, as_kernel: Any, found: Found) -> tuple[Procedure, Leaf]:
    """One run over the text."""
    parts = _parts(source, dtype, as_kernel, found)
    try:
        return _made(source, parts, found)
    finally:
        # Arrays of C++ refer to parts, which refer to arrays: no collector sees these circles.
        for name in ("scope", *_PARTS):
            vars(parts[name]).clear()


def _made(source: Source, parts: dict[str, Any], found: Found) -> tuple[Procedure, Leaf]:
    tree = source.tree
    code: Code = parts["code"]
    returns: Returns = parts["returns"]
    parts["parameters"].add(tree)
    found.has_arrays = found.has_arrays or code.array_count > 0
    parts["scope"].declare(returns.declared_by(tree))
    code.line = tree.lineno
    with code.emitting() as copies:
        parts["array_variables"].copy_arguments(tree)
    body = [*copies, *parts["statements"].block(without_documentation(tree.body))]
    results = [(name, parts["operators"].dtype_of(kind)) for name, kind in returns.results]
    parts["raising"].check(0, [dtype for _, dtype in results])
    if not returns.has_returned:
        source.refuse(tree, "it returns nothing", "A return of numbers is required.")
    if not _core.procedure.always_leaves(body):
        source.refuse(
            tree.body[-1], "its end can be reached without a return",
            "Every path has to return a number.",
        )  # fmt: skip
    variables = [(_plain(code.shown_name(number)), dtype)
                 for number, (_, dtype) in enumerate(code.variables)]  # fmt: skip
    made = Procedure(
        source.name, source.file, tree.lineno, source.documentation, variables,
        code.parameter_count, results, body,
        [(_plain(array[0]), *array[1:]) for array in code.arrays],
        code.head if code.array_count else [],
    )  # fmt: skip
    if code.array_count:
        made = _core.procedure.without_dead_code(made, True)
    return made, Leaf.of(returns.structure)


def _plain(name: str) -> str:
    """The name of a part, "point.x", as C++ has it."""
    return name.replace(".", "_")
