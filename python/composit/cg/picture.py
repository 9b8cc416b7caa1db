"""The graph that leads to a node, drawn by graphviz: its values, and its modules as clusters."""

from __future__ import annotations

import os
import shutil
from typing import Any

import composit._core as _core
from composit._core import LazyTensor, value_error, with_location
from composit.cg.node import Frame, InputNode, Node, get_all_nodes
from composit.cg.values import given_back
from composit.drawing import draw
from composit.evaluation import evaluate
from composit.labels import label_of

FORMATS = ("svg", "png", "pdf", "dot", "gv")
LARGEST = 6  # elements whose values are shown


class Picture:
    """A picture of a graph: `source` in graphviz's language, `svg`, shown by notebooks."""

    def __init__(self, digraph: Any) -> None:
        self._digraph = digraph

    @property
    def source(self) -> str:
        """The text that graphviz draws."""
        return self._digraph.source

    @property
    def svg(self) -> str:
        """The picture as SVG. ImportError where the program dot is missing."""
        if shutil.which("dot") is None:
            raise ImportError(
                with_location(
                    "plot_cg: the program dot is missing. Graphviz is required for SVG (apt "
                    "install graphviz); the picture's `source` needs none."
                )
            )
        return self._digraph.pipe(format="svg", encoding="utf-8")

    def _repr_svg_(self) -> str | None:
        return None if shutil.which("dot") is None else self.svg

    def save(self, path: Any) -> str:
        """Writes it in the format of the path's suffix, PNG where it has none, and says where:
        as graphviz's text where the program dot is missing."""
        stem, suffix = os.path.splitext(os.fspath(path))
        format = suffix[1:] or "png"
        if format not in FORMATS:
            raise value_error(
                f"plot_cg: save_path ends with {suffix!r}. One of "
                f"{', '.join('.' + one for one in FORMATS)}, or no suffix (.png), is required."
            )
        if format not in ("dot", "gv") and shutil.which("dot") is None:
            format = "gv"
        file = f"{stem}.{format}"
        if format in ("dot", "gv"):
            content = self.source.encode()
        else:
            content = self._digraph.pipe(format=format)
        with open(file, "wb") as out:
            out.write(content)
        return file

    def __repr__(self) -> str:
        return f"<Picture of {self.source.count('->')} edges>"


def picture_of(roots: Node | list[Node], title: str | None = None) -> Picture:
    """The picture of the graph that leads to a node, or to several; without a title, that of the
    first one's module."""
    roots = roots if isinstance(roots, list) else [roots]
    nodes = list({id(node): node for root in roots for node in get_all_nodes(root)}.values())
    digraph = _graphviz().Digraph("cg")
    digraph.attr(
        label=label_of(_title(roots[0]) if title is None else title), labelloc="t",
        fontname="Helvetica",
    )  # fmt: skip
    digraph.attr("node", fontsize="11", height="0.3", margin="0.1,0.05", fontname="Helvetica")
    digraph.attr("edge", arrowsize="0.6")
    items, edges = _core.cg.picture(*_rows(nodes, roots))
    draw(digraph, items)
    digraph.edges(edges)
    return Picture(digraph)


def _graphviz() -> Any:
    try:
        import graphviz
    except ImportError:
        raise ImportError(
            with_location("plot_cg: the package graphviz is required (pip install graphviz).")
        ) from None
    return graphviz


def _rows(nodes: list[Node], roots: list[Node]) -> tuple[list[Any], list[str]]:
    """Each node as the picture takes it, and the names of the modules whose calls they are in."""
    values, are_roots = _values(nodes), set(map(id, roots))
    places = {id(node): place for place, node in enumerate(nodes)}
    calls: dict[Frame, int] = {}
    rows = [
        (
            *_kind_and_name(node),
            values[id(node)],
            id(node) in are_roots,
            [calls.setdefault(frame, len(calls)) for frame in _frames(node._place.frame)],
            [places[id(child)] for child in node._children],
        )
        for node in nodes
    ]
    return rows, [frame.module.short_functional_name for frame in calls]


def _kind_and_name(node: Node) -> tuple[str, str]:
    if isinstance(node, InputNode):
        return node.ref.input_type, node.short_name if _is_named(node) else ""
    return "", type(node.ref).__name__


def _is_named(node: InputNode) -> bool:
    """Whether someone gave it a name: numbers among operands have none."""
    return not node.ref.is_literal


def _title(root: Node) -> str:
    chain = _frames(root._place.frame)
    return (chain[0].module if chain else root.ref).functional_name


def _frames(frame: Frame | None) -> list[Frame]:
    chain: list[Frame] = []
    while frame is not None:
        chain.append(frame)
        frame = frame.outer
    return chain[::-1]


def _values(nodes: list[Node]) -> dict[int, str]:
    """Each node's value in a few words, evaluated together."""
    shown = [n for n in nodes if not n._is_lazy and n.tensor.size <= LARGEST and n._value is None]
    if shown:
        for node, value in zip(
            shown, evaluate(*[node.tensor for node in shown], always_return_tuple=True)
        ):
            node._value = value
    return {id(node): _text(node) for node in nodes}


def _text(node: Node) -> str:
    import numpy as np

    tensor: LazyTensor = node.tensor
    if node._is_lazy or tensor.size > LARGEST:
        return f"{tensor.dtype}{list(tensor.shape)}"
    value = given_back(node._value)
    if tensor.ndim == 0:
        return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)
    return np.array2string(value, precision=4, separator=", ").replace("\n", "")
