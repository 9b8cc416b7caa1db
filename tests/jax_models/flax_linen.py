"""Models of Flax's linen."""

from __future__ import annotations

from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from jax_models import filled, floats, integers, program, uniform

linen = partial(program, library="Flax linen")


def initial(model: nn.Module, *arguments: Any, **named: Any) -> Any:
    """The variables of a model."""
    make = lambda key: model.init(key, *arguments, **named)
    return filled(jax.eval_shape(make, jax.random.key(0)))


def applied(model: nn.Module, *arguments: Any, **named: Any) -> Any:
    """A model as a program that is differentiated by its variables."""
    variables = initial(model, *arguments, **named)
    return (lambda variables, *x: model.apply(variables, *x, **named)), (variables, *arguments)


class MLP(nn.Module):
    widths: tuple[int, ...] = (16, 8, 3)

    @nn.compact
    def __call__(self, x):
        for width in self.widths[:-1]:
            x = nn.relu(nn.Dense(width)(x))
        return nn.Dense(self.widths[-1])(x)


@linen("multilayer perceptron", compared="gradient")
def mlp():
    return applied(MLP(), floats(0, 5, 4))


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.max_pool(nn.relu(nn.Conv(4, (3, 3))(x)), (2, 2), (2, 2))
        x = nn.avg_pool(nn.relu(nn.Conv(6, (3, 3), padding="VALID")(x)), (2, 2), (2, 2))
        return nn.log_softmax(nn.Dense(10)(x.reshape(x.shape[0], -1)))


@linen("convolutional network for digits", compared="gradient")
def cnn():
    return applied(CNN(), uniform(0, 2, 12, 12, 1))


class ResidualBlock(nn.Module):
    features: int
    strides: int = 1

    @nn.compact
    def __call__(self, x, training):
        norm = partial(nn.BatchNorm, use_running_average=not training, momentum=0.9)
        steps = (self.strides, self.strides)
        y = nn.relu(norm()(nn.Conv(self.features, (3, 3), steps, use_bias=False)(x)))
        y = norm(scale_init=nn.initializers.ones)(nn.Conv(self.features, (3, 3), use_bias=False)(y))
        if x.shape != y.shape:
            x = norm()(nn.Conv(self.features, (1, 1), steps, use_bias=False)(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x, training):
        for features, strides in ((4, 1), (6, 2)):
            x = ResidualBlock(features, strides)(x, training)
        return nn.Dense(3)(x.mean((1, 2)))


@linen("residual network, batch norm in training", compared="step")
def resnet():
    model, x, labels = ResNet(), floats(0, 4, 8, 8, 3), integers(0, 3, 4)
    variables = initial(model, x, training=True)

    def loss(parameters, statistics, x, labels):
        logits, changed = model.apply(
            {"params": parameters, "batch_stats": statistics}, x, training=True,
            mutable=["batch_stats"],
        )  # fmt: skip
        picked = jnp.take_along_axis(nn.log_softmax(logits), labels[:, None], axis=1)
        return -picked.mean(), changed["batch_stats"]

    def step(state, x, labels):
        (value, statistics), gradients = jax.value_and_grad(loss, has_aux=True)(
            state["params"], state["batch_stats"], x, labels
        )
        parameters = jax.tree.map(lambda p, g: p - 0.05 * g, state["params"], gradients)
        return {"params": parameters, "batch_stats": statistics}, value

    return step, (variables, x, labels)


@linen("residual network, batch norm of running averages", compared="gradient")
def resnet_for_inference():
    return applied(ResNet(), floats(0, 2, 8, 8, 3), training=False)


class EncoderBlock(nn.Module):
    heads: int = 2

    @nn.compact
    def __call__(self, x, mask=None, training=False):
        y = nn.LayerNorm()(x)
        y = nn.MultiHeadDotProductAttention(self.heads)(y, y, mask=mask)
        x = x + nn.Dropout(0.2, deterministic=not training)(y)
        y = nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(2 * x.shape[-1])(nn.LayerNorm()(x))))
        return x + nn.Dropout(0.2, deterministic=not training)(y)


class Encoder(nn.Module):
    vocabulary: int = 11
    width: int = 8

    @nn.compact
    def __call__(self, tokens, training=False):
        places = self.param("places", nn.initializers.normal(), (tokens.shape[1], self.width))
        x = nn.Embed(self.vocabulary, self.width)(tokens) + places
        mask = nn.make_attention_mask(tokens > 0, tokens > 0)
        for _ in range(2):
            x = EncoderBlock()(x, mask, training)
        return nn.LayerNorm()(x)


@linen("transformer encoder with a mask of padding", compared="gradient")
def encoder():
    return applied(Encoder(), integers(0, 11, 2, 6))


