"""Functions with named inputs, and operators: functions of tensors whose calls are one node."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, ClassVar

import composit._core as _core
from composit._core import (
    LazyTensor,
    index_error,
    not_implemented,
    type_error,
    value_error,
    with_location,
)
from composit.cg import derivatives
from composit.cg.naming import fullname
from composit.cg.node import InputNode, Node, OperatorNode, Place
from composit.cg.progress import begun, current
from composit.cg.promotion import applied, is_number
from composit.cg.session import Session, checked_count, explain, refuse_parameter
from composit.cg.template import (
    Constant,
    Input,
    Parameter,
    TemplateObject,
    Variable,
    next_number,
)  # fmt: skip
from composit.cg.values import as_leaf, described


class Function(TemplateObject):
    """Something that is called with a value for each of its inputs. `functional_name` says what it
    computes (None: where its class is imported from)."""

    # The module of the derivative with respect to an input. Modules are functions themselves, so
    # composit.cg.derived, which makes that, provides it.
    _derivative: ClassVar[Callable[[Any, Any], Any]]

    def __init__(self, inputs: Any, params: Any = None, functional_name: str | None = None) -> None:
        role = fullname(self) if functional_name is None else functional_name
        super().__init__(_numbered(role), role)
        self._inputs = self._taken(inputs, Variable, "inputs")
        self._params = self._taken(
            () if params is None else params, (Parameter, Constant), "params"
        )
        names = [one.short_name for one in (*self._inputs, *self._params)]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise value_error(
                f"{role}: {min(twice)!r} names two of its inputs. A name for each is required."
            )
        for one in (*self._inputs, *self._params):
            one.fun = self

    def _taken(self, given: Any, kinds: Any, what: str) -> tuple[Any, ...]:
        if isinstance(given, Input):
            given = (given,)
        every = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        for one in every:
            if not isinstance(one, kinds):
                wanted = "A tuple of Variable" if kinds is Variable else "Parameter or Constant"
                raise type_error(
                    f"{self.functional_name}: {what} holds {described(one)}. {wanted} is required."
                )
        return every

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Its variables, in the order of the values that it is called with."""
        return self._inputs

    @property
    def params(self) -> tuple[Any, ...]:
        """Its own parameters and constants."""
        return self._params

    @property
    def inputs_nofun(self) -> tuple[Any, ...]:
        """Variables like its own that belong to no function."""
        return tuple(variable.copy_nofun() for variable in self._inputs)

    @property
    def short_functional_name(self) -> str:
        """The last part of the functional name."""
        return self.functional_name.rpartition(".")[2]

    def input(self, short_name: str) -> Any:
        """The variable of that name."""
        return self._found(self._inputs, short_name, "input")

    def input_name(self, i: int) -> str:
        """The name of input i."""
        if not isinstance(i, int) or not -len(self._inputs) <= i < len(self._inputs):
            raise index_error(
                f"{self.functional_name}: input {i!r} of {len(self._inputs)}. A number in "
                "range is required."
            )
        return self._inputs[i].short_name

    def input_index(self, short_name: str) -> int:
        """The position of the variable of that name."""
        return self._inputs.index(self.input(short_name))

    def param(self, short_name: str) -> Any:
        """The parameter or constant of that name."""
        return self._found(self._params, short_name, "parameter")

    def _found(self, every: tuple[Any, ...], short_name: Any, what: str) -> Any:
        for one in every:
            if one.short_name == short_name:
                return one
        names = ", ".join(repr(one.short_name) for one in every) or "it has none"
        raise value_error(
            f"{self.functional_name} has no {what} {short_name!r}. One of its own is required: "
            f"{names}."
        )

    def call(self, *nodes: Any) -> Any:
        """What it does with the nodes of its inputs: subclasses say."""
        raise not_implemented(f"{self.functional_name}: call is not written. It is required.")

    def _leaf_node(self, session: Session, variable: Any, value: Any) -> InputNode:
        what = f"{self.functional_name}: input {variable.short_name!r}"
        if isinstance(value, Node):
            raise value_error(
                f"{what} is given {value!r}, a node of another call. A value (node.value) is "
                "required."
            )
        tensor = as_leaf(value, variable.short_name, what)
        node = session.input_node(variable, tensor, isinstance(value, LazyTensor))
        session.bind(variable, node)
        return node

    def __setstate__(self, state: Any) -> None:
        """What a copy or a pickle held, as a function with a name of its own, and with the inputs
        that belong to no other."""
        own, slots = state if isinstance(state, tuple) else (state, {})
        vars(self).update(own)
        for name, value in slots.items():
            setattr(self, name, value)
        self._name = _numbered(self.functional_name)
        for one in (*self._inputs, *self._params):
            if one.fun is None:
                one.fun = self

    def __getattr__(self, name: str) -> Any:
        is_special = name.startswith("__") and name.endswith("__")
        if not is_special and "_params" not in vars(self):
            kind = type(self).__name__
            raise AttributeError(
                with_location(
                    f"{fullname(self)}: {name.lstrip('_')} is wanted of a {kind} that was not set "
                    "up. A call of super().__init__(inputs, params) in its __init__ is required "
                    "before."
                )
            )
        return object.__getattribute__(self, name)  # which says that there is none

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def slots_of(thing: Any) -> dict[str, Any]:
    """What the thing keeps in __slots__, by their names."""
    kept = {}
    for kind in reversed(type(thing).__mro__):
        for name, one in vars(kind).items():
            if isinstance(one, types.MemberDescriptorType):
                try:
                    kept[name] = one.__get__(thing)
                except AttributeError:  # nothing yet
                    continue
    return kept


