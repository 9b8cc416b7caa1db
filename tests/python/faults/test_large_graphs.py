"""Graphs of very many nodes: evaluated in time that grows with them, compiled up to a limit."""

import time

import numpy as np
import pytest

import composit
import composit.numpy as cnp


def test_a_million_nodes_are_evaluated_within_seconds():
    x = cnp.zeros((3,), "float32")
    for _ in range(500_000):  # each two nodes: the sum, and its number
        x = x + 1
    begin = time.process_time()  # other programs do not count
    values = cnp.evaluate(x)
    assert time.process_time() - begin < 5
    np.testing.assert_array_equal(values, [5e5] * 3)


def test_compile_names_its_limit_and_takes_another():
    def lengthened(x):
        for _ in range(300_000):
            x = cnp.negative(x)
        return x

    with pytest.raises(
        ValueError, match=r"lengthened: the graph has 300001 nodes, but most_nodes is 2"
    ):
        composit.compile(lengthened, np.ones(3))
    short = composit.compile(
        lambda x: cnp.negative(cnp.exp(x)), backend="interpreter", most_nodes=2
    )
    with pytest.raises(ValueError, match="has 3 nodes, but most_nodes is 2"):
        short(np.ones(3))
    for wrong in (-1, True, 2.0):
        with pytest.raises(ValueError, match=r"most_nodes is .* A number of nodes"):
            composit.compile(lengthened, most_nodes=wrong)
