"""Pictures of graphs, drawn by graphviz."""

from __future__ import annotations

import os
from typing import Any

import composit._core as _core
from composit._core import with_location
from composit.evaluation import as_tensor
from composit.labels import label_of

FORMATS = ("svg", "png", "pdf", "dot")


def _graphviz() -> Any:
    try:
        import graphviz
    except ImportError:
        raise ImportError(
            with_location("visualize: the package graphviz is required (pip install graphviz).")
        ) from None
    return graphviz


def default_visualize_node(digraph: Any, graph: Any, node: Any) -> None:
    """Name, operation and shapes in a box."""
    attributes = graph.nodes[node]
    lines = [repr(node), str(attributes.get("operation", ""))]
    shapes = [
        f"{dtype}{list(shape)}"
        for shape, dtype in zip(attributes.get("shapes", ()), attributes.get("dtypes", ()))
    ]
    label = label_of(*lines, ", ".join(shapes))
    digraph.node(str(_number(graph, node)), label=label, shape="box")


def default_visualize_edge(digraph: Any, graph: Any, edge: tuple) -> None:
    """An arrow; with the output's number where there are several."""
    source, sink, key = edge
    index = graph.edges[source, sink, key].get("source_output_index", 0)
    several = len(graph.nodes[source].get("shapes", ())) > 1
    ends = str(_number(graph, source)), str(_number(graph, sink))
    digraph.edge(*ends, label=str(index) if several else "")


def _number(graph: Any, node: Any) -> int:
    """A node's name in the picture: two nodes of one name are two boxes."""
    return hash(node)


def _write(digraph: Any, file_name: str, format: str) -> str:
    if format == "dot":
        return digraph.save(filename=f"{file_name}.dot")
    graphviz = _graphviz()
    try:
        return digraph.render(filename=file_name, format=format, cleanup=True)
    except graphviz.ExecutableNotFound:
        return digraph.save(filename=f"{file_name}.gv")


def _rendered(digraph: Any, file_name: str | None, format: str) -> None:
    path = os.path.abspath(_write(digraph, file_name or f"graph-{os.getpid()}", format))
    print(f"visualize: wrote {path}")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        _graphviz().view(path)


def _checked(format: Any) -> str:
    if format not in FORMATS:
        raise ValueError(
            with_location(f"visualize: format is {format!r}. One of {FORMATS} is required.")
        )
    return format


def visualize_graph(
    graph: Any,
    *,
    graphviz_graph: Any = None,
    visualize_node: Any = default_visualize_node,
    visualize_edge: Any = default_visualize_edge,
    render: bool = True,
    timeout: float = 1,
    file_name: str | None = None,
    format: str = "svg",
) -> Any:
    """A graphviz.Digraph of a MultiDiGraph, node by node. `render` writes a file of this format
    (its text where the program dot is missing), says where, and opens it where there is a
    display."""
    _checked(format)
    digraph = graphviz_graph if graphviz_graph is not None else _graphviz().Digraph()
    for node in graph:
        visualize_node(digraph, graph, node)
    for edge in graph.edges:
        visualize_edge(digraph, graph, edge)
    if render:
        _rendered(digraph, file_name, format)
    return digraph


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
    _checked(format)
    tensors = [as_tensor(tensor) for tensor in lazy_tensors]
    if "visualize_node" in options or "visualize_edge" in options:
        from composit.graph import GraphView

        return visualize_graph(
            GraphView(tuple(tensors)), render=render, format=format, file_name=file_name,
            graphviz_graph=graphviz_graph, **options,
        )  # fmt: skip
    options.pop("timeout", None)
    if options:
        raise TypeError(
            with_location(f"visualize() got an unexpected keyword argument {min(options)!r}")
        )
    from composit.drawing import drawn

    make = _graphviz().Digraph if graphviz_graph is None else lambda: graphviz_graph
    digraph, _ = drawn(tensors, make, depth, fold, modules)
    if render:
        _rendered(digraph, file_name, format)
    return digraph


def svg_of(tensors: Any, depth: int = 1, modules: int | None = None) -> str | None:
    """The picture as SVG; None where graphviz, or its program dot, is missing."""
    try:
        import graphviz
    except ImportError:
        return None
    import shutil  # only here: it imports all formats of archives

    if shutil.which("dot") is None:
        return None
    from composit.drawing import drawn

    digraph, _ = drawn(list(tensors), graphviz.Digraph, depth, modules=modules)
    return digraph.pipe(format="svg", encoding="utf-8")


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
