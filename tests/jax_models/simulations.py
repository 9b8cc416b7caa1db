"""Simulations of physics, life and markets in plain JAX."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_models import floats, integers, program, uniform

of_jax = partial(program, library="JAX")


@of_jax("wave equation in two dimensions", compared="gradient")
def wave():
    def function(u, speed):
        def step(pair, _):
            before, now = pair
            around = sum(jnp.roll(now, s, a) for s in (1, -1) for a in (0, 1)) - 4 * now
            return (now, 2 * now - before + 0.1 * speed * around), now[3, 3]

        (_, last), trace = lax.scan(step, (u, u), length=8)
        return last, trace

    return function, (floats(0, 7, 7), uniform(1, 7, 7))


@of_jax("heat equation by implicit steps", compared="gradient")
def heat():
    def function(u, conductivity):
        n = u.size
        lower = -0.5 * conductivity
        diagonal = 1 + conductivity

        def step(u, _):
            off = jnp.full(n, lower)
            made = lax.linalg.tridiagonal_solve(
                off.at[0].set(0.0), jnp.full(n, diagonal), off.at[-1].set(0.0), u[:, None]
            )
            return made[:, 0], None

        return lax.scan(step, u, length=5)[0]

    return function, (floats(0, 9), np.float32(0.7))


@of_jax("bodies that attract one another, by leapfrog", compared="gradient")
def bodies():
    def function(state, masses):
        def acceleration(x):
            gaps = x[None] - x[:, None]
            squares = jnp.sum(gaps**2, -1) + 0.1
            return jnp.sum(masses[None, :, None] * gaps / squares[..., None] ** 1.5, 1)

        def step(state, _):
            x, v = state
            v = v + 0.005 * acceleration(x)
            x = x + 0.01 * v
            return (x, v + 0.005 * acceleration(x)), jnp.sum(v**2)

        return lax.scan(step, state, length=10)

    return function, ((floats(0, 5, 3), floats(1, 5, 3)), uniform(2, 5) + 0.5)


@of_jax("molecules in a box, forces from their energy", compared="value")
def molecules():
    def energy(x, side):
        gaps = x[:, None] - x[None]
        gaps = gaps - side * jnp.round(gaps / side)
        squares = jnp.sum(gaps**2, -1) + jnp.eye(len(x)) * 1e3
        sixth = 1 / squares**3
        return 2 * jnp.sum(jnp.where(squares < 6.25, sixth**2 - sixth, 0.0))

    def function(x, v, side):
        force = jax.grad(lambda x: -energy(x, side))

        def step(i, state):
            x, v = state
            v = v + 0.002 * force(x)
            return jnp.mod(x + 0.004 * v, side), v + 0.002 * force(x)

        return lax.fori_loop(0, 6, step, (x, v))

    grid = np.stack(np.meshgrid(*[np.arange(2)] * 3), -1).reshape(8, 3)
    return function, ((grid * 1.5 + 0.1 * uniform(0, 8, 3)).astype("float32"), floats(1, 8, 3),
                      np.float32(3))  # fmt: skip


@of_jax("Poisson's equation by Fourier transforms", compared="gradient")
def poisson():
    def function(source):
        k = jnp.fft.fftfreq(source.shape[0]) * 2 * jnp.pi
        squares = k[:, None] ** 2 + k[None] ** 2
        spectrum = jnp.fft.fft2(source)
        solved = jnp.where(squares > 0, -spectrum / jnp.where(squares > 0, squares, 1), 0)
        return jnp.fft.ifft2(solved).real

    return function, (floats(0, 8, 8),)


@of_jax("Schrödinger's equation by split steps", compared="value")
def schroedinger():
    def function(potential):
        x = jnp.linspace(-4, 4, 16)
        k = 2 * jnp.pi * jnp.fft.fftfreq(16, 0.5)
        psi = jnp.exp(-(x**2) + 1j * x)

        def step(psi, _):
            psi = psi * jnp.exp(-0.05j * potential)
            psi = jnp.fft.ifft(jnp.exp(-0.05j * k**2) * jnp.fft.fft(psi))
            return psi, jnp.sum(jnp.abs(psi) ** 2)

        return lax.scan(step, psi, length=6)

    return function, (floats(0, 16) ** 2,)


@of_jax("fluid between walls by lattice Boltzmann", compared="value")
def fluid():
    moves = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
    opposite = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
    shares = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, "float32")

    def function(f, wall):
        def step(f, _):
            density = f.sum(0)
            velocity = jnp.einsum("qd,qxy->dxy", moves.astype("float32"), f) / density
            along = jnp.einsum("qd,dxy->qxy", moves.astype("float32"), velocity)
            still = shares[:, None, None] * density * (
                1 + 3 * along + 4.5 * along**2 - 1.5 * jnp.sum(velocity**2, 0)
            )  # fmt: skip
            f = jnp.where(wall, f[opposite], f + 0.8 * (still - f))
            f = jnp.stack([jnp.roll(f[q], moves[q], (0, 1)) for q in range(9)])
            return f, density.mean()

        return lax.scan(step, f, length=4)

    return function, (uniform(0, 9, 6, 5) + 0.5, uniform(1, 6, 5) > 0.8)


@of_jax("game of life", compared="value")
def life():
    def function(cells):
        def step(cells, _):
            ones = jnp.ones((3, 3), cells.dtype)
            padded = jnp.pad(cells, 1, mode="wrap")
            around = jax.scipy.signal.convolve2d(padded, ones, mode="valid") - cells
            born = (around == 3) | ((cells == 1) & (around == 2))
            return born.astype(cells.dtype), born.sum()

        return lax.scan(step, cells, length=5)

    return function, (integers(0, 2, 8, 9).astype("float32"),)


@of_jax("reaction and diffusion", compared="gradient")
def reaction():
    def function(pair, feed):
        def spread(u):
            return sum(jnp.roll(u, s, a) for s in (1, -1) for a in (0, 1)) - 4 * u

        def step(i, pair):
            u, v = pair
            made = u * v * v
            u = u + 0.16 * spread(u) - made + feed * (1 - u)
            return u, v + 0.08 * spread(v) + made - (feed + 0.06) * v

        return lax.fori_loop(0, 6, step, pair)

    return function, ((uniform(0, 6, 6), uniform(1, 6, 6)), np.float32(0.035))


@of_jax("Ising model on a chequerboard", compared="value")
def ising():
    def function(spins, key):
        colours = jnp.indices(spins.shape).sum(0) % 2

        def step(spins, inputs):
            colour, key = inputs
            around = sum(jnp.roll(spins, s, a) for s in (1, -1) for a in (0, 1))
            chance = jnp.exp(-0.8 * spins * around)
            flips = (jax.random.uniform(key, spins.shape) < chance) & (colours == colour)
            return jnp.where(flips, -spins, spins), spins.mean()

        return lax.scan(step, spins, (jnp.arange(6) % 2, jax.random.split(key, 6)))

    return function, (integers(0, 2, 6, 6).astype("float32") * 2 - 1, jax.random.key(0))


@of_jax("pendulum by Lagrange's equations", compared="value")
def pendulum():
    """Accelerations are what the derivatives of a Lagrangian say."""

    def lagrangian(q, v):
        first = 0.5 * v[0] ** 2
        second = 0.5 * (v[0] ** 2 + v[1] ** 2 + 2 * v[0] * v[1] * jnp.cos(q[0] - q[1]))
        return first + second + 9.8 * (2 * jnp.cos(q[0]) + jnp.cos(q[1]))

    def function(q, v):
        def acceleration(q, v):
            mass = jax.hessian(lagrangian, 1)(q, v)
            mixed = jax.jacfwd(jax.grad(lagrangian, 1), 0)(q, v)
            return jnp.linalg.solve(mass, jax.grad(lagrangian, 0)(q, v) - mixed @ v)

        def step(state, _):
            q, v = state
            v = v + 0.01 * acceleration(q, v)
            return (q + 0.01 * v, v), q

        return lax.scan(step, (q, v), length=5)

    return function, (floats(0, 2), floats(1, 2))


@of_jax("predators and prey by an adaptive solver", compared="value")
def predators():
    """jax.experimental.ode chooses its steps: a while loop within a scan."""
    from jax.experimental.ode import odeint

    def function(start, times):
        def change(y, t):
            return jnp.stack([y[0] * (1 - y[1]), y[1] * (y[0] - 1)])

        return odeint(change, start, times, rtol=1e-5, atol=1e-5)

    return function, (np.array([1.5, 0.8], "float32"), np.array([0.0, 0.4, 1.1], "float32"))


@of_jax("coupled oscillators", compared="gradient")
def oscillators():
    def function(parameters, angles):
        def step(angles, _):
            pull = jnp.mean(jnp.sin(angles[None] - angles[:, None]), 1)
            angles = angles + 0.1 * (parameters["own"] + parameters["strength"] * pull)
            order = jnp.hypot(jnp.mean(jnp.cos(angles)), jnp.mean(jnp.sin(angles)))
            return angles, order

        return lax.scan(step, angles, length=10)

    return function, ({"own": floats(0, 6), "strength": np.float32(1.5)}, floats(1, 6))


@of_jax("price of an option and its sensitivities", compared="value")
def option():
    def price(spot, strike, volatility, rate, time):
        spread = volatility * jnp.sqrt(time)
        d = (jnp.log(spot / strike) + (rate + volatility**2 / 2) * time) / spread
        cdf = jax.scipy.stats.norm.cdf
        return spot * cdf(d) - strike * jnp.exp(-rate * time) * cdf(d - spread)

    def function(*terms):
        each = jax.vmap(price)
        sensitivities = jax.vmap(jax.grad(price, range(5)))(*terms)
        return each(*terms), sensitivities, jax.vmap(jax.grad(jax.grad(price)))(*terms)

    return function, (90 + 20 * uniform(0, 5), 90 + 20 * uniform(1, 5), 0.1 + 0.3 * uniform(2, 5),
                      0.05 * uniform(3, 5), 0.5 + uniform(4, 5))  # fmt: skip


@of_jax("option on an average, by simulated paths", compared="gradient")
def simulated_option():
    def function(terms, key):
        draws = jax.random.normal(key, (64, 12))
        steps = (terms["rate"] - terms["volatility"] ** 2 / 2) / 12
        moves = steps + terms["volatility"] * jnp.sqrt(1 / 12) * draws
        paths = 100 * jnp.exp(jnp.cumsum(moves, 1))
        return jnp.exp(-terms["rate"]) * jnp.maximum(paths.mean(1) - 100, 0).mean()

    return function, ({"rate": np.float32(0.03), "volatility": np.float32(0.2)}, jax.random.key(8))


@of_jax("epidemic with ages, fitted to counts", compared="step")
def epidemic():
    def counts(parameters, susceptible):
        contacts = jnp.exp(parameters["contacts"])

        def step(state, _):
            s, i = state
            infected = s * (contacts @ i) * 0.1
            return (s - infected, i + infected - 0.2 * i), i

        return lax.scan(step, (susceptible, jnp.full(3, 0.01)), length=8)[1]

    def step(parameters, susceptible, seen):
        def loss(parameters):
            return jnp.mean((jnp.log(counts(parameters, susceptible)) - seen) ** 2)

        value, gradients = jax.value_and_grad(loss)(parameters)
        return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients), value

    return step, ({"contacts": floats(0, 3, 3) * 0.3}, uniform(1, 3), -4 - uniform(2, 8, 3))


@of_jax("spheres seen by marching along rays", compared="gradient")
def rays():
    def function(scene, directions):
        def distance(x):
            each = jnp.linalg.norm(x[..., None, :] - scene["centres"], axis=-1) - scene["radii"]
            return -0.2 * jax.nn.logsumexp(-each / 0.2, axis=-1)

        def step(depth, _):
            return depth + distance(depth[:, None] * directions), None

        depth, _ = lax.scan(step, jnp.zeros(len(directions)), length=6)
        points = depth[:, None] * directions
        normals = jax.vmap(jax.grad(distance))(points)
        return jnp.exp(-depth), jax.nn.relu(normals @ jnp.array([0.3, 0.8, -0.5]))

    directions = np.concatenate([0.2 * floats(0, 7, 2), np.ones((7, 1), "float32")], 1)
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    centres = floats(1, 3, 3) * 0.3 + np.array([0, 0, 3], "float32")
    return function, ({"centres": centres, "radii": uniform(2, 3) * 0.5 + 0.3},
                      directions.astype("float32"))  # fmt: skip
