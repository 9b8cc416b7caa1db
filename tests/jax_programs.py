"""Programs written with JAX, with the arguments that they are called and differentiated with."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

draw = np.random.default_rng(0)


def floats(*shape):
    return draw.standard_normal(shape).astype("float32")


def mlp_loss(parameters, x, y):
    for w, b in parameters[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = parameters[-1]
    return jnp.mean((x @ w + b - y) ** 2)


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return jnp.sum(jnp.einsum("bhqk,bhkd->bhqd", weights, v) ** 2)


def layer_norm_gelu(x, scale):
    mean = x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True)
    return jnp.sum(jax.nn.gelu((x - mean) * lax.rsqrt(variance + 1e-5) * scale) ** 2)


def convnet(image, filters, dense):
    x = lax.conv_general_dilated(
        image, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.nn.logsumexp(x.reshape(x.shape[0], -1) @ dense, axis=-1).sum()


def rnn(w, u, xs):
    def step(h, x):
        h = jnp.tanh(w @ h + u @ x)
        return h, h.sum()

    h, sums = lax.scan(step, jnp.zeros(w.shape[0]), xs)
    return jnp.sum(h**2) + jnp.sum(sums)


def backward_scan(xs):
    return jnp.sum(lax.scan(lambda c, x: (c * 0.5 + x, c * x), 0.0, xs, reverse=True)[1] ** 2)


def per_example_gradients(w, xs, ys):
    gradient = jax.grad(lambda w, x, y: (jnp.tanh(x @ w) - y) ** 2)
    return jnp.sum(jax.vmap(gradient, (None, 0, 0))(w, xs, ys) ** 2)


def kalman(observations, noise):
    a, h = jnp.array([[1.0, 1.0], [0.0, 1.0]]), jnp.array([[1.0, 0.0]])

    def step(carry, z):
        m, p = carry
        m, p = a @ m, a @ p @ a.T + 0.1 * jnp.eye(2)
        s = h @ p @ h.T + noise
        k = jnp.linalg.solve(s, h @ p).T
        return (m + k @ (z - h @ m), p - k @ s @ k.T), jnp.log(s[0, 0])

    (m, p), logs = lax.scan(step, (jnp.zeros(2), jnp.eye(2)), observations)
    return m @ p @ m + logs.sum()


def mixture(means, xs):
    def em(_, means):
        scores = -0.5 * (xs[:, None] - means[None]) ** 2
        shares = jax.nn.softmax(scores, axis=1)
        return (shares * xs[:, None]).sum(0) / shares.sum(0)

    return jnp.sum(lax.fori_loop(0, 4, em, means) ** 2)


def gathers(x, table):
    rows = jnp.take(table, jnp.array([0, 2, 2, 1]), axis=0)
    moved = x.at[jnp.array([0, 1, 1]), 1].add(x[2, :3]).at[2].set(0.0)
    part = lax.dynamic_slice(x, (1, 0), (2, 3))
    written = lax.dynamic_update_slice(x, part, (0, 1))
    along = jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)
    return jnp.sum(rows**3) + jnp.sum(moved**2) + jnp.sum(written * along) + jnp.sum(x[::-1, ::2])


def orders(x):
    values, places = lax.top_k(x, 2)
    return (
        jnp.sum(jnp.sort(x, axis=0) * jnp.arange(x.shape[0])[:, None]) + jnp.sum(values * places)
        + jnp.sum(jnp.cumsum(x, axis=1) ** 2) + jnp.sum(jnp.cumprod(x, axis=0))
        + jnp.sum(lax.cummax(x, axis=1, reverse=True)) + jnp.sum(x * (x.argmax(1)[:, None] == 1))
        + jnp.sum(lax.cumlogsumexp(x, axis=1)) + jnp.median(x)
    )  # fmt: skip


def linear_algebra(a, b):
    s = a @ a.T + 3 * jnp.eye(a.shape[0])
    return (
        jnp.sum(jnp.linalg.cholesky(s) ** 3) + jnp.sum(jnp.linalg.solve(a + 3 * jnp.eye(4), b))
        + jnp.sum(jnp.linalg.inv(s)) + jnp.linalg.slogdet(s)[1] + jnp.sum(jnp.linalg.eigvalsh(s))
        + jnp.sum(jax.scipy.linalg.solve_triangular(s, b, lower=True))
        + jnp.sum(jnp.linalg.svd(a, compute_uv=False)) + jnp.linalg.norm(a)
        + jnp.sum(jnp.abs(jnp.linalg.qr(a)[1]))
    )  # fmt: skip


def special(x):
    return jnp.sum(
        jax.scipy.special.erf(x) + jax.scipy.special.gammaln(x**2 + 1) + jnp.logaddexp(x, 0.5)
        + jax.scipy.special.digamma(x**2 + 1) + jnp.hypot(x, 2.0) + jnp.sinc(x) + jnp.arctan2(x, 2)
        + jax.nn.softplus(x) + jax.nn.silu(x) + x**5 + jnp.cbrt(x) + jnp.expm1(x) + jnp.exp2(x)
        + jnp.log1p(x**2) + jnp.sinh(x) + jnp.arcsinh(x) + jnp.clip(x, -0.5, 0.5) + jnp.round(x)
        + jnp.remainder(x, 0.7) + jnp.sign(x) + jax.scipy.special.erfinv(jnp.tanh(x)) + jnp.abs(x)
    )  # fmt: skip


@jax.custom_vjp
def clipped(x):
    return x * 2


clipped.defvjp(lambda x: (x * 2, x), lambda x, g: (jnp.clip(g, -0.1, 0.1) * x,))


@jax.custom_jvp
def tripled(x):
    return x * 3


tripled.defjvp(lambda primals, tangents: (tripled(primals[0]), tangents[0] * 7))


def own_rules(x):
    return jnp.sum(clipped(x) ** 2) + jnp.sum(tripled(x) * x) + jnp.sum(jax.vmap(clipped)(x))


def rematerialised(w, x):
    return jnp.sum(jax.checkpoint(lambda x: jnp.sin(x @ w))(x) ** 2)


def branches(x):
    y = lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: jnp.sin(x), x)
    return jnp.sum(lax.switch(jnp.argmax(x[:3]), [jnp.sin, jnp.cos, lambda x: x * x], y))


def more_special(x):
    positive = x**2 + 0.5
    return (
        jax.scipy.special.zeta(positive + 1, positive), jax.scipy.special.gammainc(positive, 1.3),
        jax.scipy.special.gammaincc(positive, 1.3), jax.scipy.special.i0e(x),
        jax.scipy.special.i1e(x), jax.scipy.special.polygamma(2, positive),
    )  # fmt: skip


def transforms(x):
    spectrum = jnp.fft.rfft(x)
    return (
        jnp.fft.fft(x), spectrum, jnp.fft.irfft(spectrum, n=9), jnp.fft.ifft(spectrum),
        jnp.abs(spectrum),
    )  # fmt: skip


def many_functions(x):
    """jax.numpy's, which are made of primitives of all kinds."""
    x = x.reshape(3, 3)
    row = x[0]
    return (
        jax.nn.one_hot(jnp.argmax(x, 1), 3), lax.associative_scan(jnp.add, x),
        jax.hessian(lambda v: jnp.sum(jnp.sin(v) ** 2))(row), jax.jacfwd(lambda v: v**3)(row),
        jax.ops.segment_sum(x, jnp.array([0, 1, 0]), 2), jnp.linspace(0, 1, 5),
        jnp.searchsorted(jnp.sort(row), x[1]), jnp.interp(row, jnp.arange(3.0), x[1]),
        jnp.roll(x, 1, 0), jnp.tril(x), jnp.kron(x[:2, :2], x[:2, :2]), jnp.percentile(x, 30),
        jnp.nonzero(x > 0, size=3), jnp.histogram(x, bins=3)[0], jnp.convolve(row, x[1]),
        jax.image.resize(x, (5, 4), "bilinear"), jnp.nan_to_num(x), jnp.isclose(x, x),
        jnp.average(x, weights=x**2), jnp.cov(x),
    )  # fmt: skip


