"""Functions of tensors as operators: where operands stand among a function's arguments, and what it
returns, in which tensors may stand among others."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, NotSupported, not_supported, type_error
from composit._libraries import Library, register
from composit.cg.function import Operator
from composit.cg.node import Node, get_all_nodes, get_input_nodes
from composit.cg.template import Constant, Input, Variable, distinct
from composit.cg.values import described, is_array, refuse_masked


@dataclass(frozen=True)
class Place:
    """Where an operand stands among the arguments of a function: which one, and its name."""

    number: int
    name: str


@dataclass(frozen=True)
class Arguments:
    """Those of a call, with places of operands."""

    positional: tuple[Any, ...]
    named: dict[str, Any]


class Applied(Operator):
    """A function of tensors, with options, as an operator: `op.Sum(axis=0)(x)`. Functions of any
    number of operands take `count`."""

    _function: Callable[..., Any]
    _names: tuple[str, ...] | None = ()  # of the operands that it needs; None: any number
    _positions: tuple[tuple[str, ...], str] = ((), "")  # see positions()
    _takes_all = True  # whether what stands in these places is an operand: numbers, too

    def __init__(self, count: int | None = None, **options: Any) -> None:
        if self._names is None or count is not None:
            names = [f"x{i}" for i in range(count or 1)]
        else:
            names = [name for name in self._names if name not in options]
        places = [Place(i, name) for i, name in enumerate(names)]
        if self._names is None or len(names) == len(self._names):
            self._arrange(names, Arguments(tuple(places), options))
        else:
            self._arrange(names, Arguments((), {place.name: place for place in places} | options))
        self._is_plain = not options

    def _arrange(self, names: list[str], arguments: Arguments) -> None:
        super().__init__(tuple(map(Variable, distinct(names))), functional_name=self.role())
        self._arguments = arguments
        self._is_plain = False  # whether the arguments are the operands
        self._part: tuple[int, ...] = ()  # which tensor it is of those that the function returns
        self._result: Any = None

    @classmethod
    def role(cls) -> str:
        """The functional name of its operators."""
        return f"{cls.__module__}.{cls.__qualname__}"

    @classmethod
    def arranged(
        cls, names: list[str], arguments: Arguments, part: tuple[int, ...] = ()
    ) -> Applied:
        """The operator of these arguments: of the tensor at `part` of what the function returns."""
        made = cls.__new__(cls)
        made._arrange(names, arguments)
        made._part = part
        return made

    @property
    def options(self) -> dict[str, Any]:
        """The arguments by name."""
        return self._arguments.named

    def _called(self, arrays: tuple[Any, ...]) -> Any:
        if self._is_plain:
            return type(self)._function(*arrays)
        positional, named = _changed(
            (self._arguments.positional, self._arguments.named),
            lambda value: arrays[value.number] if isinstance(value, Place) else value,
        )
        return type(self)._function(*positional, **named)

    def taken_as_numbers(self, made: LazyTensor, arrays: list[LazyTensor]) -> list[int]:
        """The positions of operands of which the function took the values when it made the tensor,
        as of an option (`full(shape, x)`): a derivative by these would be 0, whatever it is."""
        used = _core.cg.are_reached([made], arrays)
        return [i for i in range(len(self.inputs)) if not used[i] and self._needs_value(arrays, i)]

    def _needs_value(self, arrays: list[LazyTensor], i: int) -> bool:
        """Whether more than the shape and the dtype of an operand is needed, on which the result
        does not depend."""
        x = arrays[i]
        unknown = _core.input("x", x.dtype, x.shape)
        try:
            result = self._called((*arrays[:i], unknown, *arrays[i + 1 :]))
        except (TypeError, ValueError, NotSupported):
            return True
        if isinstance(result, (list, tuple)):
            for index in self._part:
                result = result[index]
        return _core.cg.are_reached([result], [unknown])[0]

    def _op_impl(self, *arrays: Any) -> Any:
        result = self._called(arrays)
        self._result = None
        if isinstance(result, (list, tuple)):
            parts = list(_parts(result))
            if not parts:
                raise type_error(
                    f"{self.functional_name}: what call returns is {described(result)}. An "
                    "array is required."
                )
            self._result = _changed(result, lambda value: None)
            self._part = self._part or parts[0]
            for index in self._part:
                result = result[index]
        return result


def numbers_taken(nodes: list[Node]) -> Iterator[tuple[Node, int]]:
    """The operators among the nodes that took the value of a child, and the child's position."""
    for node in nodes:
        if isinstance(node.ref, Applied):
            tensors = [child._tensor for child in node._children]
            for i in node.ref.taken_as_numbers(node._tensor, tensors):
                yield node, i


def known_before(nodes: list[Node]) -> set[int]:
    """The id()s of the nodes whose values operators took, and of what these are computed from:
    nothing else can take their places, as no placeholder has a value."""
    taken = [node._children[i] for node, i in numbers_taken(nodes)]
    return {id(node) for child in taken for node in get_all_nodes(child)}


def refuse_numbers(nodes: list[Node]) -> None:
    """NotSupported for operators that took the value of a node that depends on an input or a
    parameter: derivatives would lack that part. (Integers have none.)"""
    for node, i in numbers_taken(nodes):
        child, name = node._children[i], node.ref.inputs[i].short_name
        if child._tensor.dtype.kind not in "fcV" or all(
            isinstance(leaf.ref, Constant) for leaf in get_input_nodes(child)
        ):
            continue
        raise not_supported(
            f"back: {node.ref.functional_name} takes {child!r} as a number, for {name!r}, "
            "by which nothing is differentiated. An array operand, or its value (x.value), "
            "which counts as a constant, is required."
        )


