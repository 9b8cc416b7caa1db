"""Operators: of numbers, of arrays element by element, of tuples."""

from __future__ import annotations

import ast
import dataclasses
from typing import Any

from composit._core.knossos import Array, ArrayFunctions, Code, Integers, Operators, Reductions
from composit._core.scalar import Expr
from composit.knossos.translator.expressions import Expressions, Forms
from composit.knossos.values import Mismatch, kind_of, make, scalar

_BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}  # fmt: skip
_UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Not: "not", ast.Invert: "~"}
_COMPARED = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
# Of natural numbers, Python's quotient and remainder are those of C++.
_ROUNDED_ALIKE = {"//": "divide", "%": "remainder"}


def symbol_of(operation: ast.operator) -> str:
    """`+` for ast.Add."""
    found = _BINARY.get(type(operation))
    if found is None:
        raise Mismatch("a product of matrices", "Write the sums of products.")
    return found


@dataclasses.dataclass(eq=False)
class Arithmetic:
    """Binary and unary operators, and comparisons."""

    code: Code
    operators: Operators
    expressions: Expressions
    integers: Integers
    arrays: ArrayFunctions
    reductions: Reductions

    def forms(self) -> Forms:
        return {
            ast.BinOp: self.of_binop, ast.UnaryOp: self.of_unaryop, ast.Compare: self.of_compare,
        }  # fmt: skip

    def of_binop(self, node: ast.BinOp) -> Any:
        left, right = self.expressions.value(node.left), self.expressions.value(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
            return type(left)(left + right)
        if isinstance(node.op, ast.Mult) and isinstance(left, tuple):
            if type(right) is int:
                return type(left)(left * right)
            if isinstance(right, Expr) and kind_of(right) == "int" and len(left) == 1:
                return self._list_of(left[0], right)
        if isinstance(node.op, ast.MatMult):
            return self.reductions.product(left, right)
        symbol = symbol_of(node.op)
        if isinstance(left, Array) or isinstance(right, Array):
            return self.arrays.binary(symbol, left, right)
        divides = symbol in _ROUNDED_ALIKE and type(right) is int and right > 0
        if (
            divides
            and isinstance(left, Expr)
            and kind_of(left) == "int"
            and self.integers.is_natural(left)
        ):
            return make(_ROUNDED_ALIKE[symbol], [left, self.code.integer(right)])
        return self.operators.binary(symbol, left, right)

    def _list_of(self, value: Any, count: Expr) -> Array:
        """[value] * count"""
        number = scalar(value)
        positive = self.operators.compare(">", count, 0)
        is_extent = self.integers.is_of_parameters(
            self.integers.resolved(count)
        ) or self.integers.is_natural(count)
        extent = count if is_extent else self.operators.select(positive, count, 0)
        number = self.integers.kept(number, "item")
        return Array(kind_of(number), (self.integers.extent(extent),), lambda at: number, is_list=1)

    def of_unaryop(self, node: ast.UnaryOp) -> Any:
        symbol, value = _UNARY[type(node.op)], self.expressions.value(node.operand)
        if isinstance(value, Array) and symbol != "not":
            return self.arrays.unary(symbol, value)
        return self.operators.unary(symbol, value)

    def of_compare(self, node: ast.Compare) -> Any:
        result: Any = True
        if len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
            sides = [self.expressions.value(node.left), self.expressions.value(node.comparators[0])]
            sign = _COMPARED[type(node.ops[0])]
            if any(isinstance(side, Array) for side in sides):
                return self.arrays.compare(sign, *sides)
            return self.operators.compare(sign, *map(scalar, sides))
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            values = self.expressions.value(node.comparators[0])
            if isinstance(values, tuple):
                return self._is_among(
                    self.expressions.value(node.left), values, type(node.ops[0]) is ast.In
                )
        left = scalar(self.expressions.value(node.left))
        for operation, comparator in zip(node.ops, node.comparators):
            right = scalar(self.expressions.value(comparator))
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
            found = self.operators.both(found, is_equal, True)
        return found if wanted else self.operators.unary("not", found)
