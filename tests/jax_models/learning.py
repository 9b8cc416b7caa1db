"""Machine learning in plain JAX: language models, reinforcement, inference by sampling."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from jax_models import floats, integers, program, uniform

of_jax = partial(program, library="JAX")


def language_model(width=8, layers=2, vocabulary=9):
    parameters = {
        "embedding": floats(0, vocabulary, width) * 0.5,
        "blocks": [
            {
                "qkv": floats(10 + i, width, 3 * width) * 0.3,
                "out": floats(20 + i, width, width) * 0.3,
                "gate": floats(30 + i, width, 12) * 0.3, "up": floats(40 + i, width, 12) * 0.3,
                "down": floats(50 + i, 12, width) * 0.3,
            }
            for i in range(layers)
        ],
    }  # fmt: skip
    return parameters


def rms_norm(x):
    return x * lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6)


def rotated(x, places):
    """Pairs of features turned by angles that grow with the place."""
    half = x.shape[-1] // 2
    angles = places[:, None] / 100 ** (jnp.arange(half) / half)
    left, right = x[..., :half], x[..., half:]
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    return jnp.concatenate([left * cos - right * sin, right * cos + left * sin], -1)


def logits_of(parameters, tokens):
    x = parameters["embedding"][tokens]
    length = tokens.shape[-1]
    places = jnp.arange(length)
    for block in parameters["blocks"]:
        heads = (rms_norm(x) @ block["qkv"]).reshape(*x.shape[:-1], 3, 2, -1)
        q, k, v = jnp.moveaxis(heads, (-3, -2), (0, 1))
        q, k = rotated(q, places), rotated(k, places)
        scores = q @ jnp.swapaxes(k, -1, -2) / jnp.sqrt(q.shape[-1])
        scores = jnp.where(places[:, None] >= places, scores, -jnp.inf)
        mixed = jnp.moveaxis(jax.nn.softmax(scores) @ v, 0, -2).reshape(x.shape)
        x = x + mixed @ block["out"]
        y = rms_norm(x)
        x = x + (jax.nn.silu(y @ block["gate"]) * (y @ block["up"])) @ block["down"]
    return rms_norm(x) @ parameters["embedding"].T


@of_jax("language model with rotary embeddings and gated layers", compared="gradient")
def llama():
    return logits_of, (language_model(), integers(0, 9, 2, 6))


@of_jax("sampling of tokens by temperature and top k", compared="value")
def sampled():
    def generate(parameters, tokens, key):
        def next_token(tokens, inputs):
            place, key = inputs
            logits = logits_of(parameters, tokens)[:, place - 1] / 0.8
            least = lax.top_k(logits, 4)[0][:, -1:]
            drawn = jax.random.categorical(key, jnp.where(logits < least, -jnp.inf, logits))
            return tokens.at[:, place].set(drawn.astype(tokens.dtype)), drawn

        return lax.scan(next_token, tokens, (jnp.arange(2, 6), jax.random.split(key, 4)))[0]

    return generate, (language_model(), integers(0, 9, 2, 6), jax.random.key(5))


@of_jax("mixture of experts with top-2 routing", compared="gradient")
def experts():
    def function(parameters, x):
        shares, chosen = lax.top_k(jax.nn.softmax(x @ parameters["router"]), 2)
        shares = shares / shares.sum(-1, keepdims=True)
        hidden = jnp.einsum("td,edh->teh", x, parameters["up"])
        outputs = jnp.einsum("teh,ehd->ted", jax.nn.gelu(hidden), parameters["down"])
        picked = jnp.take_along_axis(outputs, chosen[..., None], axis=1)
        return jnp.sum(shares[..., None] * picked, 1)

    parameters = {"router": floats(0, 5, 4), "up": floats(1, 4, 5, 6), "down": floats(2, 4, 6, 5)}
    return function, (parameters, floats(3, 7, 5))


@of_jax("state-space model by an associative scan", compared="gradient")
def state_space():
    def function(parameters, x):
        decay = jnp.exp(-jax.nn.softplus(x @ parameters["step"]))
        driven = (1 - decay) * (x @ parameters["in"])

        def joined(left, right):
            return left[0] * right[0], left[1] * right[0] + right[1]

        _, states = lax.associative_scan(joined, (decay, driven))
        return states @ parameters["out"] + x

    parameters = {"step": floats(0, 3, 5), "in": floats(1, 3, 5), "out": floats(2, 5, 3)}
    return function, (parameters, floats(3, 11, 3))


@of_jax("linear attention as a scan over outer products", compared="gradient")
def linear_attention():
    def function(weights, x):
        q, k, v = (x @ w for w in weights)
        q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1

        def step(carry, row):
            memory, total = carry
            q, k, v = row
            memory, total = memory + jnp.outer(k, v), total + k
            return (memory, total), q @ memory / (q @ total)

        return lax.scan(step, (jnp.zeros((4, 4)), jnp.zeros(4)), (q, k, v))[1]

    return function, ([floats(i, 3, 4) for i in range(3)], floats(3, 6, 3))


@of_jax("model-agnostic meta-learning", compared="step")
def meta_learning():
    def predicted(parameters, x):
        return jnp.tanh(x[:, None] * parameters["in"]) @ parameters["out"]

    def loss(parameters, x, y):
        return jnp.mean((predicted(parameters, x) - y) ** 2)

    def adapted_loss(parameters, x, y):
        gradients = jax.grad(loss)(parameters, x[:3], y[:3])
        adapted = jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
        return loss(adapted, x[3:], y[3:])

    def step(parameters, x, y):
        of_tasks = lambda p: jnp.mean(jax.vmap(adapted_loss, (None, 0, 0))(p, x, y))
        value, gradients = jax.value_and_grad(of_tasks)(parameters)
        return jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradients), value

    return step, ({"in": floats(0, 6), "out": floats(1, 6)}, floats(2, 4, 6), floats(3, 4, 6))


@of_jax("proximal policy optimisation with generalised advantages", compared="gradient")
def policy():
    def function(parameters, states, actions, rewards, old):
        logits = jnp.tanh(states @ parameters["hidden"]) @ parameters["policy"]
        values = (jnp.tanh(states @ parameters["hidden"]) @ parameters["value"])[:, 0]
        errors = rewards + 0.99 * jnp.append(values[1:], 0.0) - values
        _, advantages = lax.scan(
            lambda a, e: (e + 0.95 * a, e + 0.95 * a), 0.0, errors, reverse=True
        )
        advantages = lax.stop_gradient((advantages - advantages.mean()) / advantages.std())
        logs = jax.nn.log_softmax(logits)
        ratios = jnp.exp(logs[jnp.arange(len(actions)), actions] - old)
        gains = jnp.minimum(ratios * advantages, jnp.clip(ratios, 0.8, 1.2) * advantages)
        entropy = -jnp.sum(jnp.exp(logs) * logs, -1)
        return -gains - 0.01 * entropy, values - rewards

    parameters = {"hidden": floats(0, 4, 6), "policy": floats(1, 6, 2), "value": floats(2, 6, 1)}
    return function, (parameters, floats(3, 8, 4), integers(4, 2, 8), floats(5, 8), -uniform(6, 8))


@of_jax("Q-learning on a cart and its pole", compared="value")
def cart_pole():
    """An environment, a policy that explores, and a table that learns, in one loop."""

    def moved(state, force):
        _, v, angle, spin = state
        pushed = (force + 0.05 * spin**2 * jnp.sin(angle)) / 1.1
        turn = (9.8 * jnp.sin(angle) - jnp.cos(angle) * pushed) / (
            0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1)
        )
        push = pushed - 0.05 * turn * jnp.cos(angle) / 1.1
        return state + 0.02 * jnp.stack([v, push, spin, turn])

    def place(state):
        return jnp.digitize(state[2], jnp.array([-0.05, 0.0, 0.05])) * 2 + (state[3] > 0)

    def play(key):
        def step(carry, key):
            table, state = carry
            explores, random = jax.random.split(key)
            greedy = jnp.argmax(table[place(state)])
            action = jnp.where(
                jax.random.uniform(explores) < 0.3, jax.random.randint(random, (), 0, 2), greedy
            )
            after = moved(state, jnp.where(action == 1, 10.0, -10.0))
            fell = jnp.abs(after[2]) > 0.2
            goal = jnp.where(fell, -1.0, 1.0 + 0.9 * jnp.max(table[place(after)]))
            table = table.at[place(state), action].add(0.5 * (goal - table[place(state), action]))
            after = lax.cond(fell, lambda s: jnp.zeros_like(s), lambda s: s, after)
            return (table, after), action

        return lax.scan(step, (jnp.zeros((8, 2)), jnp.zeros(4)), jax.random.split(key, 12))

    return play, (jax.random.key(1),)


@of_jax("Metropolis sampling", compared="value")
def metropolis():
    def log_density(x):
        return jnp.logaddexp(-0.5 * jnp.sum((x - 2) ** 2), -0.5 * jnp.sum((x + 2) ** 2))

    def sample(start, key):
        def step(x, key):
            moves, accepts = jax.random.split(key)
            proposed = x + 0.7 * jax.random.normal(moves, x.shape)
            is_taken = jnp.log(jax.random.uniform(accepts)) < log_density(proposed) - log_density(x)
            x = jnp.where(is_taken, proposed, x)
            return x, (x, is_taken)

        return lax.scan(step, start, jax.random.split(key, 20))[1]

    return sample, (floats(0, 2), jax.random.key(2))


@of_jax("Hamiltonian Monte Carlo of a logistic regression", compared="value")
def hamiltonian():
    def sample(start, x, y, key):
        def energy(w):
            return jnp.sum(jax.nn.softplus(-y * (x @ w))) + 0.5 * w @ w

        def leap(state, _):
            w, p = state
            p = p - 0.05 * jax.grad(energy)(w)
            w = w + 0.1 * p
            return (w, p - 0.05 * jax.grad(energy)(w)), None

        def step(w, key):
            draws, accepts = jax.random.split(key)
            p = jax.random.normal(draws, w.shape)
            (moved, q), _ = lax.scan(leap, (w, p), length=4)
            change = energy(w) + 0.5 * p @ p - energy(moved) - 0.5 * q @ q
            w = jnp.where(jnp.log(jax.random.uniform(accepts)) < change, moved, w)
            return w, w

        return lax.scan(step, start, jax.random.split(key, 5))[1]

    signs = jnp.sign(floats(1, 8))
    return sample, (floats(0, 3), floats(2, 8, 3), signs, jax.random.key(3))


@of_jax("particle filter", compared="value")
def particles():
    def function(observations, key):
        def step(x, inputs):
            z, key = inputs
            moves, picks = jax.random.split(key)
            x = 0.9 * x + jax.random.normal(moves, x.shape)
            weights = jax.nn.softmax(-((z - x) ** 2))
            places = (jnp.arange(x.size) + jax.random.uniform(picks)) / x.size
            chosen = jnp.searchsorted(jnp.cumsum(weights), places)
            return x[jnp.minimum(chosen, x.size - 1)], jnp.sum(weights * x)

        keys = jax.random.split(key, observations.size)
        return lax.scan(step, jnp.zeros(16), (observations, keys))[1]

    return function, (floats(0, 6), jax.random.key(4))


@of_jax("variational inference of a mixture, by samples", compared="gradient")
def variational():
    def function(guide, data, key):
        mean, scale = guide["mean"], jax.nn.softplus(guide["scale"])
        centres = mean + scale * jax.random.normal(key, (5, *mean.shape))
        norm = jax.scipy.stats.norm
        likelihood = jax.nn.logsumexp(norm.logpdf(data[:, None, None], centres, 0.5), -1).sum(0)
        prior = norm.logpdf(centres, 0, 3).sum(-1)
        return likelihood + prior - norm.logpdf(centres, mean, scale).sum(-1)

    return function, ({"mean": floats(0, 3), "scale": floats(1, 3)}, floats(2, 10),
                      jax.random.key(6))  # fmt: skip


@of_jax("Gaussian process and its marginal likelihood", compared="gradient")
def gaussian_process():
    def function(parameters, x, y, points):
        def kernel(a, b):
            squares = jnp.sum((a[:, None] - b[None]) ** 2, -1)
            return jnp.exp(parameters["variance"] - squares * jnp.exp(-parameters["length"]))

        noisy = kernel(x, x) + 0.1 * jnp.eye(len(x))
        factor = jax.scipy.linalg.cho_factor(noisy, lower=True)
        weights = jax.scipy.linalg.cho_solve(factor, y)
        likelihood = -0.5 * y @ weights - jnp.sum(jnp.log(jnp.diag(factor[0])))
        return kernel(points, x) @ weights, likelihood

    parameters = {"variance": floats(0), "length": floats(1)}
    return function, (parameters, floats(2, 8, 2), floats(3, 8), floats(4, 3, 2))


@of_jax("contrastive loss of two views", compared="gradient")
def contrastive():
    def function(w, one, other):
        both = jnp.concatenate([one @ w, other @ w])
        both = both / jnp.linalg.norm(both, axis=1, keepdims=True)
        scores = both @ both.T / 0.5 - 1e9 * jnp.eye(len(both))
        partners = jnp.roll(jnp.arange(len(both)), len(one))
        return -jax.nn.log_softmax(scores)[jnp.arange(len(both)), partners]

    return function, (floats(0, 5, 4), floats(1, 6, 5), floats(2, 6, 5))


@of_jax("implicit layer: a fixed point with its own derivative", compared="value")
def equilibrium():
    def fixed_point(f, start):
        def goes_on(pair):
            return jnp.max(jnp.abs(pair[0] - pair[1])) > 1e-5

        return lax.while_loop(goes_on, lambda pair: (pair[1], f(pair[1])), (start, f(start)))[1]

    @jax.custom_vjp
    def layer(w, x):
        return fixed_point(lambda z: jnp.tanh(w @ z + x), jnp.zeros_like(x))

    def forward(w, x):
        z = layer(w, x)
        return z, (w, x, z)

    def backward(kept, g):
        w, x, z = kept
        _, of_z = jax.vjp(lambda z: jnp.tanh(w @ z + x), z)
        u = fixed_point(lambda u: of_z(u)[0] + g, jnp.zeros_like(g))
        return jax.vjp(lambda w, x: jnp.tanh(w @ z + x), w, x)[1](u)

    layer.defvjp(forward, backward)

    def function(w, x):
        return layer(w, x), jax.grad(lambda w, x: jnp.sum(layer(w, x) ** 2), (0, 1))(w, x)

    return function, (floats(0, 4, 4) * 0.2, floats(1, 4))
