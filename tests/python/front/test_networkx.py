"""MultiDiGraph is networkx's: networkx's own tests of its class, and its algorithms, run on it."""

import inspect

import networkx as nx
import numpy as np
import pytest
from networkx.classes.tests.test_multidigraph import TestMultiDiGraph as Theirs

import composit.numpy as cnp
from composit.multidigraph import MultiDiGraph, from_networkx

CHANGES = [
    "add_node", "add_nodes_from", "add_edge", "add_edges_from", "add_weighted_edges_from",
    "remove_node", "remove_nodes_from", "remove_edge", "remove_edges_from", "clear", "clear_edges",
    "update",
]  # fmt: skip


class Mutable(MultiDiGraph):
    """Each change becomes the graph itself, as networkx's tests expect."""


def in_place(name):
    def change(self, *arguments, **keywords):
        self._adopt(getattr(MultiDiGraph(self), name)(*arguments, **keywords))

    return change


for name in CHANGES:
    setattr(Mutable, name, in_place(name))

# Tests of what a persistent graph cannot have, or whose state they set from outside.
LEFT_OUT = {
    "inner dictionaries are read only, attributes are changed by add_node and add_edge": [
        "test_node_attr", "test_node_attr2", "test_edge_attr", "test_edge_attr2", "test_edge_attr3",
        "test_edge_attr4", "test_graph_attr", "test_copy", "test_class_copy", "test_fresh_copy",
        "test_name", "test_str_named", "test_selfloops_attr", "test_subgraph", "test_graph_chain",
        "test_weighted_degree", "test_clear", "test_clear_edges",
    ],
    "networkx's classes of views, dictionaries and caches": [
        "test_nodes", "test_cache_reset", "test_attributes_cached", "test_di_attributes_cached",
        "test_to_undirected_as_view", "test_to_directed_as_view", "test_memory_leak",
        "test_directed_class", "test_pickle", "test_update",
    ],
    "networkx's converter fills its own classes": ["test_non_multigraph_input_raise"],
    "keys of new edges are given, not returned": ["test_add_edge_conflicting_key"],
    "changing a copy": [
        "test_to_directed", "test_to_undirected", "test_reverse_copy", "test_reverse_nocopy",
    ],
}  # fmt: skip
OUT = {name for names in LEFT_OUT.values() for name in names}
NAMES = [name for name, _ in inspect.getmembers(Theirs, inspect.isfunction) if name[:5] == "test_"]


class Ours(Theirs):
    def setup_method(self):
        self.Graph = Mutable
        self.k3edges = [(0, 1), (0, 2), (1, 2)]
        self.k3nodes = [0, 1, 2]
        self.K3 = Mutable()
        self.K3.add_nodes_from(self.k3nodes)
        self.K3.add_edges_from((u, v) for u in range(3) for v in range(3) if u != v)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OUT])
def test_of_networkx(name):
    tests = Ours()
    tests.setup_method()
    function = getattr(tests, name)
    marks = [m for m in getattr(function, "pytestmark", []) if m.name == "parametrize"]
    if not marks:
        return function()
    names, values = [], [()]
    for mark in marks:
        given = mark.args[0].split(",") if isinstance(mark.args[0], str) else list(mark.args[0])
        names += [name.strip() for name in given]
        parts = [value if len(given) > 1 else (value,) for value in mark.args[1]]
        values = [(*before, *part) for before in values for part in parts]
    for value in values:
        function(**dict(zip(names, value)))
    return None


def test_most_of_networkxs_tests_run():
    assert set(NAMES) >= OUT
    assert len(OUT) < 0.45 * len(NAMES)


def graph_of_a_tensor():
    x = cnp.ones((2, 3), dtype="float32", name="x")
    y = cnp.exp(x) + x
    for _ in range(4):
        y = y * x + cnp.sum(y)
    return y.graph


def graph_of_words():
    graph = (
        MultiDiGraph().add_edge("a", "b", weight=2).add_edge("a", "b").add_edge("b", "c", weight=5)
    )
    return graph.add_edge("c", "d", key="k", weight=1).add_node("alone")


def ends(graph):
    nodes = list(graph)
    return nodes[0], nodes[3]


