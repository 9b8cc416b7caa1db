"""Programs written with JAX as functions of composit: values and gradients are JAX's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_programs import (
    PROGRAMS,
    counting,
    draws,
    euler,
    floats,
    integers,
    many_functions,
    mlp_loss,
    more_special,
    shaped_draws,
    transforms,
)  # fmt: skip

import composit as ct
import composit.numpy as cnp
from composit import flashlight, mlir
from composit.structure import flatten


def close(found, expected, tolerance=1e-5):
    found, expected = flatten(found)[0], jax.tree.leaves(expected)
    for x, y in zip(found, expected, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * max(1, np.abs(y).max()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients_are_jaxs(name):
    function, arguments, numbers = PROGRAMS[name]
    value, gradients = jax.value_and_grad(function, numbers)(*arguments)
    traced = flashlight.trace_jax(function, *arguments)
    close(traced(*arguments), value)
    lazy = jax.tree.map(cnp.asarray, arguments)
    close(ct.grad(traced, argnums=numbers)(*lazy), gradients, 2e-5)
    # JAX's own derivative is a program as well.
    of_jax = flashlight.trace_jax(jax.grad(function, numbers), *arguments)
    close(of_jax(*arguments), gradients, 2e-5)


@pytest.mark.parametrize("function", [integers, more_special, transforms, many_functions])
def test_values_are_jaxs(function):
    x = floats(9)
    close(flashlight.trace_jax(function, x)(x), function(x))


@pytest.mark.parametrize("key", [jax.random.key(3), jax.random.PRNGKey(5)])
def test_draws_have_jaxs_bits(key):
    for found, y in zip(flashlight.trace_jax(draws, key)(key), draws(key), strict=True):
        assert np.asarray(found).tobytes() == np.asarray(y).tobytes()
    close(flashlight.trace_jax(shaped_draws, key)(key), shaped_draws(key))


def test_a_seed_within_the_program():
    def noisy(x, seed):
        return x + jax.random.normal(jax.random.key(seed), x.shape)

    x = floats(4)
    close(flashlight.trace_jax(noisy, x, 0)(x, 17), noisy(x, 17))


def test_while_loops():
    x = floats(4)
    close(flashlight.trace_jax(euler, x, 0.1)(x, 0.1), euler(x, 0.1))
    close(flashlight.trace_jax(counting, x, 3)(x, 3), counting(x, 3))


def test_compiled_and_written_as_stablehlo():
    function, arguments, _ = PROGRAMS["attention"]
    traced = flashlight.trace_jax(function, *arguments)
    compiled = ct.compile(traced)
    assert np.asarray(compiled(*arguments)) == np.asarray(traced(*arguments))
    assert "stablehlo.dot_general" in mlir.text(traced, *arguments)


def test_a_training_step():
    """SGD with momentum, step by step, is JAX's."""

    def step(state, x, y):
        parameters, momentum = state
        gradients = jax.grad(mlp_loss)(parameters, x, y)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
        parameters = jax.tree.map(lambda p, m: p - 0.01 * m, parameters, momentum)
        return parameters, momentum

    _, (parameters, x, y), _ = PROGRAMS["MLP"]
    state = (parameters, jax.tree.map(np.zeros_like, parameters))
    traced, other = flashlight.trace_jax(step, state, x, y), state
    for _ in range(5):
        state, other = step(state, x, y), traced(other, x, y)
    close(other, state)


def test_graphs_have_the_programs_lines():
    def function(x):
        return jnp.sin(x)

    x = ct.placeholder("x", (3,), np.float32)
    (y,) = flatten(flashlight.trace_jax(function, np.zeros(3, "float32"))(x))[0]
    assert "test_jax.py:" in str(y.graph)


@pytest.mark.parametrize(
    "function, arguments, error, text",
    [
        (lambda x: jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct((2,), "float32"), x),
         [floats(2)], NotImplementedError,
         "trace_jax: the primitive 'pure_callback' has no operation here."),
        (lambda x: jax.lax.reduce_precision(x, 3, 2), [floats(2)], NotImplementedError,
         "trace_jax: reduce_precision to 3 bits of exponent and 2 of mantissa."),
    ],
)  # fmt: skip
def test_refusals(function, arguments, error, text):
    with pytest.raises(error) as raised:
        flashlight.trace_jax(function, *arguments)(*arguments)
    assert text in str(raised.value) and "[test_jax.py:" in str(raised.value)


def test_a_loop_that_depends_on_a_placeholder_is_refused():
    traced = flashlight.trace_jax(euler, floats(4), 0.1)
    with pytest.raises(NotImplementedError, match=r"depends on a placeholder.*test_jax\.py:"):
        ct.compile(traced)(floats(4), np.float32(0.1))


def test_arguments_are_like_the_examples():
    traced = flashlight.trace_jax(lambda x: x, floats(3))
    with pytest.raises(ValueError, match="argument 0 has shape"):
        traced(floats(4))
    with pytest.raises(TypeError, match="The examples' structure is required"):
        traced(floats(3), floats(3))
