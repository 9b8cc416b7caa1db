"""NumPy's functions of arrays that are known: what evaluate takes, in NumPy's times."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from group import main
from measure import Probe, check, in_turns

SIZES = (100, 1000, 1_000_000)
# The time in NumPy's times: what composit promises, and what it wants.
MUST = {100: 1.5, 1000: 1.5, 1_000_000: 1.0}
AIM = {100: 1.0, 1000: 1.0, 1_000_000: 0.5}
DTYPES = ("float32", "float64", "int64")
ROUNDS = (5, 9)


@dataclass(frozen=True)
class Operands:
    """Of one dtype: x, y are 1-d; matrix holds x in rows of 100, triples in rows of three, small
    are 4 x 4, regular, square is a matrix of side 100 at most, large one of 512; indices and mask
    fit x, edges are 50 values that ascend."""

    x: object
    y: object
    matrix: object
    triples: object
    small: object
    square: object
    large: object
    indices: object
    mask: object
    edges: object

    def mapped(self, function: Callable) -> "Operands":
        return Operands(*(function(value) for value in vars(self).values()))


def operands(dtype: str, size: int) -> Operands:
    """Numbers of moderate size; integers with repetitions."""
    import numpy as np

    rng = np.random.default_rng(7)

    def numbers(*shape):
        if dtype.startswith(("int", "uint")):
            top = 100 if dtype.endswith("8") else 1000
            return rng.integers(0, top, shape).astype(dtype)
        return (100 * rng.standard_normal(shape)).astype(dtype)

    x = numbers(size)
    side = min(100, int(size**0.5) // 10 * 10)
    small = rng.standard_normal((size // 16, 4, 4)) + 4 * np.eye(4)
    return Operands(
        x, numbers(size), x.reshape(-1, 100), x[: size // 3 * 3].reshape(-1, 3),
        (10 * small).astype(dtype), numbers(side, side), numbers(512, 512),
        rng.integers(0, size, size), rng.random(size) < 0.5, np.sort(numbers(50)),
    )  # fmt: skip


@dataclass(frozen=True)
class Function:
    """call(xp, operands) for xp of NumPy or composit; of these dtypes and sizes only."""

    name: str
    call: Callable
    dtypes: tuple[str, ...] = DTYPES
    tolerance: float = 1e-5
    sizes: tuple[int, ...] = SIZES
    draws: bool = False  # each call gives other values, of equal shapes


def stored(at: Callable) -> Callable:
    """Assigns to a part of a copy."""

    def call(xp, of):
        x = of.x.copy()
        x[at(of)] = 3
        return x

    return call


def added_at(xp, of):
    x = of.x.copy()
    xp.add.at(x, of.indices, of.y)
    return x


def drawn(draw: Callable) -> Callable:
    """By a generator of xp that goes on from call to call."""
    generators: dict = {}

    def call(xp, of):
        if xp not in generators:
            generators[xp] = xp.random.default_rng(3)
        return draw(generators[xp], len(of.x))

    return call


FLOATS = ("float32", "float64")
FUNCTIONS = (
    Function("sort", lambda xp, of: xp.sort(of.x), (*DTYPES, "uint8")),
    Function("sort, rows", lambda xp, of: xp.sort(of.matrix, axis=1), (*DTYPES, "uint8")),
    Function("sort, columns", lambda xp, of: xp.sort(of.matrix, axis=0), (*DTYPES, "uint8")),
    Function("argsort", lambda xp, of: xp.argsort(of.x, stable=True), (*DTYPES, "uint8")),
    Function("argsort, rows", lambda xp, of: xp.argsort(of.matrix, axis=1, stable=True)),
    Function("partition", lambda xp, of: xp.partition(of.x, 9)[9]),
    Function("argpartition", lambda xp, of: of.x[xp.argpartition(of.x, 9)[9]]),
    Function("lexsort", lambda xp, of: xp.lexsort((of.x, of.y))),
    Function("median", lambda xp, of: xp.median(of.x)),
    Function("median, rows", lambda xp, of: xp.median(of.matrix, axis=1)),
    Function("quantile", lambda xp, of: xp.quantile(of.x, 0.3)),
    Function("quantile, rows", lambda xp, of: xp.quantile(of.matrix, [0.1, 0.9], axis=1)),
    Function("percentile", lambda xp, of: xp.percentile(of.x, [5, 50, 95])),
    Function("nanmedian", lambda xp, of: xp.nanmedian(of.x)),
    Function("nanquantile", lambda xp, of: xp.nanquantile(of.x, 0.3)),
    Function("unique", lambda xp, of: xp.unique(of.x), (*DTYPES, "uint8")),
    Function("unique, counts", lambda xp, of: xp.unique(of.x, return_counts=True)),
    Function("unique, inverse", lambda xp, of: xp.unique(of.x, return_inverse=True)),
    Function("isin", lambda xp, of: xp.isin(of.x, of.y), (*DTYPES, "uint8")),
    Function("isin, few", lambda xp, of: xp.isin(of.x, of.edges)),
    Function("setdiff1d", lambda xp, of: xp.setdiff1d(of.x, of.y)),
    Function("intersect1d", lambda xp, of: xp.intersect1d(of.x, of.y)),
    Function("union1d", lambda xp, of: xp.union1d(of.x, of.y)),
    Function("setxor1d", lambda xp, of: xp.setxor1d(of.x, of.y)),
    Function("searchsorted", lambda xp, of: xp.searchsorted(of.edges, of.x)),
    Function("digitize", lambda xp, of: xp.digitize(of.x, of.edges)),
    Function("histogram", lambda xp, of: xp.histogram(of.x, 30)[0]),
    Function("histogram, edges", lambda xp, of: xp.histogram(of.x, of.edges)[0]),
    Function("bincount", lambda xp, of: xp.bincount(of.x), ("int64", "uint8")),
    Function("bincount, weights", lambda xp, of: xp.bincount(of.indices, of.x)),
    Function("interp", lambda xp, of: xp.interp(of.x, of.edges, of.edges), FLOATS),
    Function("cumsum", lambda xp, of: xp.cumsum(of.x), tolerance=1e-4),
    Function("cumsum, rows", lambda xp, of: xp.cumsum(of.matrix, axis=1)),
    Function("cumsum, columns", lambda xp, of: xp.cumsum(of.matrix, axis=0), tolerance=1e-4),
    Function("cumprod", lambda xp, of: xp.cumprod(of.x * 0 + 1)),
    Function("cov", lambda xp, of: xp.cov(of.matrix[:1000, :50])),
    Function("corrcoef", lambda xp, of: xp.corrcoef(of.matrix[:1000, :50])),
    Function("convolve", lambda xp, of: xp.convolve(of.x, of.edges[:9])),
    Function("correlate", lambda xp, of: xp.correlate(of.x, of.edges)),
    Function("nonzero", lambda xp, of: xp.nonzero(of.x)),
    Function("where", lambda xp, of: xp.where(of.mask, of.x, of.y)),
    Function("where, alone", lambda xp, of: xp.where(of.mask)),
    Function("x[mask]", lambda xp, of: of.x[of.mask]),
    Function("x[indices]", lambda xp, of: of.x[of.indices]),
    Function("take", lambda xp, of: xp.take(of.x, of.indices)),
    Function(
        "take_along_axis",
        lambda xp, of: xp.take_along_axis(of.matrix, of.indices.reshape(-1, 100) % 100, 1),
    ),
    Function("pad", lambda xp, of: xp.pad(of.matrix, 3)),
    Function("pad, reflect", lambda xp, of: xp.pad(of.matrix, 3, mode="reflect")),
    Function("roll", lambda xp, of: xp.roll(of.x, 5)),
    Function("tile", lambda xp, of: xp.tile(of.x, 3)),
    Function("repeat", lambda xp, of: xp.repeat(of.x, 3)),
    Function("concatenate", lambda xp, of: xp.concatenate([of.x, of.y])),
    Function("flipped copy", lambda xp, of: xp.ascontiguousarray(xp.flip(of.matrix, 1))),
    # Of a single row NumPy makes no copy.
    Function(
        "transposed copy",
        lambda xp, of: xp.ascontiguousarray((of.matrix if len(of.matrix) > 1 else of.square).T),
    ),
    Function(
        "einsum",
        lambda xp, of: xp.einsum("ij,kj->ik", of.matrix[:300], of.matrix[:300]),
        tolerance=1e-4,
    ),
    Function("einsum, diagonals", lambda xp, of: xp.einsum("bii->b", of.small)),
    Function(
        "einsum, three operands",
        lambda xp, of: xp.einsum("ij,jk,kl->il", of.square, of.square, of.square),
        FLOATS,
        1e-4,
    ),
    Function(
        "tensordot", lambda xp, of: xp.tensordot(of.small, of.small, ([0, 1], [0, 1])), FLOATS, 1e-3
    ),
    Function("cross", lambda xp, of: xp.cross(of.triples, of.triples[::-1])),
    Function("polyval", lambda xp, of: xp.polyval(of.edges[:5] / 100, of.x / 100), FLOATS),
    Function("block", lambda xp, of: xp.block([[of.matrix, of.matrix], [of.matrix, of.matrix]])),
    Function("x[indices] = 3", stored(lambda of: of.indices)),
    Function("x[mask] = 3", stored(lambda of: of.mask)),
    Function("x[::2] = 3", stored(lambda of: slice(None, None, 2))),
    Function("add.at", added_at),
    Function("multiply.outer", lambda xp, of: xp.multiply.outer(of.x[:1000], of.y[:1000])),
    Function("unique, rows", lambda xp, of: xp.unique(of.triples, axis=0)),
    Function("kron", lambda xp, of: xp.kron(of.square, of.square[:10, :10])),
    Function("outer", lambda xp, of: xp.outer(of.x[:1000], of.y[:1000])),
    Function("gradient", lambda xp, of: xp.gradient(of.x)),
    Function("diff", lambda xp, of: xp.diff(of.x)),
    Function("trapezoid", lambda xp, of: xp.trapezoid(of.x), tolerance=1e-2),
    Function("argmax", lambda xp, of: xp.argmax(of.x)),
    Function("argmin, rows", lambda xp, of: xp.argmin(of.matrix, axis=1)),
    Function("argmax, columns", lambda xp, of: xp.argmax(of.matrix, axis=0)),
    Function("max", lambda xp, of: xp.max(of.x)),
    Function("max, rows", lambda xp, of: xp.max(of.matrix, axis=1)),
    Function("any", lambda xp, of: xp.any(of.x > 1e6)),
    Function("all", lambda xp, of: xp.all(of.mask)),
    Function("count_nonzero", lambda xp, of: xp.count_nonzero(of.mask)),
    Function("mean", lambda xp, of: xp.mean(of.x), tolerance=1e-2),
    Function("std", lambda xp, of: xp.std(of.x)),
    Function("var, rows", lambda xp, of: xp.var(of.matrix, axis=1), tolerance=1e-4),
    Function("clip", lambda xp, of: xp.clip(of.x, -10, 10)),
    Function("round", lambda xp, of: xp.round(of.x, 1)),
    Function("nan_to_num", lambda xp, of: xp.nan_to_num(of.x)),
    Function("fft", lambda xp, of: xp.fft.fft(of.x)),
    Function("rfft", lambda xp, of: xp.fft.rfft(of.x), tolerance=1e-4),
    Function("irfft", lambda xp, of: xp.fft.irfft(of.x), tolerance=1e-4),
    Function("fft, rows", lambda xp, of: xp.fft.fft(of.matrix, axis=1)),
    Function("fft, columns", lambda xp, of: xp.fft.fft(of.matrix, axis=0)),
    Function("fft2", lambda xp, of: xp.fft.fft2(of.matrix)),
    Function("fftshift", lambda xp, of: xp.fft.fftshift(of.x)),
    Function("inv, 4 x 4", lambda xp, of: xp.linalg.inv(of.small), FLOATS, 1e-2),
    Function("det, 4 x 4", lambda xp, of: xp.linalg.det(of.small), FLOATS, 1e-3),
    Function("solve, 4 x 4", lambda xp, of: xp.linalg.solve(of.small, of.small), FLOATS, 1e-2),
    Function("inv", lambda xp, of: xp.linalg.inv(of.square), FLOATS, 1e-2),
    Function("inv, 512 x 512", lambda xp, of: xp.linalg.inv(of.large), FLOATS, 1e-2, (1_000_000,)),
    Function(
        "solve, 512 x 512",
        lambda xp, of: xp.linalg.solve(of.large, of.large),
        FLOATS,
        1e-2,
        (1_000_000,),
    ),
    Function("qr, 512 x 512", lambda xp, of: xp.linalg.qr(of.large)[1], FLOATS, 1e-2, (1_000_000,)),
    Function(
        "svd, 512 x 512", lambda xp, of: xp.linalg.svd(of.large)[1], FLOATS, 1e-3, (1_000_000,)
    ),
    Function(
        "eigh, 512 x 512",
        lambda xp, of: xp.linalg.eigvalsh(of.large + of.large.T),
        FLOATS,
        1e-3,
        (1_000_000,),
    ),
    Function("matmul, 512 x 512", lambda xp, of: of.large @ of.large, FLOATS, 1e-4, (1_000_000,)),
    Function("qr", lambda xp, of: xp.linalg.qr(of.square), FLOATS, 1e-2),
    Function("svd", lambda xp, of: xp.linalg.svd(of.square)[1], FLOATS, 1e-3),
    Function("eigh", lambda xp, of: xp.linalg.eigvalsh(of.square + of.square.T), FLOATS, 1e-3),
    Function("norm", lambda xp, of: xp.linalg.norm(of.x), FLOATS, 1e-4),
    Function("norm, rows", lambda xp, of: xp.linalg.norm(of.matrix, axis=1), FLOATS, 1e-4),
    Function("matrix_power", lambda xp, of: xp.linalg.matrix_power(of.small, 3), FLOATS, 1e-4),
    Function("matmul, 4 x 4", lambda xp, of: xp.matmul(of.small, of.small), FLOATS),
    Function("matmul, vector", lambda xp, of: xp.matmul(of.matrix, of.x[:100]), FLOATS, 1e-4),
    Function("dot", lambda xp, of: xp.dot(of.x, of.y), FLOATS, 1e-3),
    Function("random", drawn(lambda rng, n: rng.random(n)), ("float64",), draws=True),
    Function(
        "standard_normal", drawn(lambda rng, n: rng.standard_normal(n)), ("float64",), draws=True
    ),
    Function("integers", drawn(lambda rng, n: rng.integers(0, 1000, n)), ("int64",), draws=True),
    Function("permutation", drawn(lambda rng, n: rng.permutation(n)), ("int64",), draws=True),
)


def sides(function: Function, dtype: str, size: int) -> list[Callable]:
    """composit's call and NumPy's, whose results are equal but for rounding."""
    import numpy as np

    import composit.numpy as cnp

    known = operands(dtype, size)
    held = known.mapped(cnp.asarray)

    def one():  # nobody else holds the result, which evaluate may hand over
        return cnp.evaluate(function.call(cnp, held))

    def several():
        return cnp.evaluate(*function.call(cnp, held))

    def theirs():
        return function.call(np, known)

    expected = theirs()
    ours = several if isinstance(expected, (tuple, list)) else one
    expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    results = ours()
    results = results if isinstance(results, (tuple, list)) else [results]
    assert len(results) == len(expected), function.name
    with np.errstate(invalid="ignore"):
        for result, other in zip(results, expected):
            assert result.shape == np.shape(other), (function.name, result.shape)
            if not function.draws:
                check(function.name, result, other, function.tolerance)
    return [ours, theirs]


def compared(function: Function, size: int) -> Callable:
    def measured(threads):
        ratios, microseconds = {}, {}
        for dtype in function.dtypes:
            times = in_turns(sides(function, dtype, size), ROUNDS)
            ratios[dtype] = statistics.median(a / b for a, b in times)
            microseconds[dtype] = [1e6 * statistics.median(side) for side in zip(*times)]
        worst = max(ratios, key=ratios.get)
        ours, theirs = microseconds[worst]
        return ratios[worst], {**ratios, "us": ours, "NumPy, us": theirs}

    return measured


def cases():
    for size in SIZES:
        for function in FUNCTIONS:
            if size not in function.sizes:
                continue
            name = f"{function.name}, {size:.0e}".replace("e+0", "e")
            measured = compared(function, size)
            yield Probe(name, MUST[size], AIM[size], "of NumPy's", measured, threads=(1,))


if __name__ == "__main__":
    notes = (
        "The time of `evaluate` of one function of arrays of 100, 1000 and a million elements, "
        "with making its graph, divided by NumPy's time: the largest of some dtypes. Smaller is "
        "better."
    )
    main("NumPy's functions", notes, cases)
