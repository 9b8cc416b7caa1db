"""The examples of the prototype's page, as printed, and what its own tests checked."""

import itertools

import numpy as np
import pytest
from seed_modules import (
    CompositeModel_NoWeightSharing_DifferentInputs,
    CompositeModel_NoWeightSharing_SameInputs,
    CompositeModel_WeightSharing_DifferentInputs,
    CompositeModel_WeightSharing_SameInputs,
    Multiply,
    SimpleModel,
)

from composit import cg
from composit.cg import op


def test_values_and_gradients_as_printed():
    m = SimpleModel()
    result = m(3)
    assert repr(result.value) == "36"
    assert repr(m(np.array([3, 4, 5])).value) == "array([ 36,  80, 150])"
    result.back()
    assert repr(result.grad(m.param("w"))) == "9"
    assert repr(result.grad(m.input("x"))) == "33"


def test_calls_are_independent():
    m = SimpleModel()
    result1, result2 = m(3), m(3)
    assert result1 != result2 and result1.root != result2.root
    assert result1 == result1 and len({result1, result2}) == 2
    assert result1.call_id != result2.call_id and len(result1.call_id) == 6
    int(result1.call_id, 16)
    assert {node.call_id for node in cg.get_all_nodes(result1.root)} == {result1.call_id}
    result1.back()
    assert result2.root.gvalue is None
    first = result1.grad(m.input("x"))
    result1.back()
    assert result1.grad(m.input("x")) == first == 33


def test_nodes_of_one_id_and_value_are_equal():
    m = SimpleModel()
    a, b, other = m(3).root, m(3).root, m(4).root
    assert a != b
    b._id = other._id = a._id
    assert a == b and hash(a) == hash(b) and a != other
    vectors = [m(np.array([1.0, 2.0])).root for _ in range(2)]
    vectors[1]._id = vectors[0]._id
    assert vectors[0] == vectors[1]


def test_nodes_of_a_call():
    m = SimpleModel()
    root = m(3).root
    assert isinstance(root, cg.OperatorNode) and isinstance(root.ref, op.Multiply)
    assert root.id == cg.Node.makeID(cg.OperatorNode, root.call_id, root.ref)
    add, square = root.children
    assert (add.value, square.value) == (4, 9)
    x, w = add.children
    assert x is square.children[0] and x.isleaf() and not root.isleaf()
    assert isinstance(x, cg.InputNode) and x.input is m.input("x") and w.short_name == "w"
    assert x.parents == {add: 0, square: 0} and w.parents == {add: 1}
    assert w.parent_input_index(add) == 1
    assert [node.short_name for node in cg.get_input_nodes(root)] == ["x", "w"]
    assert len(cg.get_all_nodes(root)) == 5
    assert m.input("x").name == f"{m.name}.x"
    assert m.name.startswith(m.functional_name + "@")


def test_multiply_of_the_page():
    multiply = Multiply()
    assert multiply(3, 4).value == 12
    m = cg.Module.build("cube", lambda self, x: multiply(x, multiply(x, x)), cg.Variable("x"))
    result = m(3)
    result.back()
    assert (result.value, result.grad(m.input("x"))) == (27, 27)
    result = m(np.array([1.0, 2.0]))
    result.back()
    assert np.array_equal(result.grad(m.input("x")), np.diag([3.0, 12.0]))


def test_gradfn_of_operators():
    a, b = 3.0, 4.0
    assert (op.Add().gradfn("a")(a, b).value, op.Add().gradfn("b")(a, b).value) == (1, 1)
    assert (op.Multiply().gradfn("a")(a, b).value, op.Multiply().gradfn("b")(a, b).value) == (b, a)
    for i, name in enumerate("ab"):  # a variable of no function stands for that of its name
        assert op.Multiply().gradfn(cg.Variable(name))(a, b).value == (b, a)[i]
    assert op.Square().gradfn("x")(a).value == 6
    square = op.Square()
    derivative = square.gradfn(square.input("x"))
    assert derivative.functional_name == f"D{square.functional_name}#x"
    assert derivative.gradfn("x")(a).value == 2
    node = op.square(a)
    assert node.grad(node.children[0]) == 6
    assert node.send(node.children[0], 5.0) == 30
    assert square.make_vjp(a)(1.0)[0].evaluated() == 6


