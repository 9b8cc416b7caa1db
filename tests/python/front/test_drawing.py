"""Pictures of graphs: what they show, calls as clusters, repetitions drawn once, formats."""

import re
import shutil
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import composit
import composit.numpy as cnp
from composit.folding import Repeat, folded
from composit.types import visualize

DOT = shutil.which("dot") is not None


@cnp.wrap_as_operation()
def relu(x):
    return np.maximum(x, 0)


@cnp.wrap_as_operation()
def twice(x):
    return relu(relu(x))


def source_of(*tensors, **options):
    return visualize(*tensors, render=False, **options).source


def test_types_are_on_edges():
    a, b = cnp.split(cnp.ones((4, 3), "float32", name="x") * 2, 2)
    text = source_of(a, cnp.exp(b))
    assert "label=x" in text and "label=exp" in text
    assert 'label="float32[4, 3]"' in text
    assert 'label="0: float32[2, 3]"' in text and 'label="1: float32[2, 3]"' in text
    assert text.count("shape=point") == 2


@pytest.mark.parametrize("depth, clusters", [(0, 0), (1, 1), (2, 3), (5, 3)])
def test_calls_are_clusters_to_a_depth(depth, clusters):
    text = source_of(twice(cnp.ones(3)) + 1, depth=depth)
    assert text.count("subgraph cluster") == clusters
    assert text.count("shape=box3d") == {0: 1, 1: 2}.get(depth, 0)


def test_every_edge_ends_at_a_drawn_node():
    tensor = cnp.ones((3, 3), name="w")
    x = cnp.ones(3)
    for _ in range(300):
        x = relu(tensor @ x) / cnp.mean(x)
    for options in ({}, {"depth": 0}, {"depth": 3}, {"fold": 10**6}):
        text = source_of(x, **options)
        drawn = set(re.findall(r"^\t+(\w+) \[(?:label|fillcolor)", text, re.MULTILINE))
        ends = {end for pair in re.findall(r"(\w+) -> (\w+)", text) for end in pair}
        assert ends <= drawn
    assert source_of(x).count("\n") < 100


def test_ten_thousand_nodes_are_drawn_in_seconds():
    x = cnp.ones((4, 8))
    for i in range(1500):
        y = cnp.exp(x @ np.ones((8, 8)))
        x = (x + y * 0.5 if i % 2 else y - x) * 2
    assert len(x.graph) > 9000
    start = time.process_time()
    text = source_of(x)
    assert time.process_time() - start < 5
    assert "750 times" in text and text.count("->") < 60


@pytest.mark.parametrize(
    "text, least, expected",
    [
        ("abcbcbcd", 2, [0, Repeat(1, 2, 3, [1, 2]), 7]),
        ("aaaa", 2, [Repeat(0, 1, 4, [0])]),
        ("abcd", 1, [0, 1, 2, 3]),
        ("", 1, []),
        ("xxyxxyxxy", 1, [Repeat(0, 3, 3, [Repeat(0, 1, 2, [0]), 2])]),
    ],
)
def test_folding(text, least, expected):
    assert folded(text, least) == expected


def unfolded(items):
    for item in items:
        if isinstance(item, Repeat):
            inner = list(unfolded(item.items))
            assert len(inner) == item.length
            for run in range(item.count):
                yield from (position + run * item.length for position in inner)
        else:
            yield item


@given(st.lists(st.sampled_from("abc"), max_size=60), st.integers(1, 5))
def test_unfolding_gives_the_sequence_back(letters, least):
    items = folded(letters, least)
    assert list(unfolded(items)) == list(range(len(letters)))
    stack = list(items)
    while stack:
        item = stack.pop()
        if isinstance(item, Repeat):
            first = letters[item.start : item.start + item.length]
            whole = letters[item.start : item.start + item.length * item.count]
            assert whole == first * item.count
            stack += item.items


@pytest.mark.skipif(not DOT, reason="needs graphviz")
@pytest.mark.parametrize(
    "format, begins", [("svg", b"<?xml"), ("png", b"\x89PNG"), ("dot", b"digraph")]
)
def test_files(format, begins, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    visualize(relu(cnp.ones(3)), format=format, file_name="picture")
    (file,) = tmp_path.iterdir()
    assert file.name == f"picture.{format}" and file.read_bytes().startswith(begins)
    assert f"wrote {file}" in capsys.readouterr().out


def test_options_that_are_not_known():
    with pytest.raises(ValueError, match=r"visualize: format is 'gif'. One of .*'svg'.* is requ"):
        visualize(cnp.ones(1), format="gif")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        visualize(cnp.ones(1), render=False, colour=1)


def test_drawers_of_ones_own():
    drawn = []
    visualize(
        cnp.exp(cnp.ones(2)),
        render=False,
        visualize_node=lambda digraph, graph, node: drawn.append(node.name),
        visualize_edge=lambda digraph, graph, edge: None,
    )
    assert drawn == ["ones((2,))", "exp"]


@pytest.mark.skipif(not DOT, reason="needs graphviz")
def test_notebooks():
    y = relu(cnp.ones(3, name="<x>"))
    assert y.graph._repr_svg_().count("<svg") == 1
    page = y._repr_html_()
    assert page.startswith(
        "<pre>array([1., 1., 1.])</pre><details><summary>LazyTensor(relu: float64[3])<"
    )
    assert page.count("<details>") == 2 and "&lt;x&gt;" in page


def test_attributes_of_nodes():
    x = cnp.asarray([1.0, 2.0])
    np.testing.assert_array_equal(x.node.attributes["value"], [1, 2])
    body = relu(x).node.attributes["body"]
    assert body.name == "relu" and len(body.parameters) == 1
    assert composit.evaluate(x) is not None
