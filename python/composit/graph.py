"""tensor.graph: what a tensor reaches, seen as a MultiDiGraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import composit._core as _core
from composit.multidigraph import MultiDiGraph
from composit.rendering import svg_of


def _filled(name: str) -> Any:
    """An attribute of a GraphView that is made when it is first read."""

    def read(view: Any) -> Any:
        view._fill()
        return getattr(view, name)

    return property(read, lambda view, value: setattr(view, name, value))


class GraphView(MultiDiGraph):
    """The graph of some tensors. Nodes have the attributes operation, shapes and dtypes, edges have
    source_output_index and sink_input_index; iteration is in topological order. Functions that
    change a graph return a MultiDiGraph and leave this one as it is."""

    def __init__(self, outputs: tuple[Any, ...]) -> None:
        self._is_filled = True  # as far as the empty graph goes that this begins as
        super().__init__()
        self._outputs = list(outputs)
        self._order = _core.topological_order(outputs)
        self._is_filled = False

    def _fill(self) -> None:
        if self._is_filled:
            return
        self._is_filled = True
        graph = MultiDiGraph()
        graph = graph.add_nodes_from(
            (node, {"operation": node.operation, "shapes": node.shapes, "dtypes": node.dtypes})
            for node in self._order
        )
        graph = graph.add_edges_from(
            (source, sink, {"source_output_index": index, "sink_input_index": position})
            for sink in self._order
            for position, (source, index) in enumerate(sink.operand_nodes)
        )
        self._adopt(graph)

    # networkx's algorithms read these.
    _node = _filled("_nodes")
    _succ = _filled("_successors")
    _pred = _filled("_predecessors")

    @property
    def text(self) -> str:
        """The graph in the text form that parse reads."""
        return _core.print_graph(self._outputs)

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str | None:
        """The picture, for notebooks; None where graphviz is missing."""
        return svg_of(self._outputs)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._order)

    def __contains__(self, node: Any) -> bool:
        self._fill()
        return super().__contains__(node)


def parse(
    text: str,
    data: Mapping[str, Any] | None = None,
    *,
    most_nodes: int | None = None,
    most_bytes: int | None = None,
    most_iterations: int | None = None,
    most_depth: int | None = None,
) -> list[Any]:
    """The outputs of the graph that a text (str(tensor.graph)) describes. `data` holds the large
    constants that the text names only; large_constants(tensor, …) gives them.

    Any text is safe to parse, and its graph to evaluate, but a short one may ask for years and
    more memory than there is. `most_nodes` (2^24 unless it is given) limits nodes, those of a
    call's body once for each call; `most_bytes` (2^62) all results together; `most_iterations`
    (2^62) the iterations of loops, those within loops multiplied; `most_depth` (200) bodies within
    bodies.

    ValueError, with line and column, for what is no such text, for what it asks beyond the limits,
    for kernels that this process does not know, and for functions of other languages."""
    return _core.parse_graph(
        text, dict(data or {}), most_nodes, most_bytes, most_iterations, most_depth
    )


def large_constants(*tensors: Any) -> dict[str, Any]:
    """The constants that a graph's text names only, by that name."""
    return _core.large_constants(list(tensors))


def structural_hash(tensor: Any) -> int:
    """Equal for graphs of the same operations, attributes, types and sharing; values and names do
    not count."""
    return hash((tensor.node.structural_hash, tensor.output_index))
