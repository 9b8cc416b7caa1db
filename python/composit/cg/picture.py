"""The graph that leads to a node, drawn by graphviz: its values, and its modules as clusters."""

from __future__ import annotations

import os
import shutil
from typing import Any

from composit._core import LazyTensor, value_error, with_location
from composit.cg.node import Frame, InputNode, Node, get_all_nodes
from composit.cg.values import given_back
from composit.evaluation import evaluate
from composit.labels import label_of

FORMATS = ("svg", "png", "pdf", "dot", "gv")
LARGEST = 6  # elements whose values are shown
COLORS = {"variable": "#dbe9f6", "parameter": "#fdebc8", "constant": "#eeeeee"}


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
    return Picture(_Drawing(roots if isinstance(roots, list) else [roots], title).digraph)


class _Drawing:
    """The nodes by the module calls that they are in, then the edges."""

    def __init__(self, roots: list[Node], title: str | None) -> None:
        try:
            import graphviz
        except ImportError:
            raise ImportError(
                with_location("plot_cg: the package graphviz is required (pip install graphviz).")
            ) from None
        self.roots = roots
        every = {id(node): node for root in roots for node in get_all_nodes(root)}
        self.nodes = list(every.values())
        self.names = {id(node): f"n{i}" for i, node in enumerate(self.nodes)}
        self.clusters: dict[Frame, str] = {}
        self.values = _values(self.nodes)
        self.digraph = graphviz.Digraph("cg")
        if title is None:
            title = _title(roots[0])
        self.digraph.attr(label=label_of(title), labelloc="t", fontname="Helvetica")
        self.digraph.attr("node", fontsize="11", height="0.3", margin="0.1,0.05",
                          fontname="Helvetica")  # fmt: skip
        self.digraph.attr("edge", arrowsize="0.6")
        self._draw(self.digraph, None)
        for node in self.nodes:
            for child in node._children:
                self.digraph.edge(self.names[id(child)], self.names[id(node)])

    def _draw(self, digraph: Any, frame: Frame | None) -> None:
        """The nodes of this call of a module, and those of the calls within."""
        inner: dict[Frame, None] = {}
        for node in self.nodes:
            chain = _frames(self._frame_of(node))
            depth = 0 if frame is None else frame.depth + 1
            if frame is not None and frame not in chain:
                continue
            if len(chain) == depth:
                self._node(digraph, node)
            else:
                inner[chain[depth]] = None
        for one in inner:
            name = f"cluster_{len(self.clusters)}"
            self.clusters[one] = name
            with digraph.subgraph(name=name) as cluster:
                cluster.attr(
                    label=label_of(one.module.short_functional_name),
                    style="rounded,filled", fillcolor="#00000008", color="gray40", fontsize="11",
                )  # fmt: skip
                self._draw(cluster, one)

    def _frame_of(self, node: Node) -> Frame | None:
        """Inputs are outside, parameters in the innermost call around all their uses."""
        if not isinstance(node, InputNode):
            return node._place.frame
        if node.ref.input_type == "variable":
            return None
        users = [_frames(parent._place.frame) for parent in node.parents
                 if id(parent) in self.names]  # fmt: skip
        if not users:
            return None
        common = users[0]
        for chain in users[1:]:
            common = [a for a, b in zip(common, chain) if a is b]
        return common[-1] if common else None

    def _node(self, digraph: Any, node: Node) -> None:
        value = self.values[id(node)]
        if isinstance(node, InputNode):
            name = node.short_name if _is_named(node) else ""
            label = f"{name} ({value})" if name else value
            look = {"shape": "ellipse", "style": "filled"}
            look["fillcolor"] = COLORS[node.ref.input_type]
        else:
            label = f"{type(node.ref).__name__}→({value})"
            look = {"shape": "box", "style": "rounded"}
        if any(node is root for root in self.roots):
            look["peripheries"] = "2"
        digraph.node(self.names[id(node)], label=label_of(label), **look)


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
