"""Models of Flax's NNX."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from jax_models import filled, floats, integers, program, uniform

of_nnx = partial(program, library="Flax NNX")


def applied(make: Any, *arguments: Any, call: Any = lambda model, *x: model(*x)) -> Any:
    """A model as a program that is differentiated by its parameters."""
    model = nnx.eval_shape(lambda: make(nnx.Rngs(0)))
    graph, parameters, rest = nnx.split(model, nnx.Param, ...)

    def function(parameters, rest, *arguments):
        return call(nnx.merge(graph, parameters, rest), *arguments)

    return function, (filled(parameters), filled(rest), *arguments)


class Block(nnx.Module):
    def __init__(self, inputs, outputs, rngs):
        self.linear = nnx.Linear(inputs, outputs, rngs=rngs)
        self.norm = nnx.BatchNorm(outputs, rngs=rngs)
        self.dropout = nnx.Dropout(0.25, rngs=rngs)

    def __call__(self, x):
        return nnx.gelu(self.dropout(self.norm(self.linear(x))))


class Perceptron(nnx.Module):
    def __init__(self, rngs):
        self.first, self.last = Block(4, 8, rngs), nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x):
        return self.last(self.first(x))


@of_nnx("perceptron of modules with state", compared="step")
def training():
    """Batch norm and the keys of dropout are state that each step changes."""

    def make():
        model = Perceptron(nnx.Rngs(0))
        return model, nnx.Optimizer(model, optax.sgd(1e-2, momentum=0.9), wrt=nnx.Param)

    graph, state = nnx.split(nnx.eval_shape(make))

    def loss(model, x, y):
        return jnp.mean((model(x) - y) ** 2)

    def step(state, x, y):
        model, optimizer = nnx.merge(graph, state)
        value, gradients = nnx.value_and_grad(loss)(model, x, y)
        optimizer.update(model, gradients)
        return nnx.state((model, optimizer)), value

    return step, (filled(state), floats(0, 6, 4), floats(1, 6, 3))


class Convolutional(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Conv(1, 4, (3, 3), rngs=rngs)
        self.second = nnx.Conv(4, 6, (3, 3), rngs=rngs)
        self.last = nnx.Linear(54, 5, rngs=rngs)

    def __call__(self, x):
        x = nnx.avg_pool(nnx.relu(self.first(x)), (2, 2), (2, 2))
        x = nnx.max_pool(nnx.relu(self.second(x)), (2, 2), (2, 2))
        return self.last(x.reshape(x.shape[0], -1))


@of_nnx("convolutional network", compared="gradient")
def convolutional():
    return applied(Convolutional, uniform(0, 2, 12, 12, 1))


class Transformer(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(11, 8, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs)
        self.norms = nnx.List([nnx.LayerNorm(8, rngs=rngs), nnx.RMSNorm(8, rngs=rngs)])
        self.up, self.down = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 8, rngs=rngs)

    def __call__(self, tokens):
        x = self.embed(tokens)
        x = x + self.attention(self.norms[0](x), mask=nnx.make_causal_mask(tokens))
        x = x + self.down(nnx.silu(self.up(self.norms[1](x))))
        return self.embed.attend(x)


@of_nnx("causal transformer", compared="gradient")
def transformer():
    return applied(Transformer, integers(0, 11, 2, 6))


def with_keys(model: Any, x: Any) -> Any:
    return model(x, rngs=nnx.Rngs(0))


@of_nnx("LSTM", compared="gradient")
def lstm():
    make = lambda rngs: nnx.RNN(nnx.LSTMCell(4, 5, rngs=rngs))
    return applied(make, floats(0, 2, 6, 4), call=with_keys)


@of_nnx("GRU backward in time", compared="gradient")
def gru():
    make = lambda rngs: nnx.RNN(nnx.GRUCell(4, 5, rngs=rngs), reverse=True, keep_order=True)
    return applied(make, floats(0, 2, 6, 4), call=with_keys)


class Adapted(nnx.Module):
    def __init__(self, rngs):
        self.base = nnx.Linear(6, 4, rngs=rngs)
        self.change = nnx.LoRA(6, 2, 4, rngs=rngs, b_initializer=nnx.initializers.normal())

    def __call__(self, x):
        return nnx.tanh(self.base(x) + self.change(x))


@of_nnx("linear layer with LoRA", compared="gradient")
def lora():
    return applied(Adapted, floats(0, 3, 6))


class Ensemble(nnx.Module):
    """Members side by side, and layers one after the other, each of stacked weights."""

    def __init__(self, rngs):
        @nnx.split_rngs(splits=3)
        @nnx.vmap(in_axes=0)
        def members(rngs):
            return nnx.Linear(4, 4, rngs=rngs)

        self.members, self.layers = members(rngs), members(rngs)

    def __call__(self, x):
        def layer(x, layer):
            return x + jnp.sin(layer(x))

        x = nnx.scan(layer, in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x, self.layers)
        return nnx.vmap(lambda member, x: member(x), in_axes=(0, None))(self.members, x).mean(0)


@of_nnx("ensemble by vmap, layers by scan", compared="gradient")
def ensemble():
    return applied(Ensemble, floats(0, 3, 4))


class Generator(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.LinearGeneral(5, (3, 3, 4), rngs=rngs)
        self.norm = nnx.GroupNorm(4, 2, rngs=rngs)
        self.up = nnx.ConvTranspose(4, 2, (4, 4), (2, 2), rngs=rngs)

    def __call__(self, noise):
        return nnx.tanh(self.up(nnx.relu(self.norm(self.first(noise)))))


@of_nnx("generator of images from noise", compared="gradient")
def generator():
    return applied(Generator, jax.random.key(1),
                   call=lambda model, key: model(jax.random.normal(key, (2, 5))))  # fmt: skip
