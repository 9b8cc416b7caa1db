"""Functions along axes: reductions, running results, sorting, quantiles, sets and counts."""

import numpy as np

from numpy_conformance.cases import Row
from numpy_conformance.values import DTYPES, FEW, SHAPES, array, mask_like

REAL = tuple(d for d in DTYPES if not d.startswith("c"))


def plain(dtypes=DTYPES, kinds=("special", "positive", "distinct"), shapes=SHAPES):
    calls = [((array(d, s),), {}) for d in dtypes for s in shapes]
    calls += [((array(d, s, kind),), {}) for d in dtypes for kind in kinds for s in ((24,), (4, 6))]
    calls += [((value,), {}) for value in (2, 2.5, True, [1, 2], [[0.5, 1.5], [2, 3]], [])]
    for shape in ((3, 4), (2, 3, 4)):
        for axis in (0, 1, -1, (0, 1), ()):
            calls += [
                ((array(d, shape), axis), {}) for d in ("bool", "int8", "float32", "complex64")
            ]
    return calls


def masked(arguments):
    return {"where": mask_like(arguments[0])}


def masked_along(arguments):
    return {"where": mask_like(arguments[0]), "axis": -1}


def reductions():
    for name in ("sum", "prod", "mean", "nansum", "nanprod", "nanmean", "cumsum", "cumprod",
                 "nancumsum", "nancumprod"):  # fmt: skip
        yield Row(name, plain(), sums=True)
    for name in ("var", "std", "nanvar", "nanstd"):
        options = [lambda a: {"mean": np.mean(np.asarray(a[0]), keepdims=True)}]
        yield Row(name, plain(), sums=True, options=options)
    initial = [{"initial": 100, "where": False}]
    for name in ("max", "min", "amax", "amin", "nanmax", "nanmin"):
        yield Row(name, plain(), options=initial)
    for name in (
        "all",
        "any",
        "argmax",
        "argmin",
        "nanargmax",
        "nanargmin",
        "count_nonzero",
        "ptp",
    ):
        yield Row(name, plain())
    for name in ("cumulative_sum", "cumulative_prod"):
        yield Row(name, plain(shapes=((), (1,), (7,), (0,), (3, 4))), sums=True)
    yield Row("median", plain(REAL), sums=True)
    yield Row("nanmedian", plain(REAL), sums=True)
    weights = [
        lambda a: {"weights": array("float64", np.shape(a[0]), "positive")},
        lambda a: {"weights": array("float32", np.shape(a[0])[:1], "positive"), "axis": 0},
        {"returned": True},
        {"returned": True, "axis": 0},
        {"weights": [1, 2, 3, 4, 5, 6, 7]},
    ]
    yield Row("average", plain(), sums=True, options=weights)
    for name in ("quantile", "nanquantile", "percentile", "nanpercentile"):
        most = 100 if name.endswith("percentile") else 1
        calls = [((c[0], 0.3 * most), {}) for c, _ in plain(REAL) if len(c) == 1]
        x = array("float64", (3, 4))
        points = (0, 1, 0.5, [0.1, 0.9], [[0.25], [0.75]], np.float32(0.3), -0.1, 2.0, "x", [])
        calls += [((x, np.multiply(q, most) if not isinstance(q, str) else q), {}) for q in points]
        options = [{"weights": array("float64", (7,), "positive"), "method": "inverted_cdf"},
                   {"method": "lower", "axis": -1}, {"axis": 0, "keepdims": True}]  # fmt: skip
        yield Row(name, calls, sums=True, options=options)


