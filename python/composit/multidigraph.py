"""A persistent networkx.MultiDiGraph: every change is a new graph that shares structure."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from composit.networkx_interface import NetworkxInterface, network_error
from composit.persistent import PersistentMap
from composit.rendering import default_visualize_edge as default_visualize_edge
from composit.rendering import default_visualize_node as default_visualize_node
from composit.rendering import visualize_graph as visualize_graph
from composit.views import DegreeView, EdgeView, NodeView

Attributes = Mapping[str, Any]
_nothing: Attributes = MappingProxyType({})


class MultiDiGraph(NetworkxInterface["MultiDiGraph"]):
    """Nodes (any hashable) and directed edges told apart by keys, both with attributes. Functions
    that add or remove return a new graph. `data` is what networkx makes graphs of."""

    def __init__(
        self, data: Any = None, multigraph_input: bool | None = None, **attributes: Any
    ) -> None:
        # Node -> attributes; node -> successor -> key -> attributes; the same by predecessor.
        self._node = PersistentMap()
        self._succ = PersistentMap()
        self._pred = PersistentMap()
        self._attributes: dict[str, Any] = {}
        if isinstance(data, MultiDiGraph):
            self._adopt(data._copy())
        elif data is not None:
            import networkx  # type: ignore[import-untyped]

            self._adopt(from_networkx(networkx.MultiDiGraph(data, multigraph_input)))
        if attributes:
            self._attributes = {**self._attributes, **attributes}

    # ----- changing: a new graph each
    def _fill(self) -> None:
        """For graphs that are read lazily."""

    def _empty(self) -> MultiDiGraph:
        return MultiDiGraph()

    def to_networkx(self) -> Any:
        """A networkx.MultiDiGraph equal to this graph, for algorithms that change graphs."""
        return to_networkx(self)

    def _adopt(self, other: MultiDiGraph) -> None:
        self._node, self._succ, self._pred = other._node, other._succ, other._pred
        self._attributes = other._attributes

    def _copy(self) -> MultiDiGraph:
        self._fill()
        graph = MultiDiGraph()
        graph._adopt(self)
        return graph

    def _put_node(self, node: Any, attributes: Attributes) -> None:
        if node is None:
            raise ValueError("None cannot be a node")
        old = self._node.get(node)
        if old is None:
            self._succ = self._succ.set(node, {})
            self._pred = self._pred.set(node, {})
        elif not attributes:
            return
        self._node = self._node.set(node, {**(old or {}), **attributes})

    def _put_edge(
        self, source: Any, sink: Any, key: Any, attributes: Attributes, owned: set
    ) -> None:
        self._put_node(source, _nothing)
        self._put_node(sink, _nothing)
        for is_forward, here, there in ((True, source, sink), (False, sink, source)):
            adjacency = self._succ if is_forward else self._pred
            neighbours = adjacency[here]
            if (is_forward, here) not in owned:
                neighbours = {other: dict(keys) for other, keys in neighbours.items()}
                owned.add((is_forward, here))
                adjacency = adjacency.set(here, neighbours)
                if is_forward:
                    self._succ = adjacency
                else:
                    self._pred = adjacency
            keys = neighbours.setdefault(there, {})
            if key is None:
                key = len(keys)  # networkx's rule
                while key in keys:
                    key += 1
            keys[key] = {**keys.get(key, {}), **attributes}

    def add_node(self, node: Any, **attributes: Any) -> MultiDiGraph:
        """With a node, or with more attributes on it."""
        graph = self._copy()
        graph._put_node(node, attributes)
        return graph

    def add_nodes_from(self, nodes: Iterable[Any], **attributes: Any) -> MultiDiGraph:
        """With nodes: each alone or as (node, attributes)."""
        graph = self._copy()
        for item in nodes:
            if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], Mapping):
                graph._put_node(item[0], {**attributes, **item[1]})
            else:
                graph._put_node(item, attributes)
        return graph

    def add_edge(self, source: Any, sink: Any, key: Any = None, **attributes: Any) -> MultiDiGraph:
        """With an edge; without a key it gets the next number."""
        graph = self._copy()
        graph._put_edge(source, sink, key, attributes, set())
        return graph

    def add_edges_from(self, edges: Iterable[tuple], **attributes: Any) -> MultiDiGraph:
        """With edges: (source, sink), …, key, …, attributes or …, key, attributes."""
        graph = self._copy()
        owned: set = set()
        for edge in edges:
            if not 2 <= len(edge) <= 4:
                raise network_error(f"Edge tuple {edge} must be a 2-tuple, 3-tuple or 4-tuple.")
            source, sink, *rest = edge
            own = _attributes_in(rest)
            key = rest[0] if rest else None
            graph._put_edge(source, sink, key, {**attributes, **own}, owned)
        return graph

    def remove_edge(self, source: Any, sink: Any, key: Any = None) -> MultiDiGraph:
        """Without an edge: the last added one of those between the two, unless a key says which."""
        keys = self.succ.get(source, {}).get(sink)
        if not keys or (key is not None and key not in keys):
            which = f"{source}-{sink}" if key is None else f"{source}-{sink} with key {key}"
            raise network_error(f"The edge {which} is not in the graph.")
        if key is None:
            key = list(keys)[-1]
        graph = self._copy()
        graph._succ = graph._succ.set(source, _without(graph._succ[source], sink, key))
        graph._pred = graph._pred.set(sink, _without(graph._pred[sink], source, key))
        return graph

    def add_attributes(self, **attributes: Any) -> MultiDiGraph:
        """With attributes of the graph itself."""
        graph = self._copy()
        graph._attributes = {**graph._attributes, **attributes}
        return graph

    # ----- asking
    @property
    def graph(self) -> Attributes:
        """Attributes of the graph itself."""
        return MappingProxyType(self._attributes)

    @property
    def succ(self) -> Mapping[Any, Any]:
        """Node -> successor -> key -> attributes."""
        self._fill()
        return self._succ

    adj = succ

    @property
    def pred(self) -> Mapping[Any, Any]:
        """Node -> predecessor -> key -> attributes."""
        self._fill()
        return self._pred

    @property
    def nodes(self) -> NodeView:
        """The nodes; nodes[n] are n's attributes, nodes(data=True) pairs."""
        self._fill()
        return NodeView(self._node)

    @property
    def edges(self) -> EdgeView:
        """The edges; also callable with nbunch, data, keys and default."""
        return EdgeView(self, is_forward=True)

    out_edges = edges

    @property
    def in_edges(self) -> EdgeView:
        """The edges by their sinks."""
        return EdgeView(self, is_forward=False)

    @property
    def degree(self) -> DegreeView:
        """Edges at each node, in and out."""
        return DegreeView(self, (self.pred, self.succ))

    @property
    def in_degree(self) -> DegreeView:
        """Edges into each node."""
        return DegreeView(self, (self.pred,))

    @property
    def out_degree(self) -> DegreeView:
        """Edges out of each node."""
        return DegreeView(self, (self.succ,))

    def successors(self, node: Any) -> Iterator[Any]:
        """Nodes that edges lead to from this one."""
        return iter(list(self._neighbours(self.succ, node)))

    neighbors = successors

    def predecessors(self, node: Any) -> Iterator[Any]:
        """Nodes that edges lead from to this one."""
        return iter(list(self._neighbours(self.pred, node)))

    def _neighbours(self, adjacency: Mapping[Any, Any], node: Any) -> Iterable[Any]:
        if node not in adjacency:
            raise network_error(f"The node {node} is not in the digraph.")
        return adjacency[node]

    def has_node(self, node: Any) -> bool:
        """Whether the node is there."""
        return node in self

    def has_successor(self, source: Any, sink: Any) -> bool:
        """Whether an edge leads from source to sink."""
        return sink in self.succ.get(source, {})

    def has_predecessor(self, sink: Any, source: Any) -> bool:
        """Whether an edge leads from source to sink."""
        return source in self.pred.get(sink, {})

    def has_edge(self, source: Any, sink: Any, key: Any = None) -> bool:
        """Whether the edge (or any between the two) is there."""
        keys = self.succ.get(source, {}).get(sink, {})
        return bool(keys) if key is None else key in keys

    def number_of_nodes(self) -> int:
        """How many nodes there are."""
        return len(self)

    def number_of_edges(self, source: Any = None, sink: Any = None) -> int:
        """How many edges there are, or between two nodes."""
        if source is not None:
            return len(self.succ[source].get(sink, {}))
        return sum(len(keys) for to in self.succ.values() for keys in to.values())

    def size(self, weight: str | None = None) -> Any:
        """The number of edges, or the sum of an attribute over them."""
        if weight is None:
            return self.number_of_edges()
        return sum(data.get(weight, 1) for _, _, data in self.edges(data=True))

    def nbunch_iter(self, nbunch: Any = None) -> Iterator[Any]:
        """The nodes among nbunch that are there; all for None."""
        if nbunch is None:
            return iter(self)
        if nbunch in self:
            return iter([nbunch])
        return self._those_there(nbunch)

    def _those_there(self, nodes: Any) -> Iterator[Any]:
        if not isinstance(nodes, Iterable):
            raise network_error(f"Node {nodes} is not in the graph.")
        for node in nodes:
            try:
                is_there = node in self._node
            except TypeError:
                raise network_error(
                    f"Node {node} in sequence nbunch is not a valid node."
                ) from None
            if is_there:
                yield node

    def is_directed(self) -> bool:
        """True"""
        return True

    def is_multigraph(self) -> bool:
        """True"""
        return True

    def reverse(self, copy: bool = True) -> MultiDiGraph:
        """The graph with every edge turned round."""
        graph = self._copy()
        graph._succ, graph._pred = graph._pred, graph._succ
        return graph

    def subgraph(self, nodes: Iterable[Any]) -> MultiDiGraph:
        """These nodes and the edges between them."""
        kept = set(self.nbunch_iter(nodes))
        graph = MultiDiGraph().add_nodes_from((n, self.nodes[n]) for n in self if n in kept)
        edges = ((u, v, k, data) for u, v, k, data in self.edges(keys=True, data=True))
        graph = graph.add_edges_from(e for e in edges if e[0] in kept and e[1] in kept)
        return graph.add_attributes(**self._attributes)

    def to_undirected(self, reciprocal: bool = False, as_view: bool = False) -> Any:
        """networkx's undirected graph; of edges in both directions only, where reciprocal. Its
        attributes are copies, also of what they hold; as_view, they are the graph's own."""
        import networkx

        copied = dict if as_view else copy.deepcopy
        result = networkx.MultiGraph(**copied(dict(self.graph)))
        result.add_nodes_from((node, copied(dict(data))) for node, data in self.nodes(data=True))
        result.add_edges_from(
            (u, v, key, copied(dict(data)))
            for u, v, key, data in self.edges(keys=True, data=True)
            if not reciprocal or self.has_edge(v, u, key)
        )
        return result

    def __len__(self) -> int:
        self._fill()
        return len(self._node)

    def __iter__(self) -> Iterator[Any]:
        self._fill()
        return iter(self._node)

    def __contains__(self, node: Any) -> bool:
        self._fill()
        try:
            return node in self._node
        except TypeError:
            return False

    def __getitem__(self, node: Any) -> Any:
        return self.succ[node]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MultiDiGraph):
            return NotImplemented
        self._fill()
        other._fill()
        mine = (dict(self._node), dict(self._succ), self._attributes)
        return mine == (dict(other._node), dict(other._succ), other._attributes)

    def __hash__(self) -> int:
        return hash((frozenset(self), frozenset(self.edges(keys=True))))

    def __str__(self) -> str:
        named = f" named {self.name!r}" if self.name else ""
        counts = f"{len(self)} nodes and {self.number_of_edges()} edges"
        return f"{type(self).__name__}{named} with {counts}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {len(self)} nodes and {self.number_of_edges()} edges>"


