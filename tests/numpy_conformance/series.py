"""numpy.polynomial's functions of every basis, and views of windows and strides."""

import importlib

import numpy as np

import composit.numpy as cnp
from numpy_conformance.cases import Row
from numpy_conformance.values import FEW, SHAPES, array

BASES = {
    "polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "hermite": "herm",
    "hermite_e": "herme", "laguerre": "lag",
}  # fmt: skip
REAL = ("int64", "float32", "float64")


def public(basis):
    """A module's functions, without the prefix of their names where they have it."""
    module = importlib.import_module(f"numpy.polynomial.{basis}")
    names = [name for name in module.__all__ if not isinstance(getattr(module, name), type)]
    return [name for name in names if callable(getattr(module, name))]


def missing():
    """Names of those that composit does not have."""
    return [
        f"polynomial.{basis}.{name}"
        for basis in BASES
        for name in public(basis)
        if not hasattr(getattr(cnp.polynomial, basis), name)
    ]


def coefficients(*lengths, dtypes=FEW, kind="plain"):
    return [array(d, (n,), kind) for d in dtypes for n in lengths]


def calls_of(suffix):
    """What functions of these names are called with."""
    one = coefficients(1, 3, 4)
    pairs = [((a, b), {}) for a in coefficients(1, 3) for b in coefficients(2, 3)]
    points = array("float64", (5,), "positive") / 8
    columns = array("float64", (3, 4))
    grids = [((points, points[::-1].copy(), array(d, (3, 2))), {}) for d in FEW]
    boxes = [((points, points, points, array(d, (3, 2, 2))), {}) for d in FEW]
    fitted = [((points, array(d, (5,)), degree), {}) for d in FEW for degree in (0, 2, [0, 2], -1)]
    known = {
        "val": [((points, c), {}) for c in one] + [((x, [1, 2, 3]), {}) for x in (2, 0.5, [1, 2])]
        + [((points[:4], columns), {"tensor": t}) for t in (True, False)],
        "val2d": grids, "grid2d": grids, "val3d": boxes, "grid3d": boxes,
        "vander": [((points, n), {}) for n in (0, 1, 4, -1)] + [(([1, 2], 2), {})],
        "vander2d": [((points, points, [1, 2]), {}), ((points, points, [1, -2]), {})],
        "vander3d": [((points, points, points, [1, 2, 1]), {})],
        "der": [((c, m), {}) for c in one for m in (0, 1, 2, -1)]
        + [((columns,), {"axis": a}) for a in (0, 1, 2)] + [((one[0], 1, 2.5), {})],
        "int": [((c, m), {}) for c in one for m in (0, 1, 2, -1)]
        + [((columns,), {"axis": a}) for a in (0, 1, 2)]
        + [((one[-1],), {"k": [1]}), ((one[-1],), {"k": 2, "lbnd": 1, "scl": 2})],
        "fromroots": [((c,), {}) for c in one] + [(([],), {})],
        "roots": [((c,), {}) for c in coefficients(1, 2, 4, kind="positive")],
        "companion": [((c,), {}) for c in coefficients(1, 2, 4, kind="positive")],
        "fit": fitted, "gauss": [((n,), {}) for n in (1, 2, 5, 0, -1, 2.5)],
        "weight": [((points,), {}), ((0.5,), {})],
        "pts1": [((n,), {}) for n in (1, 4, 0)], "pts2": [((n,), {}) for n in (2, 4, 1)],
        "interpolate": [((np.exp, n), {}) for n in (0, 3, -1)],
        "line": [((1, 2), {}), ((1.5, 0), {}), ((np.float32(1), 3), {})],
        "trim": [((c,), {}) for c in one] + [(([1, 0, 0],), {}), (([1, 1e-9], 1e-3), {})],
        "add": pairs, "sub": pairs, "mul": pairs, "div": pairs,
        "mulx": [((c,), {}) for c in one],
        "pow": [((c, n), {}) for c in one for n in (0, 1, 3, -1, 1.5)],
    }  # fmt: skip
    if suffix in known:
        return known[suffix]
    return [((c,), {}) for c in one]  # conversions from and to powers: poly2cheb, cheb2poly


FOREIGN = ("fit", "roots", "gauss")


def series():
    absent = missing()
    for basis, prefix in BASES.items():
        for name in public(basis):
            if f"polynomial.{basis}.{name}" in absent:
                continue
            suffix = name.removeprefix(prefix)
            yield Row(
                f"polynomial.{basis}.{name}",
                calls_of(suffix),
                sums=True,
                foreign=suffix in FOREIGN,
                of_tensors=False,
            )


def strides():
    xs = [array(d, s) for d in FEW for s in SHAPES]
    windows = [((x, w), {}) for x in xs for w in (1, 2, (2,), (2, 2), 0, -1, 99)]
    windows += [((array("int8", (3, 4)), 2), {"axis": a}) for a in (0, 1, -1, 5, (0, 1))]
    yield Row("lib.stride_tricks.sliding_window_view", windows, of_tensors=False)
    forms = (((3, 4), (32, 8)), ((2, 3), (8, 16)), ((5, 5), (8, 8)), ((3,), (0,)), ((), ()))
    strided = [((np.arange(12.0), shape, by), {}) for shape, by in forms]
    yield Row("lib.stride_tricks.as_strided", [*strided, ((np.arange(6.0),), {})], of_tensors=False)


def rows():
    for group in (series, strides):
        yield from group()
