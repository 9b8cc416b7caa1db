"""Calls inside kernels: of functions of numbers and arrays, of records, of other kernels."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import types
from typing import Any

import numpy as np

from composit._core.scalar import Expr
from composit.knossos import functions, library
from composit.knossos.annotations import check_constructor, defaults_of, fields_of
from composit.knossos.arrays import Array
from composit.knossos.closures import (
    FunctionValue,
    Inner,
    Outside,
    becomes_part,
    is_function,
    source_of,
)
from composit.knossos.einsum import einsum
from composit.knossos.sequences import Sequences
from composit.knossos.source import Source, shown
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

# Where a dtype stands among the arguments by position.
_DTYPE_AT = {
    np.zeros: 1, np.ones: 1, np.empty: 1, np.full: 2, np.array: 1, np.asarray: 1,
    np.zeros_like: 1, np.ones_like: 1, np.empty_like: 1,
}  # fmt: skip
# What changes no result of functions of several values.
_NEUTRAL: dict[Any, Any] = {sum: 0, any: False, all: True}
# The dtypes that kernels compute in, by what they call them. float is float32 in kernels that are
# called with arrays of float32.
_KINDS = {"float64": "float", "int64": "int", "bool": "bool"}


class Calls(Sequences):
    """Calls; what names mean comes from expressions."""

    as_kernel: Any

    def of_call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and self.meaning_or_none(node.func) is None:
            return self._method_call(node, node.func)
        is_name = isinstance(node.func, (ast.Name, ast.Attribute))
        if not is_name or (isinstance(node.func, ast.Name) and self.is_local(node.func.id)):
            called = self.value(node.func)
            if isinstance(called, Inner):
                arguments, named = self._arguments(node), self._named(node)
                return self._inner_call(node, called, arguments, named)
            if not isinstance(called, Outside):
                what = with_article(kind_of(called))
                self.refuse(node, f"`{shown(node)}` calls `{shown(node.func)}`, {what}",
                            "Functions are called.", TypeError)  # fmt: skip
            return self._call(node, called.function)
        return self._call(node, self.meaning(node.func))

    def _inner_call(
        self, node: ast.Call, called: Inner, arguments: list[Any], named: dict[str, Any]
    ) -> Any:
        """A call of a function that is defined within the kernel."""
        arguments = self._by_position(node, called.source, arguments, named)
        return self.inlined(node, called.source, arguments, called)

    def _call(self, node: ast.Call, function: Any) -> Any:
        node = _with_dtype_by_name(node, function)
        if found_in(_NEUTRAL, function) is not None and not node.keywords:
            node = _with_neutral_elements(node, _NEUTRAL[function])
        if function is np.einsum:
            return einsum(self, node)
        if function is library.require:
            return self._require(node)
        if function is float and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            return self._float_of(node.args[0])
        arguments = self._arguments(node)
        if function is library.same_extents:
            return self.require_same(*arguments)
        text = found_in(library.LIBRARY, function)
        if text is not None and all(map(is_number, arguments)):
            return of_numbers(function, *arguments)
        if text is not None:
            return self._library_call(node, text, arguments)
        if function is dataclasses.replace and arguments and isinstance(arguments[0], Record):
            return self._replaced(node, arguments[0], self._named(node))
        fields = fields_of(function)
        if fields is not None:
            return self._record(node, function, fields, arguments, self._named(node))
        if (instead := found_in(functions.INSTEAD, function)) is not None:
            self.refuse(node, f"{shown(node.func)} cannot be called in kernels", instead)
        has_arrays = any(isinstance(each, Array) for each in arguments)
        is_kernel = isinstance(function, types.FunctionType) or hasattr(function, "procedure")
        is_numpy = str(getattr(function, "__module__", "")).partition(".")[0] in ("numpy", "torch")
        is_own = function is functions.stop_gradient
        if self.makes_arrays(function) or (has_arrays and (is_numpy or is_own or not is_kernel)):
            try:
                return self.array_call(function, arguments, self._named(node))
            except LookupError:
                self.refuse(
                    node, f"{shown(node.func)} of arrays is not part of kernels",
                    "Write a loop over the elements.",
                )  # fmt: skip
        if is_kernel and not (is_own or is_numpy):
            named = self._named(node)
            has_functions = any(isinstance(each, FunctionValue) for each in arguments)
            if becomes_part(function) or (has_functions and not hasattr(function, "procedure")):
                source = source_of(function)
                arguments = self._by_position(node, source, arguments, named)
                return self.inlined(node, source, arguments)
            return self._kernel_call(node, self.as_kernel(function), arguments, named)
        if node.keywords:
            raise Mismatch("arguments by name", "Give them by position.")
        with contextlib.suppress(LookupError):
            return functions.call(self.operators, function, arguments)
        self.refuse(
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
            self.maker_call(np.array, [argument], {})
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
        source = library.LibrarySource(source_of(text.text), self.source, node)
        made = self.inlined(node, source, arguments)
        if text.gives_list:
            made.is_list = 1
        return made

    def _require(self, node: ast.Call) -> None:
        holds = self.operators.truth(self.value(node.args[0]))
        claim = ast.literal_eval(node.args[1]) + "%s. Another one is required."
        self._expect(self.operators.cast(holds, "bool"), "LinAlgError", claim)

    def _float_of(self, node: ast.Constant) -> float:
        """float("inf"), float(1)."""
        try:
            return float(node.value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            self.refuse(node, f"{node.value!r} is no number", "A number is required.")

    def _arguments(self, node: ast.Call) -> list[Any]:
        """The arguments by position."""
        arguments: list[Any] = []
        for each in node.args:
            if not isinstance(each, ast.Starred):
                arguments.append(self.value_or_function(each))
                continue
            parts = self.value(each.value)
            if isinstance(parts, Record) and issubclass(parts.made_by, tuple):
                parts = tuple(parts.fields.values())
            if isinstance(parts, Array) and is_number(parts.shape[0]):
                parts = tuple(self.indexed(parts, [k]) for k in range(parts.shape[0]))
            if not isinstance(parts, tuple):
                raise Mismatch("*arguments that are no tuple", "Write the arguments.")
            arguments += parts
        return arguments

    def value_or_function(self, node: ast.expr) -> Any:
        """The value of an expression, which may be a function from outside."""
        found = self.meaning_or_none(node)
        is_bound = isinstance(node, ast.Name) and self.is_local(node.id)
        return Outside(found) if is_function(found) and not is_bound else self.value(node)

    def _named(self, node: ast.Call) -> dict[str, Any]:
        if any(each.arg is None for each in node.keywords):
            raise Mismatch("**arguments in a call", "Write the arguments.")
        return {
            each.arg or "": self._dtype(each.value)
            if each.arg == "dtype"
            else self.value_or_function(each.value)
            for each in node.keywords
        }

    def _dtype(self, node: ast.expr) -> str:
        """The kind of numbers that a dtype is of: float, "float64", np.float64, x.dtype."""
        found = node.value if isinstance(node, ast.Constant) else self.meaning_or_none(node)
        if found is None and isinstance(node, ast.Attribute) and node.attr == "dtype":
            holder = self.value(node.value)
            if isinstance(holder, Array):
                return holder.kind
        kind = None
        if isinstance(found, (type, str, np.dtype)):
            with contextlib.suppress(TypeError):
                kind = _KINDS.get(np.dtype(found).name)
        if kind is None:
            self.refuse(node, f"the dtype `{shown(node)}`",
                        "int, float or bool (int64, float64) is required.")  # fmt: skip
        return kind

    def _converted(self, node: ast.Call, array: Array) -> Array:
        """array.astype(dtype)"""
        named = {each.arg: each.value for each in node.keywords}
        wanted = node.args[0] if len(node.args) == 1 else named.pop("dtype", None)
        named.pop("copy", None)
        if wanted is None or named or len(node.args) > 1:
            raise Mismatch("astype of other arguments", "Give it int, float or bool.")
        return self.in_kind(array, self._dtype(wanted))

    def _method_call(self, node: ast.Call, function: ast.Attribute) -> Any:
        """A call of what a value has: arrays have methods, records _replace."""
        self.check_module(function)
        holder = self.value(function.value)
        if isinstance(holder, Array) and function.attr == "astype":
            return self._converted(node, holder)
        if isinstance(holder, Array):
            arguments, named = self._arguments(node), self._named(node)
            return self.method(holder, function.attr, arguments, named)
        if isinstance(holder, Record):
            if function.attr == "_replace" and not node.args:
                return self._replaced(node, holder, self._named(node))
            of = f"of {holder.made_by.__name__}"
        else:
            of = f"of {with_article(kind_of(holder))}"
        if function.attr in ("append", "extend", "insert", "pop", "remove"):
            name = shown(function.value)
            self.refuse(
                node, f"`{shown(node)}` changes how many elements {name} has",
                f"Write {name} = np.zeros(n) before the loop, and {name}[i] = … in it.",
            )  # fmt: skip
        self.refuse(
            node, f"`{shown(node)}` calls a method {of}",
            "Call a function of the value, defined outside or in math.",
        )  # fmt: skip

    def is_local(self, name: str) -> bool:
        raise NotImplementedError

    def check_module(self, node: ast.Attribute) -> None:
        raise NotImplementedError

    def meaning(self, node: ast.expr) -> Any:
        raise NotImplementedError

    def _replaced(self, node: ast.Call, record: Record, given: dict[str, Any]) -> Record:
        """A record with other values of some fields."""
        if not set(given) <= set(record.fields):
            self.refuse(node, f"{record.made_by.__name__} has the fields "
                        f"{', '.join(record.fields)}", "Give others of them by name.",
                        TypeError)  # fmt: skip
        return Record(record.made_by, {**record.fields, **given})

    def _record(
        self, node: ast.Call, made_by: Any, fields: Any, arguments: list[Any], named: Any
    ) -> Record:
        check_constructor(self.refuse, node, made_by)
        try:
            given = inspect.signature(made_by).bind(*arguments, **named).arguments
        except TypeError as error:
            self.refuse(node, f"{made_by.__name__} has the fields {', '.join(fields)}: {error}",
                        "A value for each is required.", TypeError)  # fmt: skip
        defaults = defaults_of(made_by)
        if missing := [name for name in fields if name not in given and name not in defaults]:
            self.refuse(node, f"the default of {made_by.__name__}.{missing[0]} is computed",
                        "Give it a value.", TypeError)  # fmt: skip
        return Record(made_by, {
            name: given[name] if name in given else self.from_outside(node, defaults[name])
            for name in fields
        })  # fmt: skip

    def from_outside(self, node: ast.expr, found: Any) -> Any:
        raise NotImplementedError

    def calls_itself(self, source: Source) -> bool:
        raise NotImplementedError

    def becomes_statements(self, source: Source) -> bool:
        raise NotImplementedError

    def inlined(
        self, node: ast.Call, source: Source, arguments: list[Any], inner: Inner | None = None
    ) -> Any:
        raise NotImplementedError

    def _kernel_call(
        self, node: ast.Call, kernel: Any, arguments: list[Any], named: dict[str, Any]
    ) -> Any:
        source = kernel._source
        if source is None and named:
            self.refuse(node, f"{kernel.__name__} is derived, and given arguments by name",
                        "Give them by position.", TypeError)  # fmt: skip
        if source is not None:
            arguments = self._by_position(node, source, arguments, named)
        is_plain = source is not None and kernel._derivative is None
        # One that calls itself to a known depth is no procedure of its own.
        if is_plain and self.calls_itself(source):
            return self.inlined(node, source, arguments)
        if kernel.is_of_arrays and kernel._derivative is not None:
            self.refuse(
                node, f"{kernel.__name__} has arrays and a derivative that was given",
                "Such a kernel is not yet part of another: call it from Python.",
            )  # fmt: skip
        if kernel.is_of_arrays and source is None:
            self.refuse(
                node, f"{kernel.__name__} is made of a kernel with arrays",
                "Its derivatives and maps are not parts of others: call them from Python.",
            )  # fmt: skip
        if is_plain and (kernel.is_of_arrays or self.becomes_statements(source)):
            return self.inlined(node, source, arguments)
        structures = kernel.parameter_structures
        if source is None:  # a derivative, which takes the numbers of tuples and records
            arguments = [leaf for each in arguments for _, leaf in leaves_with_names(each)]
        if len(structures) != len(arguments):
            self.refuse(node, f"{kernel.__name__} of {len(arguments)} arguments",
                        f"It has {len(structures)}.", TypeError)  # fmt: skip
        operands: list[Expr] = []
        for structure, argument in zip(structures, arguments):
            leaves = [leaf for _, leaf in leaves_with_names(argument)]
            wanted = structure.leaves("")
            if len(leaves) != len(wanted):
                self.refuse(node, f"an argument of {kernel.__name__} has {len(leaves)} numbers",
                            f"It has {len(wanted)}.", TypeError)  # fmt: skip
            for leaf, (_, kind) in zip(leaves, wanted):
                if kind != "float" and kind_of(leaf) not in (kind, "bool"):
                    self.refuse(node, f"{kernel.__name__} of a {kind_of(leaf)}",
                                f"A value of type {kind} is required.", TypeError)  # fmt: skip
                operands.append(self.operators.cast(leaf, kind))
        return kernel.inside(operands, self.operators.dtype)

    def _by_position(
        self, node: ast.Call, source: Source, arguments: list[Any], named: dict[str, Any]
    ) -> list[Any]:
        """The arguments of a call in the order of the function's parameters."""
        if not named:
            return source.with_defaults(arguments)
        names = [each.arg for each in source.tree.args.args]
        rest = names[len(arguments) :]
        own = {name: value for name, value in source.defaults.items() if name in rest}
        named = {**own, **named}
        if set(named) != set(rest):
            wrong = [f"{name} twice" for name in named if name in names and name not in rest]
            wrong += [f"no {name}" for name in rest if name not in named]
            wrong += [f"{name}, which it has not" for name in named if name not in names]
            self.refuse(node, f"{source.name} is given {', '.join(wrong)}",
                        f"A value for each of {', '.join(names)} is required.",
                        TypeError)  # fmt: skip
        return [*arguments, *(named[name] for name in rest)]


