"""The call in progress: what makes nodes, one for each thread."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error, with_location
from composit.cg.naming import fullname, unique_id
from composit.cg.node import Frame, InputNode, Node, OperatorNode, Place
from composit.cg.progress import current
from composit.cg.promotion import is_number, weak
from composit.cg.template import Constant, Input, Parameter, Variable, _Valued
from composit.cg.values import as_leaf, check_integer, described, stopped


class Session:
    """A call from the outermost function's entry to its return. `values` are tensors that stand in
    for parameters, by the parameter's id(). `operator`: the one whose call is traced; `around`: the
    one that computes by this call, of its own operands alone."""

    def __init__(
        self,
        values: dict[int, LazyTensor] | None = None,
        operator: Any = None,
        around: Any = None,
    ) -> None:
        self.call_id = unique_id()
        self.operator, self.around = operator, around
        self.frame: Frame | None = None
        self._serials = itertools.count()
        self._values = values or {}
        self._inputs: dict[int, InputNode] = {}
        self._kept: list[Input] = []  # so that ids are not given away
        self._uses: dict[str, int] = {}
        self._calls: dict[str, int] = {}  # of modules so far, by functional name

    def input_node(self, ref: Input, tensor: LazyTensor, is_lazy: bool) -> InputNode:
        """A leaf."""
        node = InputNode.of_call(self._place(ref), ref, tensor, [], is_lazy)
        node._is_weak = isinstance(ref, _Valued) and is_number(ref._value)
        return node

    def operator_node(
        self, operator: Any, children: list[Node], tensor: LazyTensor
    ) -> OperatorNode:
        """What an operator made of its children."""
        is_lazy = any(child._is_lazy for child in children)
        return OperatorNode.of_call(self._place(operator), operator, tensor, children, is_lazy)

    def _place(self, ref: Any) -> Place:
        count = self._uses.get(ref.name, 0) + 1
        self._uses[ref.name] = count
        label = ref.name if count == 1 else f"{ref.name}#{count}"
        return Place(self.call_id, self.frame, next(self._serials), label)

    def bind(self, ref: Input, node: Node) -> None:
        """The node that an outermost function's variable is."""
        self._inputs[id(ref)] = node  # type: ignore[assignment]
        self._kept.append(ref)

    def node_of(self, value: Any, function: Any, variable: Input) -> Node:
        """The node for what a function is given as this variable."""
        if isinstance(value, Node):
            if value.call_id != self.call_id:
                raise value_error(
                    f"{function.functional_name}: input {variable.short_name!r} is given "
                    f"{value!r}, a node of another call. A node of this call, or a value "
                    "(node.value), is required."
                )
            return value
        if isinstance(value, _Valued):
            return self.node_of_valued(value)
        if isinstance(value, Variable):
            frame = self.frame
            while frame is not None:  # of a module that calls itself, the innermost call's
                for one, node in zip(frame.module.inputs, frame.inputs):
                    if one is value:
                        return node
                frame = frame.outer
            if id(value) in self._inputs:
                return self._inputs[id(value)]
            raise value_error(
                f"{function.functional_name}: input {variable.short_name!r} is given the "
                f"variable {value.name!r}, which has no value in this call. A variable of the "
                "outermost function, or its node, is required."
            )
        what = f"{function.functional_name}: input {variable.short_name!r}"
        if isinstance(value, int):
            check_integer(value, what)
        takes_dtype = is_number(value) or isinstance(value, bool)
        tensor = weak(value) if takes_dtype else as_leaf(value, "", what)
        ref = Constant(variable.short_name, value)
        ref.is_literal = True
        ref.fun = function
        return self.input_node(ref, tensor, isinstance(value, LazyTensor))

    def stand_in(self, ref: Any) -> LazyTensor | None:
        """The tensor that stands in for a parameter's value; None where none does."""
        return self._values.get(id(ref))

    def read(self, ref: Any) -> LazyTensor | None:
        """That tensor as a constant, as which a parameter's value counts within a call. ValueError
        within an operator's call, where parameters are none of its operands."""
        if self.operator is not None:
            refuse_parameter(self.operator, ref, "is used within it")
        given = self.stand_in(ref)
        return None if given is None else stopped(given)

    def node_of_valued(self, ref: Any) -> Node:
        """The node of a parameter or constant."""
        node = self._inputs.get(id(ref))
        if node is None:
            if self.operator is not None:
                refuse_parameter(self.operator, ref, "is used within it")
            given = self.stand_in(ref)
            if given is None and self.around is not None and isinstance(ref, Parameter):
                raise HiddenParameter(self.around, ref)
            tensor = ref.leaf() if given is None else given
            is_lazy = given is not None or isinstance(ref._value, LazyTensor)
            node = self.input_node(ref, tensor, is_lazy)
            self.bind(ref, node)
        return node

    def computes_of(self, node: Node) -> bool:
        """Whether an operator's call is traced that the node is an operand of, or made in: what it
        reads of that is what it computes with. Modules that it calls have calls of their own."""
        is_operator = self.operator is not None and self.frame is None
        return is_operator and node.call_id == self.call_id

    def counted(self, value: Any) -> Any:
        """The node of a parameter or constant; all else as it is."""
        return self.node_of_valued(value) if isinstance(value, _Valued) else value

    @contextmanager
    def within(self, module: Any, inputs: list[Node]) -> Iterator[None]:
        """A call of a module."""
        self.frame = Frame(module, inputs, self.frame)
        role = module.functional_name
        self._calls[role] = self._calls.get(role, 0) + 1
        label = f"{module.short_functional_name}#{self._calls[role]}"
        try:
            yield
        except Exception as error:
            explain(error, f"call {label} of {role}", module, inputs)
            raise
        finally:
            self.frame = self.frame.outer


