"""Pictures of graphs, drawn by graphviz."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import type_error
from composit.evaluation import as_tensor
from composit.rendering import FORMATS as FORMATS
from composit.rendering import checked_format, graphviz_package, rendered, svg_of, visualize_graph
from composit.rendering import default_visualize_edge as default_visualize_edge
from composit.rendering import default_visualize_node as default_visualize_node


def visualize(
    *lazy_tensors: Any,
    render: bool = True,
    depth: int = 1,
    fold: int = 200,
    modules: int | None = None,
    format: str = "svg",
    file_name: str | None = None,
    graphviz_graph: Any = None,
    **options: Any,
) -> Any:
    """A graphviz.Digraph of the graph that the tensors reach, with types on its edges.

    So many levels of calls (wrap_as_operation) are clusters of what they compute, deeper ones are
    boxes: depth=0 closes all. The modules that flashlight traced are clusters by their paths, to so
    many levels of `modules` (all, if None), deeper ones are boxes. In graphs of more than `fold`
    nodes modules and stretches that repeat are drawn once, with how often they come. `render`
    writes a file of a `format` of svg, png, pdf and dot (dot too where the program dot is missing),
    says where, and opens it where there is a display.
    With visualize_node= or visualize_edge= these draw, as visualize_graph's.
    """
    checked_format(format)
    tensors = [as_tensor(tensor) for tensor in lazy_tensors]
    if "visualize_node" in options or "visualize_edge" in options:
        from composit.graph import GraphView

        return visualize_graph(
            GraphView(tuple(tensors)), render=render, format=format, file_name=file_name,
            graphviz_graph=graphviz_graph, **options,
        )  # fmt: skip
    options.pop("timeout", None)
    if options:
        raise type_error(f"visualize() got an unexpected keyword argument {min(options)!r}")
    from composit.drawing import drawn

    make = graphviz_package().Digraph if graphviz_graph is None else lambda: graphviz_graph
    digraph, _ = drawn(tensors, make, depth, fold, modules)
    if render:
        rendered(digraph, file_name, format)
    return digraph


def html_of(tensor: Any) -> str:
    """A tensor in a notebook: its values, and behind a click the graph that leads to it."""
    lines = [_core.in_markup(line) for line in repr(tensor).split("\n")]
    text = "<pre>" + "\n".join(lines) + "</pre>"
    closed = svg_of([tensor], 0, 1)
    if closed is None:
        return text
    opened = svg_of([tensor], 8) or closed
    inner = closed[closed.find("<svg") :]
    if "box3d" in closed or opened != closed:
        more = opened[opened.find("<svg") :]
        inner += f"<details><summary>calls and modules, opened</summary>{more}</details>"
    summary = _core.in_markup(tensor.describe())
    return f"{text}<details><summary>{summary}</summary>{inner}</details>"
