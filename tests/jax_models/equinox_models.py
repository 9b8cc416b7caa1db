"""Models of Equinox."""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from jax_models import as_numpy, filled, floats, program, uniform

of_equinox = partial(program, library="Equinox")


def made(make: Any) -> Any:
    """What a function of a key makes, with other parameters."""
    return filled(eqx.filter_eval_shape(make, jax.random.key(0)))


def applied(model: Any, call: Any, *arguments: Any) -> Any:
    """call(model, …) as a program that is differentiated by the model's arrays."""
    parameters, static = eqx.partition(model, eqx.is_inexact_array)

    def function(parameters, *arguments):
        return call(eqx.combine(parameters, static), *arguments)

    return function, (as_numpy(parameters), *arguments)


def of_each(model: Any, x: Any) -> Any:
    return jax.vmap(model)(x)


@of_equinox("multilayer perceptron of Equinox", compared="gradient")
def mlp():
    model = made(lambda key: eqx.nn.MLP(3, 2, 8, 2, activation=jax.nn.softplus, key=key))
    return applied(model, of_each, floats(0, 5, 3))


@of_equinox("convolutional network by Sequential", compared="gradient")
def convolutional():
    model = made(lambda key: eqx.nn.Sequential([
        eqx.nn.Conv2d(1, 3, 4, key=key), eqx.nn.MaxPool2d(2, 2), eqx.nn.Lambda(jax.nn.relu),
        eqx.nn.Conv2d(3, 4, 3, padding=1, key=key), eqx.nn.AvgPool2d(2, 1),
        eqx.nn.Lambda(jnp.ravel), eqx.nn.Linear(16, 5, key=key),
        eqx.nn.Lambda(jax.nn.log_softmax),
    ]))  # fmt: skip
    return applied(model, of_each, uniform(0, 2, 1, 9, 9))


class Recurrent(eqx.Module):
    cell: eqx.nn.GRUCell
    last: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(2, 6, key=keys[0])
        self.last = eqx.nn.Linear(6, 1, key=keys[1])

    def __call__(self, xs):
        hidden, _ = jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(6), xs)
        return jax.nn.sigmoid(self.last(hidden))


@of_equinox("GRU along spirals", compared="step")
def spirals():
    parameters, static = eqx.partition(made(Recurrent), eqx.is_inexact_array)
    angles = jnp.linspace(0, 6, 9) + jnp.array([[0.0], [3.0], [1.0], [4.0]])
    xs = jnp.stack([angles * jnp.sin(angles), angles * jnp.cos(angles)], -1) / 6

    @eqx.filter_value_and_grad
    def loss(model, xs, ys):
        p = jax.vmap(model)(xs)[:, 0]
        return -jnp.mean(ys * jnp.log(p) + (1 - ys) * jnp.log(1 - p))

    def step(parameters, xs, ys):
        value, gradients = loss(eqx.combine(parameters, static), xs, ys)
        return eqx.apply_updates(parameters, jax.tree.map(lambda g: -0.3 * g, gradients)), value

    return step, (as_numpy(parameters), as_numpy(xs), floats(1, 4) > 0)


class AttentionBlock(eqx.Module):
    norms: list[eqx.nn.LayerNorm]
    attention: eqx.nn.MultiheadAttention
    up: eqx.nn.Linear
    down: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, width, key):
        keys = jax.random.split(key, 3)
        self.norms = [eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)]
        self.attention = eqx.nn.MultiheadAttention(2, width, key=keys[0])
        self.up = eqx.nn.Linear(width, 12, key=keys[1])
        self.down = eqx.nn.Linear(12, width, key=keys[2])
        self.dropout = eqx.nn.Dropout(0.1)

    def __call__(self, x, key):
        y = jax.vmap(self.norms[0])(x)
        x = x + self.attention(y, y, y)
        y = jax.vmap(self.down)(jax.nn.gelu(jax.vmap(self.up)(jax.vmap(self.norms[1])(x))))
        return x + self.dropout(y, key=key)