def applied(kind: type[Applied], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The nodes of a call: one, or as many as the function returns, in its lists and tuples."""
    missing = () if kind._names is None else kind._names[len(arguments) :]
    is_plain = not options and kind._takes_all and kind._names is not None
    if is_plain and len(arguments) == len(kind._names or ()):
        operands, first = list(arguments), kind()
    elif kind._takes_all and any(name not in options for name in missing):
        return kind(**options)(*arguments)  # which says what is missing
    else:
        names, taken, operands = _taken(kind, arguments, options)
        first = kind.arranged(names, taken)
    node = first(*operands)
    if first._result is None:
        return node
    nodes = {first._part: node}
    for part in list(_parts(first._result))[1:]:
        names = [one.short_name for one in first.inputs]
        nodes[part] = kind.arranged(names, first._arguments, part)(*operands)
    return _rebuilt(first._result, nodes)


def apply_function(function: Callable[..., Any], name: str, operands: list[Any]) -> Any:
    """A function of tensors of this name as an operator of nodes, which is called: its nodes."""
    names = tuple(f"x{i}" for i in range(len(operands)))
    attributes = {
        "_function": staticmethod(function), "_names": names, "_positions": (names, ""),
        "__doc__": function.__doc__, "__module__": __name__, "__qualname__": name,
    }  # fmt: skip
    return applied(type(name, (Applied,), attributes), tuple(operands), {})


def _owns(value: Any) -> bool:
    """Whether it is a node, an input or a parameter of calls."""
    return type(value).__module__.startswith("composit.cg.")


def _call_kernel(kernel: Any, operands: list[Any]) -> Any:
    return apply_function(kernel.of_tensors, kernel.__name__, operands)


register(Library("composit.cg", 0, _owns, _call_kernel))


def _taken(
    kind: type[Applied], arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[list[str], Arguments, list[Any]]:
    """The names of operands, the arguments with places of them, and the operands: nodes, inputs and
    tensors wherever they stand, and what the function needs; arrays if there is nothing else."""
    if options.get("out") is not None:
        raise type_error(
            f"{kind.role()}: out is {described(options['out'])}. Nothing is required: a node "
            "has no memory that could be written to."
        )
    names = _names_of_arguments(kind, len(arguments))
    needed = _count_of_operands(kind, arguments)
    operands: list[Any] = []
    names_of_operands: list[str] = []

    def placed(value: Any, name: str) -> Place:
        operands.append(value)
        names_of_operands.append(name)
        return Place(len(operands) - 1, name)

    def kept(value: Any) -> Any:  # whatever becomes of the caller's array
        if hasattr(value, "detach") and hasattr(value, "clone"):  # torch's
            return value.detach().clone()
        return value.copy() if type(value) is np.ndarray else value

    def all_taken(is_operand: Callable[[Any], bool]) -> Arguments:
        def within(value: Any, name: str) -> Any:
            return _changed(value, lambda one: placed(one, name) if is_operand(one) else kept(one))

        positional = [
            placed(x, name) if i < needed else within(x, name)
            for i, (x, name) in enumerate(zip(arguments, names))
        ]
        return Arguments(tuple(positional), {name: within(x, name) for name, x in options.items()})

    arranged = all_taken(_is_held)
    if not operands:
        arranged = all_taken(is_array)
    refuse_masked((arranged.positional, arranged.named), f"{kind.role()}: an argument")
    return names_of_operands, arranged, operands


def _count_of_operands(kind: type[Applied], arguments: tuple[Any, ...]) -> int:
    """How many of the arguments in front are operands, whatever they are."""
    if kind._takes_all and kind._names is not None:
        return len(kind._names)
    is_sequence = arguments and isinstance(arguments[0], (list, tuple))
    return 0 if is_sequence or not kind._takes_all else len(arguments)


def _is_held(value: Any) -> bool:
    return isinstance(value, (Node, Input, LazyTensor))


def positions(
    function: Callable[..., Any], names: tuple[str, ...] | None
) -> tuple[tuple[str, ...], str]:
    """The names of a function's positional arguments, those in front being `names` if given, and
    the one that all behind share; "" for none."""
    found = list(names or ())
    for one in list(inspect.signature(function).parameters.values())[len(found) :]:
        if one.kind is inspect.Parameter.VAR_POSITIONAL:
            return tuple(found), one.name
        found.append(one.name)
    return tuple(found), ""


def _names_of_arguments(kind: type[Applied], count: int) -> list[str]:
    names, rest = kind._positions
    return [names[i] if i < len(names) else rest or f"x{i}" for i in range(count)]


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with what `change` makes of each leaf of its tuples, lists and dictionaries."""
    if isinstance(value, dict):
        return {key: _changed(one, change) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return _like(value, [_changed(one, change) for one in value])
    return change(value)


def _like(value: Any, items: list[Any]) -> Any:
    """The items in a list, a tuple or a named tuple, as the value is one."""
    if hasattr(value, "_fields"):
        return type(value)(*items)
    return items if isinstance(value, list) else tuple(items)


def _parts(value: Any, at: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Where leaves stand in lists and tuples."""
    if not isinstance(value, (list, tuple)):
        yield at
        return
    for i, one in enumerate(value):
        yield from _parts(one, (*at, i))


def _rebuilt(value: Any, nodes: dict[tuple[int, ...], Any], at: tuple[int, ...] = ()) -> Any:
    if not isinstance(value, (list, tuple)):
        return nodes[at]
    return _like(value, [_rebuilt(one, nodes, (*at, i)) for i, one in enumerate(value)])
