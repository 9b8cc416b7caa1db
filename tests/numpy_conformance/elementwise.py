"""Functions of each element: every ufunc, and NumPy's functions composed of them."""

import numpy as np

from numpy_conformance.cases import Row
from numpy_conformance.values import DTYPES, FEW, SHAPES, array

SCALARS = (2, -1, 0, 300, 2.5, True, 1j, float("nan"), np.float32(3), np.int8(5), np.float64(0.1))
SHAPE_PAIRS = (
    ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (3,)), ((0, 3), (3,)), ((2,), (3,)), ((2, 3), (3, 2)),
    ((2, 3, 4), (3, 1)), ((), ()), ((1,), (0,)),
)  # fmt: skip


def of_one(dtypes=DTYPES, kinds=("special", "extreme", "positive")):
    """Arrays of each dtype and shape, and special values; numbers and lists."""
    calls = [((array(d, s),), {}) for d in dtypes for s in SHAPES]
    calls += [((array(d, (24,), kind),), {}) for d in dtypes for kind in kinds]
    calls += [((value,), {}) for value in (*SCALARS, [1, 2], [[0.5], [2]], [])]
    return calls


def of_two(dtypes=DTYPES):
    """Arrays of each pair of dtypes, pairs of shapes, numbers on either side."""
    calls = []
    for a in dtypes:
        x = array(a, (24,), "special")
        calls += [((x, array(b, (24,), "special", 1)), {}) for b in dtypes]
        calls.append(((array(a, (24,), "extreme"), array(a, (24,), "extreme", 1)), {}))
        for value in SCALARS:
            calls += [((array(a, (5,)), value), {}), ((value, array(a, (5,))), {})]
    for a, b in SHAPE_PAIRS:
        calls += [
            ((array(d, a), array(d, b, seed=1)), {}) for d in ("int32", "float32", "complex64")
        ]
    return [*calls, ((2, 3), {}), ((2.5, 1), {}), (([1, 2], [3, 4]), {}), ((1j, [2.5]), {})]


def of_matrices(name):
    """Operands of the ufuncs whose elements are vectors and matrices."""
    shapes = {
        "matmul": [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 4)),
            ((2, 3), (3, 4)),
            ((5, 2, 3), (3, 4)),
            ((2, 1, 2, 3), (5, 3, 2)),
            ((0, 3), (3, 2)),
            ((2, 0), (0, 2)),
            ((2, 3), (2, 3)),
            ((), (3,)),
        ],
        "matvec": [
            ((2, 3), (3,)),
            ((5, 2, 3), (5, 3)),
            ((2, 3), (2,)),
            ((3,), (3,)),
            ((2, 0), (0,)),
        ],
        "vecmat": [((2,), (2, 3)), ((5, 2), (5, 2, 3)), ((3,), (2, 3)), ((3,), (3,))],
        "vecdot": [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((2, 3), (2, 3)),
            ((2, 0), (0,)),
            ((3,), (4,)),
            ((), (3,)),
        ],
    }[name]
    calls = [((array(d, a), array(d, b, seed=1)), {}) for d in DTYPES for a, b in shapes]
    first, second = shapes[0]
    calls += [((array(a, first), array(b, second)), {}) for a in FEW for b in FEW]
    calls += [((array(d, first, "special"), array(d, second, "special", 1)), {}) for d in FEW]
    return [*calls, (([[1, 2]], [3, 4]), {}), ((2, 3), {})]


MATRICES = ("matmul", "matvec", "vecmat", "vecdot")


def ufuncs():
    names = [name for name in sorted(dir(np)) if isinstance(getattr(np, name), np.ufunc)]
    for name in names:
        if name in ("isnat", "_ones_like"):
            continue
        if name in MATRICES:
            yield Row(name, of_matrices(name), sums=True)
        else:
            note = "of +0 and -0, either" if name in ("maximum", "minimum", "fmax", "fmin") else ""
            yield Row(name, of_two() if getattr(np, name).nin == 2 else of_one(), note=note)


def composed():
    """What NumPy writes in Python over ufuncs."""
    two = of_two(FEW)
    real = tuple(d for d in DTYPES if not d.startswith("c"))
    for name in ("iscomplex", "isreal", "isneginf", "isposinf", "fix", "sinc", "angle", "real",
                 "imag", "nan_to_num", "real_if_close", "around", "round"):  # fmt: skip
        options = [{"deg": True}] if name == "angle" else []
        if name == "nan_to_num":
            options = [{"nan": 7}, {"posinf": 3.5, "neginf": -1}, {"copy": False}]
        if name == "real_if_close":
            options = [{"tol": 1e20}, {"tol": 0.5}]
        changes = 0 if name == "nan_to_num" else None
        yield Row(name, of_one(), options=options, changes=changes)
    yield Row("i0", of_one(real, ("special", "positive")))
    for name in ("isclose", "allclose", "array_equal", "array_equiv"):
        yield Row(name, two, options=[{"rtol": 1, "atol": 0}])
    clip = [((array(d, (3, 4)), -1, 2), {}) for d in DTYPES]
    clip += [((array(a, (24,), "special"), array(b, (24,), seed=1), array(b, (24,), seed=2)), {})
             for a in FEW for b in FEW]  # fmt: skip
    x = array("float64", (3, 4))
    clip += [((x, None, 1), {}), ((x, 0, None), {}), ((x, None, None), {}), ((x,), {}),
             ((x,), {"min": 0}), ((x,), {"max": 0}), ((x,), {"min": 0, "max": 1}),
             ((x, 0, 1), {"min": 0}), ((x, [0, 1, 2, 3], 3), {}), ((x, 2, -2), {}),
             ((x.astype("int8"), 0, 300), {}), ((x.astype("uint8"), -1, 5), {}),
             ((x, float("nan"), 1), {})]  # fmt: skip
    yield Row("clip", clip)
    where = [((array("bool", (4,)), array(a, (4,)), array(b, (4,), seed=1)), {})
             for a in DTYPES for b in DTYPES]  # fmt: skip
    where += [((array(d, (24,), "special"), 1, 2.5), {}) for d in DTYPES]
    where += [((x > 0, x, value), {}) for value in SCALARS]
    where += [((x > 0,), {}), ((x > 0, x), {}), ((x > 0, x[:2], 0), {}), ((True, 1, 2), {}),
              ((x > 0, x[0], x[:, :1]), {}), ((array("bool", ()),), {})]  # fmt: skip
    yield Row("where", where)


def rows():
    yield from ufuncs()
    yield from composed()
