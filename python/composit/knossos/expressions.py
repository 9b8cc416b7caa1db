"""Python's expressions as values of the scalar language."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import types
from typing import Any

from composit._core.procedure import Statement
from composit._core.scalar import Expr
from composit.knossos import functions
from composit.knossos.annotations import check_constructor, fields_of
from composit.knossos.array_functions import ArrayFunctions
from composit.knossos.arrays import Array
from composit.knossos.source import Source, shown
from composit.knossos.values import (
    Mismatch,
    Operators,
    Record,
    is_number,
    kind_of,
    leaves_with_names,
    make,
    scalar,
)

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}  # fmt: skip
_INSTEAD = {
    ast.Lambda: "Define the function outside and call it.",
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


class Expressions(ArrayFunctions):
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

    def read(self, node: ast.AST, name: str) -> Any:
        raise NotImplementedError

    def value(self, node: ast.expr) -> Any:
        method = getattr(self, "of_" + type(node).__name__.lower(), None)
        if method is None:
            self.refuse(
                node, f"`{shown(node)}` is not part of kernels",
                _INSTEAD.get(type(node), "See docs/knossos.md for what kernels may hold."),
            )  # fmt: skip
        try:
            return method(node)
        except Mismatch as error:
            self.refuse(node, f"{error.wrong}, in `{shown(node)}`", error.instead, TypeError)

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
        return self._number(node, self.meaning(node))

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

    def _number(self, node: ast.expr, found: Any) -> Any:
        if isinstance(found, tuple):
            return tuple(self._number(node, part) for part in found)
        if is_number(found):
            return found
        if hasattr(found, "dtype") and getattr(found, "shape", None) == ():
            return found.item()
        self.refuse(
            node, f"`{shown(node)}` is {type(found).__name__}, no number",
            "Numbers and tuples of numbers may come from outside.", TypeError,
        )  # fmt: skip

    def of_attribute(self, node: ast.Attribute) -> Any:
        found = self.meaning_or_none(node)
        if found is not None:
            return self._number(node, found)
        holder = self.value(node.value)
        if isinstance(holder, Array):
            return self.attribute(holder, node.attr)
        if isinstance(holder, Record) and node.attr in holder.fields:
            return holder.fields[node.attr]
        self.refuse(
            node, f"{shown(node.value)} has no part {node.attr}",
            f"{kind_of(holder)} is what it is.", NameError,
        )  # fmt: skip

    # ----- operators

    def of_binop(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
            return left + right
        if isinstance(node.op, ast.MatMult):
            return self.product(left, right)
        symbol = self.symbol(node.op)
        if isinstance(left, Array) or isinstance(right, Array):
            return self.elementwise(lambda a, b: self.operators.binary(symbol, a, b), [left, right])
        divides = symbol in _ROUNDED_ALIKE and type(right) is int and right > 0
        if divides and isinstance(left, Expr) and kind_of(left) == "int" and self.is_natural(left):
            return make(_ROUNDED_ALIKE[symbol], [left, self.integer(right)])
        return self.operators.binary(symbol, left, right)

    def of_unaryop(self, node: ast.UnaryOp) -> Any:
        symbol, value = _UNARY[type(node.op)], self.value(node.operand)
        if isinstance(value, Array) and symbol != "not":
            return self.elementwise(lambda a: self.operators.unary(symbol, a), [value])
        return self.operators.unary(symbol, value)

    def of_compare(self, node: ast.Compare) -> Any:
        result: Any = True
        if len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            sides = [self.value(node.left), self.value(node.comparators[0])]
            sign = _COMPARED[type(node.ops[0])]
            if any(isinstance(side, Array) for side in sides):
                return self.elementwise(lambda a, b: self.operators.compare(sign, a, b), sides)
            return self.operators.compare(sign, *map(scalar, sides))
        left = scalar(self.value(node.left))
        for operation, comparator in zip(node.ops, node.comparators):
            right = scalar(self.value(comparator))
            symbol = _COMPARED.get(type(operation))
            if symbol is None:
                raise Mismatch("`is` and `in`", "Compare numbers with == and <.")
            result = self.operators.both(result, self.operators.compare(symbol, left, right))
            left = right
        return result

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

    def leaf_of_bool(self) -> Expr:
        return self.leaf(self.hidden_variable("condition", "bool"))

    def of_ifexp(self, node: ast.IfExp) -> Any:
        condition = self.operators.truth(self.value(node.test))
        if isinstance(condition, bool):
            return self.value(node.body if condition else node.orelse)
        with self.emitting([]) as first:
            body = self.value(node.body)
        with self.emitting([]) as second:
            otherwise = self.value(node.orelse)
        if all(statement.is_load for statement in first + second):
            self.out.extend(first + second)
            return self.operators.select(condition, body, otherwise)
        return self._chosen(condition, (first, body), (second, otherwise))

    # ----- tuples

    def of_tuple(self, node: ast.Tuple) -> Any:
        return tuple(self.value(each) for each in node.elts)

    of_list = of_tuple

    def of_subscript(self, node: ast.Subscript) -> Any:
        holder = self.value(node.value)
        if isinstance(holder, Array):
            return self.indexed(holder, self.indices(node.slice))
        if isinstance(node.slice, ast.Slice):
            given = (node.slice.lower, node.slice.upper, node.slice.step)
            bounds = [None if each is None else self.value(each) for each in given]
            if isinstance(holder, tuple) and all(b is None or isinstance(b, int) for b in bounds):
                return holder[slice(*bounds)]
            raise Mismatch("a slice", "Tuples are sliced by literal integers.")
        index = self.value(node.slice)
        if isinstance(holder, Record) and issubclass(holder.made_by, tuple):
            holder = tuple(holder.fields.values())
        if not isinstance(holder, tuple):
            raise Mismatch(f"{kind_of(holder)} is indexed", "Tuples are.")
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
        if not isinstance(node, (ast.Tuple, ast.Slice)):
            value = self.value(node)
            return list(value) if isinstance(value, tuple) else [scalar(value)]
        given: list[Any] = []
        for each in node.elts if isinstance(node, ast.Tuple) else [node]:
            if not isinstance(each, ast.Slice):
                given.append(scalar(self.value(each)))
                continue
            bounds = [None if b is None else self.value(b)
                      for b in (each.lower, each.upper, each.step)]  # fmt: skip
            given.append(slice(*bounds) if any(b is not None for b in bounds) else None)
        return given

    def of_listcomp(self, node: Any) -> Any:
        if len(node.generators) != 1:
            raise Mismatch("a comprehension of several loops", "Write one within the other.")
        generator = node.generators[0]
        if not isinstance(generator.target, ast.Name):
            raise Mismatch("a comprehension over several names", "One name is required.")
        items = self._items(generator.iter)
        if isinstance(items, Array):
            return self._comprehension(node, generator, items)
        results = []
        for item in items:
            self.bound.append({generator.target.id: item})
            chosen = [self.operators.truth(self.value(test)) for test in generator.ifs]
            if not all(isinstance(each, bool) for each in chosen):
                raise Mismatch(
                    "a comprehension whose length depends on values",
                    "Write (… if condition else 0.0).",
                )
            if all(chosen):
                results.append(self.value(node.elt))
            self.bound.pop()
        return tuple(results)

    of_generatorexp = of_listcomp

    def _items(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Call) and self.meaning_or_none(node.func) is range:
            bounds = [self.value(each) for each in node.args]
            if not all(isinstance(each, int) for each in bounds):
                return self._counted(bounds)
            return range(*bounds)
        found = self.value(node)
        if isinstance(found, Array):
            return self.rows(found)
        if not isinstance(found, tuple):
            raise Mismatch(
                f"a comprehension over {kind_of(found)}", "A range or tuple is required."
            )
        return found

    def rows(self, array: Array) -> Array:
        """An array of one axis whose elements are those of the first axis."""
        return Array("", array.shape[:1], lambda at: self.indexed(array, at), array.reads)

    def _counted(self, bounds: list[Any]) -> Array:
        begin, end = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
        if len(bounds) == 3 or any(kind_of(scalar(each)) != "int" for each in bounds):
            raise Mismatch("a comprehension over this range", "Write a loop.")
        if begin != 0:
            count = self.operators.binary("-", end, begin)
            positive = self.operators.compare(">", count, 0)
            end = self.operators.select(positive, count, 0)
        count = self.extent(end)
        return Array("int", (count,), lambda at: self.plus(begin, at[0]) if begin != 0 else at[0])

    def _comprehension(self, node: Any, generator: Any, items: Array) -> Any:
        if generator.ifs:
            raise Mismatch(
                "a comprehension whose length depends on values",
                "Write (… if condition else 0.0).",
            )
        element: Any = None

        def at(indices: list[Any]) -> Any:
            nonlocal element
            self.bound.append({generator.target.id: items.at(indices[:1])})
            element = self.value(node.elt)
            self.bound.pop()
            if isinstance(element, Array):
                return element.at(indices[1:]) if len(indices) > 1 else 0
            return scalar(element)

        kind = self.kind_by_trial(lambda: at(list(items.shape)))
        shape = items.shape
        if isinstance(element, Array):
            kind, shape = element.kind, (*shape, *element.shape)
        made = Array(kind, shape, at, items.reads, is_list=True)
        if isinstance(node, ast.GeneratorExp):
            return made
        name = self.hidden_name("list")
        stored = self.add_array(name, kind, shape, is_list=True)
        self.fill(stored, made)
        return stored

    def hidden_name(self, wanted: str) -> str:
        return wanted

    # ----- calls

    def of_call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and self.meaning_or_none(node.func) is None:
            holder = self.value(node.func.value)
            if isinstance(holder, Array):
                values = [self.value(each) for each in node.args]
                named = {each.arg or "": self.value(each.value) for each in node.keywords}
                return self.method(holder, node.func.attr, values, named)
            if isinstance(holder, Record) and node.func.attr == "_replace":
                return self._replaced(node, holder)
        function = self.meaning(node.func)
        if function is dataclasses.replace and node.args:
            record = self.value(node.args[0])
            if isinstance(record, Record):
                return self._replaced(node, record)
        if any(isinstance(each, ast.Starred) for each in node.args):
            raise Mismatch("*arguments in a call", "Write the arguments.")
        fields = fields_of(function)
        arguments = [self.value(argument) for argument in node.args]
        has_arrays = any(isinstance(each, Array) for each in arguments)
        is_kernel = isinstance(function, types.FunctionType) or hasattr(function, "procedure")
        is_numpy = str(getattr(function, "__module__", "")).partition(".")[0] in ("numpy", "torch")
        is_own = function is functions.stop_gradient
        takes_arrays = has_arrays and fields is None and (is_numpy or is_own or not is_kernel)
        if self.makes_arrays(function) or takes_arrays:
            named = {each.arg or "": self.value(each.value) for each in node.keywords}
            try:
                return self.array_call(function, arguments, named)
            except LookupError:
                self.refuse(
                    node, f"{shown(node.func)} of arrays is not part of kernels",
                    "Write a loop over the elements.",
                )  # fmt: skip
        if node.keywords and fields is None:
            raise Mismatch("arguments by name", "Give them by position.")
        if fields is not None:
            named = {each.arg or "": self.value(each.value) for each in node.keywords}
            return self._record(node, function, fields, arguments, named)
        is_function = isinstance(function, types.FunctionType) and not (is_own or is_numpy)
        if is_function or hasattr(function, "procedure"):
            return self._kernel_call(node, self.as_kernel(function), arguments)
        with contextlib.suppress(LookupError):
            return functions.call(self.operators, function, arguments)
        self.refuse(
            node, f"{shown(node.func)} cannot be called in kernels",
            "Functions of math, numpy's and composit.numpy's of numbers, other kernels, and plain "
            "functions with annotated arguments can.",
        )  # fmt: skip

    def _replaced(self, node: ast.Call, record: Record) -> Record:
        """A record with other values of some fields."""
        given = {each.arg or "": self.value(each.value) for each in node.keywords}
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
            given, why = {}, f": {error}"
        else:
            why = "; defaults are not taken" * (set(given) != set(fields))
        if set(given) != set(fields):
            self.refuse(node, f"{made_by.__name__} has the fields {', '.join(fields)}{why}",
                        "A value for each is required.", TypeError)  # fmt: skip
        return Record(made_by, {name: given[name] for name in fields})

    def calls_itself(self, source: Source) -> bool:
        raise NotImplementedError

    def becomes_statements(self, source: Source) -> bool:
        raise NotImplementedError

    def inlined(self, node: ast.Call, source: Source, arguments: list[Any]) -> Any:
        raise NotImplementedError

    def _kernel_call(self, node: ast.Call, kernel: Any, arguments: list[Any]) -> Any:
        source = kernel._source
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
        is_plain = source is not None and kernel._derivative is None
        if is_plain and (kernel.is_of_arrays or self.calls_itself(source)
                         or self.becomes_statements(source)):  # fmt: skip
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
