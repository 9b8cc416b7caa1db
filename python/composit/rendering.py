"""Pictures of a MultiDiGraph, node by node, and files of pictures, by graphviz."""

from __future__ import annotations

import os
from typing import Any

from composit._core import value_error, with_location
from composit.labels import label_of

FORMATS = ("svg", "png", "pdf", "dot")


def graphviz_package() -> Any:
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
    graphviz = graphviz_package()
    try:
        return digraph.render(filename=file_name, format=format, cleanup=True)
    except graphviz.ExecutableNotFound:
        return digraph.save(filename=f"{file_name}.gv")


def rendered(digraph: Any, file_name: str | None, format: str) -> None:
    path = os.path.abspath(_write(digraph, file_name or f"graph-{os.getpid()}", format))
    print(f"visualize: wrote {path}")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        graphviz_package().view(path)


def checked_format(format: Any) -> str:
    if format not in FORMATS:
        raise value_error(f"visualize: format is {format!r}. One of {FORMATS} is required.")
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
    checked_format(format)
    digraph = graphviz_graph if graphviz_graph is not None else graphviz_package().Digraph()
    for node in graph:
        visualize_node(digraph, graph, node)
    for edge in graph.edges:
        visualize_edge(digraph, graph, edge)
    if render:
        rendered(digraph, file_name, format)
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