@pytest.mark.parametrize("shape", [(), (3,), (4, 3)])
def test_one_node_given_twice_counts_twice(shape):
    m = cg.Module.build("twice", lambda self, x: op.mult(x, x), cg.Variable("x"))
    result = m(3)
    result.back()
    assert result.grad(m.input("x")) == 6
    x = np.random.RandomState(0).standard_normal(shape)
    result = m(x)
    result.back()
    made = np.reshape(result.grad(m.input("x")), (x.size, x.size))
    assert np.array_equal(made, np.diag(2 * x.ravel()))


def test_identity_is_the_identity():
    x = np.array([1.0, 2.0, 3.0])
    assert np.array_equal(op.identity(x).value, x)
    m = cg.Module.build("f", lambda self, x: op.add(op.identity(x), x), cg.Variable("x"))
    result = m(x)
    result.back()
    first = result.root.children[0]
    assert np.array_equal(first.gvalue, np.eye(3))
    assert np.array_equal(result.grad(m.input("x")), 2 * np.eye(3))


def test_composite_models():
    models = [
        CompositeModel_NoWeightSharing_DifferentInputs(),
        CompositeModel_WeightSharing_DifferentInputs(),
        CompositeModel_NoWeightSharing_SameInputs(),
        CompositeModel_WeightSharing_SameInputs(),
    ]
    result = models[0](3, 4)
    assert result.value == 36 + 80
    result.back()
    m = models[0]
    assert (result.grad(m._m1.param("w")), result.grad(m._m2.param("w"))) == (9, 16)
    assert (result.grad(m.input("x1")), result.grad(m.input("x2"))) == (33, 56)
    m = models[1]
    result = m(3, 4)
    result.back()
    assert result.grad(m._m1.param("w")) == 9 + 16
    m = models[2]
    with pytest.warns(UserWarning, match="2 values are given for 1 inputs. The last 1 are ignored"):
        result = m(3, 4)
    result.back()
    assert (result.grad(m._m1.param("w")), result.grad(m.input("x1"))) == (9, 66)
    m = models[3]
    result = m(3)
    result.back()
    assert (result.grad(m._m1.param("w")), result.grad(m.input("x1"))) == (18, 66)


SHAPES = [((), ()), ((5,), (5,)), ((4, 3), (4, 3)), ((2, 3, 2, 2), (2, 3, 2, 2)), ((4, 3), (3,)),
          ((2, 3, 2, 2), (3, 1, 2)), ((5,), ())]  # fmt: skip


@pytest.mark.parametrize("shape, weights", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_jacobians_are_those_of_jax(shape, weights, dtype):
    import jax

    random = np.random.RandomState(len(shape))
    x = random.standard_normal(shape).astype(dtype)
    w = random.standard_normal(weights).astype(dtype)
    m = SimpleModel(w)
    result = m(x)
    result.back()
    enabled = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        f = lambda x, w: (x + w) * jax.numpy.square(x)
        value = np.asarray(f(jax.numpy.asarray(x), jax.numpy.asarray(w)))
        by_x, by_w = map(np.asarray, jax.jacrev(f, (0, 1))(x, w))
    finally:
        jax.config.update("jax_enable_x64", enabled)
    assert np.array_equal(np.asarray(result.value, dtype), value)
    assert np.array_equal(np.asarray(result.grad(m.param("w")), dtype), by_w)
    assert np.array_equal(np.asarray(result.grad(m.input("x")), dtype), by_x)


def test_values_of_other_libraries():
    import jax
    import torch

    m = SimpleModel()
    numbers = [3.0, 4.0]
    for x in (torch.tensor(numbers, requires_grad=True), jax.numpy.asarray(numbers), numbers):
        assert np.array_equal(m(x).value, [36, 80])


def test_names_are_unique():
    m = cg.Module.build("sum", lambda self, x: op.add(op.add(x, 1), op.add(x, 2)), cg.Variable("x"))
    nodes = cg.get_all_nodes(m(1).root)
    assert len({node.id for node in nodes}) == len(nodes) == 6
    multiply = Multiply()
    twice = cg.Module.build("f", lambda self, x: multiply(multiply(x, x), x), cg.Variable("x"))
    nodes = cg.get_all_nodes(twice(2).root)
    assert all(a != b for a, b in itertools.combinations(nodes, 2))