def running():
    for name in ("diff", "ediff1d", "gradient", "trapezoid", "unwrap", "nan_to_num"):
        if name == "nan_to_num":
            continue
        options = {
            "diff": [{"n": 2}, {"n": 0}, {"n": -1}, {"prepend": 0}, {"append": 1.5}, {"n": 9}],
            "ediff1d": [{"to_end": 7}, {"to_begin": [1, 2]}, {"to_begin": 1, "to_end": 2.5}],
            "gradient": [{"edge_order": 2}, {"edge_order": 3}],
            "trapezoid": [{"dx": 0.5}, {"x": [1, 2, 3, 4]}],
            "unwrap": [{"period": 4}, {"discont": 3.0}],
        }[name]
        dtypes = REAL if name == "unwrap" else DTYPES
        calls = [c for c in plain(dtypes) if len(c[0]) == 1]
        if name == "gradient":
            x = array("float64", (5, 4))
            calls += [((x, 2), {}), ((x, 2, 0.5), {}), ((x, np.arange(5.0) ** 2, 1), {}),
                      ((x, 1, 2, 3), {}), ((x[:, 0], np.arange(5.0)), {})]  # fmt: skip
        yield Row(name, calls, sums=True, options=options)


def sorting():
    # NumPy's default order of equal elements depends on its instruction set; composit's is stable.
    one = [c for c in plain(kinds=("special", "distinct", "extreme")) if len(c[0]) == 1]
    for name in ("sort", "argsort"):
        yield Row(name, [(a, {"kind": "stable"}) for a, _ in one])
    for name in ("argwhere", "flatnonzero", "nonzero"):
        yield Row(
            name, [c for c in plain(kinds=("special", "distinct", "extreme")) if len(c[0]) == 1]
        )
    yield Row("sort_complex", [c for c in plain() if len(c[0]) == 1])
    parts = [((array(d, (12,), "distinct"), k), {}) for d in DTYPES for k in (0, 5, -1, [2, 7])]
    parts += [((array("float64", (3, 5), "distinct"), k), {"axis": axis}) for k in (1, 4, 9)
              for axis in (0, 1, -1, 2)]  # fmt: skip
    parts += [((array("int32", (5,), "distinct"), "x"), {}), ((array("int32", (5,)), 1.5), {})]
    # What stands beside the k-th is any order: all of it is sorted here, so only the k-th agrees.
    yield Row(
        "partition", [((array(d, (2,), "distinct"), 0), {}) for d in DTYPES] + parts, like=True
    )
    yield Row("argpartition", parts, like=True)
    keys = [(([array(d, (6,)), array("int8", (6,))],), {}) for d in DTYPES]
    keys += [
        ((array("int16", (3, 5)),), {}),
        (([[1, 2], [1]],), {}),
        ((array("int8", (0, 3)),), {}),
    ]
    yield Row("lexsort", keys)
    found = [((np.sort(array(a, (9,))), array(b, (4,), seed=1)), {}) for a in FEW for b in FEW]
    found += [
        ((array("float64", (9,), "distinct"), 2.5), {"side": side})
        for side in ("left", "right", "x")
    ]
    found += [
        ((array("float64", (5,), "distinct"), [1, 2]), {"sorter": [4, 3, 2, 1, 0]}),
        ((array("float64", (2, 3)), 1), {}),
        ((np.array([]), 1.0), {}),
        ((np.sort(array("float64", (24,), "special")), array("float64", (24,), "special")), {}),
    ]
    yield Row("searchsorted", found)


def sets():
    one = [c for c in plain(kinds=("special", "distinct")) if len(c[0]) == 1]
    yield Row("unique", one, options=[{"axis": 0, "return_index": True, "return_inverse": True,
                                       "return_counts": True}, {"sorted": False}])  # fmt: skip
    for name in ("unique_all", "unique_counts", "unique_inverse"):
        yield Row(name, one)
    # NumPy leaves their order open.
    yield Row("unique_values", one, like=True)
    two = [((array(a, (6,)), array(b, (7,), seed=1)), {}) for a in DTYPES for b in DTYPES]
    two += [((array(d, (3, 4)), array(d, (2, 3), seed=1)), {}) for d in FEW]
    two += [((array(d, (24,), "special"), array(d, (24,), "special", 1)), {}) for d in FEW]
    two += [(([1, 2, 2], [2, 3]), {}), ((3, [3, 4]), {}), (([], [1.0]), {}), (([], []), {})]
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"):
        options = []
        if name == "intersect1d":
            options = [{"return_indices": True}]
        if name == "isin":
            options = [{"invert": True}, {"kind": "sort"}, {"kind": "table"}]
        without = ("kind", "assume_unique")
        yield Row(name, two, options=options, without=without)


