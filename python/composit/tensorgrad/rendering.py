"""Pictures of what tensors were computed from."""

from __future__ import annotations

import io
from typing import Any

from composit._core import with_location
from composit.tensorgrad.gradients import ordered


def dot(root: Any) -> str:
    """The graph in graphviz's language: boxes are tensors, ellipses operations."""
    lines = ["digraph {", "rankdir=LR", 'node [fontname="Helvetica" fontsize=10]']
    for node in ordered(root):
        key = f"tensor{id(node)}"
        name = node.name or f"tensor@{id(node) & 0xFFFFFFFF:08x}"
        text = "\\n".join(
            [name, f"shape={node.shape}", f"data={_cut(node.data)}", f"grad={_cut(node.grad)}"]
        )
        lines.append(f'{key} [shape=box label="{text}"]')
        if node._op is not None:
            op = getattr(node._op, "NAME", None) or node._op.value
            lines.append(f'op{id(node)} [shape=ellipse label="{op}"]')
            lines.append(f"op{id(node)} -> {key}")
            lines += [f"tensor{id(child)} -> op{id(node)}" for child in node._children]
    return "\n".join([*lines, "}"])


def _cut(array: Any) -> str:
    text = " ".join(str(array).split()).replace("\\", "").replace('"', "'")
    return text if len(text) <= 120 else text[:117] + "..."


def render(root: Any) -> Any:
    """PIL's Image of the graph."""
    try:
        import graphviz
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            with_location(
                f"render: {error.name} is not installed. composit[examples], which brings graphviz "
                "and pillow, is required."
            )
        ) from error
    return Image.open(io.BytesIO(graphviz.Source(dot(root)).pipe("png")))
