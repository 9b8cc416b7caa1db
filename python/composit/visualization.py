"""Pictures of graphs, drawn by graphviz."""

from __future__ import annotations

import os
from typing import Any

from composit._core import with_location
from composit.evaluation import as_tensor


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
    label = "\n".join([*lines, ", ".join(shapes)]).replace("\\", "\\\\")
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


def _write(digraph: Any, folder: str | None, file_name: str) -> str:
    graphviz = _graphviz()
    try:
        return digraph.render(filename=file_name, directory=folder, format="svg", cleanup=True)
    except graphviz.ExecutableNotFound:
        return digraph.save(filename=f"{file_name}.gv", directory=folder)


def visualize_graph(
    graph: Any,
    *,
    graphviz_graph: Any = None,
    visualize_node: Any = default_visualize_node,
    visualize_edge: Any = default_visualize_edge,
    render: bool = True,
    timeout: float = 1,
    file_name: str | None = None,
) -> Any:
    """A graphviz.Digraph of a MultiDiGraph. `render` writes an SVG file (its text where
    the program dot is missing), says where, and opens it where there is a display."""
    digraph = graphviz_graph if graphviz_graph is not None else _graphviz().Digraph()
    for node in graph:
        visualize_node(digraph, graph, node)
    for edge in graph.edges:
        visualize_edge(digraph, graph, edge)
    if render:
        path = os.path.abspath(_write(digraph, None, file_name or f"graph-{os.getpid()}"))
        print(f"visualize: wrote {path}")
        if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            _graphviz().view(path)
    return digraph


def visualize(*lazy_tensors: Any, render: bool = True, **options: Any) -> Any:
    """The graph that the tensors reach; options as visualize_graph's."""
    from composit.graph import GraphView

    graph = GraphView(tuple(as_tensor(tensor) for tensor in lazy_tensors))
    return visualize_graph(graph, render=render, **options)
