"""Nodes, graphs and inputs that are made by hand, and messages sent along them."""

import numpy as np
import pytest

from composit import cg
from composit.cg import op


class Simple(cg.Module):
    def __init__(self, w0=1):
        super().__init__(inputs=(cg.Variable("x"),), params=(cg.Parameter("w", w0),))

    def call(self, x):
        return op.mult(op.add(x, self.param("w")), op.square(x))


def test_nodes_by_hand():
    x = cg.Variable("x")
    leaf = cg.InputNode("abc", x, 3.0)
    square = op.Square()
    node = cg.OperatorNode("abc", square, 9.0, children=[leaf])
    assert leaf.parents == {node: 0} and leaf.parent_input_index(node) == 0
    assert node.children == [leaf] and leaf.isleaf() and not node.isleaf()
    assert node.id == cg.Node.makeID(cg.OperatorNode, "abc", square)
    assert (node.call_id, node.ref, node.value) == ("abc", square, 9)
    assert node.grad(leaf) == 6 and node.vjp(leaf)(2.0) == 12
    assert cg.get_all_nodes(node) == [leaf, node] and cg.get_input_nodes(node) == [leaf]
    other = cg.Node("abc", cg.Variable("y"), np.ones(2), parents={node: 1})
    assert other.parents == {node: 1} and other.value.tolist() == [1, 1]
    assert cg.Node("abc", x, 3.0) == cg.Node("abc", x, 3.0) != cg.Node("abc", x, 4.0)
    graph = cg.ModuleGraph("abc", Simple(), node)
    assert graph.value == 9 and graph.root is node and graph.call_id == "abc"


def test_messages_add_up():
    shared = Simple()(3.0).root
    x = cg.get_input_nodes(shared)[0]
    add, square = shared.children
    assert not x.received_messages_from_all_parents()
    for parent in (add, square):
        parent_value = shared.vjp(parent)(1.0)
        x.receive(parent, parent.send(x, parent_value))
    assert x.received_messages_from_all_parents()
    x.update_gvalue()
    assert x.gvalue == 33
    with pytest.raises(ValueError, match="is no input of"):
        x.receive(shared, 1.0)
    x.add_parent(shared, 0)
    assert x.parent_input_index(shared) == 0


def test_derivatives_by_the_operators_own_variables():
    multiply = op.Multiply()
    node = multiply(3.0, 4.0)
    assert node.grad(multiply.input("a")) == 4 and node.grad(multiply.input("b")) == 3
    assert node.vjp(multiply.input("a"))(2.0) == 8 and node.send(multiply.input("b"), 2.0) == 6
    assert multiply.gradfn(multiply.input("a"))(3.0, 4.0).value == 4

    class Squared(cg.Module):
        def __init__(self):
            super().__init__(inputs=(cg.Variable("x"),))

        def call(self, x):
            return multiply(x, x)

    both = Squared()(3.0).root
    assert both.grad(both.children[0]) == 6 and both.grad(multiply.input("b")) == 3
    with pytest.raises(ValueError, match="or of the operator's inputs"):
        node.grad(cg.Variable("a"))


def test_inputs_by_their_names():
    assert cg.Variable(name="x").short_name == "x"
    assert cg.Parameter(name="w", init_value=2) == cg.Parameter("w", 2)
    assert cg.Constant(name="c", val=3).value == 3


def test_pictures_of_several_results():
    first, second = Simple()(3.0), Simple()(4.0)
    picture = cg.plot_cg({"a": [first, (second.root,)]}, view=False, title="both")
    assert picture.source.count("Multiply→") == 2 and picture.source.count("peripheries=2") == 2
    with pytest.raises(TypeError, match="has no node"):
        cg.plot_cg([], view=False)
    with pytest.raises(TypeError, match="several in a list"):
        cg.plot_cg([3], view=False)
