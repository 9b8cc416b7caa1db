"""Algorithms in plain JAX: sequences, graphs, clusters, images."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_models import floats, integers, program, uniform

of_jax = partial(program, library="JAX")


@of_jax("clusters by k-means", compared="value")
def clusters():
    def function(x, centres):
        def goes_on(state):
            return (state[1] > 1e-4) & (state[2] < 20)

        def step(state):
            centres, _, count = state
            nearest = jnp.argmin(jnp.sum((x[:, None] - centres[None]) ** 2, -1), 1)
            sums = jax.ops.segment_sum(x, nearest, len(centres))
            sizes = jnp.bincount(nearest, length=len(centres))
            moved = jnp.where(sizes[:, None] > 0, sums / jnp.maximum(sizes, 1)[:, None], centres)
            return moved, jnp.max(jnp.abs(moved - centres)), count + 1

        return lax.while_loop(goes_on, step, (centres, jnp.inf, 0))

    x = floats(0, 20, 2)
    return function, (x, x[:3])


@of_jax("Kalman filter and smoother", compared="gradient")
def kalman():
    def function(model, observations):
        a, h, q, r = model["a"], model["h"], 0.1 * jnp.eye(2), 0.3 * jnp.eye(1)

        def forward(carry, z):
            m, p = carry
            m, p = a @ m, a @ p @ a.T + q
            s = h @ p @ h.T + r
            gain = jnp.linalg.solve(s, h @ p).T
            error = z - h @ m
            log = -0.5 * (error @ jnp.linalg.solve(s, error) + jnp.linalg.slogdet(s)[1])
            m, p = m + gain @ error, p - gain @ s @ gain.T
            return (m, p), (m, p, log)

        _, (means, covariances, logs) = lax.scan(forward, (jnp.zeros(2), jnp.eye(2)), observations)

        def backward(after, row):
            m, p = row
            ahead = a @ p @ a.T + q
            gain = jnp.linalg.solve(ahead, a @ p).T
            m = m + gain @ (after - a @ m)
            return m, m

        rows = (means[:-1], covariances[:-1])
        return lax.scan(backward, means[-1], rows, reverse=True)[1], logs

    model = {"a": np.array([[1, 0.5], [-0.2, 0.9]], "float32"), "h": floats(0, 1, 2)}
    return function, (model, floats(1, 6, 1))


@of_jax("hidden Markov model: likelihood", compared="gradient")
def hidden_markov():
    def function(model, seen):
        moves, emits = jax.nn.log_softmax(model["moves"]), jax.nn.log_softmax(model["emits"])

        def step(alpha, symbol):
            alpha = jax.nn.logsumexp(alpha[:, None] + moves, 0) + emits[:, symbol]
            return alpha, jax.nn.logsumexp(alpha)

        return lax.scan(step, jax.nn.log_softmax(model["first"]), seen)[1]

    model = {"moves": floats(0, 3, 3), "emits": floats(1, 3, 4), "first": floats(2, 3)}
    return function, (model, integers(3, 4, 7))


@of_jax("most likely path by Viterbi", compared="value")
def viterbi():
    def function(moves, scores):
        def forward(best, row):
            all = best[:, None] + moves
            return all.max(0) + row, all.argmax(0)

        best, pointers = lax.scan(forward, scores[0], scores[1:])
        last = jnp.argmax(best)
        first, path = lax.scan(lambda s, row: (row[s], s), last, pointers, reverse=True)
        return jnp.concatenate([first[None], path])

    return function, (floats(0, 4, 4), floats(1, 6, 4))


@of_jax("conditional random field", compared="gradient")
def random_field():
    def function(parameters, x, tags):
        scores = x @ parameters["w"]
        moves = parameters["moves"]
        score = scores[jnp.arange(len(tags)), tags].sum() + moves[tags[:-1], tags[1:]].sum()
        step = lambda a, row: (jax.nn.logsumexp(a[:, None] + moves, 0) + row, None)
        return jax.nn.logsumexp(lax.scan(step, scores[0], scores[1:])[0]) - score

    return function, ({"w": floats(0, 4, 3), "moves": floats(1, 3, 3)}, floats(2, 6, 4),
                      integers(3, 3, 6))  # fmt: skip


@of_jax("edit distance", compared="value")
def edit_distance():
    def function(a, b):
        def row(above, letter):
            def cell(left, inputs):
                over, corner, other = inputs
                least = jnp.minimum(jnp.minimum(left, over) + 1, corner + (letter != other))
                return least, least

            first = above[0] + 1
            _, rest = lax.scan(cell, first, (above[1:], above[:-1], b))
            return jnp.concatenate([first[None], rest]), None

        return lax.scan(row, jnp.arange(len(b) + 1), a)[0][-1]

    return function, (integers(0, 3, 7), integers(1, 3, 6))


@of_jax("alignment of sequences, softened", compared="gradient")
def alignment():
    def function(x, y):
        costs = (x[:, None] - y[None]) ** 2
        soft = lambda *all: -0.5 * jax.nn.logsumexp(-jnp.stack(all) / 0.5, 0)

        def row(above, cost):
            def cell(left, inputs):
                over, corner, cost = inputs
                made = cost + soft(left, over, corner)
                return made, made

            _, rest = lax.scan(cell, 1e4, (above[1:], above[:-1], cost))
            return jnp.concatenate([jnp.full(1, 1e4), rest]), None

        first = jnp.full(len(y) + 1, 1e4).at[0].set(0.0)
        return lax.scan(row, first, costs)[0][-1]

    return function, (floats(0, 5), floats(1, 4))


@of_jax("shortest paths by Floyd and Warshall", compared="value")
def shortest_paths():
    def function(lengths):
        def step(k, d):
            return jnp.minimum(d, d[:, k, None] + d[k][None])

        return lax.fori_loop(0, len(lengths), step, lengths)

    return function, (uniform(0, 6, 6),)


@of_jax("page rank", compared="value")
def page_rank():
    def function(links):
        shares = links / jnp.maximum(links.sum(0), 1)

        def step(state):
            ranks, _ = state
            moved = 0.15 / len(links) + 0.85 * shares @ ranks
            return moved, jnp.sum(jnp.abs(moved - ranks))

        start = (jnp.full(len(links), 1 / len(links)), 1.0)
        return lax.while_loop(lambda s: s[1] > 1e-4, step, start)[0]

    return function, ((uniform(0, 6, 6) > 0.6).astype("float32"),)


@of_jax("sorting network", compared="value")
def sorting_network():
    def function(x):
        place, n = jnp.arange(x.size), x.size
        size = 2
        while size <= n:
            gap = size // 2
            while gap:
                other = place ^ gap
                takes_less = ((place & size) == 0) == (place < other)
                x = jnp.where(takes_less, jnp.minimum(x, x[other]), jnp.maximum(x, x[other]))
                gap //= 2
            size *= 2
        return x

    return function, (floats(0, 16),)


@of_jax("orders: sorts by keys, ranks, unique values, medians", compared="value")
def orders():
    def function(x, n):
        order = jnp.lexsort((x, n))
        values, counts = jnp.unique(n, size=4, return_counts=True, fill_value=-1)
        return (
            order, x[order], jnp.argsort(jnp.argsort(x)), values, counts, jnp.median(x),
            lax.sort((n, x), num_keys=2), jnp.quantile(x, jnp.array([0.1, 0.5, 0.9])),
            lax.top_k(x, 3), jnp.sort(x, descending=True), jnp.partition(x, 3)[3],
            jnp.searchsorted(jnp.sort(x), x), jnp.flatnonzero(n == 1, size=5, fill_value=9),
        )  # fmt: skip

    return function, (floats(0, 9), integers(1, 4, 9))


@of_jax("beam search", compared="value")
def beam_search():
    def function(moves, first):
        def step(beams, place):
            scores, paths = beams
            all = (scores[:, None] + jax.nn.log_softmax(moves)[paths[:, place]]).ravel()
            scores, picked = lax.top_k(all, 3)
            paths = paths[picked // len(moves)].at[:, place + 1].set(picked % len(moves))
            return (scores, paths), None

        scores, starts = lax.top_k(first, 3)
        paths = jnp.zeros((3, 6), "int32").at[:, 0].set(starts)
        return lax.scan(step, (scores, paths), jnp.arange(5))[0]

    return function, (floats(0, 5, 5), floats(1, 5))


@of_jax("knapsack", compared="value")
def knapsack():
    def function(weights, values):
        room = jnp.arange(16)

        def item(best, pair):
            weight, value = pair
            taken = jnp.where(room >= weight, best[jnp.maximum(room - weight, 0)] + value, 0)
            return jnp.maximum(best, taken), taken > best

        return lax.scan(item, jnp.zeros(16, "int32"), (weights, values))

    return function, (integers(0, 6, 5) + 1, integers(1, 9, 5))


@of_jax("greatest common divisors and primes", compared="value")
def numbers():
    def function(a, b):
        def sieve(p, is_prime):
            multiples = (jnp.arange(40) % p == 0) & (jnp.arange(40) > p)
            return jnp.where(multiples & is_prime[p], False, is_prime)

        primes = lax.fori_loop(2, 7, sieve, jnp.arange(40) > 1)
        return jnp.gcd(a, b), jnp.lcm(a, b), primes, jnp.bitwise_xor.reduce(a)

    return function, (integers(0, 50, 6) + 1, integers(1, 50, 6) + 1)


@of_jax("image filters: blur, edges, bilateral", compared="gradient")
def filters():
    def function(image):
        kernel = jnp.outer(jnp.array([1.0, 2, 1]), jnp.array([1.0, 2, 1])) / 16
        blurred = jax.scipy.signal.convolve2d(image, kernel, mode="same")
        dx = jax.scipy.signal.correlate2d(image, jnp.array([[-1.0, 0, 1]]), mode="valid")
        near = jnp.stack([jnp.roll(image, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)])
        weights = jnp.exp(-((near - image) ** 2))
        return blurred, dx, (weights * near).sum(0) / weights.sum(0)

    return function, (uniform(0, 7, 8),)


@of_jax("image turned and resized, bilinearly", compared="gradient")
def warped():
    def function(image, angle):
        y, x = jnp.meshgrid(jnp.arange(6.0) - 2.5, jnp.arange(6.0) - 2.5, indexing="ij")
        s, c = jnp.sin(angle), jnp.cos(angle)
        places = jnp.stack([c * y - s * x, s * y + c * x]) + 2.5
        turned = jax.scipy.ndimage.map_coordinates(image, places, order=1, mode="nearest")
        return (
            turned,
            jax.image.resize(image, (9, 4), "cubic"),
            jax.image.resize(image, (3, 3), "linear", antialias=True),
        )

    return function, (uniform(0, 6, 6), np.float32(0.4))


@of_jax("neighbours: distances, votes, histogram", compared="value")
def neighbours():
    def function(x, labels, points):
        distances = jnp.linalg.norm(points[:, None] - x[None], axis=-1)
        _, nearest = lax.top_k(-distances, 3)
        votes = jax.nn.one_hot(labels[nearest], 3).sum(1)
        return votes.argmax(1), jnp.histogram(distances, bins=5)[0], distances.min(1)

    return function, (floats(0, 12, 2), integers(1, 3, 12), floats(2, 4, 2))


@of_jax("t-SNE: a step of its embedding", compared="step")
def embedding():
    def affinities(x):
        squares = jnp.sum((x[:, None] - x[None]) ** 2, -1)
        p = jnp.exp(-squares) * (1 - jnp.eye(len(x)))
        return p / p.sum()

    def step(y, x):
        p = affinities(x)

        def divergence(y):
            near = (1 - jnp.eye(len(y))) / (1 + jnp.sum((y[:, None] - y[None]) ** 2, -1))
            return jnp.sum(jax.scipy.special.rel_entr(p + 1e-9, near / near.sum() + 1e-9))

        value, gradient = jax.value_and_grad(divergence)(y)
        return y - gradient, value

    return step, (floats(0, 7, 2), floats(1, 7, 4))


@of_jax("draws of twelve distributions by key", compared="value")
def draws():
    def function(key):
        keys = jax.random.split(key, 12)
        random = jax.random
        return (
            random.normal(keys[0], (4,)), random.laplace(keys[1], (4,)),
            random.cauchy(keys[2], (4,)), random.logistic(keys[3], (4,)),
            random.multivariate_normal(keys[4], jnp.zeros(2), jnp.eye(2), (3,)),
            random.permutation(keys[5], 6), random.choice(keys[6], 5, (3,), p=jnp.arange(5.0) / 10),
            random.rademacher(keys[7], (4,)), random.weibull_min(keys[8], 1.0, 2.0, (4,)),
            random.orthogonal(keys[9], 3), random.pareto(keys[10], 2.0, (4,)),
            random.triangular(keys[11], 0.0, 0.5, 1.0, (4,)),
        )  # fmt: skip

    return function, (jax.random.key(9),)


@of_jax("hashes and bits: a CRC, Gray codes, packed bits", compared="value")
def bits():
    def function(data):
        def byte(crc, value):
            crc = crc ^ value.astype("uint32")
            for _ in range(8):
                crc = jnp.where(crc & 1 == 1, (crc >> 1) ^ jnp.uint32(0xEDB88320), crc >> 1)
            return crc, None

        crc, _ = lax.scan(byte, jnp.uint32(0xFFFFFFFF), data)
        return ~crc, data ^ (data >> 1), jnp.unpackbits(data), lax.population_count(data)

    return function, (integers(0, 256, 9).astype("uint8"),)