ALGORITHMS = {
    "topological_sort": lambda g: list(nx.topological_sort(g)),
    "ancestors": lambda g: nx.ancestors(g, ends(g)[1]),
    "descendants": lambda g: nx.descendants(g, ends(g)[0]),
    "is_directed_acyclic_graph": nx.is_directed_acyclic_graph,
    "topological_generations": lambda g: list(nx.topological_generations(g)),
    "dag_longest_path_length": nx.dag_longest_path_length,
    "shortest_path": lambda g: nx.shortest_path(g, *ends(g)),
    "dijkstra": lambda g: nx.dijkstra_path_length(g, *ends(g), weight="weight"),
    "has_path": lambda g: nx.has_path(g, *ends(g)),
    "strong": lambda g: sorted(map(len, nx.strongly_connected_components(g))),
    "weak": lambda g: sorted(map(len, nx.weakly_connected_components(g))),
    "condensation": lambda g: len(nx.condensation(g)),
    "pagerank": lambda g: sorted(nx.pagerank(g).values()),
    "dominators": lambda g: nx.immediate_dominators(g, ends(g)[0]),
    "bfs": lambda g: list(nx.bfs_edges(g, ends(g)[0])),
    "dfs": lambda g: list(nx.dfs_preorder_nodes(g, ends(g)[0])),
    "cycles": lambda g: list(nx.simple_cycles(g)),
    "density": nx.density,
    "matrix": lambda g: nx.to_numpy_array(g).tolist(),
    "isomorphic": lambda g: nx.is_isomorphic(g, g),
    "selfloops": nx.number_of_selfloops,
    "isolates": lambda g: list(nx.isolates(g)),
    "histogram": nx.degree_histogram,
    "DiGraph": lambda g: sorted(map(str, nx.DiGraph(g).edges)),
    "MultiDiGraph": lambda g: sorted(map(str, nx.MultiDiGraph(g).edges)),
    "undirected": lambda g: len(g.to_undirected(as_view=True).edges),
    "attributes": lambda g: nx.get_edge_attributes(g, "weight"),
    "node link": lambda g: len(nx.node_link_data(g)["nodes"]),
    "all paths": lambda g: list(nx.all_simple_paths(g, *ends(g))),
}


@pytest.mark.parametrize("make", [graph_of_a_tensor, graph_of_words])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms(name, make):
    graph = make()  # nothing of it is read before the algorithm runs
    found = ALGORITHMS[name](graph)
    expected = ALGORITHMS[name](graph.to_networkx())
    if name == "pagerank":
        np.testing.assert_allclose(found, expected)
    else:
        assert found == expected


def test_graphs_of_what_networkx_makes_graphs_of():
    for data in ([(1, 2), (2, 3)], {1: [2], 2: [3]}, nx.path_graph(4), np.eye(3)):
        graph = MultiDiGraph(data, name="n")
        assert graph == from_networkx(nx.MultiDiGraph(data, name="n"))
    assert MultiDiGraph(graph) == graph and str(graph) == str(graph.to_networkx())


def test_an_undirected_graph_holds_copies_of_the_attributes():
    nested = MultiDiGraph(note=[1]).add_node("a", words=["x"]).add_edge("a", "b", weights=[1.0])
    graph, view = nested.to_undirected(), nested.to_undirected(as_view=True)
    for made, expected in ((graph, nested.to_networkx().to_undirected()), (view, graph)):
        assert nx.utils.graphs_equal(made, expected)
    for change in (graph.graph["note"], graph.nodes["a"]["words"], graph["a"]["b"][0]["weights"]):
        change.append("more")
    assert nested.graph["note"] == [1] and nested.nodes["a"]["words"] == ["x"]
    assert nested.edges["a", "b", 0]["weights"] == [1.0]
    view.nodes["a"]["words"].append("y")
    assert nested.nodes["a"]["words"] == ["x", "y"]
    of_tensor = graph_of_a_tensor()
    (node, data), *_ = of_tensor.to_undirected().nodes(data=True)
    assert data["operation"] == of_tensor.nodes[node]["operation"]


def test_removal_and_parts():
    graph = graph_of_words()
    theirs = graph.to_networkx()
    theirs.remove_node("b")
    assert graph.remove_node("b") == from_networkx(theirs)
    with pytest.raises(nx.NetworkXError, match="not in the digraph"):
        graph.remove_node("z")
    part = graph.edge_subgraph([("a", "b", 1), ("c", "d", "k")])
    assert part == from_networkx(
        graph.to_networkx().edge_subgraph([("a", "b", 1), ("c", "d", "k")])
    )
    assert graph.copy() is graph and len(graph.clear()) == 0
