"""Nodes of a call: its inputs and what operators made of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from composit._core import LazyTensor, type_error, value_error
from composit.cg.arithmetic import Arithmetic, refuse_comparison
from composit.cg.derivatives import local_jacobian
from composit.cg.progress import current
from composit.cg.values import as_leaf, described, given_back, stopped, whole
from composit.evaluation import evaluate

if TYPE_CHECKING:
    from composit.cg.template import Input


class IDObject:
    """Something with an identity: equal and hashed by `id`."""

    def __init__(self, id: str) -> None:
        self._id = id

    @property
    def id(self) -> str:
        """Its identity."""
        return self._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IDObject) and self._id == other._id

    def __copy__(self) -> Any:
        return self  # nothing changes what a call computed

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> Any:
        raise type_error(
            f"{type(self).__name__}: {self!r} cannot be pickled: it is part of a call. Its "
            "value, or the module, which can be called again, is required."
        )


class Frame:
    """A call of a module within a call: the module, the nodes that it was given, and the call
    around it. None is around the outermost."""

    def __init__(self, module: Any, inputs: list[Node], outer: Frame | None) -> None:
        self.module, self.inputs, self.outer = module, inputs, outer
        self.depth: int = 0 if outer is None else outer.depth + 1


@dataclass(frozen=True)
class Place:
    """Where a node was made: in which call, in which module's, and as which one."""

    call_id: str
    frame: Frame | None
    serial: int
    label: str


class Node(IDObject, Arithmetic):
    """A value within a call. `ref` is the input or the operator that it is an instance of,
    `children` are the nodes that it is computed from. Nodes of one id and value are equal."""

    def __init__(
        self,
        call_id: str,
        ref: Any,
        value: Any,
        children: list[Node] | None = None,
        parents: dict[Node, int] | None = None,
    ) -> None:
        """A node made by hand, of a value: calls make theirs themselves."""
        taken = list(children or ())
        serial = 1 + max((child._place.serial for child in taken), default=-1)
        what = f"{type(self).__name__} of {described(ref)}"
        self._made(
            Place(call_id, None, serial, ref.name),
            ref,
            as_leaf(value, getattr(ref, "short_name", ""), what),
            taken,
            isinstance(value, LazyTensor),
        )
        for parent, position in (parents or {}).items():
            self.add_parent(parent, position)

    def _made(
        self, place: Place, ref: Any, tensor: LazyTensor, children: list[Node], is_lazy: bool
    ) -> None:
        super().__init__(f"{type(self).__name__}_{place.call_id}_{place.label}")
        self._place, self._ref, self._tensor, self._children = place, ref, tensor, children
        self._is_lazy = is_lazy
        self._is_weak = False  # whether it is a number of Python, which takes the others' dtype
        self._value: Any = None
        self._gradient: LazyTensor | None = None
        self._gradient_dtype: Any = None  # an integer dtype that the derivative may be shown in
        self._parents: list[tuple[Any, int]] = []
        self._messages: list[tuple[Node, Any]] = []
        for position, child in enumerate(children):
            child.add_parent(self, position)

    @classmethod
    def of_call(
        cls, place: Place, ref: Any, tensor: LazyTensor, children: list[Node], is_lazy: bool
    ) -> Any:
        """A node of a call, whose value is a tensor of composit's graph."""
        made = cls.__new__(cls)
        made._made(place, ref, tensor, children, is_lazy)
        return made

    @staticmethod
    def makeID(cls: type, call_id: str, ref: Any) -> str:
        """The id of a node of this class that is the first instance of `ref` in a call."""
        return f"{cls.__name__}_{call_id}_{ref.name}"

    @property
    def call_id(self) -> str:
        """The call that it belongs to."""
        return self._place.call_id

    @property
    def ref(self) -> Any:
        """The input or operator."""
        return self._ref

    @property
    def tensor(self) -> LazyTensor:
        """What it is in composit's graph: of the inputs, without modules in between. Within a
        module's call it is a constant, as the value is."""
        return self._read(self._tensor)

    @property
    def value(self) -> Any:
        """Its value: a number or an array; a tensor where the call was given tensors. Within a
        module's call it is a constant, either way."""
        if self._is_lazy:
            return self._read(self._tensor)
        if self._value is None:
            self._value = evaluate(self._tensor)
        return given_back(self._value)

    def _read(self, tensor: LazyTensor) -> LazyTensor:
        """A tensor of this node as whoever asks for it has it: what a module's call reads of a node
        is a number there, by which nothing is differentiated; an operator's call computes of it."""
        session = current()
        is_constant = self._is_lazy and session is not None and not session.computes_of(self)
        return stopped(tensor) if is_constant else tensor

    @property
    def gvalue(self) -> Any:
        """The derivative of the call's result with respect to it; None before back()."""
        if self._gradient is None or self._is_lazy:
            return self._gradient
        array = evaluate(self._gradient)
        if self._gradient_dtype is not None:
            array = whole(array, self._gradient_dtype)
        return given_back(array)

    @property
    def children(self) -> list[Node]:
        """The nodes that it is computed from, in the order of the operator's inputs."""
        return list(self._children)

    @property
    def parents(self) -> dict[Node, int]:
        """The nodes computed from it, with the position of the input that it is (the last one)."""
        every = ((reference(), position) for reference, position in self._parents)
        return {parent: position for parent, position in every if parent is not None}

    def parent_input_index(self, parent: Node) -> int:
        """The position of the parent's input that it is."""
        if parent not in self.parents:
            raise value_error(f"{self!r} is no input of {parent!r}.")
        return self.parents[parent]

    def add_parent(self, parent: Node, input_index: int) -> None:
        """Notes that a node was computed from this one, as the operator's input of that index."""
        self._parents.append((weakref.ref(parent), input_index))

    def receive(self, parent: Node, g: Any) -> None:
        """Takes what a parent sends: its part of the derivative with respect to this node."""
        if parent not in self.parents:
            raise value_error(
                f"receive: {self!r} is no input of {parent!r}. What one of its "
                f"{len(self.parents)} parents sends is required."
            )
        self._messages = [one for one in self._messages if one[0] is not parent] + [(parent, g)]

    def received_messages_from_all_parents(self) -> bool:
        """Whether each parent has sent its part."""
        return {id(parent) for parent, _ in self._messages} == {id(one) for one in self.parents}

    def update_gvalue(self) -> None:
        """Makes `gvalue` the sum of what the parents sent, as far as they did."""
        if self._messages:
            first, *rest = (g for _, g in self._messages)
            self._gradient = as_leaf(sum(rest, start=first), "", f"update_gvalue: {self!r}")

    def isleaf(self) -> bool:
        """Whether it is computed from nothing."""
        return not self._children

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        rule = "A node is equal to nodes alone, those of its id and value: the value"
        refuse_comparison(self, other, rule)
        if not isinstance(other, Node) or self._id != other._id:
            return False
        import numpy as np

        if self._is_lazy or other._is_lazy:
            return self._tensor is other._tensor
        a, b = self.value, other.value
        return np.array_equal(np.asarray(a), np.asarray(b))

    __hash__ = IDObject.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._id})"

    def __bool__(self) -> bool:
        """That of its value: Python's `if` takes the way of this call, as with x.value."""
        return bool(self.value)


