"""What networkx's multigraphs have beside nodes and edges, composed of what MultiDiGraph has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

Graph = TypeVar("Graph")


class NetworkxInterface(Generic[Graph]):
    """Names of networkx.MultiDiGraph; what changes there is a new `Graph` here. A subclass says
    what the empty one is."""

    def _empty(self) -> Graph:
        raise NotImplementedError

    # ----- new graphs
    def add_weighted_edges_from(
        self: Any, triples: Iterable[tuple], weight: str = "weight", **attributes: Any
    ) -> Graph:
        """With edges (source, sink, weight)."""
        return self.add_edges_from(((u, v, {weight: w}) for u, v, w in triples), **attributes)

    def update(self: Any, edges: Any = None, nodes: Any = None) -> Graph:
        """With more nodes and edges, or all of another graph."""
        if edges is None and nodes is None:
            raise network_error("update needs nodes or edges input")
        graph = self
        if nodes is not None:
            graph = graph.add_nodes_from(nodes)
        if edges is None:
            return graph
        if hasattr(edges, "nodes") and hasattr(edges, "edges"):
            graph = graph.add_nodes_from(edges.nodes(data=True))
            keyed = {"keys": True} if edges.is_multigraph() else {}
            return graph.add_edges_from(edges.edges(data=True, **keyed))
        return graph.add_edges_from(edges)

    def remove_node(self: Any, node: Any) -> Graph:
        """Without a node and its edges."""
        if node not in self:
            raise network_error(f"The node {node} is not in the digraph.")
        return self.remove_nodes_from([node])

    def remove_nodes_from(self: Any, nodes: Iterable[Any]) -> Graph:
        """Without these nodes and their edges; those that are not there do not matter."""
        gone = set(nodes)
        return self.subgraph([node for node in self if node not in gone])

    def remove_edges_from(self: Any, edges: Iterable[tuple]) -> Graph:
        """Without edges (source, sink) or (source, sink, key), as far as they are there."""
        graph = self
        for source, sink, *key in edges:
            if graph.has_edge(source, sink, key[0] if key else None):
                graph = graph.remove_edge(source, sink, key[0] if key else None)
        return graph

    def clear(self: Any) -> Graph:
        """The empty graph."""
        return self._empty()

    def clear_edges(self: Any) -> Graph:
        """The nodes alone."""
        graph = self._empty().add_nodes_from(self.nodes(data=True))
        return graph.add_attributes(**self.graph)

    def edge_subgraph(self: Any, edges: Iterable[tuple]) -> Graph:
        """These edges (with keys), and the nodes at their ends."""
        kept = {tuple(edge) if len(edge) == 3 else (*edge, 0) for edge in edges}
        ends = {end for edge in kept for end in edge[:2]}
        graph = self._empty().add_nodes_from((n, self.nodes[n]) for n in self if n in ends)
        chosen = [e for e in self.edges(keys=True, data=True) if e[:3] in kept]
        return graph.add_edges_from(chosen).add_attributes(**self.graph)

    def copy(self: Any, as_view: bool = False) -> Graph:
        """Itself: it never changes."""
        return self

    def to_directed(self: Any, as_view: bool = False) -> Graph:
        """Itself."""
        return self

    # ----- questions
    @property
    def _adj(self: Any) -> Any:
        return self._succ

    @property
    def name(self: Any) -> str:
        """The graph's attribute "name"."""
        return self.graph.get("name", "")

    def order(self: Any) -> int:
        """How many nodes there are."""
        return len(self)

    def adjacency(self: Any) -> Iterator[tuple[Any, Any]]:
        """(node, {successor: {key: attributes}}) of each node."""
        return iter(self.succ.items())

    def get_edge_data(
        self: Any, source: Any, sink: Any, key: Any = None, default: Any = None
    ) -> Any:
        """Attributes of the edge with the key, or of all between the two by key."""
        keys = self.succ.get(source, {}).get(sink)
        if keys is None:
            return default
        return keys if key is None else keys.get(key, default)

    def new_edge_key(self: Any, source: Any, sink: Any) -> int:
        """The key that the next edge between the two gets."""
        keys = self.succ.get(source, {}).get(sink, {})
        key = len(keys)
        while key in keys:
            key += 1
        return key


def network_error(message: str) -> Exception:
    """networkx's error class where networkx is installed, else a KeyError."""
    try:
        from networkx import NetworkXError  # type: ignore[import-untyped]
    except ImportError:
        return KeyError(message)
    return NetworkXError(message)
