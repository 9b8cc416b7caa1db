"""numpy.random: each method of Generator and RandomState, the module's own functions, bit
generators and SeedSequence draw NumPy's numbers from its seeds, and leave its state."""

import numpy as np

from numpy_conformance.cases import Row
from numpy_conformance.values import array

KINDS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
# Parameters that reach every branch of every algorithm, and wrong ones.
PARAMETERS = {
    "beta": [(2.0, 3.0), (0.5, 0.4), (0.01, 0.02), (-1, 1), ("x", 1)],
    "binomial": [(10, 0.3), (1000, 0.6), (100, 0.99), (5, 0), (5, 1), (5, 1.5), (-1, 0.5)],
    "bytes": [(7,), (0,), (-1,)],
    "chisquare": [(3,), (0.5,), (-1,)],
    "choice": [(5,), (5, 3), ([1, 2, 3], 2, False), (5, 3, True, [0.1, 0.2, 0.3, 0.4, 0]),
               (5, 9, False), (0,), (array("int8", (4, 2)), 3)],
    "dirichlet": [([1, 2, 3],), ([0.1, 0.2],), ([1, 2], 3), ([-1, 2],)],
    "exponential": [(), (2.5,), (0,), (-1,)],
    "f": [(3, 4), (0, 1)],
    "gamma": [(0.5,), (3.0, 2.0), (0.0,), (-1,)],
    "geometric": [(0.5,), (0.01,), (1.0,), (0,), (2,)],
    "gumbel": [(), (1, 2)],
    "hypergeometric": [(10, 20, 5), (100, 50, 60), (1000, 2000, 100), (5, 5, 20)],
    "integers": [(10,), (3, 9), (0, 2**40), (0, 256, 5, "uint8"), (9, 3), (300, None, 2, "int8")],
    "laplace": [(), (1, 3)],
    "logistic": [(), (1, 3)],
    "lognormal": [(), (1, 0.5)],
    "logseries": [(0.5,), (0.999,), (0.0,), (1.5,)],
    "multinomial": [(10, [0.2, 0.3, 0.5]), (10, [0.2, 0.9]), (5, [1.0], 3)],
    "multivariate_hypergeometric": [([5, 6, 7], 4), ([5, 6, 7], 99)],
    "multivariate_normal": [([0, 1], [[2, 0.5], [0.5, 1]]), ([0], [[1, 2]])],
    "negative_binomial": [(5, 0.3), (2.5, 0.9), (5, 2)],
    "noncentral_chisquare": [(3, 2), (0.5, 1.0), (0.5, 0)],
    "noncentral_f": [(3, 4, 1.0), (0.5, 4, 2.0)],
    "normal": [(), (1, 2), (0, -1), ([0, 1], 2), (0, 1, (2, 3))],
    "pareto": [(3,), (-1,)],
    "permutation": [(7,), ([1, 2, 3],), (array("float64", (4, 2)),)],
    "permuted": [(array("int64", (7,)),), (array("int64", (3, 4)),)],
    "poisson": [(), (3,), (1000.0,), (0,), (-1,)],
    "power": [(2.0,), (-1,)],
    "rand": [(), (3,), (2, 3)],
    "randint": [(10,), (3, 9), (0, 2**40), (0, 256, 5, "uint8"), (9, 3)],
    "randn": [(), (3,), (2, 3)],
    "random": [(), (3,), ((2, 2),), (-1,)],
    "random_integers": [(5,), (2, 9)],
    "random_sample": [(), (3,), ((2, 2),)],
    "ranf": [(), (3,)],
    "rayleigh": [(), (3,), (-1,)],
    "sample": [(), (3,)],
    "shuffle": [(array("int64", (7,)),), (array("int64", (3, 4)),)],
    "standard_cauchy": [(), (3,)],
    "standard_exponential": [(), (3,)],
    "standard_gamma": [(0.0,), (0.3,), (1,), (8,), (-1,)],
    "standard_normal": [(), (3,)],
    "standard_t": [(4,), (0,)],
    "tomaxint": [(), (3,)],
    "triangular": [(0, 1, 5), (3, 2, 1)],
    "uniform": [(), (-2, 7), (3, 3), (0, float("inf"))],
    "vonmises": [(0.0, 1.0), (1, 1e-9), (2, 50.0), (1, 1e8), (1, -1)],
    "wald": [(1, 2), (0, 1)],
    "weibull": [(2,), (0,), (-1,)],
    "zipf": [(2.0,), (1.1,), (1,)],
}  # fmt: skip
SIZES = ({}, {"size": 3}, {"size": (2, 3)}, {"size": ()}, {"size": 0}, {"size": -1})
SIZELESS = ("bytes", "permutation", "permuted", "shuffle", "rand", "randn")
WRITING = ("shuffle",)
# What is no draw: states, seeds, the generator itself.
NO_DRAWS = {"seed", "get_state", "set_state", "spawn", "bit_generator", "get_bit_generator",
            "set_bit_generator", "default_rng", "test"}  # fmt: skip


