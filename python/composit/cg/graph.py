"""ModuleGraph: what a call of a module computed, and its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.cg.applied import known_before, refuse_numbers
from composit.cg.derivatives import place
from composit.cg.node import IDObject, Node, get_all_nodes, get_input_nodes
from composit.cg.replay import replayed, with_calls
from composit.cg.template import Constant, Input, placeholders, with_names
from composit.cg.values import described, given_back, whole
from composit.evaluation import as_tensor, evaluate


class ModuleGraph(IDObject):
    """The graph of one call: `root` is its result, `value` the result's value. Graphs of different
    calls differ. `types`: the shape and dtype of each input in this call; without them those of the
    inputs that the root is computed from, and one number of float64 for others."""

    def __init__(
        self, call_id: str, module: Any, root: Node, types: list[Any] | None = None
    ) -> None:
        super().__init__(f"{type(self).__name__}_{call_id}_{module.name}")
        self._call_id, self._module, self._root = call_id, module, root
        self._types = _types_of(module, root) if types is None else types
        self._tensor: LazyTensor | None = None
        self._gradients: dict[int, Any] | None = None

    @property
    def call_id(self) -> str:
        """The call."""
        return self._call_id

    @property
    def module(self) -> Any:
        """The module that was called."""
        return self._module

    @property
    def root(self) -> Node:
        """The node of the result."""
        return self._root

    @property
    def value(self) -> Any:
        """The result: a number or an array; a tensor where the call was given tensors."""
        return self.tensor if self._root._is_lazy else self._root.value

    @property
    def tensor(self) -> LazyTensor:
        """The result in composit's graph: one call node, of the inputs and parameters, that holds
        what the module computes."""
        if self._tensor is None:
            self._tensor = with_calls(self._root, self._module)
        return self._tensor

    @property
    def graph(self) -> Any:
        """composit's graph of the result, as of any tensor."""
        return self.tensor.graph

    def compile(self, **options: Any) -> Any:
        """What this call computed as a program of its inputs, for their shapes and dtypes: the
        operators that it went through, with the parameters' values of the call as constants."""
        examples = placeholders(self._module, self._types)
        return compiled(self._module, self._function, examples, options)

    def export(self, path: Any) -> list[str]:
        """Writes that program as C++ with no dependencies into the folder `path`."""
        return self.compile().export(path)

    @property
    def _function(self) -> Callable[..., LazyTensor]:
        """The call's graph as a function of tensors for the module's inputs."""
        leaves = {id(leaf.ref): leaf for leaf in get_input_nodes(self._root)}

        def call(*tensors: Any) -> LazyTensor:
            pairs = zip(self._module.inputs, tensors)
            given = {id(leaves[id(i)]): as_tensor(x) for i, x in pairs if id(i) in leaves}
            return with_calls(self._root, self._module, given)

        return with_names(call, self._module)

    def back(self) -> None:
        """Computes the derivatives of the result with respect to every node: gradients where it is
        a number, else Jacobians, of shape value.shape + node.value.shape. A node that is used
        several times has the sum of its parts. Integers count as float64."""
        nodes = get_all_nodes(self._root)
        leaves = get_input_nodes(self._root)
        given = [leaf._tensor for leaf in leaves]
        refuse_numbers(nodes)
        made: dict[int, LazyTensor] = {}

        def compute(tensors: list[LazyTensor]) -> LazyTensor:
            made.clear()
            made.update(replayed(self._root, dict(zip(map(id, leaves), tensors))))
            return made[id(self._root)]

        if _are_apart(nodes, given):
            made = {id(node): node._tensor for node in nodes}
            numbers = apart = given
        else:
            known = known_before(nodes)
            is_known = [id(leaf) in known for leaf in leaves]
            are_literal = [isinstance(leaf.ref, Constant) for leaf in leaves]
            is_free = [not (a or b) for a, b in zip(is_known, are_literal)]
            numbers = _core.cg.as_numbers(compute, given, is_free)
            apart = _core.cg.apart_from(numbers, is_known)
            compute(apart)
        result = made[id(self._root)]
        if result.dtype.kind not in "fV":
            _core.cg.check_differentiable(
                self._module.functional_name, leaves[0].short_name, apart[0], result
            )
        smooth = [node for node in nodes if made[id(node)].dtype.kind in "fcV"]
        jacobians = _core.cg.jacobians(result, [made[id(node)] for node in smooth])
        if apart is not numbers:
            jacobians = _core.substitute(jacobians, apart, numbers)
        are_integers = self._root._tensor.dtype.kind in "iu"
        for node, jacobian in zip(smooth, jacobians):
            node._gradient = jacobian
            shown = are_integers and node._tensor.dtype.kind in "iu"
            node._gradient_dtype = node._tensor.dtype if shown else None
        self._remember(leaves)

    def _remember(self, leaves: list[Any]) -> None:
        """The leaves' derivatives, computed together."""
        known = [leaf for leaf in leaves if leaf._gradient is not None]
        if self._root._is_lazy:
            values = [leaf._gradient for leaf in known]
        else:
            values = self._evaluated([leaf._gradient for leaf in known])
        self._gradients = {id(leaf.ref): None for leaf in leaves}
        for leaf, value in zip(known, values):
            if not isinstance(value, LazyTensor):
                if leaf._gradient_dtype is not None:
                    value = whole(value, leaf._gradient_dtype)
                value = given_back(value)
            self._gradients[id(leaf.ref)] = value

    def _evaluated(self, gradients: list[Any]) -> list[Any]:
        """The values of derivatives. What fails in the call itself, an index out of bounds, fails
        there: a Jacobian's axes are not those of the call."""
        try:
            return list(evaluate(*gradients, always_return_tuple=True))
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            failed = error
        evaluate(self._root._tensor)
        raise failed

    def grad(self, inpt: Any) -> Any:
        """The derivative of the result with respect to an input or parameter, after back()."""
        role = self._module.functional_name
        if not isinstance(inpt, Input):
            raise type_error(
                f"grad: {described(inpt)} is given to the call of {role}. An input "
                "(m.input(…)) or a parameter (m.param(…)) is required."
            )
        leaves = get_input_nodes(self._root)
        leaf = next((leaf for leaf in leaves if leaf.ref is inpt), None)
        unused = self._unused(inpt) if leaf is None else None
        if leaf is None and unused is None:
            names = ", ".join(repr(one.ref.name) for one in leaves)
            raise value_error(
                f"grad: {inpt.name!r} is no input of this call of {role}. One of what the "
                f"result depends on is required: {names}."
            )
        if self._gradients is None:
            raise value_error(
                f"grad: the call of {role} has no derivative with respect to "
                f"{inpt.short_name!r} yet. back() is required before."
            )
        if unused is not None:
            return self._zeros(*unused)
        value = self._gradients[id(inpt)]
        if value is None and leaf is not None:
            _core.cg.check_differentiable(
                self._module.functional_name, inpt.short_name, leaf._tensor, leaf._tensor
            )
        return value

    def _unused(self, inpt: Input) -> tuple[tuple[int, ...], Any] | None:
        """The shape and dtype of an input or parameter of the module that the result does not
        depend on; None for others."""
        for one, known in zip(self._module.inputs, self._types):
            if one is inpt:
                return known
        if any(one is inpt for one in (*self._module.parameters(), *self._module.params)):
            return tuple(inpt.tensor.shape), inpt.tensor.dtype  # type: ignore[attr-defined]
        return None

    def _zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """The derivative with respect to what the result does not depend on."""
        import numpy as np

        result = self._root._tensor
        are_integers = result.dtype.kind in "iu" and dtype.kind in "iu"
        kind = dtype if are_integers or dtype.kind in "fcV" else np.dtype("float64")
        if self._root._is_lazy:
            from composit import numpy as cnp

            return cnp.zeros((*result.shape, *shape), kind)
        return given_back(np.zeros((*result.shape, *shape), kind))

    def _repr_svg_(self) -> str | None:
        from composit.cg.picture import picture_of

        return picture_of(self._root)._repr_svg_()

    def __repr__(self) -> str:
        return f"ModuleGraph({self._module.functional_name}, call {self._call_id})"


def _types_of(module: Any, root: Node) -> list[Any]:
    """The shape and dtype of each of the module's inputs among the leaves of a root."""
    import numpy as np

    leaves = {id(leaf.ref): leaf._tensor for leaf in get_input_nodes(root)}
    types = []
    for one in module.inputs:
        known = leaves.get(id(one))
        number = ((), np.dtype("float64"))
        types.append(number if known is None else (tuple(known.shape), known.dtype))
    return types


def compiled(module: Any, function: Any, examples: list[Any], options: dict[str, Any]) -> Any:
    """The program of a module's function: for the examples, now, also where there are none because
    the module has no inputs."""
    from composit.compilation import compile

    made = compile(function, *examples, **options)
    if not module.inputs:
        made.specialise()
    return made


def _are_apart(nodes: list[Node], given: list[LazyTensor]) -> bool:
    """Whether the nodes' tensors can be differentiated by as they are: what was given is of numbers
    with derivatives and computed from nothing, and no two nodes share a tensor."""
    if not all(x.dtype.kind in "fcV" and not x.node.operand_nodes for x in given):
        return False
    return len({place(node._tensor) for node in nodes}) == len(nodes)
