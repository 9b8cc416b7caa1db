"""What graph.nodes, graph.edges and graph.degree return: networkx's views, read only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from types import MappingProxyType
from typing import Any


class NodeView(Mapping, Set):
    """Nodes and their attributes: a mapping, and a set of nodes."""

    def __init__(self, nodes: Mapping[Any, Any]) -> None:
        self._nodes = nodes

    def __getitem__(self, node: Any) -> Mapping[str, Any]:
        return MappingProxyType(self._nodes[node])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, node: Any) -> bool:
        return node in self._nodes

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:  # what &, |, - and ^ give
        return set(it)

    def __call__(self, data: Any = False, default: Any = None) -> Any:
        return self if data is False else NodeDataView(self, data, default)

    def data(self, data: Any = True, default: Any = None) -> Any:
        """(node, attributes), or (node, one attribute)."""
        return self(data, default)

    def __str__(self) -> str:
        return str(list(self))

    def __repr__(self) -> str:
        return f"NodeView({tuple(self)})"


class NodeDataView(Set):
    """Pairs of nodes and their attributes (data=True), or of one attribute by its name."""

    def __init__(self, nodes: NodeView, data: Any = True, default: Any = None) -> None:
        self._nodes, self._data, self._default = nodes, data, default

    def __getitem__(self, node: Any) -> Any:
        attributes = self._nodes[node]
        return attributes if self._data is True else attributes.get(self._data, self._default)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return ((node, self[node]) for node in self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, pair: Any) -> bool:
        try:
            if pair in self._nodes:
                return True
        except TypeError:  # a pair with a dictionary
            pass
        is_pair = isinstance(pair, tuple) and len(pair) == 2
        return is_pair and pair[0] in self._nodes and self[pair[0]] == pair[1]

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:
        return set(it)

    def _plain(self) -> dict[Any, Any]:
        return {node: dict(d) if self._data is True else d for node, d in self}

    def __str__(self) -> str:
        return str(list(self._plain().items()))

    def __repr__(self) -> str:
        return f"NodeDataView({self._plain()})"


class EdgeView(Set):
    """Edges; iterating gives (source, sink, key)."""

    def __init__(self, graph: Any, is_forward: bool) -> None:
        self._graph = graph
        self._is_forward = is_forward

    def _triples(self, nbunch: Any) -> Iterator[tuple[Any, Any, Any, Any]]:
        graph = self._graph
        adjacency = graph.succ if self._is_forward else graph.pred
        if nbunch is None:
            nodes = list(graph)
        elif nbunch in graph:
            nodes = [nbunch]
        elif isinstance(nbunch, (list, tuple, set, frozenset, dict)):
            nodes = [node for node in nbunch if node in graph]
        else:
            raise KeyError(nbunch)
        for node in nodes:
            for other, keys in adjacency[node].items():
                ends = (node, other) if self._is_forward else (other, node)
                for key, attributes in keys.items():
                    yield (*ends, key, MappingProxyType(attributes))

    def __call__(
        self, nbunch: Any = None, data: Any = False, *, keys: bool = False, default: Any = None
    ) -> list[tuple]:
        edges: list[tuple] = []
        for source, sink, key, attributes in self._triples(nbunch):
            edge: tuple = (source, sink, key) if keys else (source, sink)
            if data is True:
                edge += (attributes,)
            elif data is not False:
                edge += (attributes.get(data, default),)
            edges.append(edge)
        return edges

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        return ((source, sink, key) for source, sink, key, _ in self._triples(None))

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> set[Any]:  # what &, |, - and ^ give
        return set(it)

    def __len__(self) -> int:
        return self._graph.number_of_edges()

    def __contains__(self, edge: Any) -> bool:
        return self._graph.has_edge(*edge)

    def __getitem__(self, edge: Any) -> Mapping[str, Any]:
        source, sink, *key = edge
        return MappingProxyType(self._graph.succ[source][sink][key[0] if key else 0])

    def __repr__(self) -> str:
        return f"EdgeView({list(self)})"


class DegreeView:
    """Numbers of edges at nodes."""

    def __init__(self, graph: Any, adjacencies: tuple[Mapping[Any, Any], ...]) -> None:
        self._graph = graph
        self._adjacencies = adjacencies

    def _degree(self, node: Any, weight: str | None = None) -> Any:
        return sum(
            1 if weight is None else attributes.get(weight, 1)
            for adjacency in self._adjacencies
            for keys in adjacency[node].values()
            for attributes in keys.values()
        )

    def __getitem__(self, node: Any) -> int:
        return self._degree(node)

    def __call__(self, nbunch: Any = None, weight: str | None = None) -> Any:
        if nbunch is not None and nbunch in self._graph:
            return self._degree(nbunch, weight)
        nodes = self._graph.nbunch_iter(nbunch)
        return [(node, self._degree(node, weight)) for node in nodes]

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return ((node, self._degree(node)) for node in self._graph)

    def __len__(self) -> int:
        return len(self._graph)
