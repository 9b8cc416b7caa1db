"""The operators of a call once more: on other leaves, or with modules as calls of named graphs."""

from __future__ import annotations

import math
from typing import Any

import composit._core as _core
from composit._core import LazyTensor
from composit.cg.applied import known_before
from composit.cg.derivatives import place
from composit.cg.node import Frame, InputNode, Node, get_all_nodes
from composit.cg.promotion import applied
from composit.cg.template import distinct
from composit.numpy import positive

Tensors = dict[int, LazyTensor]  # by the node's id()


def replayed(root: Node, leaves: Tensors) -> Tensors:
    """The tensors of all nodes, for these of the inputs; each has one of its own, of which others
    may be computed: also what an operator returns as it was given it (a reshape to its shape)."""
    tensors = dict(leaves)
    known = {place(x) for x in tensors.values()}
    for node in get_all_nodes(root):
        if not isinstance(node, InputNode):
            made = _applied(node, tensors)
            if place(made) in known and made.dtype.kind in "fcV":
                made = positive(made)
            known.add(place(made))
            tensors[id(node)] = made
    return tensors


def _applied(node: Node, tensors: Tensors) -> LazyTensor:
    given = [tensors[id(one)] for one in node._children]
    return applied(node.ref, node._children, given)


def with_calls(root: Node, module: Any = None, leaves: Tensors | None = None) -> LazyTensor:
    """The root where each module is a call node: a function of what it takes from around it. With
    a module, the whole is a call of that. `leaves`: others in place of inputs' tensors."""
    nodes = get_all_nodes(root)
    tensors = {id(node): node._tensor for node in nodes if isinstance(node, InputNode)}
    tensors |= leaves or {}
    inner = [node for node in nodes if not isinstance(node, InputNode)]
    replay = _Replay(nodes, root)
    if module is not None and inner:
        replay.call(_chain(inner[0]._place.frame)[0], inner, tensors)
    else:
        replay.items(inner, None, tensors)
    return tensors[id(root)]


def _chain(frame: Frame | None) -> list[Frame]:
    """From the outermost call to this one."""
    chain: list[Frame] = []
    while frame is not None:
        chain.append(frame)
        frame = frame.outer
    return chain[::-1]


class _Replay:
    """The nodes of a call in order, with the place where each is used last."""

    def __init__(self, nodes: list[Node], root: Node) -> None:
        self.known = known_before(nodes)
        self.last_use: dict[int, float] = {id(root): math.inf}
        for node in nodes:
            for child in node._children:
                self.last_use[id(child)] = max(node._place.serial, self.last_use.get(id(child), 0))

    def items(self, nodes: list[Node], frame: Frame | None, tensors: Tensors) -> None:
        """The nodes of a module's call, in order; those of calls within come together."""
        depth = -1 if frame is None else frame.depth
        position = 0
        while position < len(nodes):
            node = nodes[position]
            chain = _chain(node._place.frame)
            if len(chain) == depth + 1:
                tensors[id(node)] = _applied(node, tensors)
                position += 1
                continue
            inner = chain[depth + 1]
            end = position + 1
            while end < len(nodes) and inner in _chain(nodes[end]._place.frame):
                end += 1
            self.call(inner, nodes[position:end], tensors)
            position = end

    def call(self, frame: Frame, nodes: list[Node], tensors: Tensors) -> None:
        """One call node: its arguments are the module's inputs, then whatever else comes from
        outside; its results are what is needed outside. Numbers of Python, which have no dtype of
        their own, are part of what it computes, and so is what an operator takes as a number."""
        own = {id(node) for node in nodes}
        free = {id(node): node for node in frame.inputs}
        for node in nodes:
            for child in node._children:
                if id(child) not in own:
                    free.setdefault(id(child), child)
        used = {id(child) for node in nodes for child in node._children}
        every = [node for key, node in free.items() if key in used]
        arguments = [
            node for node in every if not (tensors[id(node)].is_weak or id(node) in self.known)
        ]
        names = _names(frame, arguments)
        given = [tensors[id(node)] for node in arguments]
        parameters = [_core.input(n, x.dtype, x.shape) for n, x in zip(names, given)]
        inside = {id(node): tensors[id(node)] for node in every}
        inside |= {id(node): x for node, x in zip(arguments, parameters)}
        last = nodes[-1]._place.serial
        results = [node for node in nodes if self.last_use[id(node)] > last]
        self.items(nodes, frame, inside)
        name = frame.module.short_functional_name
        made = _core.ops.call(name, parameters, [inside[id(node)] for node in results], given)
        tensors.update((id(node), x) for node, x in zip(results, made))


def _names(frame: Frame, arguments: list[Node]) -> list[str]:
    """The module's names for its inputs, those of parameters, and numbers for the rest."""
    own = {id(node): one.short_name for node, one in zip(frame.inputs, frame.module.inputs)}
    return distinct(
        [
            own.get(id(node)) or getattr(node.ref, "short_name", "") or f"x{i}"
            for i, node in enumerate(arguments)
        ]
    )