class HiddenParameter(ValueError):
    """A parameter that a call within an operator uses, which the operator is not given."""

    def __init__(self, operator: Any, parameter: Any) -> None:
        self.parameter = parameter
        super().__init__(
            with_location(
                f"{operator.functional_name}: the parameter {parameter.name!r} is used within it, "
                "and not among parameters(): its derivative would be missing. A module that has "
                "it, in an attribute of the module that is called, is required."
            )
        )


def with_hidden(make: Callable[[list[Any]], Any], parameters: list[Any]) -> Any:
    """What is made with the parameters, and with those that turn out to be used as well: of modules
    that are known from elsewhere than attributes."""
    known = list(parameters)
    while True:
        try:
            return make(known)
        except HiddenParameter as error:
            if any(error.parameter is one for one in known):
                raise
            known.append(error.parameter)


NOTES = 16  # of one error


def explain(error: Exception, where: str, function: Any, nodes: list[Node]) -> None:
    """Notes where the error happened (PEP 678): its class and text stay."""
    pairs = zip(function.inputs, nodes)
    given = ", ".join(
        f"{one.short_name}: {node._tensor.dtype}{list(node._tensor.shape)}" for one, node in pairs
    )
    note = f"in the {where}, with {given or 'no inputs'}"
    notes: list[str] = getattr(error, "__notes__", [])
    if len(notes) < NOTES:
        error.add_note(note)
        return
    # Of a recursion without end there are hundreds: the innermost ones, and the outermost, tell.
    left_out = getattr(error, "_left_out", 0) + 1
    error._left_out = left_out  # type: ignore[attr-defined]
    notes[NOTES - 2 :] = [f"… {left_out + 1} more …", note]


class CallSessionManager:
    """What is known of the thread's call, from outside."""

    @staticmethod
    def call_id() -> str | None:
        """The call's id; None outside of calls."""
        session = current()
        return None if session is None else session.call_id


def refuse_parameter(operator: Any, value: Any, how: str) -> None:
    """ValueError for a parameter that an operator takes from elsewhere than its inputs: it would
    count as a constant there, and its derivative would lack that part."""
    if isinstance(value, Parameter):
        is_made = "_functional_name" in vars(operator)
        name = operator.functional_name if is_made else fullname(operator)
        raise value_error(
            f"{name}: the parameter {value.short_name!r} {how}. An operator "
            "is differentiated by its inputs alone: an input is required, which a module that "
            "has the parameter gives the operator."
        )


def checked_count(
    function: Any, values: tuple[Any, ...], named: dict[str, Any] | None = None
) -> tuple[Any, ...]:
    """The values that the function takes, those by name behind the others: too few are refused,
    surplus ones warned of."""
    taken, surplus = _core.cg.values_for(function, values, named or {})
    if surplus:
        import warnings

        warnings.warn(
            with_location(
                f"{function.functional_name}: {len(values)} values are given for {len(taken)} "
                f"inputs. The last {len(surplus)} are ignored: "
                f"{', '.join(map(described, surplus))}."
            ),
            stacklevel=4,
        )
    return taken
