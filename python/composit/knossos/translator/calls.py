"""Calls: of functions of numbers and arrays, of methods, of records, of other kernels."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core.knossos import (
    Array,
    ArrayFunctions,
    Code,
    Elements,
    Integers,
    Makers,
    Operators,
)
from composit._core.scalar import Expr
from composit.knossos import functions, library
from composit.knossos.annotations import check_constructor, defaults_of, fields_of
from composit.knossos.closures import (
    FunctionValue,
    Inner,
    Outside,
    becomes_part,
    source_of,
)
from composit.knossos.source import shown
from composit.knossos.translator.arguments import (
    Arguments,
    with_dtype_by_name,
    with_neutral_elements,
)
from composit.knossos.translator.array_calls import ArrayCalls
from composit.knossos.translator.einsum import Einsum
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.translator.found import Found
from composit.knossos.translator.inlining import Inlining
from composit.knossos.translator.scope import Scope
from composit.knossos.translator.torch_names import as_numpy, with_shape
from composit.knossos.values import (
    Mismatch,
    Record,
    found_in,
    is_number,
    kind_of,
    leaves_with_names,
    of_numbers,
    with_article,
)

# What changes no result of functions of several values.
_NEUTRAL: dict[Any, Any] = {sum: 0, any: False, all: True}


@dataclasses.dataclass(eq=False)
class Calls:
    """Finds out what a call means. `as_kernel(function)` is the kernel of another function."""

    code: Code
    operators: Operators
    scope: Scope
    found: Found
    integers: Integers
    expressions: Expressions
    arguments: Arguments
    makers: Makers
    arrays: ArrayFunctions
    elements: Elements
    array_calls: ArrayCalls
    einsum: Einsum
    inlining: Inlining
    as_kernel: Callable[[Any], Any]

    def forms(self) -> Forms:
        return {ast.Call: self.of_call}

    def of_call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and self.scope.meaning_or_none(node.func) is None:
            return self._method_call(node, node.func)
        is_name = isinstance(node.func, (ast.Name, ast.Attribute))
        if not is_name or (isinstance(node.func, ast.Name) and self.scope.is_local(node.func.id)):
            called = self.expressions.value(node.func)
            if isinstance(called, Inner):
                arguments, named = self.arguments.by_position(node), self.arguments.by_name(node)
                return self._inner_call(node, called, arguments, named)
            if not isinstance(called, Outside):
                what = with_article(kind_of(called))
                self.scope.refuse(node, f"`{shown(node)}` calls `{shown(node.func)}`, {what}",
                            "Functions are called.", TypeError)  # fmt: skip
            return self._call(node, called.function)
        return self._call(node, self.scope.meaning(node.func))

    def _inner_call(
        self, node: ast.Call, called: Inner, arguments: list[Any], named: dict[str, Any]
    ) -> Any:
        """A call of a function that is defined within the kernel."""
        arguments = self.arguments.in_order(node, called.source, arguments, named)
        return self.inlining.inlined(node, called.source, arguments, called)

    def _call(self, node: ast.Call, function: Any) -> Any:
        if hasattr(function, "of") and hasattr(function, "__wrapped__"):  # a kernel by example
            function = function.__wrapped__
        node, function = with_shape(node, function), as_numpy(function)
        node = with_dtype_by_name(node, function)
        if found_in(_NEUTRAL, function) is not None and not node.keywords:
            node = with_neutral_elements(node, _NEUTRAL[function])
        if function is np.einsum:
            return self.einsum.of_call(node)
        if function is library.require:
            return self._require(node)
        if function is float and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            return self._float_of(node.args[0])
        arguments = self.arguments.by_position(node)
        if function is library.same_extents:
            return self.integers.require_same(*arguments)
        if function in (library.held, library.stand_in):
            return self._with_derivative_of(function, arguments)
        text = found_in(library.LIBRARY, function)
        if text is not None and all(map(is_number, arguments)):
            return of_numbers(function, *arguments)
        if text is not None:
            return self._library_call(node, text, arguments)
        if function is dataclasses.replace and arguments and isinstance(arguments[0], Record):
            return self._replaced(node, arguments[0], self.arguments.by_name(node))
        fields = fields_of(function)
        if fields is not None:
            return self._record(node, function, fields, arguments, self.arguments.by_name(node))
        if (instead := found_in(functions.INSTEAD, function)) is not None:
            self.scope.refuse(node, f"{shown(node.func)} cannot be called in kernels", instead)
        has_arrays = any(isinstance(each, Array) for each in arguments)
        is_kernel = isinstance(function, types.FunctionType) or hasattr(function, "procedure")
        is_numpy = str(getattr(function, "__module__", "")).partition(".")[0] in ("numpy", "torch")
        is_own = function is functions.stop_gradient
        if self.array_calls.makes_arrays(function) or (
            has_arrays and (is_numpy or is_own or not is_kernel)
        ):
            try:
                return self.array_calls.call(function, arguments, self.arguments.by_name(node))
            except LookupError:
                self.scope.refuse(
                    node, f"{shown(node.func)} of arrays is not part of kernels",
                    "Write a loop over the elements.",
                )  # fmt: skip
        if is_kernel and not (is_own or is_numpy):
            named = self.arguments.by_name(node)
            has_functions = any(isinstance(each, FunctionValue) for each in arguments)
            if becomes_part(function) or (has_functions and not hasattr(function, "procedure")):
                source = source_of(function)
                arguments = self.arguments.in_order(node, source, arguments, named)
                return self.inlining.inlined(node, source, arguments)
            return self._kernel_call(node, self.as_kernel(function), arguments, named)
        if node.keywords:
            raise Mismatch("arguments by name", "Give them by position.")
        with contextlib.suppress(LookupError):
            return functions.call(self.operators, function, arguments)
        self.scope.refuse(
            node, f"{shown(node.func)} cannot be called in kernels",
            "Functions of math, numpy's and composit.numpy's of numbers, other kernels, and plain "
            "functions can.",
        )  # fmt: skip

    def _library_call(
        self, node: ast.Call, text: library.Text, arguments: list[Any]
    ) -> Any:  # fmt: skip
        """A function whose text is one of kernels."""
        name = shown(node.func)
        if node.keywords or len(arguments) != len(text.axes):
            raise Mismatch(f"{name} of other arguments",
                           f"{len(text.axes)} by position are required.")  # fmt: skip
        arguments = [
            self.makers.array(argument)
            if wanted == 1 and isinstance(argument, tuple) and argument
            else argument
            for argument, wanted in zip(arguments, text.axes)
        ]
        for argument, wanted in zip(arguments, text.axes):
            axes = len(argument.shape) if isinstance(argument, Array) else (
                None if isinstance(argument, (tuple, Record, FunctionValue)) else 0)  # fmt: skip
            if wanted is not None and axes != wanted:
                raise Mismatch(
                    f"{name} of {kind_of(argument) if not axes else repr(argument)}",
                    {0: "A number is", 1: "An array of one axis is", 2: "A matrix is"}[wanted]
                    + " required; of larger ones, write a loop.",
                )  # fmt: skip
        used = text.text
        if text.for_derivatives is not None:
            self.found.has_texts_for_derivatives = True
            used = text.for_derivatives if self.found.for_derivatives else used
        called = name.rpartition(".")[2]
        source = library.LibrarySource(source_of(used), self.scope.source, node, called)
        made = self.inlining.inlined(node, source, arguments)
        if text.gives_list:
            made.is_list = 1
        return made

    def _with_derivative_of(self, function: Any, arguments: list[Any]) -> Any:
        """held(x), stand_in(value, other): of numbers, or of elements."""
        made = _core.procedure.held if function is library.held else _core.procedure.stand_in

        def of_numbers(*numbers: Any) -> Any:
            if is_number(numbers[0]) or kind_of(numbers[0]) != "float":
                return numbers[0]
            return made(*(self.operators.cast(each, "float") for each in numbers))

        if any(isinstance(each, Array) for each in arguments):
            return self.elements.elementwise(of_numbers, arguments)
        return of_numbers(*arguments)

    def _require(self, node: ast.Call) -> None:
        holds = self.operators.truth(self.expressions.value(node.args[0]))
        claim = ast.literal_eval(node.args[1]) + "%s. Another one is required."
        self.code.expect(self.operators.cast(holds, "bool"), "LinAlgError", claim)

    def _float_of(self, node: ast.Constant) -> float:
        """float("inf"), float(1)."""
        try:
            return float(node.value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            self.scope.refuse(node, f"{node.value!r} is no number", "A number is required.")

    def _converted(self, node: ast.Call, array: Array) -> Array:
        """array.astype(dtype)"""
        named = {each.arg: each.value for each in node.keywords}
        wanted = node.args[0] if len(node.args) == 1 else named.pop("dtype", None)
        named.pop("copy", None)
        if wanted is None or named or len(node.args) > 1:
            raise Mismatch("astype of other arguments", "Give it int, float or bool.")
        return self.arrays.in_kind(array, self.arguments.kind_of_dtype(wanted))

    def _method_call(self, node: ast.Call, function: ast.Attribute) -> Any:
        """A call of what a value has: arrays have methods, records _replace."""
        self.scope.check_module(function)
        holder = self.expressions.value(function.value)
        if isinstance(holder, Array) and function.attr == "astype":
            return self._converted(node, holder)
        if isinstance(holder, Array):
            arguments, named = self.arguments.by_position(node), self.arguments.by_name(node)
            return self.array_calls.method(holder, function.attr, arguments, named)
        if isinstance(holder, Record):
            if function.attr == "_replace" and not node.args:
                return self._replaced(node, holder, self.arguments.by_name(node))
            of = f"of {holder.made_by.__name__}"
        else:
            of = f"of {with_article(kind_of(holder))}"
        if function.attr in ("append", "extend", "insert", "pop", "remove"):
            name = shown(function.value)
            self.scope.refuse(
                node, f"`{shown(node)}` changes how many elements {name} has",
                f"Write {name} = np.zeros(n) before the loop, and {name}[i] = … in it.",
            )  # fmt: skip
        self.scope.refuse(
            node, f"`{shown(node)}` calls a method {of}",
            "Call a function of the value, defined outside or in math.",
        )  # fmt: skip

    def _replaced(self, node: ast.Call, record: Record, given: dict[str, Any]) -> Record:
        """A record with other values of some fields."""
        if not set(given) <= set(record.fields):
            self.scope.refuse(node, f"{record.made_by.__name__} has the fields "
                        f"{', '.join(record.fields)}", "Give others of them by name.",
                        TypeError)  # fmt: skip
        return Record(record.made_by, {**record.fields, **given})

    def _record(
        self, node: ast.Call, made_by: Any, fields: Any, arguments: list[Any], named: Any
    ) -> Record:
        check_constructor(self.scope.refuse, node, made_by)
        try:
            given = inspect.signature(made_by).bind(*arguments, **named).arguments
        except TypeError as error:
            self.scope.refuse(
                node,
                f"{made_by.__name__} has the fields {', '.join(fields)}: {error}",
                "A value for each is required.",
                TypeError,
            )
        defaults = defaults_of(made_by)
        if missing := [name for name in fields if name not in given and name not in defaults]:
            self.scope.refuse(node, f"the default of {made_by.__name__}.{missing[0]} is computed",
                        "Give it a value.", TypeError)  # fmt: skip
        return Record(made_by, {
            name: given[name] if name in given else self.scope.from_outside(node, defaults[name])
            for name in fields
        })  # fmt: skip

    def _kernel_call(
        self, node: ast.Call, kernel: Any, arguments: list[Any], named: dict[str, Any]
    ) -> Any:
        source = kernel._source
        if source is None and named:
            self.scope.refuse(node, f"{kernel.__name__} is derived, and given arguments by name",
                        "Give them by position.", TypeError)  # fmt: skip
        if source is not None:
            arguments = self.arguments.in_order(node, source, arguments, named)
        is_plain = source is not None and kernel._derivative is None
        # One that calls itself to a known depth is no procedure of its own.
        if is_plain and self.inlining.calls_itself(source):
            return self.inlining.inlined(node, source, arguments)
        if kernel.is_of_arrays and kernel._derivative is not None:
            self.scope.refuse(
                node, f"{kernel.__name__} has arrays and a derivative that was given",
                "Such a kernel is not yet part of another: call it from Python.",
            )  # fmt: skip
        if kernel.is_of_arrays and source is None:
            self.scope.refuse(
                node, f"{kernel.__name__} is made of a kernel with arrays",
                "Its derivatives and maps are not parts of others: call them from Python.",
            )  # fmt: skip
        if is_plain and (kernel.is_of_arrays or self.inlining.becomes_statements(source)):
            return self.inlining.inlined(node, source, arguments)
        structures = kernel.parameter_structures
        if source is None:  # a derivative, which takes the numbers of tuples and records
            arguments = [leaf for each in arguments for _, leaf in leaves_with_names(each)]
        if len(structures) != len(arguments):
            self.scope.refuse(node, f"{kernel.__name__} of {len(arguments)} arguments",
                        f"It has {len(structures)}.", TypeError)  # fmt: skip
        operands: list[Expr] = []
        for structure, argument in zip(structures, arguments):
            leaves = [leaf for _, leaf in leaves_with_names(argument)]
            wanted = structure.leaves("")
            if len(leaves) != len(wanted):
                self.scope.refuse(
                    node,
                    f"an argument of {kernel.__name__} has {len(leaves)} numbers",
                    f"It has {len(wanted)}.",
                    TypeError,
                )
            for leaf, (_, kind) in zip(leaves, wanted):
                if kind != "float" and kind_of(leaf) not in (kind, "bool"):
                    self.scope.refuse(node, f"{kernel.__name__} of a {kind_of(leaf)}",
                                f"A value of type {kind} is required.", TypeError)  # fmt: skip
                operands.append(self.operators.cast(leaf, kind))
        return kernel.inside(operands, self.operators.dtype)