class VisionTransformer(eqx.Module):
    patches: eqx.nn.Conv2d
    first: jax.Array
    places: jax.Array
    blocks: list[AttentionBlock]
    last: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 6)
        self.patches = eqx.nn.Conv2d(3, 8, 4, 4, key=keys[0])
        self.first = jax.random.normal(keys[1], (1, 8))
        self.places = jax.random.normal(keys[2], (5, 8))
        self.blocks = [AttentionBlock(8, key) for key in keys[3:5]]
        self.last = eqx.nn.Linear(8, 4, key=keys[5])

    def __call__(self, image, key):
        x = self.patches(image).reshape(8, -1).T
        x = jnp.concatenate([self.first, x]) + self.places
        for block, own_key in zip(self.blocks, jax.random.split(key)):
            x = block(x, own_key)
        return self.last(x[0])


@of_equinox("vision transformer with dropout by key", compared="gradient")
def vision_transformer():
    def call(model, images, key):
        return jax.vmap(model)(images, jax.random.split(key, len(images)))

    return applied(made(VisionTransformer), call, floats(0, 2, 3, 8, 8), jax.random.key(4))


@of_equinox("neural ODE by Runge-Kutta", compared="gradient")
def neural_ode():
    def call(model, start, times):
        def step(y, pair):
            t, h = pair[0], pair[1] - pair[0]
            f = lambda t, y: model(jnp.append(y, t))
            k1 = f(t, y)
            k2 = f(t + h / 2, y + h / 2 * k1)
            k3 = f(t + h / 2, y + h / 2 * k2)
            k4 = f(t + h, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return y, y

        return jax.lax.scan(step, start, jnp.stack([times[:-1], times[1:]], 1))[1]

    model = made(lambda key: eqx.nn.MLP(3, 2, 8, 1, activation=jnp.tanh, key=key))
    return applied(model, call, floats(0, 2), uniform(1, 9).cumsum())


@of_equinox("batch norm with state", compared="step")
def batch_norm():
    keys = jax.random.split(jax.random.key(0))
    model, state = eqx.nn.make_with_state(eqx.nn.Sequential)([
        eqx.nn.Linear(3, 5, key=keys[0]), eqx.nn.BatchNorm(5, "batch", mode="batch"),
        eqx.nn.Lambda(jax.nn.relu), eqx.nn.Linear(5, 2, key=keys[1]),
    ])  # fmt: skip
    parameters, static = eqx.partition(model, eqx.is_inexact_array)

    def step(both, x):
        parameters, state = both

        def loss(parameters):
            model = eqx.combine(parameters, static)
            of_batch = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
            y, changed = of_batch(x, state)
            return jnp.mean(y**2), changed

        (value, state), gradients = jax.value_and_grad(loss, has_aux=True)(parameters)
        return (eqx.apply_updates(parameters, jax.tree.map(jnp.negative, gradients)), state), value

    return step, ((as_numpy(parameters), as_numpy(state)), floats(0, 6, 3))


class Coupling(eqx.Module):
    scale: eqx.nn.MLP
    shift: eqx.nn.MLP

    def __init__(self, key):
        keys = jax.random.split(key)
        self.scale = eqx.nn.MLP(2, 2, 6, 1, jnp.tanh, final_activation=jnp.tanh, key=keys[0])
        self.shift = eqx.nn.MLP(2, 2, 6, 1, jnp.tanh, key=keys[1])

    def __call__(self, x):
        kept, changed = x[:2], x[2:]
        s = self.scale(kept)
        return jnp.concatenate([(changed - self.shift(kept)) * jnp.exp(-s), kept]), -s.sum()


@of_equinox("normalising flow of couplings", compared="gradient")
def normalising_flow():
    def log_likelihood(layers, x):
        total = 0.0
        for layer in layers:
            x, change = layer(x)
            total = total + change
        return total + jax.scipy.stats.norm.logpdf(x).sum()

    layers = made(lambda key: [Coupling(key) for _ in range(3)])
    return applied(layers, lambda layers, x: jax.vmap(partial(log_likelihood, layers))(x),
                   floats(0, 5, 4))  # fmt: skip


@of_equinox("continuous flow with its exact trace", compared="gradient")
def continuous_flow():
    def call(model, x):
        def step(carry, _):
            x, logarithm = carry
            jacobian = jax.jacfwd(model)(x)
            return (x + 0.1 * model(x), logarithm - 0.1 * jnp.trace(jacobian)), None

        one = lambda x: jax.lax.scan(step, (x, 0.0), length=5)[0]
        return jax.vmap(one)(x)

    model = made(lambda key: eqx.nn.MLP(2, 2, 8, 1, activation=jnp.tanh, key=key))
    return applied(model, call, floats(0, 4, 2))


@of_equinox("physics-informed network of Burgers' equation", compared="gradient")
def physics_informed():
    def call(model, points):
        u = lambda t, x: model(jnp.stack([t, x]))

        def residual(point):
            t, x = point
            u_t, u_x = jax.grad(u, (0, 1))(t, x)
            u_xx = jax.grad(jax.grad(u, 1), 1)(t, x)
            return u_t + u(t, x) * u_x - 0.01 * u_xx

        starts = jax.vmap(lambda x: u(0.0, x) + jnp.sin(jnp.pi * x))(points[:, 1])
        return jax.vmap(residual)(points), starts

    model = made(lambda key: eqx.nn.MLP(2, "scalar", 8, 2, activation=jnp.tanh, key=key))
    return applied(model, call, uniform(0, 6, 2) * 2 - 1)


@of_equinox("operator network of branch and trunk", compared="gradient")
def operator_network():
    def call(networks, functions, points):
        branch, trunk, bias = networks
        return jax.vmap(branch)(functions) @ jax.vmap(trunk)(points).T + bias

    networks = made(lambda key: (
        eqx.nn.MLP(5, 6, 8, 1, key=key), eqx.nn.MLP(1, 6, 8, 1, jnp.sin, key=key), jnp.ones(()),
    ))  # fmt: skip
    return applied(networks, call, floats(0, 3, 5), uniform(1, 4, 1))


class SpectralLayer(eqx.Module):
    real: jax.Array
    imaginary: jax.Array
    direct: eqx.nn.Conv1d

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.real = jax.random.normal(keys[0], (3, 3, 4))
        self.imaginary = jax.random.normal(keys[1], (3, 3, 4))
        self.direct = eqx.nn.Conv1d(3, 3, 1, key=keys[2])

    def __call__(self, x):
        weights = self.real + 1j * self.imaginary
        modes = jnp.einsum("im,iom->om", jnp.fft.rfft(x)[:, :4], weights)
        spectrum = jnp.zeros((3, x.shape[1] // 2 + 1), "complex64").at[:, :4].set(modes)
        return jax.nn.gelu(jnp.fft.irfft(spectrum, n=x.shape[1]) + self.direct(x))


@of_equinox("Fourier neural operator", compared="gradient")
def fourier_operator():
    return applied(made(SpectralLayer), of_each, floats(0, 2, 3, 12))


@of_equinox("transposed and dilated convolutions in one dimension", compared="gradient")
def convolutions():
    model = made(lambda key: eqx.nn.Sequential([
        eqx.nn.Conv1d(2, 4, 3, dilation=2, groups=2, key=key), eqx.nn.GroupNorm(2, 4),
        eqx.nn.Lambda(jax.nn.elu), eqx.nn.ConvTranspose1d(4, 3, 4, 2, padding=1, key=key),
        eqx.nn.AdaptiveAvgPool1d(4), eqx.nn.RMSNorm((3, 4)),
    ]))  # fmt: skip
    return applied(model, of_each, floats(0, 2, 2, 11))


@of_equinox("attention with rotary embeddings", compared="gradient")
def rotary_attention():
    def call(networks, tokens):
        embedding, rotary, attention = networks

        def turned(q, k, v):
            turn = jax.vmap(rotary, in_axes=1, out_axes=1)
            return turn(q), turn(k), v

        x = jax.vmap(embedding)(tokens)
        mask = jnp.tril(jnp.ones((len(tokens), len(tokens)), bool))
        return attention(x, x, x, mask=mask, process_heads=turned)

    networks = made(lambda key: (
        eqx.nn.Embedding(9, 8, key=key), eqx.nn.RotaryPositionalEmbedding(4),
        eqx.nn.MultiheadAttention(2, 8, key=key),
    ))  # fmt: skip
    return applied(networks, call, (floats(0, 6) * 4).astype("int32") % 9)
