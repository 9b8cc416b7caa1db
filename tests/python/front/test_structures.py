"""Structures: leaves, other values in their places, pairs, texts and names."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

from composit import structure

Pair = namedtuple("Pair", ["a", "b"])


@dataclass
class Record:
    weight: Any
    bias: Any


class Row(list):
    """A list of another class."""


NESTED = {"x": [1, Pair(2.5, None)], "y": (Row([3]), ())}


def test_leaves():
    assert structure.leaves(NESTED) == [1, 2.5, None, 3]
    assert structure.leaves(NESTED, int) == [1, 3]
    assert structure.leaves((7, [8]), (list, tuple)) == [(7, [8])]  # a value of the kind is whole
    one = "one"
    assert structure.leaves([one, (one, 1)], str) == [one, one]
    assert structure.leaves([one, (one, 1)], str, distinct=True) == [one]
    assert structure.leaves(None) == [None]


def test_values_are_replaced():
    made = structure.mapped(NESTED, lambda x: x * 2, int)
    assert made == {"x": [2, Pair(2.5, None)], "y": (Row([6]), ())}
    assert type(made["x"][1]) is Pair and type(made["y"][0]) is Row
    assert type(structure.mapped(OrderedDict(a=1), str)) is dict
    assert structure.mapped([None, 1], lambda x: x is None) == [True, False]


def test_only_plain_containers_are_changed():
    assert structure.changed([Row([1]), (2,)], type) == [Row, (int,)]
    assert structure.changed(Pair(1, {"k": 2}), str) == Pair("1", {"k": "2"})


def test_pairs():
    made = structure.mapped_pairs({"a": [1, "s"]}, {"a": (10, 20)}, int.__add__, int)
    assert made == {"a": [11, "s"]}
    with pytest.raises(ValueError, match="of 2 items stands beside one of 1"):
        structure.mapped_pairs([1, 2], [1], int.__add__, int)


def test_flattened_structures_are_put_together_again():
    value = {"r": Record(1, [2, None]), "p": Pair(3, Row([4]))}
    leaves, rebuild = structure.flatten(value)
    assert leaves == [1, 2, 3, 4]
    made = rebuild(iter("abcd"))
    assert made == {"r": Record("a", ["b", None]), "p": Pair("c", Row(["d"]))}
    with pytest.raises(ValueError, match="from 1 leaves"):
        rebuild([1])


def test_texts_and_names():
    value = {"w": (Record(1, 2), [3]), "n": Pair(None, (4,))}
    assert structure.outline(value) == (
        "{'w': (Record(weight=*, bias=*), [*]), 'n': Pair(None, (*,))}"
    )
    assert structure.names_of(value) == ["w_0_weight", "w_0_bias", "w_1_0", "n_b_0"]
    assert structure.names_of([1, {"k": 2}], "state") == ["state_0", "state_1_k"]
    assert structure.distinct_names_of([{"a": 1}, {"a": 2}, {"b": 3}, 4]) == ["a_0", "a_1", "b", ""]


def test_axes_hold_for_all_below_them():
    value = ({"a": [1, 2], "b": 3}, 4)
    assert structure.spread("vmap", 0, value) == [0] * 4
    assert structure.spread("vmap", ({"a": 1, "b": None}, 2), value) == [1, 1, None, 2]
    with pytest.raises(TypeError, match="True is not an axis"):
        structure.spread("vmap", True, value)
    with pytest.raises(ValueError, match="One that begins the same"):
        structure.spread("vmap", [0, 1], value)


def test_structures_within_themselves_are_errors():
    value: list[Any] = []
    value.append(value)
    for function in (structure.leaves, structure.flatten, structure.outline, structure.names_of):
        with pytest.raises(RecursionError):
            function(value)
