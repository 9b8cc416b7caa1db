"""Numerical methods in plain JAX: equations, factors, fits, transforms."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_models import floats, program, uniform

of_jax = partial(program, library="JAX")


@of_jax("Newton's method until it stands", compared="value")
def newton():
    def function(start, target):
        f = lambda x: x**3 + x - target
        slope = jax.vmap(jax.grad(lambda x: x**3 + x))

        def goes_on(state):
            x, count = state
            return (jnp.max(jnp.abs(f(x))) > 1e-5) & (count < 50)

        return lax.while_loop(goes_on, lambda s: (s[0] - f(s[0]) / slope(s[0]), s[1] + 1),
                              (start, 0))  # fmt: skip

    return function, (floats(0, 4), floats(1, 4) * 3)


@of_jax("roots by bisection", compared="value")
def bisection():
    def function(target):
        def step(i, pair):
            low, high = pair
            middle = (low + high) / 2
            is_low = jnp.exp(middle) + middle < target
            return jnp.where(is_low, middle, low), jnp.where(is_low, high, middle)

        return lax.fori_loop(0, 20, step, (jnp.full_like(target, -5.0), jnp.full_like(target, 5.0)))

    return function, (floats(0, 5),)


@of_jax("conjugate gradients", compared="value")
def conjugate_gradients():
    def function(a, b):
        matrix = a @ a.T + 4 * jnp.eye(len(a))
        return jax.scipy.sparse.linalg.cg(lambda x: matrix @ x, b, maxiter=20)[0]

    return function, (floats(0, 5, 5), floats(1, 5))


@of_jax("sensitivity of a linear system", compared="gradient")
def linear_system():
    def function(a, b):
        return jnp.linalg.solve(a + 4 * jnp.eye(5), b), jnp.linalg.slogdet(a + 4 * jnp.eye(5))[1]

    return function, (floats(0, 5, 5), floats(1, 5, 2))


@of_jax("generalised minimal residuals", compared="value")
def minimal_residuals():
    def function(a, b):
        matrix = a + 5 * jnp.eye(len(a))
        return jax.scipy.sparse.linalg.gmres(matrix, b, restart=6, maxiter=2)[0]

    return function, (floats(0, 6, 6), floats(1, 6))


@of_jax("Broyden-Fletcher-Goldfarb-Shanno", compared="value")
def bfgs():
    from jax.scipy.optimize import minimize

    def function(start):
        made = minimize(lambda x: jnp.sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), start,
                        method="BFGS", options={"maxiter": 4})  # fmt: skip
        return made.x, made.fun

    return function, (floats(0, 3) * 0.5,)


@of_jax("least squares by Levenberg and Marquardt", compared="value")
def levenberg():
    def function(start, x, y):
        def residuals(p):
            return p[0] * jnp.exp(-p[1] * x) + p[2] - y

        def step(i, state):
            p, damping = state
            jacobian, r = jax.jacfwd(residuals)(p), residuals(p)
            square = jacobian.T @ jacobian
            moved = p - jnp.linalg.solve(square + damping * jnp.diag(jnp.diag(square)),
                                         jacobian.T @ r)  # fmt: skip
            is_better = jnp.sum(residuals(moved) ** 2) < jnp.sum(r**2)
            return jnp.where(is_better, moved, p), jnp.where(is_better, damping / 2, damping * 3)

        return lax.fori_loop(0, 6, step, (start, 0.1))

    x = np.linspace(0, 3, 12, dtype="float32")
    return function, (
        np.array([1.5, 1.0, 0.2], "float32"),
        x,
        (2 * np.exp(-0.8 * x) + 0.5 + 0.05 * floats(0, 12)).astype("float32"),
    )


@of_jax("logistic regression by Newton's method", compared="value")
def logistic():
    def function(x, y):
        def loss(w):
            return jnp.mean(jax.nn.softplus(-y * (x @ w))) + 0.05 * w @ w

        def step(w, _):
            gradient, curvature = jax.grad(loss)(w), jax.hessian(loss)(w)
            return w - jax.scipy.linalg.solve(curvature, gradient, assume_a="pos"), loss(w)

        return lax.scan(step, jnp.zeros(3), length=4)

    return function, (floats(0, 12, 3), np.sign(floats(1, 12)))


@of_jax("principal components", compared="value")
def components():
    def function(x):
        centred = x - x.mean(0)
        _, values, vectors = jnp.linalg.svd(centred, full_matrices=False)
        signs = jnp.sign(vectors[:, :1])
        return values**2 / (len(x) - 1), vectors * signs, jnp.cov(x.T)

    return function, (floats(0, 9, 4),)


@of_jax("greatest eigenvalue by power iteration", compared="gradient")
def power_iteration():
    def function(a):
        matrix = a @ a.T

        def step(v, _):
            v = matrix @ v
            v = v / jnp.linalg.norm(v)
            return v, v @ matrix @ v

        return lax.scan(step, jnp.ones(len(a)), length=8)[1]

    return function, (floats(0, 4, 4),)


@of_jax("spectrum of a symmetric matrix, differentiated", compared="gradient")
def spectrum():
    def function(a):
        values, vectors = jnp.linalg.eigh(a + a.T)
        return values, vectors**2, jnp.linalg.svd(a, compute_uv=False)

    return function, (floats(0, 4, 4),)


@of_jax("least squares with a ridge, and by QR", compared="gradient")
def ridge():
    def function(x, y):
        q, r = jnp.linalg.qr(x)
        by_factors = jax.scipy.linalg.solve_triangular(r, q.T @ y)
        with_ridge = jnp.linalg.solve(x.T @ x + 0.1 * jnp.eye(3), x.T @ y)
        return by_factors, with_ridge, jnp.linalg.lstsq(x, y)[0]

    return function, (floats(0, 8, 3), floats(1, 8))


@of_jax("exponential of a matrix", compared="value")
def exponential():
    return (lambda a: jax.scipy.linalg.expm(a)), (floats(0, 4, 4),)


@of_jax("cubic spline through points", compared="gradient")
def spline():
    def function(y, x, points):
        h = x[1:] - x[:-1]
        slopes = (y[1:] - y[:-1]) / h
        matrix = jnp.diag(2 * (h[:-1] + h[1:])) + jnp.diag(h[1:-1], 1) + jnp.diag(h[1:-1], -1)
        bent = jnp.pad(jnp.linalg.solve(matrix, 6 * (slopes[1:] - slopes[:-1])), 1)
        i = jnp.clip(jnp.searchsorted(x, points) - 1, 0, len(h) - 1)
        left, right = x[i + 1] - points, points - x[i]
        curved = (bent[i] * left**3 + bent[i + 1] * right**3) / (6 * h[i])
        ends = (y[i] / h[i] - bent[i] * h[i] / 6) * left
        return curved + ends + (y[i + 1] / h[i] - bent[i + 1] * h[i] / 6) * right

    x = np.cumsum(0.5 + uniform(1, 7)).astype("float32")
    return function, (floats(0, 7), x, np.linspace(x[0] + 0.1, x[-1] - 0.1, 9, dtype="float32"))


@of_jax("integrals by Gauss and Legendre", compared="gradient")
def integrals():
    points, weights = np.polynomial.legendre.leggauss(6)

    def function(parameters):
        a, b = parameters
        x = a + (b - a) * (points.astype("float32") + 1) / 2
        y = jnp.sin(x) * jnp.exp(-x)
        return (b - a) / 2 * jnp.sum(weights.astype("float32") * y), jnp.trapezoid(y, x)

    return function, (np.array([0.2, 1.7], "float32"),)


@of_jax("spectrogram on the mel scale", compared="gradient")
def spectrogram():
    def function(sound, bands):
        frames = sound[jnp.arange(0, 48, 8)[:, None] + jnp.arange(16)]
        spectrum = jnp.abs(jnp.fft.rfft(frames * jnp.hanning(16))) ** 2
        return jnp.log(spectrum @ bands + 1e-3)

    return function, (floats(0, 64), uniform(1, 9, 5))


@of_jax("convolution by Fourier transforms", compared="gradient")
def convolution():
    def function(x, h):
        fast = jax.scipy.signal.fftconvolve(x, h)
        return fast, jnp.convolve(x, h), jnp.correlate(x, h, "same")

    return function, (floats(0, 12), floats(1, 5))


@of_jax("Sinkhorn's transport plan", compared="gradient")
def sinkhorn():
    def function(x, y):
        costs = jnp.sum((x[:, None] - y[None]) ** 2, -1)

        def step(i, pair):
            f, g = pair
            f = -0.5 * jax.nn.logsumexp((g[None] - costs) / 0.5, 1)
            return f, -0.5 * jax.nn.logsumexp((f[:, None] - costs) / 0.5, 0)

        f, g = lax.fori_loop(0, 8, step, (jnp.zeros(len(x)), jnp.zeros(len(y))))
        return jnp.exp((f[:, None] + g[None] - costs) / 0.5)

    return function, (floats(0, 5, 2), floats(1, 4, 2))


@of_jax("Mandelbrot's set", compared="value")
def mandelbrot():
    def function(centre):
        c = centre + jnp.linspace(-1, 1, 9)[None] + 1j * jnp.linspace(-1, 1, 7)[:, None]

        def step(i, state):
            z, counts = state
            inside = jnp.abs(z) < 2
            return jnp.where(inside, z * z + c, z), counts + inside

        return lax.fori_loop(0, 20, step, (jnp.zeros_like(c), jnp.zeros(c.shape, "int32")))[1]

    return function, (np.complex64(-0.6),)


@of_jax("special functions and densities", compared="gradient")
def densities():
    stats, special = jax.scipy.stats, jax.scipy.special

    def function(x):
        p = jax.nn.sigmoid(x)
        return (
            stats.beta.logpdf(p, 2.0, 3.0), stats.gamma.logpdf(p, 2.0), stats.t.logpdf(x, 4.0),
            stats.laplace.cdf(x), stats.poisson.logpmf(3, p), stats.cauchy.logpdf(x),
            special.betaln(1 + p, 2.0), special.xlogy(p, p), special.entr(p), special.logit(p),
            special.multigammaln(2 + p, 2), stats.multivariate_normal.logpdf(
                x, jnp.zeros(5), jnp.eye(5) * 2), special.betainc(2.0, 1.5, p),
            special.ndtri(p), special.log_ndtr(x),
        )  # fmt: skip

    return function, (floats(0, 5),)


@of_jax("Bézier curves and their lengths", compared="gradient")
def curves():
    def function(points):
        t = jnp.linspace(0, 1, 8)

        def point(t):
            row = points
            while len(row) > 1:
                row = (1 - t) * row[:-1] + t * row[1:]
            return row[0]

        return jax.vmap(point)(t), jnp.linalg.norm(jax.vmap(jax.jacfwd(point))(t), axis=1).mean()

    return function, (floats(0, 4, 2),)


@of_jax("polynomials: roots' product, fit and value", compared="gradient")
def polynomials():
    def function(roots, x):
        coefficients = jnp.poly(roots)
        return (
            coefficients,
            jnp.polyval(coefficients, x),
            jnp.vander(x, 3),
            jnp.polyder(coefficients),
        )

    return function, (floats(0, 3), floats(1, 5))
