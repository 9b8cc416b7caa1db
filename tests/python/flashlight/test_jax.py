"""Programs written with JAX as functions of composit: values and gradients are JAX's."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from jax import lax
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


def written(x, places, rows):
    """Where places are met twice, or lie outside, and windows of several axes."""
    x = jnp.asarray(x)
    return (
        x.at[places].max(rows), x.at[places].min(rows), x.at[places].multiply(rows),
        x.at[:, places].max(rows.T), x.at[places, 1].add(rows[:, 0]), x.at[places].subtract(rows),
        x.at[1:3, 0:2].min(0.0), x.at[places, places[::-1]].max(rows[:, 1], mode="clip"),
        jax.ops.segment_max(rows, places % 2, 2), jax.ops.segment_prod(rows, places % 3, 4),
    )  # fmt: skip


def test_values_written_to_places_several_times():
    x, places, rows = floats(4, 4), np.array([1, 3, 1, -2, 9], "int32"), floats(5, 4)
    close(flashlight.trace_jax(written, x, places, rows)(x, places, rows), written(x, places, rows))
    compiled = ct.compile(flashlight.trace_jax(written, x, places, rows))
    close(compiled(x, places, rows), written(x, places, rows))
    with_nan = rows.copy()
    with_nan[0, 0] = np.nan
    largest = lambda x, rows: written(x, places, rows)[:2]
    close(flashlight.trace_jax(largest, x, with_nan)(x, with_nan), largest(x, with_nan))


def parts(x):
    return (
        jnp.stack([x, 2 * x], 1), jnp.unstack(x, axis=1), jnp.tile(x, (2, 1, 3)),
        jnp.bitwise_xor.reduce((9 * x).astype(int), axis=1),
        jax.vmap(lambda y: y / lax.psum(y, "i") + lax.pmax(y, "i") - lax.pmin(y, "i"),
                 axis_name="i")(x),
    )  # fmt: skip


def test_parts_joined_and_taken_apart():
    x = floats(3, 4)
    close(flashlight.trace_jax(parts, x)(x), parts(x))


@pytest.mark.parametrize("shape", [(7,), (2, 3, 5), (1,)])
def test_tridiagonal_systems_exchange_rows(shape):
    lower, middle, upper = floats(*shape), floats(*shape), floats(*shape)
    middle[..., 0] = 0 if shape[-1] > 1 else 2
    lower[..., 0] = upper[..., -1] = 0
    right = floats(*shape, 2)
    found = flashlight.trace_jax(lax.linalg.tridiagonal_solve, lower, middle, upper, right)(
        lower, middle, upper, right
    )
    close(found, lax.linalg.tridiagonal_solve(lower, middle, upper, right), 1e-4)


def test_the_incomplete_beta_function():
    a, b, x = np.meshgrid([1e-2, 0.5, 3, 80, 900], [0.3, 2, 700], np.linspace(0, 1, 11))
    traced = flashlight.trace_jax(jax.scipy.special.betainc, *np.float32([a, b, x]))
    of_scipy = scipy.special.betainc(*np.float32([a, b, x]).astype("float64"))
    np.testing.assert_allclose(traced(*np.float32([a, b, x])), of_scipy, rtol=1e-6, atol=1e-30)
    edges = traced(*np.broadcast_arrays(np.float32(-1), b, x.astype("float32")))
    assert np.isnan(np.asarray(edges)).all()


def fixed_point(w, x):
    """A loop that ends by values, with a derivative of its own; another within a scan."""

    @jax.custom_jvp
    def root(x):
        return lax.while_loop(lambda y: jnp.abs(y * y - x) > 1e-5, lambda y: (y + x / y) / 2, x)

    root.defjvp(lambda x, dx: (root(x[0]), dx[0] / (2 * root(x[0]))))
    halves = lambda total, x: (total + lax.while_loop(lambda y: y > w, lambda y: y / 2, x), x)
    return root(w) + lax.scan(halves, 0.0, x)[0]


def test_loops_that_end_by_values_within_scans_and_own_rules():
    w, x = np.float32(2.0), np.abs(floats(4)) + 2
    traced = flashlight.trace_jax(fixed_point, w, x)
    close(traced(w, x), fixed_point(w, x))
    close(ct.grad(traced, argnums=(0, 1))(w, x), jax.jacfwd(fixed_point, (0, 1))(w, x))
    with pytest.raises(NotImplementedError, match="depends on a placeholder"):
        ct.compile(traced)(w, x)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    w: Any
    keys: list

    def __call__(self, x):
        return x @ self.w + jax.random.normal(self.keys[0], x.shape)


def test_containers_that_jax_knows_are_structures():
    layer, x = Layer(floats(3, 3), [jax.random.key(4)]), floats(2, 3)
    loss = lambda layer, x: jnp.mean(layer(x) ** 2)
    traced = flashlight.trace_jax(loss, layer, x)
    gradient = ct.grad(lambda w, layer, x: traced(Layer(w, layer.keys), x))(layer.w, layer, x)
    expected = jax.grad(lambda w: loss(Layer(w, layer.keys), x))(layer.w)
    close(gradient, expected)
    compiled = ct.compile(traced)
    assert compiled(layer, x).item() == traced(layer, x).item()
    doubled = ct.compile(flashlight.trace_jax(lambda layer: Layer(2 * layer.w, layer.keys), layer))
    made = doubled(layer)
    assert isinstance(made, Layer) and made.keys[0] == 4  # words of a key
    np.testing.assert_array_equal(made.w, 2 * layer.w)


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