def integers(x):
    n = (x * 10).astype(jnp.int32)
    return (
        n // 3, n % 3, lax.div(n, 3), lax.rem(n, 3), n << 2, n >> 1, n & 5, n | 2, n ^ 3, ~n,
        lax.population_count(n), lax.shift_right_logical(n, 3),
        jnp.bitwise_count(n.view(jnp.uint32)),
        lax.bitcast_convert_type(x, jnp.int32), n.astype(bool), jnp.sum(n), jnp.prod(n[:3]),
        jnp.any(n > 3), jnp.all(n > -100), n.astype(jnp.float32) / 2, jnp.argmin(n), lax.clz(n),
    )  # fmt: skip


def windows(x):
    pooled = lax.reduce_window(x, 0.0, lax.add, (1, 2, 3), (1, 1, 2), "SAME")
    least = lax.reduce_window(x, jnp.inf, lax.min, (1, 2, 2), (1, 2, 2), "VALID")
    return jnp.sum(pooled**2) + jnp.sum(least**2) + jnp.sum(jnp.pad(x, ((0, 0), (1, 2), (0, 0))))


def grouped_convolution(x, w):
    y = lax.conv_general_dilated(
        x, w, (2,), [(1, 2)], lhs_dilation=(2,), rhs_dilation=(2,), feature_group_count=2,
        dimension_numbers=("NCH", "OIH", "NCH"),
    )  # fmt: skip
    return jnp.sum(y**2)


