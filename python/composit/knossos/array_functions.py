"""NumPy's functions of arrays, and arrays' methods, inside kernels."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from composit._core.procedure import Statement
from composit.knossos import functions
from composit.knossos.array_makers import ArrayMakers
from composit.knossos.arrays import Array, Index, Stored
from composit.knossos.values import Mismatch, is_number, kind_of, scalar

_LIKE = {np.zeros_like: 0.0, np.ones_like: 1.0, np.empty_like: 0.0}
NO_ELEMENT = ("ValueError", "there is no element%s. At least one is required.")
_METHODS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod,
            "dot": np.dot, "copy": np.copy, "transpose": np.transpose, "cumsum": np.cumsum,
            "argmax": np.argmax, "argmin": np.argmin, "std": np.std, "var": np.var,
            "cumprod": np.cumprod}  # fmt: skip
# Functions of torch that mean what NumPy's of the same name do.
_TORCH = ("sum", "mean", "sin", "cos", "tan", "exp", "log", "tanh", "sqrt", "abs", "dot", "matmul",
          "where", "zeros_like", "ones_like", "square")  # fmt: skip


class ArrayFunctions(ArrayMakers):
    """Calls with arrays."""

    def method(self, array: Array, name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        if name in ("append", "extend", "insert", "pop", "remove"):
            raise Mismatch(
                f"{name} changes how many elements an array has",
                "Write y = np.zeros(n) before the loop, and y[i] = … in it.",
            )
        if name not in _METHODS:
            known = ", ".join(sorted([*_METHODS, "astype"]))
            raise Mismatch(f"arrays have no method {name} here", f"{known} are known.")
        return self.array_call(_METHODS[name], [array, *arguments], named)

    def attribute(self, array: Array, name: str) -> Any:
        if name == "shape":
            return tuple(array.shape)
        if name == "ndim":
            return len(array.shape)
        if name == "size":
            return self._product(array.shape)
        if name == "T":
            return self._transposed(array)
        raise Mismatch(f"arrays have no attribute {name} here", "shape, ndim, size and T are.")

    def _product(self, extents: Any) -> Any:
        """How many elements an array of the extents has."""
        count: Any = 1
        for extent in extents:
            is_one = is_number(count) and count == 1
            count = extent if is_one else self.operators.binary("*", count, extent)
        return count

    def array_call(self, function: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
        """A function of arrays; LookupError for one that is not known."""
        module = getattr(function, "__module__", None) or type(function).__module__
        name = getattr(function, "__name__", "")
        if (module == "torch" or str(module).startswith("torch.")) and name in _TORCH:
            function = getattr(np, name)
        if function in (builtins.any, builtins.all) and self._arrays(function, arguments, 1):
            if len(arguments[0].shape) != 1:
                raise Mismatch(f"{name} of several axes", f"Write np.{name}.")
            function, given = getattr(np, name), arguments[0]
            arguments = [Array(given.kind, given.shape, given.at, given.reads)]  # and no list
        if self.makes_arrays(function):
            return self.maker_call(function, arguments, named)
        axis = named.pop("axis", None)
        kind = named.pop("dtype", None) if function in _LIKE else None
        is_reduction = function in (np.sum, np.mean, np.max, np.min, np.prod)
        is_count = function in (np.any, np.all, np.count_nonzero)
        keepdims = named.pop("keepdims", False) if is_reduction or is_count else False
        if type(keepdims) is not bool:
            raise Mismatch("keepdims that is computed", "Write True or False.")
        if named:
            raise Mismatch(f"the argument {next(iter(named))} of {name}", "Leave it out.")
        if axis is not None:
            arguments = [*arguments, axis]
        if function in _LIKE:
            (array,) = self._arrays(function, arguments, 1)
            return self.constant(array.shape, kind or array.kind, _LIKE[function])
        if function is np.copy:
            (array,) = self._arrays(function, arguments, 1)
            return Array(array.kind, array.shape, array.at, array.reads)
        if function is builtins.len:
            return arguments[0].shape[0]
        if is_reduction or is_count or function in (builtins.sum, builtins.max, builtins.min):
            made = (self._counted if is_count else self._reduction)(function, arguments)
            return self._with_axes(made, arguments) if keepdims else made
        if function in (np.dot, np.matmul):
            return self.product(*self._arrays(function, arguments, 2))
        if function is np.outer:
            return self._outer(*self._arrays(function, arguments, 2))
        if function is np.clip:
            functions.count(function, arguments, 3)
            return self.elementwise(
                lambda *numbers: functions.clipped(self.operators, list(numbers)), arguments
            )
        if function is np.transpose:
            return self._transposed(*self._arrays(function, arguments, 1))
        if function is builtins.abs:
            function = np.absolute
        if functions.is_elementwise(function):
            return self.elementwise(
                lambda *numbers: functions.call(self.operators, function, list(numbers)), arguments
            )
        if function is functions.stop_gradient:
            made = self.elementwise(
                lambda x: functions.call(self.operators, function, [x]), arguments
            )
            made.parts_of = arguments[0].parts_of
            return made
        if module == "math":
            instead = f"Write np.{name}, or a loop." if hasattr(np, name) else "Write a loop."
            raise Mismatch(f"math.{name} of an array", instead)
        raise LookupError

    def _arrays(self, function: Any, given: list[Any], count: int) -> list[Array]:
        if len(given) != count or not all(isinstance(each, Array) for each in given):
            raise Mismatch(
                f"{function.__name__} of something else than {count} arrays",
                "Arrays are required.",
            )
        return given

    def _outer(self, a: Array, b: Array) -> Array:
        if len(a.shape) != 1 or len(b.shape) != 1:
            raise Mismatch("an outer product of arrays of several axes", "Write a loop.")
        kind = "float" if "float" in (a.kind, b.kind) else "int"
        return Array(
            kind, (*a.shape, *b.shape),
            lambda at: self.operators.binary("*", a.at(at[:1]), b.at(at[1:])), a.reads | b.reads,
        )  # fmt: skip

    def _transposed(self, array: Array) -> Array:
        return Array(array.kind, tuple(reversed(array.shape)),
                     lambda at: array.at(at[::-1]), array.reads,
                     parts_of=array.parts_of)  # fmt: skip

    def in_kind(self, array: Array, kind: str) -> Array:
        """The elements as numbers of another kind, as float(x), int(x) and bool(x) make them."""
        convert = {"float": float, "int": int, "bool": bool}[kind]
        if kind == array.kind:
            return Array(array.kind, array.shape, array.at, array.reads)
        return self.elementwise(lambda x: functions.call(self.operators, convert, [x]), [array])

    def _literal_axis(self, axis: Any, rank: int) -> int:
        if type(axis) is not int or not -rank <= axis < rank:
            raise Mismatch(f"the axis {axis}", "A literal axis of the array is required.")
        return axis % rank

    # ----- reductions

    def _reduction(self, function: Any, arguments: list[Any]) -> Any:
        array, axis = arguments[0], arguments[1] if len(arguments) > 1 else None
        if not isinstance(array, Array) or len(arguments) > 2:
            raise Mismatch(f"{function.__name__} of several arguments", "Reduce the array alone.")
        if array.kind == "bool" and function in (np.max, np.min):
            self._expect_some(array.shape if axis is None else [array.shape[axis]])
            return self._counted(np.any if function is np.max else np.all, arguments)
        if array.kind == "bool":
            array = self.elementwise(lambda x: self.operators.cast(x, "int"), [array])
        if axis is None:
            if function in (builtins.sum, builtins.max, builtins.min) and len(array.shape) != 1:
                raise Mismatch(
                    f"{function.__name__} of an array of {len(array.shape)} axes",
                    f"Write np.{function.__name__}.",
                )
            plain = array if isinstance(array, Stored) else None
            return self._all(function, array.kind, list(array.shape), array.at, plain)
        axis = self._literal_axis(axis, len(array.shape))
        rest = array.shape[:axis] + array.shape[axis + 1 :]
        extent = array.shape[axis]

        def at(indices: Index) -> Any:
            return self._all(
                function, array.kind, [extent],
                lambda own: array.at([*indices[:axis], own[0], *indices[axis:]]),
            )  # fmt: skip

        kind = "float" if function is np.mean else array.kind
        if not rest:
            return at([])
        return Array(kind, rest, at, array.reads)

    def _counted(self, function: Any, arguments: list[Any]) -> Any:
        """any, all and count_nonzero, by how many elements are true."""
        operators, (array, *axes) = self.operators, arguments
        if not isinstance(array, Array):
            raise Mismatch(f"{function.__name__} of a number", "Write bool(…).")
        true = self.elementwise(
            lambda x: operators.cast(operators.truth(scalar(x)), "int"), [array]
        )
        count = self._reduction(np.sum, [true, *axes])
        if function is np.count_nonzero:
            return count
        symbol, wanted = ">", 0
        if function is np.all:
            reduced = [array.shape[axes[0]]] if axes else array.shape
            symbol, wanted = "==", self._product(reduced)
        if isinstance(count, Array):
            return self.elementwise(lambda x: operators.compare(symbol, x, wanted), [count])
        return operators.compare(symbol, count, wanted)

    def _with_axes(self, made: Any, arguments: list[Any]) -> Array:
        """What a reduction made, with an axis of one element for each that it has reduced."""
        array, *axes = arguments
        if not isinstance(made, Array):
            return Array(kind_of(made), (1,) * len(array.shape), lambda at: made)
        axis = axes[0] % len(array.shape)
        return Array(made.kind, (*made.shape[:axis], 1, *made.shape[axis:]),
                     lambda at: made.at([*at[:axis], *at[axis + 1 :]]), made.reads)  # fmt: skip

    def _all(
        self, function: Any, kind: str, shape: list[Any], at: Any, plain: Stored | None = None
    ) -> Any:
        """The elements combined, in order. `plain`: the array whose elements are stored."""
        operators = self.operators
        if kind == "bool":
            raise Mismatch(f"{function.__name__} of bools", "Numbers are required.")
        if function is np.mean:
            total = self._all(np.sum, kind, shape, at)
            return operators.binary("/", total, self._product(shape))
        if plain is not None and function in (builtins.max, builtins.min):
            return self._extreme(function, plain)
        is_total = function in (np.sum, np.prod, builtins.sum)
        wanted = {np.sum: "total", builtins.sum: "total", np.prod: "product"}
        name = self.hidden_variable(wanted.get(function, "extremum"), kind)
        number, here = self.numbers[name], self.leaf(name)
        if is_total:
            start: Any = 1 if function is np.prod else 0
        else:
            self._expect_some(shape)
            is_float_extremum = kind == "float" and function in (np.max, np.min)
            if is_float_extremum and all(extent != 0 for extent in shape if is_number(extent)):
                start = -np.inf if function is np.max else np.inf
            else:
                start = at([0] * len(shape))
        self.out.append(Statement.assign(number, operators.cast(start, kind), self.line))

        def step(indices: Index) -> None:
            value = at(indices)
            if is_total:
                made = operators.binary("*" if function is np.prod else "+", here, value)
            elif function in (np.max, np.min):
                ufunc = np.maximum if function is np.max else np.minimum
                made = functions.call(operators, ufunc, [here, value])
            else:
                made = functions.call(operators, function, [here, value])
            self.out.append(Statement.assign(number, operators.cast(made, kind), self.line))

        self.nest(tuple(shape), step)
        return here

    def _expect_some(self, shape: Any) -> None:
        for extent in shape:
            if not is_number(extent):
                self._expect(self.operators.compare(">", extent, 0), *NO_ELEMENT)

    def _extreme(self, function: Any, array: Stored) -> Any:
        """max or min of a stored array of one axis: the element at the place where it is, which is
        the first of several. Its gradient goes to that element."""
        extent = array.shape[0]
        if not is_number(extent):
            self._expect(self.operators.compare(">", extent, 0), *NO_ELEMENT)
        name = self.hidden_variable("at", "int")
        number, best = self.numbers[name], self.leaf(name)
        self.ranges[number] = (0, extent)
        self.out.append(Statement.assign(number, self.integer(0), self.line))

        def step(indices: Index) -> None:
            symbol = ">" if function is builtins.max else "<"
            is_better = self.operators.compare(symbol, array.at(indices), array.at([best]))
            found = [Statement.assign(number, self.integer(indices[0]), self.line)]
            self.out.append(Statement.branch(is_better, found, [], self.line))

        self.nest((extent,), step)
        return array.at([best])

    def product(self, a: Any, b: Any) -> Any:
        """a @ b: sums over a's last axis and the first of a vector or matrix b."""
        if not isinstance(a, Array) or not isinstance(b, Array):
            raise Mismatch("@ of a number", "Write *.")
        if len(b.shape) > 2:
            raise Mismatch(
                f"a product with an array of {len(b.shape)} axes on the right",
                "A vector or a matrix is required, or a loop.",
            )
        self.require_same(a.shape[-1], b.shape[0])
        extent = a.shape[-1]
        kind = "float" if "float" in (a.kind, b.kind) else "int"
        shape = a.shape[:-1] + b.shape[1:]
        if len(b.shape) > 1:
            a = self.read_often(a)
        if len(a.shape) > 1:
            b = self.read_often(b)

        def at(indices: Index) -> Any:
            row, column = indices[: len(a.shape) - 1], indices[len(a.shape) - 1 :]
            return self._all(
                np.sum, kind, [extent],
                lambda k: self.operators.binary("*", a.at([*row, k[0]]), b.at([k[0], *column])),
            )  # fmt: skip

        return Array(kind, shape, at, a.reads | b.reads) if shape else at([])