def _numbered(role: str) -> str:
    """A name for a function of this role that no other has."""
    return f"{role}@{next_number()}"


class Operator(Function):
    """A function of tensors whose call is one node. Subclasses write `_op_impl`, of tensors, or
    `call`, of nodes whose `value` is a tensor; both return a tensor or a number. Its derivative
    follows, unless `_gradfn` gives one. It is differentiated by its inputs alone: ValueError for
    parameters among `params` (constants are taken), in attributes, and in what `call` uses."""

    # Its call makes one node of composit's graph, and need not be wrapped in one.
    _is_primitive = False
    # How many of its operands, from the first one, promote each other; None for all.
    _promoted: int | None = None

    def __init__(self, inputs: Any, params: Any = None, functional_name: str | None = None) -> None:
        super().__init__(inputs, params, functional_name)
        for one in self.params:
            refuse_parameter(self, one, "is given as one of its params")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            refuse_parameter(self, value, "is kept as an attribute")
        object.__setattr__(self, name, value)

    def _op_impl(self, *arrays: Any) -> Any:
        raise not_implemented(
            f"{self.functional_name}: neither call nor _op_impl is written. One is required."
        )

    def call(self, *nodes: Any) -> Any:
        """The value for nodes with values."""
        return self._op_impl(*[node.value for node in nodes])

    def _gradfn(self, inpt: Any) -> Callable[..., Any]:
        """The function, of the operator's own inputs, that is its derivative with respect to inpt:
        the Jacobian, of shape value.shape + input.shape, or, for operators of one element after
        the other, the derivative of each element."""

        place, name = self.input_index(inpt.short_name), inpt.short_name

        def jacobian(*nodes: Any) -> LazyTensor:
            given = [node._tensor for node in nodes]  # of what call does, whoever asks for it
            return _core.cg.jacobian_at(self._computed, given, place, self.functional_name, name)

        return jacobian

    def _gives_derivative(self) -> bool:
        """Whether its class says what the derivative is."""
        return type(self)._gradfn is not Operator._gradfn

    def __call__(self, *values: Any, **named: Any) -> OperatorNode:
        given = checked_count(self, values, named)
        session = current()
        if session is not None:
            nodes = [session.node_of(v, self, i) for v, i in zip(given, self.inputs)]
            return self._applied(session, nodes)
        with begun(Session()) as session:
            leaves: list[Node] = []
            for value, variable in zip(given, self.inputs):
                leaves.append(self._leaf_node(session, variable, value))
                leaves[-1]._is_weak = is_number(value)
            return self._applied(session, leaves)

    def _applied(self, session: Session, nodes: list[Node]) -> OperatorNode:
        try:
            tensor = applied(self, nodes, [node._tensor for node in nodes], is_call=True)
        except Exception as error:
            explain(error, f"operator {self.functional_name}", self, nodes)
            raise
        return session.operator_node(self, nodes, tensor)

    def apply(self, tensors: list[LazyTensor]) -> LazyTensor:
        """The operator as a function of tensors: one node of composit's graph."""
        if self._is_primitive:
            return self._computed(tensors)
        return derivatives.called(self, tensors)

    def taken_as_numbers(self, made: LazyTensor, arrays: list[LazyTensor]) -> list[int]:
        """The positions of operands of which it took the values when it made the tensor."""
        return []

    def _computed(self, tensors: list[LazyTensor]) -> LazyTensor:
        """What call returns for these tensors."""
        return self._tensor_of(self._within_trace(self.call, tensors), "call")

    def _within_trace(self, function: Callable[..., Any], tensors: list[LazyTensor]) -> Any:
        """The function of nodes with these values; other operators may be used within."""
        with begun(Session(operator=self)) as session:
            nodes = [
                InputNode.of_call(
                    Place(session.call_id, None, i, variable.name), variable, x, [], True
                )
                for i, (variable, x) in enumerate(zip(self.inputs, tensors))
            ]
            return function(*nodes)

    def _tensor_of(self, result: Any, what: str) -> LazyTensor:
        if isinstance(result, Node):
            return result._tensor
        return as_leaf(result, "", f"{self.functional_name}: what {what} returns")

    def gradfn(self, inpt: Any) -> Any:
        """The derivative with respect to an input, or its name, as a module of the same inputs."""
        return Function._derivative(self, inpt)

    def make_vjp(self, *arrays: Any) -> Callable[[Any], tuple[Any, ...]]:
        """The function from a derivative with respect to the result, of its shape, to those with
        respect to the inputs at these values."""
        from composit.functional import vjp

        _, pullback = vjp(lambda *tensors: self.apply(list(tensors)), *arrays)
        return pullback