def _attributes_in(rest: list[Any]) -> dict[str, Any]:
    """Takes the attributes off the end of what follows an edge's nodes."""
    try:
        own = dict(rest[-1]) if rest else {}
    except (TypeError, ValueError):
        return {}  # a key alone
    if rest:
        rest.pop()
    return own


def _without(neighbours: dict, other: Any, key: Any) -> dict:
    kept = {name: dict(keys) for name, keys in neighbours.items()}
    del kept[other][key]
    if not kept[other]:
        del kept[other]
    return kept


def topological_traversal(graph: MultiDiGraph) -> Iterator[Any]:
    """Nodes, each after its predecessors. ValueError for a cycle."""
    waiting = {node: len(graph.pred[node]) for node in graph}
    ready = [node for node, count in waiting.items() if count == 0]
    done = 0
    for node in ready:
        done += 1
        yield node
        for successor in graph.succ[node]:
            waiting[successor] -= 1
            if waiting[successor] == 0:
                ready.append(successor)
    if done != len(waiting):
        raise ValueError(
            "topological_traversal: the graph has a cycle. An acyclic one is required."
        )


def from_networkx(graph: Any) -> MultiDiGraph:
    """The persistent graph equal to a networkx one."""
    result = MultiDiGraph().add_nodes_from(graph.nodes(data=True))
    edges = graph.edges(keys=True, data=True) if graph.is_multigraph() else graph.edges(data=True)
    return result.add_edges_from(edges).add_attributes(**graph.graph)


def to_networkx(graph: MultiDiGraph) -> Any:
    """A networkx.MultiDiGraph equal to this graph."""
    import networkx

    result = networkx.MultiDiGraph(**graph.graph)
    result.add_nodes_from((node, dict(data)) for node, data in graph.nodes(data=True))
    result.add_edges_from((u, v, k, dict(d)) for u, v, k, d in graph.edges(keys=True, data=True))
    return result


def compose_all(*graphs: MultiDiGraph) -> MultiDiGraph:
    """All nodes and edges of the graphs; attributes of later ones win."""
    result = MultiDiGraph()
    for graph in graphs:
        result = result.add_nodes_from(graph.nodes(data=True))
        result = result.add_edges_from(graph.edges(keys=True, data=True))
        result = result.add_attributes(**graph.graph)
    return result


def merge_graphs(*graph_and_nodes: tuple[MultiDiGraph, Any]) -> MultiDiGraph:
    """compose_all of the graphs of (graph, node) pairs."""
    return compose_all(*(graph for graph, _ in graph_and_nodes))
