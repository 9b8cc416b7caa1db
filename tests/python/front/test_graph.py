"""MultiDiGraph against networkx, and tensor.graph."""

import networkx
import numpy as np
import pytest

import composit as cnp
from composit.graph import large_constants, parse, structural_hash
from composit.multidigraph import (
    MultiDiGraph,
    compose_all,
    from_networkx,
    to_networkx,
    topological_traversal,
)


def both():
    ours = MultiDiGraph().add_node("a", colour=1).add_edge("a", "b", weight=2)
    ours = ours.add_edge("a", "b").add_edge("b", "c", key="k", weight=5)
    theirs = networkx.MultiDiGraph()
    theirs.add_node("a", colour=1)
    theirs.add_edge("a", "b", weight=2)
    theirs.add_edge("a", "b")
    theirs.add_edge("b", "c", key="k", weight=5)
    return ours, theirs


def test_queries_agree_with_networkx():
    ours, theirs = both()
    assert list(ours) == list(theirs)
    assert [(n, dict(d)) for n, d in ours.nodes(data=True)] == list(theirs.nodes(data=True))
    assert list(ours.edges) == list(theirs.edges)
    for options in ({}, {"keys": True}, {"data": "weight", "default": 7}):
        assert ours.edges(**options) == list(theirs.edges(**options))
        assert ours.in_edges("b", **options) == list(theirs.in_edges("b", **options))
    for name in ("degree", "in_degree", "out_degree"):
        assert dict(getattr(ours, name)) == dict(getattr(theirs, name))
    assert ours.size() == theirs.size() and ours.size("weight") == theirs.size("weight")
    assert list(ours.successors("a")) == list(theirs.successors("a"))
    assert networkx.utils.graphs_equal(to_networkx(ours), theirs)
    assert from_networkx(theirs) == ours
    assert list(ours.reverse().edges) == list(theirs.reverse().edges)
    assert list(ours.subgraph(["a", "b"]).edges) == list(theirs.subgraph(["a", "b"]).edges)


def test_changes_are_new_graphs():
    first = MultiDiGraph().add_node(1)
    second = first.add_edge(1, 2)
    third = second.remove_edge(1, 2)
    assert [len(g) for g in (first, second, third)] == [1, 2, 2]
    assert [g.number_of_edges() for g in (third, second, first)] == [0, 1, 0]
    assert list(second.successors(1)) == [2]
    with pytest.raises(networkx.NetworkXError):
        third.remove_edge(1, 2)


def test_long_histories():
    versions = [MultiDiGraph()]
    for i in range(2000):
        versions.append(versions[-1].add_node(i))
    assert len(versions[1000]) == 1000
    assert [len(g) for g in versions[::500]] == [0, 500, 1000, 1500, 2000]


def test_traversal_and_composition():
    ours, _ = both()
    assert list(topological_traversal(ours)) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="cycle"):
        list(topological_traversal(ours.add_edge("c", "a")))
    other = MultiDiGraph().add_edge("c", "d")
    assert set(compose_all(ours, other)) == {"a", "b", "c", "d"}


def test_view_of_a_tensor():
    x = cnp.ones((2, 3), dtype="float32", name="x")
    y = cnp.exp(x) + x
    graph = y.graph
    assert len(graph) == 3
    assert list(graph)[-1] == y.node
    attributes = graph.nodes[y.node]
    assert (attributes["shapes"], attributes["dtypes"]) == (((2, 3),), (y.dtype,))
    edges = graph.in_edges(y.node, data=True)
    assert sorted(d["sink_input_index"] for _, _, d in edges) == [0, 1]
    assert len(graph.add_node("more")) == 4 and len(graph) == 3
    assert list(graph.successors(x.node)) == [list(graph)[1], y.node]


def test_a_long_chain():
    x = cnp.ones(2)
    for _ in range(20000):
        x = x + 1
    assert len(x.graph) == 40001
    assert cnp.evaluate(x)[0] == 20001


def test_text_form():
    x = cnp.asarray(np.arange(40.0), name="values")
    y = cnp.exp(x) + x
    text = str(y.graph)
    assert text.startswith("composit graph 1")
    (again,) = parse(text, large_constants(y))
    assert str(again.graph) == text
    np.testing.assert_array_equal(again, y)
    assert structural_hash(again) == structural_hash(y) != structural_hash(x)


def test_lowered_graph():
    @cnp.wrap_as_operation()
    def cube(x):
        return x * x * x

    y = cube(cnp.ones(2))
    assert [node.operation.name for node in y.graph] == ["constant", "call"]
    assert [node.operation.name for node in y.lowered_graph] == ["constant", "map", "map"]
