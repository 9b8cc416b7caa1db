"""backward: composit's gradients on the CPU, and those of registered operations elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit._core import runtime_error, value_error
from composit.tensorgrad.const import OP
from composit.tensorgrad.ops import OpDispatch


def backward(root: Any, upstream: Any, destroy_graph: bool) -> None:
    """See Tensor.backward."""
    if not root.requires_grad:
        raise runtime_error(
            "backward: the tensor needs no gradient. requires_grad=True is required."
        )
    given = getattr(upstream, "data", upstream) if hasattr(upstream, "requires_grad") else upstream
    if given is not None:
        shape = np.shape(given) if root._of is not None else root._storage.get_shape(given)
        if tuple(shape) != root.shape:
            raise value_error(
                f"backward: upstream has shape {tuple(shape)} for a tensor of shape "
                f"{root.shape}. The same is required."
            )
    if root._of is not None:
        storage = root._storage
        g = np.ones(root.shape) if given is None else given
        root._of.grad = None
        root._of.backward(
            storage.wrapped(storage.tensor(g, root.dtype)), retain_graph=not destroy_graph
        )
    else:
        _on_device(root, given)
    if destroy_graph:
        for each in ordered(root):
            each._op, each._children = None, ()


def ordered(root: Any) -> list[Any]:
    """What a tensor was computed from, each after what it was computed from itself."""
    found, seen, stack = [], set(), [(root, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            found.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in node._children)
    return found


def _on_device(root: Any, given: Any) -> None:
    storage = root._storage
    upstream = storage.ones(root.shape, root.dtype) if given is None else given
    found = {id(root): upstream}
    every = ordered(root)
    for node in reversed(every):
        if node._op is None or id(node) not in found:
            continue
        parts = node._op.backward(found[id(node)])
        parts = parts if isinstance(parts, (tuple, list)) else (parts,)
        for child, part in zip(node._children, parts):
            if part is None or not child.requires_grad:
                continue
            before = found.get(id(child))
            found[id(child)] = part if before is None else _sum(child, before, part)
    for node in every:
        part = found.get(id(node))
        if part is not None:
            node._raw_grad = part if node is root else _sum(node, node.grad, part)


def _sum(node: Any, a: Any, b: Any) -> Any:
    return OpDispatch.make(OP.ADD, node.device).forward(a, b)
