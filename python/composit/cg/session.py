"""The call in progress: what makes nodes, one for each thread."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from composit import _core
from composit._core import LazyTensor, with_location
from composit.cg.node import Frame, InputNode, Node, OperatorNode, Place
from composit.cg.template import Constant, Input, Variable, _Valued
from composit.cg.utils import unique_id
from composit.cg.values import as_leaf, described


class Session:
    """A call from the outermost function's entry to its return. `values` are tensors that stand in
    for parameters, by the parameter's id()."""

    def __init__(self, values: dict[int, LazyTensor] | None = None) -> None:
        self.call_id = unique_id()
        self.frame: Frame | None = None
        self._serials = itertools.count()
        self._values = values or {}
        self._inputs: dict[int, InputNode] = {}
        self._kept: list[Input] = []  # so that ids are not given away
        self._uses: dict[str, int] = {}

    def input_node(self, ref: Input, tensor: LazyTensor, is_lazy: bool) -> InputNode:
        """A leaf."""
        return InputNode(self._place(ref), ref, tensor, [], is_lazy)

    def operator_node(
        self, operator: Any, children: list[Node], tensor: LazyTensor
    ) -> OperatorNode:
        """What an operator made of its children."""
        is_lazy = any(child._is_lazy for child in children)
        return OperatorNode(self._place(operator), operator, tensor, children, is_lazy)

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
                raise ValueError(
                    with_location(
                        f"{function.functional_name}: input {variable.short_name!r} is given "
                        f"{value!r}, a node of another call. A node of this call, or a value "
                        "(node.value), is required."
                    )
                )
            return value
        if isinstance(value, _Valued):
            return self._node_of_valued(value)
        if isinstance(value, Variable):
            if id(value) in self._inputs:
                return self._inputs[id(value)]
            raise ValueError(
                with_location(
                    f"{function.functional_name}: input {variable.short_name!r} is given the "
                    f"variable {value.name!r}, which has no value in this call. A variable of the "
                    "outermost function, or its node, is required."
                )
            )
        what = f"{function.functional_name}: input {variable.short_name!r}"
        is_number = type(value) in (bool, int, float, complex)
        # A Python number, which takes the others' dtype.
        tensor = _core.substitute([value], [], [])[0] if is_number else as_leaf(value, "", what)
        ref = Constant(variable.short_name, value)
        ref.is_literal = True
        ref.fun = function
        return self.input_node(ref, tensor, isinstance(value, LazyTensor))

    def _node_of_valued(self, ref: Any) -> Node:
        node = self._inputs.get(id(ref))
        if node is None:
            given = self._values.get(id(ref))
            tensor = ref.tensor if given is None else given
            is_lazy = given is not None or isinstance(ref.value, LazyTensor)
            node = self.input_node(ref, tensor, is_lazy)
            self.bind(ref, node)
        return node

    @contextmanager
    def within(self, module: Any, inputs: list[Node]) -> Iterator[None]:
        """A call of a module."""
        self.frame = Frame(module, inputs, self.frame)
        try:
            yield
        finally:
            self.frame = self.frame.outer


class _Current(threading.local):
    session: Session | None = None


_current = _Current()


def current() -> Session | None:
    """The call that this thread is in."""
    return _current.session


@contextmanager
def begun(session: Session) -> Iterator[Session]:
    """The session as the thread's, until the block is left."""
    before, _current.session = _current.session, session
    try:
        yield session
    finally:
        _current.session = before


class CallSessionManager:
    """What is known of the thread's call, from outside."""

    @staticmethod
    def call_id() -> str | None:
        """The call's id; None outside of calls."""
        session = current()
        return None if session is None else session.call_id


def checked_count(function: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values that the function takes: too few are refused, surplus ones warned of."""
    import warnings

    names = [variable.short_name for variable in function.inputs]
    if len(values) < len(names):
        missing = ", ".join(repr(name) for name in names[len(values) :])
        raise ValueError(
            with_location(
                f"{function.functional_name}: {len(values)} of {len(names)} inputs are given; "
                f"without: {missing}. When a function is called, all its inputs must be "
                "instantiated."
            )
        )
    if len(values) > len(names):
        warnings.warn(
            with_location(
                f"{function.functional_name}: {len(values)} values are given for {len(names)} "
                f"inputs. The last {len(values) - len(names)} are ignored: "
                f"{', '.join(described(value) for value in values[len(names) :])}."
            ),
            stacklevel=4,
        )
    return values[: len(names)]