PROGRAMS = {
    "MLP": (mlp_loss, [[(floats(4, 8), floats(8)), (floats(8, 2), floats(2))], floats(5, 4),
                       floats(5, 2)], (0,)),
    "attention": (attention, [floats(2, 2, 4, 3) for _ in range(3)], (0, 1, 2)),
    "layer norm": (layer_norm_gelu, [floats(4, 6), floats(6)], (0, 1)),
    "convnet": (convnet, [floats(2, 6, 6, 3), floats(3, 3, 3, 4), floats(36, 5)], (0, 1, 2)),
    "RNN": (rnn, [floats(4, 4) * 0.3, floats(4, 3), floats(6, 3)], (0, 1, 2)),
    "backward scan": (backward_scan, [floats(6)], (0,)),
    "per-example gradients": (per_example_gradients, [floats(3), floats(5, 3), floats(5)], (0, 1)),
    "Kalman filter": (kalman, [floats(5, 1), np.float32(0.5)], (0, 1)),
    "mixture": (mixture, [floats(3), floats(20)], (0, 1)),
    "gathers": (gathers, [floats(3, 4), floats(3, 2)], (0, 1)),
    "orders": (orders, [floats(4, 5)], (0,)),
    "linear algebra": (linear_algebra, [floats(4, 4), floats(4, 2)], (0, 1)),
    "special functions": (special, [floats(7)], (0,)),
    "own rules": (own_rules, [floats(4)], (0,)),
    "rematerialisation": (rematerialised, [floats(3, 3), floats(2, 3)], (0, 1)),
    "branches": (branches, [floats(5)], (0,)),
    "windows": (windows, [floats(2, 5, 6)], (0,)),
    "grouped convolution": (grouped_convolution, [floats(2, 4, 7), floats(6, 2, 3)], (0, 1)),
}  # fmt: skip


# ----- random numbers
def draws(key):
    a, b, c = jax.random.split(key, 3)
    return (
        jax.random.uniform(a, (5,)), jax.random.bits(b, (3,)), jax.random.bernoulli(c, 0.3, (6,)),
        jax.random.randint(a, (7,), -3, 9), jax.random.permutation(b, 8),
        jax.random.key_data(jax.random.fold_in(c, 7)),
        jax.vmap(lambda k: jax.random.uniform(k, (2,)))(jax.random.split(a, 4)),
    )  # fmt: skip


def shaped_draws(key):
    return (
        jax.random.normal(key, (6,)), jax.random.categorical(key, jnp.zeros((4, 5))),
        jax.random.exponential(key, (3,)), jax.random.truncated_normal(key, -1, 2, (4,)),
        jax.random.choice(key, 10, (3,), replace=False), jax.random.gumbel(key, (3,)),
    )  # fmt: skip


# ----- loops with a condition
def euler(x, tolerance):
    """An ODE, y' = -y, until nothing moves: a loop whose end depends on values."""

    def goes_on(state):
        return jnp.max(jnp.abs(state)) > tolerance

    return lax.while_loop(goes_on, lambda y: y - 0.1 * y, x)


def counting(x, steps):
    return lax.while_loop(lambda s: s[0] < s[1], lambda s: (s[0] + 1, s[1], s[2] * 0.5),
                          (0, steps, x))[2]  # fmt: skip
