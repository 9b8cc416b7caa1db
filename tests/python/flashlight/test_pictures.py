"""Pictures of traced models fold by the paths of their modules."""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from composit import _core, flashlight
from composit.types import visualize


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Network(torch.nn.Module):
    """Layers in a list, with sums between them that belong to no layer."""

    def __init__(self, count):
        super().__init__()
        self.stem = torch.nn.Linear(4, 8)
        self.layers = torch.nn.ModuleList(Block() for _ in range(count))

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = x + layer(x)
        return x


def source_of(count, **options):
    network = Network(count)
    with flashlight.tracer.trace():
        output = network(torch.ones(2, 4))
    return visualize(output.lazy_tensor, render=False, **options).source


def ends_that_are_not_drawn(text):
    drawn = set(re.findall(r"^\t+(\w+) \[(?:label|fillcolor|height)", text, re.MULTILINE))
    ends = {end for pair in re.findall(r"(\w+) -> (\w+)", text) for end in pair}
    return ends - drawn


def clusters(text):
    return re.findall(r'subgraph \w+ \{\n\t+color=gray40 label="?([^"\n]*?)"? style', text)


def test_modules_are_clusters_by_their_paths():
    text = source_of(2)
    assert clusters(text) == ["stem", "layers", "0", "first", "second", "1", "first", "second"]
    weight = re.search(r"^(\t+)n\d+ \[label=\"?layers.1.first.weight", text, re.MULTILINE)
    assert weight and len(weight[1]) == 4  # within layers, 1, first
    assert not ends_that_are_not_drawn(text)


@pytest.mark.parametrize("level, expected", [(0, 0), (1, 2), (2, 4), (3, 8), (9, 8)])
def test_deeper_modules_are_one_box_each(level, expected):
    text = source_of(2, modules=level)
    assert len(clusters(text)) == expected
    assert text.count("shape=box3d") == {0: 2, 1: 2, 2: 4}.get(level, 0)
    assert not ends_that_are_not_drawn(text)


def test_a_box_hides_what_lies_within():
    """Of the two layers' closed boxes, only what flows between modules is drawn."""
    text = source_of(2, modules=1)
    boxes = dict(re.findall(r"(n\d+) \[label=(\S+) shape=box3d", text))
    assert sorted(boxes.values()) == ["0", "1"]
    for box in boxes:
        assert len(re.findall(rf"{box} -> ", text)) == len(re.findall(rf"-> {box} ", text)) == 1


def test_equal_modules_of_a_list_are_drawn_once():
    text = source_of(40)
    assert clusters(text)[:4] == ["stem", "layers", "0 … 39, 40 times", "first"]
    assert len(text) < 1.5 * len(source_of(2)) and not ends_that_are_not_drawn(text)
    closed = source_of(40, modules=1)
    assert closed.count("shape=box3d") == 1 and not ends_that_are_not_drawn(closed)


def test_a_part_holds_its_positions():
    assert _core.parts_of(["", "a", "a"], [0, 1, 1], False) == [0, ("a", [1, 2], [[1, 2]], "")]
    paths = ["a.0", "a.0", "", "a.1", "a.1", "", "b.c.d"]
    (whole, *sums, last) = _core.parts_of(paths, [0, 1, 2, 0, 1, 2, 3], True)
    (layers,) = whole[1]
    name, _, runs, last_name = layers
    assert (name, last_name) == ("0", "1") and runs == [[0, 1], [3, 4]]
    assert sums == [2, 5] and last[0] == "b.c.d"


PATHS = st.sampled_from(["", "a", "a.0", "a.1", "a.0.b", "c.0", "c.1"])


@given(st.lists(st.tuples(PATHS, st.sampled_from("xy")), max_size=40), st.booleans())
def test_every_node_has_an_equal_one_that_is_drawn(nodes, fold):
    paths, letters = [path for path, _ in nodes], [letter for _, letter in nodes]
    shown = _core.drawn_for(paths, [ord(letter) for letter in letters], fold)
    assert len(shown) == len(nodes)
    for position, drawn in enumerate(shown):
        assert letters[position] == letters[drawn] and shown[drawn] == drawn
        assert fold or position == drawn
