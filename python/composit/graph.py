"""tensor.graph: what a tensor reaches, seen as a MultiDiGraph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from composit import _core
from composit.multidigraph import MultiDiGraph


class GraphView(MultiDiGraph):
    """The graph of some tensors. Nodes have the attributes operation, shapes and dtypes, edges have
    source_output_index and sink_input_index; iteration is in topological order. Functions that
    change a graph return a MultiDiGraph and leave this one as it is."""

    def __init__(self, outputs: tuple[Any, ...]) -> None:
        super().__init__()
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

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._order)

    def __contains__(self, node: Any) -> bool:
        self._fill()
        return super().__contains__(node)
