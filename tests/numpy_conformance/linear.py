"""Products, numpy.linalg, numpy.fft, polynomials, and functions of functions."""

import numpy as np

from numpy_conformance.cases import Row
from numpy_conformance.values import DTYPES, FEW, array, symmetric

LAPACK = ("float32", "float64", "complex64", "complex128", "int64", "bool", "float16")


def pairs(shapes, kinds=("plain",), dtypes=DTYPES):
    calls = [((array(d, a, kind), array(d, b, kind, 1)), {}) for d in dtypes for a, b in shapes
             for kind in kinds]  # fmt: skip
    a, b = shapes[0]
    return calls + [((array(x, a), array(y, b)), {}) for x in FEW for y in FEW]


def products():
    shapes = [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((2, 3), (3, 4)),
        ((2, 3), (2, 3)),
        ((), (3,)),
        ((2, 2, 3), (3, 2)),
        ((0,), (0,)),
        ((2, 0), (0, 3)),
        ((2, 2, 3), (2, 3, 4)),
    ]
    yield Row("dot", [*pairs(shapes), ((2, 3), {}), (([1, 2], [3, 4]), {})], sums=True)
    yield Row(
        "vdot",
        [
            *pairs([((3,), (3,)), ((2, 3), (3, 2)), ((0,), (0,)), ((3,), (4,)), ((), ())]),
            ((2, 3j), {}),
        ],
        sums=True,
    )
    yield Row(
        "inner",
        [
            *pairs([((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((3,), (4,)), ((), (3,))]),
            ((2, 3), {}),
        ],
        sums=True,
    )
    yield Row(
        "outer",
        [*pairs([((3,), (2,)), ((2, 3), (4,)), ((), (3,)), ((0,), (2,))]), (([1, 2], 3), {})],
    )
    yield Row(
        "kron", pairs([((2,), (3,)), ((2, 2), (2, 3)), ((2,), (2, 3)), ((), (3,)), ((0,), (2,))])
    )
    cross = [((3,), (3,)), ((2, 3), (3,)), ((4, 3), (4, 3)), ((3,), (4,)), ((2,), (2,)), ((), (3,))]
    yield Row("cross", pairs(cross), sums=True, options=[{"axisa": 0}, {"axis": 1}])
    yield Row("linalg.cross", pairs(cross), sums=True)
    tensors = pairs([((2, 3, 4), (3, 4, 5)), ((2, 2), (2, 2)), ((2, 3), (4, 5))])
    options = [
        {"axes": 0},
        {"axes": 1},
        {"axes": ([0, 1], [0, 1])},
        {"axes": ((1,), (0,))},
        {"axes": -1},
        {"axes": 5},
        {"axes": (0, 0)},
    ]
    yield Row("tensordot", tensors, sums=True, options=options)
    yield Row("linalg.tensordot", tensors, sums=True, options=options)
    for name in ("linalg.matmul", "linalg.outer", "linalg.vecdot"):
        shapes = {
            "linalg.matmul": [
                ((2, 3), (3, 4)),
                ((3,), (3,)),
                ((2, 3), (2, 3)),
                ((5, 2, 3), (3, 2)),
            ],
            "linalg.outer": [((2,), (3,)), ((2, 2), (3,))],
            "linalg.vecdot": [((3,), (3,)), ((2, 3), (3,)), ((3,), (4,))],
        }[name]
        yield Row(name, pairs(shapes), sums=True)
    a, b = (2, 3), (3, 4)
    specs = [
        "ij,jk->ik",
        "ij,jk",
        "ij,jk->ki",
        "ij,jk->",
        "ij,jk->i",
        "ij,kl->ijkl",
        "ij,jj",
        "ij,jk->iz",
        "i...",
    ]
    calls = [(("ij,jk->ik", array(x, a), array(y, b)), {}) for x in DTYPES for y in DTYPES]
    calls += [
        ((s, array(d, a), array(d, b)), {}) for s in specs for d in ("int8", "float32", "complex64")
    ]
    calls += [
        ((s, array("float64", (3, 3))), {})
        for s in ("ii", "ii->i", "ij->ji", "ij->", "i...->...", "ij", "i")
    ]
    calls += [((array("int8", a), [0, 1], array("int8", b), [1, 2]), {}), (("...,...", 2, 3), {})]
    yield Row("einsum", calls, sums=True, options=[{"optimize": True}])
    yield Row(
        "einsum_path",
        [(("ij,jk,kl->il", array("int8", a), array("int8", b), array("int8", (4, 2))), {})],
    )
    chain = [(([array(d, (2, 3)), array(d, (3, 4)), array(d, (4, 2))],), {}) for d in DTYPES]
    chain += [
        (([array("int8", (3,)), array("int8", (3, 2))],), {}),
        (([array("int8", (3, 2))],), {}),
        (([],), {}),
    ]
    yield Row("linalg.multi_dot", chain, sums=True)
    sequences = [((9,), (4,)), ((3,), (5,)), ((1,), (1,)), ((0,), (3,)), ((2, 2), (2,)), ((), (3,))]
    modes = [{"mode": m} for m in ("full", "same", "valid", "nonsense")]
    yield Row("convolve", pairs(sequences), sums=True, options=modes, without=("mode",))
    yield Row("correlate", pairs(sequences), sums=True, options=modes, without=("mode",))


def square(dtypes=LAPACK, sizes=((3, 3), (1, 1), (0, 0), (2, 3, 3), (2, 3), (3,))):
    calls = []
    for d in dtypes:
        for s in sizes:
            a = array(d, s)
            if len(s) > 1 and s[-1] == s[-2] and d not in ("bool",):
                a = a + 3 * np.eye(s[-1], dtype=a.dtype)
            calls.append(((a,), {}))
    return [*calls, (([[2.0, 1], [1, 3]],), {}), ((3,), {})]


def lapack():
    """Foreign functions: NumPy's own LAPACK computes them."""
    general = square()
    hermitian = [((symmetric(d, n),), {}) for d in LAPACK[:4] for n in (1, 3, 4)] + general
    tall = [((array(d, s),), {}) for d in LAPACK for s in ((4, 3), (3, 4), (2, 4, 3), (0, 3), (3,))]
    singular = [((np.zeros((2, 2)),), {}), ((np.full((2, 2), np.nan),), {})]
    for name in ("inv", "det", "slogdet", "eig", "eigvals"):
        yield Row(f"linalg.{name}", general + singular, sums=True, foreign=True)
    for name in ("cholesky", "eigh", "eigvalsh"):
        options = [{"upper": True}] if name == "cholesky" else [{"UPLO": "U"}, {"UPLO": "x"}]
        yield Row(f"linalg.{name}", hermitian, sums=True, foreign=True, options=options)
    yield Row(
        "linalg.qr",
        tall,
        sums=True,
        foreign=True,
        options=[{"mode": m} for m in ("r", "raw", "complete", "x")],
    )
    yield Row(
        "linalg.svd",
        tall,
        sums=True,
        foreign=True,
        options=[{"full_matrices": False}, {"compute_uv": False}],
        without=("hermitian",),
    )
    yield Row("linalg.svdvals", tall, sums=True, foreign=True)
    both = [((a, array(a.dtype.name, (3,))), {}) for (a,), _ in general if np.shape(a) == (3, 3)]
    both += [((a, array(a.dtype.name, (3, 2))), {}) for (a,), _ in general if np.shape(a) == (3, 3)]
    both += [
        ((array("float64", (3, 3)), array("float64", (4,))), {}),
        ((np.zeros((2, 2)), [1, 2]), {}),
    ]
    yield Row("linalg.solve", both, sums=True, foreign=True)
    least = [
        ((array(d, (5, 3)), array(d, s, seed=1)), {}) for d in LAPACK for s in ((5,), (5, 2), (4,))
    ]
    yield Row(
        "linalg.lstsq", least, sums=True, foreign=True, options=[{"rcond": -1}, {"rcond": 0.1}]
    )
    yield Row(
        "linalg.pinv",
        tall,
        sums=True,
        foreign=True,
        options=[{"rcond": 0.1}],
        without=("hermitian",),
    )
    yield Row(
        "linalg.cond",
        general,
        sums=True,
        foreign=True,
        options=[{"p": p} for p in (1, -1, 2, -2, "fro", np.inf, 3)],
    )
    yield Row(
        "linalg.matrix_rank",
        tall + general,
        foreign=True,
        options=[{"tol": 0.5}],
        without=("hermitian",),
    )
    four = [((symmetric(d, 6).reshape(2, 3, 6),), {"ind": 2}) for d in LAPACK[:4]]
    yield Row(
        "linalg.tensorinv",
        [
            *four,
            ((symmetric("float64", 6).reshape(6, 2, 3),), {"ind": 1}),
            ((array("float64", (2, 3)),), {"ind": 0}),
        ],
        sums=True,
        foreign=True,
    )
    systems = [((symmetric(d, 6).reshape(2, 3, 6), array(d, (2, 3))), {}) for d in LAPACK[:4]]
    yield Row("linalg.tensorsolve", systems, sums=True, foreign=True)


def norms():
    calls = [((array(d, s),), {}) for d in DTYPES for s in ((7,), (3, 4), (), (0,), (2, 3, 4))]
    orders = (None, 1, 2, -1, 0, np.inf, -np.inf, 3, 2.5, "fro", "nuc", "x")
    pairs_of = [{"ord": o, "axis": axis} for o in orders for axis in (0, (0, 1))]
    yield Row("linalg.norm", calls, sums=True, options=[{"ord": o} for o in orders] + pairs_of)
    yield Row("linalg.vector_norm", calls, sums=True, options=[{"ord": o} for o in orders])
    yield Row("linalg.matrix_norm", calls, sums=True, options=[{"ord": o} for o in orders[1:]])
    powers = [((array(d, (3, 3), "positive"), n), {}) for d in DTYPES for n in (0, 1, 2, 3, 5)]
    powers += [
        ((symmetric("float64", 3), -2), {}),
        ((array("float64", (2, 3)), 2), {}),
        ((array("float64", (2, 2)), 1.5), {}),
    ]
    yield Row("linalg.matrix_power", powers, sums=True)
    yield Row("linalg.matrix_transpose", calls)
    for name in ("diagonal", "trace"):
        yield Row(f"linalg.{name}", calls, sums=True)


def transforms():
    one = [((array(d, s),), {}) for d in DTYPES for s in ((8,), (7,), (1,), (3, 4), (0,), ())]
    one += [((array("float64", (n,)),), {}) for n in (6, 13, 97, 128, 131)] + [(([1, 2, 3],), {})]
    half = "of float16, whose factor 1 / n NumPy rounds to float16; else within 4"
    notes = {"fft": "", "rfft": "", "hfft": "NumPy ignores out="}
    lengths = [{"n": n} for n in (5, 12, 1, 0, -1, 2.5)]
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        yield Row(f"fft.{name}", one, sums=True, options=lengths, note=notes.get(name, half))
    two = [((array(d, s),), {}) for d in DTYPES for s in ((3, 4), (2, 3, 5), (4, 1), (5,))]
    shapes = [{"s": s, "axes": (0, 1)} for s in ((2, 3), (5, 5), (0, 2))] + [{"s": (4,)}]
    for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
        yield Row(f"fft.{name}", two, sums=True, options=shapes, note=half)
    for name in ("fftshift", "ifftshift"):
        yield Row(f"fft.{name}", one + two)


def polynomials():
    two = pairs([((3,), (3,)), ((2,), (4,)), ((1,), (1,)), ((0,), (3,)), ((), (2,))])
    for name in ("polyadd", "polysub", "polymul", "polydiv"):
        yield Row(name, two, sums=True)
    one = [((array(d, s, "positive"),), {}) for d in DTYPES for s in ((4,), (1,), (2,), (0,), ())]
    one += [(([1, 2, 3],), {}), (([0, 0, 1, 2],), {})]
    yield Row("polyder", one, sums=True, options=[{"m": m} for m in (0, 2, 9, -1, 1.5)])
    yield Row(
        "polyint",
        one,
        sums=True,
        options=[{"m": m} for m in (0, 2, -1)] + [{"k": 3}, {"k": [1, 2], "m": 2}],
    )
    yield Row(
        "polyval",
        [((array(d, (4,)), array(e, (3,))), {}) for d in DTYPES for e in FEW]
        + [(([1, 2, 3], 2), {}), (([1, 2], [[1, 2], [3, 4]]), {}), (([], 2), {})],
        sums=True,
    )
    yield Row(
        "poly",
        [
            *one,
            ((array("float64", (3, 3)),), {}),
            (([1j, -1j],), {}),
            ((array("float64", (2, 3)),), {}),
        ],
        sums=True,
    )
    yield Row(
        "roots",
        [*one, (([1, -3, 2],), {}), (([0, 0],), {}), ((array("float64", (2, 2)),), {})],
        sums=True,
        foreign=True,
    )
    x = np.arange(8.0)
    fits = [((x, array(d, (8,)), deg), {}) for d in DTYPES for deg in (1, 2)]
    fits += [
        ((x, array("float64", (8, 2)), 2), {}),
        ((x, x[:5], 1), {}),
        ((x, x, -1), {}),
        (([], [], 1), {}),
    ]
    options = [
        {"w": np.arange(1.0, 9.0)},
        {"full": True},
        {"cov": True},
        {"cov": "unscaled"},
        {"rcond": 1e-3},
    ]
    yield Row("polyfit", fits, sums=True, foreign=True, options=options)


def total(x, *more):
    return x.sum() + sum(more)


def doubled(x):
    return x * 2


def summed(a, axis):
    return a.sum(axis)


def functional():
    calls = [
        ((f, axis, array(d, (2, 3))), {})
        for f in (total, doubled)
        for d in FEW
        for axis in (0, 1, -1)
    ]
    calls += [
        ((total, 5, array("int8", (2, 3))), {}),
        ((total, 0, array("int8", (2, 3)), 7), {}),
        ((total, 0, array("int8", ())), {}),
        ((total, 0, array("int8", (0, 3))), {}),
    ]
    yield Row("apply_along_axis", calls, sums=True)
    calls = [
        ((summed, array(d, (2, 3, 4)), axes), {})
        for d in FEW
        for axes in (0, [0, 2], -1, [0, 1, 2])
    ]
    yield Row("apply_over_axes", [*calls, ((summed, array("int8", (2, 3)), 5), {})], sums=True)
    x = array("float64", (6,))
    calls = [((array(d, (6,)), [x > 0, x <= 0], [doubled, 3]), {}) for d in DTYPES]
    calls += [
        ((x, [x > 0], [1, 2]), {}),
        ((x, x > 0, [doubled]), {}),
        ((x, [x > 0], [1, 2, 3]), {}),
        ((x[0], [True], [5]), {}),
    ]
    yield Row("piecewise", calls)


def rows():
    for group in (products, lapack, norms, transforms, polynomials, functional):
        yield from group()