def _with_neutral_elements(node: ast.Call, neutral: Any) -> ast.Call:
    """`sum(e for v in x if c)` as `sum(e if c else 0 for v in x)`."""
    made = node.args[0] if len(node.args) == 1 else None
    if not isinstance(made, (ast.GeneratorExp, ast.ListComp)) or len(made.generators) != 1:
        return node
    (generator,) = made.generators
    if not generator.ifs:
        return node
    element = made.elt
    for test in reversed(generator.ifs):
        element = ast.copy_location(ast.IfExp(test, element, ast.Constant(neutral)), made)
    loop = ast.comprehension(generator.target, generator.iter, [], generator.is_async)
    values = ast.copy_location(type(made)(element, [loop]), made)
    call = ast.copy_location(ast.Call(node.func, [values], []), node)
    return ast.fix_missing_locations(call)


def _with_dtype_by_name(node: ast.Call, function: Any) -> ast.Call:
    """The call, whose dtype stands behind its name."""
    at = found_in(_DTYPE_AT, function)
    if at is None or len(node.args) != at + 1 or isinstance(node.args[at], ast.Starred):
        return node
    dtype = ast.copy_location(ast.keyword("dtype", node.args[at]), node.args[at])
    call = ast.Call(node.func, node.args[:at], [*node.keywords, dtype])
    return ast.copy_location(call, node)