@linen("transformer encoder with dropout by key", compared="gradient")
def encoder_with_dropout():
    model, tokens = Encoder(), integers(0, 11, 2, 6)

    def function(variables, tokens, key):
        return model.apply(variables, tokens, training=True, rngs={"dropout": key})

    return function, (initial(model, tokens), tokens, jax.random.key(3))


class Decoder(nn.Module):
    decode: bool = False

    @nn.compact
    def __call__(self, tokens, memory):
        embed = nn.Embed(11, 8)
        x = embed(tokens)
        mask = None if self.decode else nn.make_causal_mask(tokens)
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(2, decode=self.decode)(y, y, mask=mask)
        x = x + nn.MultiHeadDotProductAttention(2)(nn.LayerNorm()(x), memory)
        x = x + nn.Dense(8)(nn.swish(nn.Dense(16)(nn.LayerNorm()(x))))
        return embed.attend(nn.LayerNorm()(x))


@linen("transformer decoder with cross-attention", compared="gradient")
def decoder():
    return applied(Decoder(), integers(0, 11, 2, 5), floats(1, 2, 4, 8))


@linen("transformer decoder, greedy with a cache", compared="value")
def cached_decoder():
    model, tokens, memory = Decoder(decode=True), integers(0, 11, 2, 5), floats(1, 2, 4, 8)
    variables = initial(model, tokens, memory)

    def generate(parameters, cache, first, memory):
        def next_token(carry, _):
            cache, token = carry
            logits, changed = model.apply(
                {"params": parameters, "cache": cache}, token, memory, mutable=["cache"]
            )
            token = jnp.argmax(logits[:, -1:], axis=-1).astype(jnp.int32)
            return (changed["cache"], token), token

        _, tokens = jax.lax.scan(next_token, (cache, first), length=4)
        return tokens

    return generate, (variables["params"], variables["cache"], tokens[:, :1], memory)


class Tagger(nn.Module):
    """LSTM forward and backward along sequences of different lengths."""

    @nn.compact
    def __call__(self, x, lengths):
        both = nn.Bidirectional(nn.RNN(nn.LSTMCell(5)), nn.RNN(nn.LSTMCell(5)))
        return nn.Dense(3)(both(x, seq_lengths=lengths))


@linen("bidirectional LSTM with sequence lengths", compared="gradient")
def tagger():
    return applied(Tagger(), floats(0, 3, 6, 4), integers(1, 6, 3) + 1)


class Recurrent(nn.Module):
    cell: Any

    @nn.compact
    def __call__(self, x):
        return nn.RNN(self.cell(6))(x)


@linen("GRU", compared="gradient")
def gru():
    return applied(Recurrent(nn.GRUCell), floats(0, 2, 7, 4))


@linen("minimal gated unit", compared="gradient")
def minimal_gated_unit():
    return applied(Recurrent(nn.MGUCell), floats(0, 2, 7, 4))


@linen("convolutional LSTM", compared="gradient")
def convolutional_lstm():
    return applied(nn.RNN(nn.ConvLSTMCell(3, (3, 3))), floats(0, 2, 4, 5, 5, 2))


class VAE(nn.Module):
    @nn.compact
    def __call__(self, x, key):
        hidden = nn.relu(nn.Dense(12)(x))
        mean, log_variance = nn.Dense(3, name="mean")(hidden), nn.Dense(3, name="scale")(hidden)
        code = mean + jnp.exp(0.5 * log_variance) * jax.random.normal(key, mean.shape)
        logits = nn.Dense(x.shape[-1])(nn.relu(nn.Dense(12)(code)))
        likelihood = jnp.sum(x * nn.log_sigmoid(logits) + (1 - x) * nn.log_sigmoid(-logits), -1)
        divergence = -0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance), -1)
        return jnp.mean(divergence - likelihood), logits


@linen("variational autoencoder", compared="gradient")
def vae():
    return applied(VAE(), uniform(0, 4, 10), jax.random.key(7))


class ConvolutionalAutoencoder(nn.Module):
    @nn.compact
    def __call__(self, x):
        for features in (4, 8):
            x = nn.silu(nn.GroupNorm(2)(nn.Conv(features, (3, 3), (2, 2))(x)))
        for features in (4, 1):
            x = nn.ConvTranspose(features, (3, 3), (2, 2))(nn.silu(x))
        return nn.sigmoid(x)


@linen("convolutional autoencoder with group norm", compared="gradient")
def autoencoder():
    return applied(ConvolutionalAutoencoder(), uniform(0, 2, 8, 8, 1))