class InputNode(Node):
    """An input with its value."""

    @property
    def input(self) -> Any:
        """The variable, parameter or constant."""
        return self._ref

    @property
    def short_name(self) -> str:
        """The input's."""
        return self._ref.short_name


class OperatorNode(Node):
    """What an operator made of other nodes."""

    @property
    def operator(self) -> Any:
        """The operator."""
        return self._ref

    def grad(self, child: Node | Input) -> Any:
        """The operator's Jacobian with respect to a child, of shape value.shape + child.shape, or
        to one of the operator's own variables: what the same child is beside that does not count
        then."""
        local = local_jacobian(self, *self._checked(child))
        return self._read(local) if self._is_lazy else given_back(evaluate(local))

    def vjp(self, child: Node | Input) -> Callable[[Any], Any]:
        """The function from a derivative with respect to this node, of shape … + value.shape, to
        the part of the child's, of shape … + child.shape."""
        jacobian, rank = self.grad(child), self._tensor.ndim

        def pulled(g: Any) -> Any:
            import numpy as np

            if isinstance(g, LazyTensor) or isinstance(jacobian, LazyTensor):
                from composit.numpy import tensordot

                return tensordot(g, jacobian, rank)
            product = np.tensordot(np.asarray(g), np.asarray(jacobian), rank)
            return product if product.ndim else product[()]

        return pulled

    def send(self, child: Node | Input, g: Any) -> Any:
        """What this node, whose derivative is g, adds to the child's."""
        return self.vjp(child)(g)

    def _checked(self, child: Any) -> tuple[Node, int | None]:
        """The child, and its position where a variable of the operator's says which."""
        for position, one in enumerate(getattr(self.operator, "inputs", ())):
            if one is child and position < len(self._children):
                return self._children[position], position
        if not any(child is one for one in self._children):
            raise value_error(
                f"{self.operator.functional_name}: {described(child)} is no child of this "
                f"node. One of its {len(self._children)} children, or of the operator's "
                "inputs, is required."
            )
        return child, None


def get_all_nodes(root: Node) -> list[Node]:
    """Every node that the root is computed from, and the root: in the order of the call."""
    known = {id(root): root}
    stack = [root]
    while stack:
        for child in stack.pop()._children:
            if id(child) not in known:
                known[id(child)] = child
                stack.append(child)
    return sorted(known.values(), key=lambda node: node._place.serial)


def get_input_nodes(root: Node) -> list[InputNode]:
    """The inputs among them."""
    return [node for node in get_all_nodes(root) if isinstance(node, InputNode)]