def with_state(make, name):
    """A draw, and the numbers that are drawn next: so much tells the state."""

    def of(module):
        def call(*arguments, **keywords):
            source = make(module.random)
            drawn = getattr(source, name)(*arguments, **keywords)
            following = getattr(source, "random_sample" if name in LEGACY else "random")(3)
            return drawn, following

        return call

    return of


LEGACY = {"rand", "randn", "randint", "random_integers", "ranf", "sample", "tomaxint"}


def calls_of(name):
    sizes = SIZES if name not in SIZELESS else ({},)
    calls = [(p, {}) for p in PARAMETERS[name]]
    first = PARAMETERS[name][0]
    return calls + [(first, size) for size in sizes if size]


def methods(kind):
    """The public methods of a class that draw."""
    names = [n for n in dir(getattr(np.random, kind)) if n[0] != "_" and n not in NO_DRAWS]
    return names


def row_of(label, made, name):
    """Calls of the method of what `made` makes of either random module, and its state after."""
    return Row(
        label,
        calls_of(name),
        changes=0 if name in WRITING else None,
        of_tensors=False,
        of=with_state(made, name),
    )


def drawing():
    for kind in ("Generator", "RandomState"):
        for name in methods(kind):
            for_seed = (lambda r: r.default_rng(7)) if kind == "Generator" else (
                lambda r: r.RandomState(7))  # fmt: skip
            yield row_of(f"random.{kind}.{name}", for_seed, name)


def own_functions():
    """Those of the module, which share one RandomState."""

    def seeded(random):
        random.seed(11)
        return random

    names = [n for n in np.random.__all__ if n not in NO_DRAWS]
    for name in names:
        if not isinstance(getattr(np.random, name), type):
            yield row_of(f"random.{name}", seeded, name)


def streams():
    """Bit generators: raw numbers, jumps, states; SeedSequence: words and children."""
    seeds = [((seed,), {}) for seed in (0, 1, 2**70, [1, 2, 3], np.uint32(9), -1, 1.5, "x")]
    for kind in KINDS:
        for name, of in _uses_of_bits().items():
            yield Row(
                f"random.{kind}.{name}",
                seeds,
                of_tensors=False,
                of=lambda m, kind=kind, of=of: lambda seed: of(m.random, kind, seed),
            )
    for name, use in {
        "generate_state": lambda s: (s.generate_state(5), s.generate_state(3, np.uint64)),
        "spawn": lambda s: [child.generate_state(4) for child in s.spawn(3)],
        "entropy": lambda s: s.entropy,
        "pool": lambda s: s.pool,
    }.items():
        yield Row(
            f"random.SeedSequence.{name}",
            seeds,
            of_tensors=False,
            of=lambda m, use=use: lambda seed: use(m.random.SeedSequence(seed)),
        )
    yield Row(
        "random.default_rng",
        seeds,
        of_tensors=False,
        of=lambda m: lambda seed: m.random.default_rng(seed).random(3),
    )


def _uses_of_bits():
    def raw(random, kind, seed):
        return getattr(random, kind)(seed).random_raw(5)

    def jumped(random, kind, seed):
        return getattr(random, kind)(seed).jumped(2).random_raw(3)

    def advance(random, kind, seed):
        bits = getattr(random, kind)(seed)
        bits.advance(1234567)
        return bits.random_raw(3)

    def spawn(random, kind, seed):
        return [child.random_raw(2) for child in getattr(random, kind)(seed).spawn(2)]

    def state(random, kind, seed):
        found = getattr(random, kind)(seed).state
        return repr(sorted(found.items(), key=lambda item: item[0]))

    def drawn(random, kind, seed):
        return random.Generator(getattr(random, kind)(seed)).standard_normal(4)

    return {"random_raw": raw, "jumped": jumped, "advance": advance, "spawn": spawn,
            "state": state, "Generator": drawn}  # fmt: skip


def rows():
    for group in (drawing, own_functions, streams):
        yield from group()