class UNet(nn.Module):
    @nn.compact
    def __call__(self, x, time):
        angles = time[:, None] * jnp.exp(-jnp.arange(4) * 0.7)
        when = nn.Dense(4)(jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1))
        down = nn.swish(nn.Conv(4, (3, 3))(x) + when[:, None, None])
        low = nn.swish(nn.InstanceNorm()(nn.Conv(8, (3, 3), (2, 2))(down)))
        up = jax.image.resize(low, (*down.shape[:3], 8), "nearest")
        joined = jnp.concatenate([nn.Conv(4, (3, 3))(up), down], axis=-1)
        return nn.Conv(x.shape[-1], (3, 3))(nn.swish(joined))


@linen("U-Net of a diffusion model", compared="gradient")
def unet():
    return applied(UNet(), floats(0, 2, 8, 8, 2), uniform(1, 2))


class GCN(nn.Module):
    @nn.compact
    def __call__(self, nodes, senders, receivers):
        count = nodes.shape[0]
        degrees = jax.ops.segment_sum(jnp.ones(len(senders)), receivers, count) + 1
        for width in (8, 3):
            nodes = nn.Dense(width)(nodes) / jnp.sqrt(degrees)[:, None]
            nodes = nodes + jax.ops.segment_sum(nodes[senders], receivers, count)
            nodes = nn.relu(nodes / jnp.sqrt(degrees)[:, None])
        return nodes


@linen("graph convolutional network", compared="gradient")
def gcn():
    return applied(GCN(), floats(0, 7, 4), integers(0, 7, 12), integers(1, 7, 12))


class GAT(nn.Module):
    @nn.compact
    def __call__(self, nodes, senders, receivers):
        count, heads = nodes.shape[0], 2
        x = nn.DenseGeneral((heads, 3))(nodes)
        scores = nn.DenseGeneral(1)(jnp.concatenate([x[senders], x[receivers]], -1))[..., 0]
        scores = nn.leaky_relu(scores, 0.2)
        greatest = jax.ops.segment_max(scores, receivers, count)
        weights = jnp.exp(scores - greatest[receivers])
        weights = weights / jax.ops.segment_sum(weights, receivers, count)[receivers]
        mixed = jax.ops.segment_sum(weights[..., None] * x[senders], receivers, count)
        return nn.elu(mixed.reshape(count, -1))


@linen("graph attention network", compared="gradient")
def gat():
    receivers = integers(1, 7, 12)
    receivers[:7] = range(7)  # each node has one edge at least
    return applied(GAT(), floats(0, 7, 4), integers(0, 7, 12), receivers)


class MixerBlock(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = jnp.swapaxes(nn.LayerNorm()(x), 1, 2)
        y = nn.Dense(x.shape[1])(nn.gelu(nn.Dense(6)(y)))
        x = x + jnp.swapaxes(y, 1, 2)
        return x + nn.Dense(x.shape[2])(nn.gelu(nn.Dense(10)(nn.LayerNorm()(x))))


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(6, (4, 4), (4, 4))(x)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        for _ in range(2):
            x = MixerBlock()(x)
        return nn.Dense(3)(nn.LayerNorm()(x).mean(1))


@linen("MLP-Mixer", compared="gradient")
def mixer():
    return applied(Mixer(), floats(0, 2, 8, 8, 3))


class Layers(nn.Module):
    """The same layer, whose weights are stacked, with values computed again backward."""

    @nn.compact
    def __call__(self, x):
        class Layer(nn.Module):
            @nn.compact
            def __call__(self, x, _):
                return x + nn.tanh(nn.Dense(x.shape[-1])(nn.RMSNorm()(x))), None

        stacked = nn.scan(
            nn.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=3
        )
        return stacked()(x, None)[0]


@linen("layers by scan and remat", compared="gradient")
def scanned_layers():
    return applied(Layers(), floats(0, 2, 5))


class Critic(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.SpectralNorm(nn.Conv(4, (3, 3), (2, 2)))(x, update_stats=False)
        x = nn.WeightNorm(nn.Dense(5))(nn.leaky_relu(x).reshape(x.shape[0], -1))
        return nn.Dense(1)(nn.PReLU()(x))


@linen("critic with spectral and weight norm", compared="gradient")
def critic():
    return applied(Critic(), floats(0, 2, 6, 6, 2))


class Separable(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(8, (1, 1))(x)
        y = nn.relu6(nn.Conv(8, (3, 3), feature_group_count=8, kernel_dilation=2)(x))
        gate = nn.hard_sigmoid(nn.Dense(8)(nn.relu(nn.Dense(2)(y.mean((1, 2))))))
        x = x + nn.hard_swish(y * gate[:, None, None])
        return nn.Einsum((8, 3), "bhwc,cd->bd")(x)


@linen("depthwise convolutions with squeeze and excitation", compared="gradient")
def separable():
    return applied(Separable(), floats(0, 2, 7, 7, 3))
