"""Python's expressions as values of the scalar language."""

from __future__ import annotations

import ast
import types
from typing import Any

import numpy as np

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos.annotations import check_constructor, fields_of
from composit.knossos.arrays import Array
from composit.knossos.calls import Calls
from composit.knossos.closures import Inner, InnerSource
from composit.knossos.paths import Joined, has_arrays, larger_kinds
from composit.knossos.slices import NEW_AXIS
from composit.knossos.source import Source, as_definition, shown
from composit.knossos.values import (
    Listed,
    Mismatch,
    Operators,
    Record,
    is_number,
    kind_of,
    make,
    scalar,
    with_article,
)
from composit.knossos.views import joined as join_states
from composit.knossos.views import snapshot

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}  # fmt: skip
_INSTEAD = {
    ast.Dict: "Use variables, a tuple or a NamedTuple.",
    ast.Set: "Use variables, or a tuple.",
    ast.JoinedStr: "Kernels compute with numbers: leave it out.",
    ast.NamedExpr: "Write the assignment on a line of its own.",
}
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Not: "not", ast.Invert: "~"}
_COMPARED = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
# Of natural numbers, Python's quotient and remainder are those of C++.
_ROUNDED_ALIKE = {"//": "divide", "%": "remainder"}


class Expressions(Calls):
    """Values of expressions; `read` and what is local comes from the translator."""

    assigned: set[str]
    locals: set[str]  # what is local where the translation stands
    structures: dict[str, Any]

    def __init__(self, source: Source, dtype: Any, as_kernel: Any) -> None:
        super().__init__()
        self.source, self.refuse = source, source.refuse
        self.operators = Operators(dtype)
        self.as_kernel = as_kernel
        self.bound: list[dict[str, Any]] = []  # the names of comprehensions
        # Whether the text that is translated is the library's, of calls from the outermost on.
        self.is_in_library = [False]

    def read(self, node: ast.AST, name: str) -> Any:
        raise NotImplementedError

    def value(self, node: ast.expr) -> Any:
        method = getattr(self, "of_" + type(node).__name__.lower(), None)
        if method is None:
            self.refuse(
                node, f"`{shown(node)}` is not part of kernels",
                _INSTEAD.get(type(node), "See docs/knossos.md for what kernels may hold."),
            )  # fmt: skip
        around = self.construct
        self.construct = around if self.is_in_library[-1] else node
        try:
            return method(node)
        except Mismatch as error:
            if self.is_in_library[-1]:  # the call is what does not fit
                raise
            self.refuse(node, f"{error.wrong}, in `{shown(node)}`", error.instead, TypeError)
        finally:
            self.construct = around

    def symbol(self, operation: ast.operator) -> str:
        found = _BINARY.get(type(operation))
        if found is None:
            raise Mismatch("a product of matrices", "Write the sums of products.")
        return found

    # ----- names and literals

    def of_constant(self, node: ast.Constant) -> Any:
        if not is_number(node.value):
            self.refuse(node, f"{node.value!r} is no number", "Kernels compute with numbers.")
        return node.value

    def of_name(self, node: ast.Name) -> Any:
        for names in reversed(self.bound):
            if node.id in names:
                return names[node.id]
        if node.id in self.locals:
            return self.read(node, node.id)
        return self.from_outside(node, self.meaning(node))

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

    def of_attribute(self, node: ast.Attribute) -> Any:
        found = self.meaning_or_none(node)
        if found is not None:
            return self.from_outside(node, found)
        self.check_module(node)
        holder = self.value(node.value)
        if isinstance(holder, Array):
            return self.attribute(holder, node.attr)
        if isinstance(holder, Record) and node.attr in holder.fields:
            return holder.fields[node.attr]
        instead = "Numbers have no parts."
        if isinstance(holder, Record):
            instead = f"It has {', '.join(holder.fields)}."
        elif isinstance(holder, tuple):
            instead = f"Tuples have parts by index: write {shown(node.value)}[0]."
        self.refuse(node, f"{shown(node.value)} has no part {node.attr}", instead, NameError)

    def of_lambda(self, node: ast.Lambda) -> Any:
        return self.function_inside(as_definition(node))

    def function_inside(self, tree: ast.FunctionDef) -> Inner:
        """A function that is defined where the translation stands."""
        arguments = tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            self.refuse(tree, f"{tree.name} has other arguments than plain ones",
                        "Write its arguments one by one.")  # fmt: skip
        if isinstance(tree, ast.FunctionDef) and tree.decorator_list:
            self.refuse(tree, f"{tree.name} has a decorator", "Leave it out.")
        values = [self.value_or_function(each) for each in arguments.defaults]
        names = [each.arg for each in arguments.args]
        defaults = dict(zip(names[len(names) - len(values) :], values))
        return Inner(InnerSource(self.source, tree), self.locals, list(self.bound), defaults)

    # ----- operators

    def of_binop(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
            return type(left)(left + right)
        if isinstance(node.op, ast.Mult) and isinstance(left, tuple):
            if type(right) is int:
                return type(left)(left * right)
            if isinstance(right, Expr) and kind_of(right) == "int" and len(left) == 1:
                return self._list_of(left[0], right)
        if isinstance(node.op, ast.MatMult):
            return self.product(left, right)
        symbol = self.symbol(node.op)
        if isinstance(left, Array) or isinstance(right, Array):
            return self.elementwise(
                lambda a, b: self.operators.of_elements(symbol, a, b), [left, right]
            )
        divides = symbol in _ROUNDED_ALIKE and type(right) is int and right > 0
        if divides and isinstance(left, Expr) and kind_of(left) == "int" and self.is_natural(left):
            return make(_ROUNDED_ALIKE[symbol], [left, self.integer(right)])
        return self.operators.binary(symbol, left, right)

    def _list_of(self, value: Any, count: Expr) -> Array:
        """[value] * count"""
        number = scalar(value)
        positive = self.operators.compare(">", count, 0)
        is_extent = self.is_of_parameters(self.resolved(count)) or self.is_natural(count)
        extent = count if is_extent else self.operators.select(positive, count, 0)
        number = self.kept(number, "item")
        return Array(kind_of(number), (self.extent(extent),), lambda at: number, is_list=1)

    def of_unaryop(self, node: ast.UnaryOp) -> Any:
        symbol, value = _UNARY[type(node.op)], self.value(node.operand)
        if isinstance(value, Array) and symbol != "not":
            return self.elementwise(lambda a: self.operators.of_element(symbol, a), [value])
        return self.operators.unary(symbol, value)

    def of_compare(self, node: ast.Compare) -> Any:
        result: Any = True
        if len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            sides = [self.value(node.left), self.value(node.comparators[0])]
            sign = _COMPARED[type(node.ops[0])]
            if any(isinstance(side, Array) for side in sides):
                return self.elementwise(lambda a, b: self.operators.compare(sign, a, b), sides)
            return self.operators.compare(sign, *map(scalar, sides))
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            values = self.value(node.comparators[0])
            if isinstance(values, tuple):
                return self._is_among(self.value(node.left), values, type(node.ops[0]) is ast.In)
        left = scalar(self.value(node.left))
        for operation, comparator in zip(node.ops, node.comparators):
            right = scalar(self.value(comparator))
            symbol = _COMPARED.get(type(operation))
            if symbol is None:
                raise Mismatch("`is`, and `in` what is no tuple", "Compare numbers with == and <.")
            result = self.operators.both(result, self.operators.compare(symbol, left, right))
            left = right
        return result

    def _is_among(self, value: Any, values: tuple[Any, ...], wanted: bool) -> Any:
        """Whether a number is one of a tuple's."""
        found: Any = False
        for each in values:
            is_equal = self.operators.compare("==", scalar(value), scalar(each))
            found = self.operators.both(found, is_equal, "bit_or")
        return found if wanted else self.operators.unary("not", found)

    def of_boolop(self, node: ast.BoolOp) -> Any:
        symbol = "bit_and" if isinstance(node.op, ast.And) else "bit_or"
        result = self._bool(node.values[0])
        for each in node.values[1:]:
            with self.emitting([]) as needed:
                value = self._bool(each)
            if all(statement.is_load for statement in needed):
                self.out.extend(needed)
                result = self.operators.both(result, value, symbol)
                continue
            # What is evaluated only where it matters.
            reached = result if symbol == "bit_and" else self.operators.unary("not", result)
            result = self._chosen(reached, (needed, value), ([], symbol != "bit_and"))
        return result

    def _bool(self, node: ast.expr) -> Any:
        value = self.value(node)
        if kind_of(value) != "bool":
            raise Mismatch(
                "and and or of numbers that are no bools",
                "Compare with 0, or write `a if a else b`.",
            )
        return value

    def _chosen(self, condition: Any, a: tuple[list[Any], Any], b: tuple[list[Any], Any]) -> Any:
        """One of two values, of which each needs statements of its own: (statements, value)."""
        kind = self.kind_by_trial(lambda: self.operators.select(self.leaf_of_bool(), a[1], b[1]))
        name = self.hidden_variable("chosen", kind)
        for statements, value in (a, b):
            made = self.operators.cast(value, kind)
            statements.append(Statement.assign(self.numbers[name], made, self.line))
        self.out.append(
            Statement.branch(self.operators.cast(condition, "bool"), a[0], b[0], self.line)
        )
        return self.leaf(name)

    def _of_paths(
        self, node: ast.IfExp, condition: Any, a: tuple[list[Any], Any], b: tuple[list[Any], Any],
        known: int,
    ) -> Any:  # fmt: skip
        """The same of values with arrays. `known`: variables below are known before it."""
        kinds = larger_kinds(node, self, a[1], b[1])
        joined = Joined(self, node, a[1], kinds, "chosen", self.out, known)
        joined.check(node, b[1])
        before, states = snapshot(self.parts), []
        for statements, value in (a, b):
            self.parts = snapshot(before)
            with self.emitting(statements):
                joined.assign(node, value)
            states.append(self.parts)
        self.parts = join_states(states)
        self.out.append(
            Statement.branch(self.operators.cast(condition, "bool"), a[0], b[0], self.line)
        )
        return joined.value

    def leaf_of_bool(self) -> Expr:
        return self.leaf(self.hidden_variable("condition", "bool"))

    def of_ifexp(self, node: ast.IfExp) -> Any:
        condition = self.operators.truth(self.value(node.test))
        if isinstance(condition, bool):
            return self.value(node.body if condition else node.orelse)
        known = len(self.variables)
        with self.emitting([]) as first:
            body = self.value(node.body)
        with self.emitting([]) as second:
            otherwise = self.value(node.orelse)
        if has_arrays(body) or has_arrays(otherwise):
            return self._of_paths(node, condition, (first, body), (second, otherwise), known)
        if all(statement.is_load for statement in first + second):
            self.out.extend(first + second)
            return self.operators.select(condition, body, otherwise)
        return self._chosen(condition, (first, body), (second, otherwise))

    # ----- tuples

    def of_tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value_or_function(each) for each in node.elts)

    def of_list(self, node: ast.List) -> Any:
        return Listed(self.value(each) for each in node.elts)

    def of_subscript(self, node: ast.Subscript) -> Any:
        holder = self.value(node.value)
        if isinstance(holder, Array):
            return self.indexed(holder, self.indices(node.slice))
        if isinstance(holder, Record) and issubclass(holder.made_by, tuple):
            holder = tuple(holder.fields.values())
        if isinstance(node.slice, ast.Slice):
            given = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = [None if each is None else self.value(each) for each in given]
            if isinstance(holder, tuple) and all(b is None or isinstance(b, int) for b in bounds):
                return holder[slice(*bounds)]
            raise Mismatch(f"a slice of {with_article(kind_of(holder))}",
                           "Arrays, and tuples by literal integers, are sliced.")  # fmt: skip
        index = self.value(node.slice)
        if not isinstance(holder, tuple):
            raise Mismatch(f"{with_article(kind_of(holder))} is indexed",
                           "Arrays and tuples are.")  # fmt: skip
        if not isinstance(index, int):
            raise Mismatch(
                "the index is not known", "A literal integer, or a comprehension's, is required."
            )
        if not -len(holder) <= index < len(holder):
            self.refuse(node, f"index {index} of a tuple of {len(holder)}",
                        "One that it has is required.", IndexError)  # fmt: skip
        return holder[index]

    def indices(self, node: ast.expr) -> list[Any]:
        """What stands between the brackets of an array."""
        if not isinstance(node, (ast.Tuple, ast.Slice)) and not self._is_new_axis(node):
            value = self.value(node)
            self._check_index(value)
            return list(value) if isinstance(value, tuple) else [scalar(value)]
        given: list[Any] = []
        for each in node.elts if isinstance(node, ast.Tuple) else [node]:
            if self._is_new_axis(each):
                given.append(NEW_AXIS)
                continue
            if not isinstance(each, ast.Slice):
                value = self.value(each)
                self._check_index(value)
                given.append(scalar(value))
                continue
            bounds = [None if b is None else self.value(b)
                      for b in (each.lower, each.upper, each.step)]  # fmt: skip
            given.append(slice(*bounds) if any(b is not None for b in bounds) else None)
        return given

    def _check_index(self, value: Any) -> None:
        """Refuses what NumPy takes several elements by."""
        if isinstance(value, (Array, Listed)):
            what = "a list" if isinstance(value, Listed) else f"an array of {value.kind}s"
            raise Mismatch(f"{what} as an index", "Write a loop over the places.")

    def _is_new_axis(self, node: ast.expr) -> bool:
        """None or np.newaxis."""
        if isinstance(node, ast.Attribute):
            return node.attr == "newaxis" and self.meaning_or_none(node.value) is np
        return isinstance(node, ast.Constant) and node.value is None
