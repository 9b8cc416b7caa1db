"""The examples of composit's first page, as printed."""

import os

import numpy as np


def test_simplest_example():
    import composit.numpy as cnp
    from composit.types import LazyTensor

    input: LazyTensor = cnp.ones((2, 3), dtype="float32")
    output: LazyTensor = cnp.exp(input)
    np_output: np.ndarray = cnp.evaluate(output)
    np.testing.assert_allclose(np_output, np.exp(np.ones((2, 3), "float32")), rtol=2e-7)


def test_several_inputs_and_outputs(tmp_path, monkeypatch, capsys):
    import composit as cnp
    from composit.types import LazyTensor, visualize

    monkeypatch.chdir(tmp_path)
    input_a: LazyTensor = cnp.ones((5, 10), dtype="float32")
    input_b: LazyTensor = cnp.random.random((10,))
    input_c: LazyTensor = cnp.random.random((5, 1))
    exp: LazyTensor = cnp.exp(input_a + input_b)
    tanh: LazyTensor = cnp.tanh(input_a + input_c)
    visualize(exp, tanh, render=True)
    visualize(exp, render=True)
    assert "visualize: wrote " in capsys.readouterr().out
    assert os.listdir(tmp_path)

    assert len(input_c.graph) == 1
    np_input_c: np.ndarray = cnp.evaluate(input_c)
    assert np_input_c.shape == (5, 1)
    assert len(exp.graph) == 4
    np_exp: np.ndarray = cnp.evaluate(exp)
    first = np_exp
    np_exp, np_tanh = cnp.evaluate(exp, tanh)
    np.testing.assert_array_equal(np_exp, first)
    assert np_tanh.shape == (5, 10)


def test_wrap_as_operation():
    import composit.numpy as cnp
    from composit.nn.core import wrap_as_operation

    @wrap_as_operation()
    def relu(input_tensor: np.ndarray) -> np.ndarray:
        return np.maximum(input_tensor, 0)

    input = cnp.random.random((2, 3))
    output = relu(input)
    assert len(output.graph) == 2
    np.testing.assert_array_equal(cnp.evaluate(output), np.maximum(cnp.evaluate(input), 0))


def test_training():
    import composit as cnp
    from composit.nn import chain_rule, optimize
    from composit.nn.optimize import sgd_optimizer

    def model(input, weight):
        return input @ weight

    def loss_function(logits):
        return cnp.mean(logits)

    weight = cnp.random.random((32, 8))
    expected = cnp.evaluate(weight)

    num_iterations = 3
    for _iteration in range(num_iterations):
        # Forward
        input = cnp.random.random((16, 32))
        output = model(input, weight)
        loss = loss_function(output)

        # Forward + Backward (only compute the gradient for the weight)
        inputs_that_require_gradients = [weight]
        gradients = chain_rule(
            {loss: loss},
            inputs_that_require_gradients,
        )

        # Forward + Backward + Optimizer
        (weight,) = optimize(
            inputs_that_require_gradients, gradients, sgd_optimizer(learning_rate=1e-3)
        )
        slope = np.repeat(cnp.evaluate(input).sum(axis=0)[:, None], 8, axis=1) / (16 * 8)
        expected = expected - 1e-3 * slope
    np.testing.assert_allclose(cnp.evaluate(weight), expected, rtol=1e-12)


def test_wrapped_operations_differentiate_and_refuse_what_cannot_be_traced():
    import pytest

    import composit as cnp
    from composit.nn import chain_rule
    from composit.nn.core import wrap_as_operation

    @wrap_as_operation()
    def cube(x):
        return x * np.square(x)

    x = cnp.asarray(np.array([1.0, 2.0]))
    y = cube(x).sum()
    np.testing.assert_array_equal(cnp.evaluate(*chain_rule({y: y}, [x])), [3.0, 12.0])

    @wrap_as_operation()
    def sorted_values(x):
        return np.linalg.eigvals(x)

    with pytest.raises(NotImplementedError, match="sorted_values cannot be traced"):
        sorted_values(cnp.ones((2, 2)))


def test_names_of_the_namespaces():
    import subprocess
    import sys

    program = """
import composit as cnp
for name in (
    "abs add arange asarray astype broadcast_to concatenate cos divide evaluate exp get_item log "
    "matmul max mean multiply ndarray ones power random reciprocal reshape set_item sin split sqrt "
    "square subtract sum tanh transpose var visualize wrap_as_operation zeros numpy nn operations "
    "types multidigraph"
).split():
    assert hasattr(cnp, name), name
from composit.multidigraph import (
    MultiDiGraph, compose_all, default_visualize_edge, default_visualize_node, from_networkx,
    merge_graphs, to_networkx, topological_traversal, visualize_graph,
)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