def counting():
    x = array("int64", (9,))
    calls = [((np.abs(array(d, (9,)).astype(d)),), {}) for d in DTYPES]
    calls += [((x,), {}), ((abs(x), array("float64", (9,))), {}), ((abs(x), None, 20), {}),
              ((abs(x), array("complex64", (9,))), {}), (([],), {}), (([0, 3, 3],), {}),
              ((abs(x), [1, 2]), {}), ((abs(x),), {"minlength": -1}), ((3,), {})]  # fmt: skip
    yield Row("bincount", calls, sums=True)
    bins = ([-2.0, 0.0, 1.0, 4.0], [3, 1, 0], [1], [], [1, 3, 2])
    calls = [((array(d, s), b), {}) for d in REAL for s in ((7,), (3, 4), ()) for b in bins[:3]]
    calls += [((array("float64", (24,), "special"), b), {}) for b in bins]
    yield Row("digitize", calls, options=[{"right": True}])
    real = [((array(d, s),), {}) for d in REAL for s in ((7,), (3, 4), (0,), ())]
    real += [((array("float64", (24,), "special"),), {}), (([1, 2, 2, 3],), {})]
    estimators = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt", "nonsense"]
    options = [{"bins": b} for b in [5, 1, 0, -1, [0, 1, 2], [2, 1], 2.5, *estimators]]
    options += [{"range": (0, 3)}, {"range": (3, 0)}, {"range": (1, 1)}]
    more = [{"density": True}, lambda a: {"weights": array("float64", np.shape(a[0]), "positive")},
            {"density": True, "bins": [0.0, 0.5, 3.0]}]  # fmt: skip
    yield Row("histogram", real, options=options + more, sums=True)
    yield Row("histogram_bin_edges", real, options=options, sums=True)
    two = [((array(d, (9,)), array(d, (9,), seed=1)), {}) for d in REAL]
    two += [((array("float64", (9,)), array("float64", (8,))), {})]
    options = [
        {"bins": 3},
        {"bins": [2, 3]},
        {"bins": [[-9, 0, 9], [-9.0, 1.0, 9.0]]},
        {"density": True},
        {"range": [[-1, 1], [0, 2]]},
        {"weights": array("float64", (9,), "positive")},
    ]
    yield Row("histogram2d", two, options=options, sums=True)
    many = [((array(d, (3, 3)),), {"bins": 4}) for d in REAL] + [((array("float64", (4, 2)),), {})]
    options = [{"density": True}, {"range": [[-1, 1]] * 3}, {"weights": [1, 0.5, 2]}]
    yield Row("histogramdd", many, options=options, sums=True)


def covariances():
    one = [((array(d, s),), {}) for d in DTYPES for s in ((6,), (3, 6), (1, 5))]
    two = [((array(d, (3, 6)), array(d, (6,), seed=1)), {}) for d in FEW]
    options = [{"ddof": 0}, {"bias": True}, {"fweights": [1, 2, 1, 3, 1, 1]},
               {"aweights": [0.5, 1, 1, 2, 1, 1]}]  # fmt: skip
    yield Row("cov", one + two, options=options, sums=True)
    yield Row("corrcoef", [((array(d, (3, 6), "positive"),), {}) for d in DTYPES] + two, sums=True)
    xp, fp = np.array([-2.0, 0.0, 0.5, 3.0]), np.array([1.0, -1.0, 4.0, 2.0])
    calls = [((array(d, s), xp, fp), {}) for d in REAL for s in ((7,), (3, 4), (), (0,))]
    calls += [((array("float64", (24,), "special"), xp, fp), {}), ((0.25, xp, fp), {}),
              ((0.25, xp, fp + 1j), {}), ((1, [], []), {}), ((1, [1, 2], [1]), {})]  # fmt: skip
    options = [{"left": -9}, {"right": 9.5}, {"period": 3}, {"period": 0}]
    yield Row("interp", calls, options=options, sums=True)


def rows():
    for group in (reductions, running, sorting, sets, counting, covariances):
        yield from group()
