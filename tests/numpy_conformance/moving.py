"""Functions that move elements: shapes, joining, splitting, indexing, writing in place."""

import numpy as np

from numpy_conformance.cases import Row
from numpy_conformance.values import DTYPES, FEW, SHAPES, array, mask_like


def of(*rest, dtypes=DTYPES, shapes=SHAPES):
    """Arrays of each dtype and shape, with the same other arguments; numbers and lists."""
    calls = [((array(d, s), *rest), {}) for d in dtypes for s in shapes]
    return calls + [((value, *rest), {}) for value in (2, 2.5, [1, 2], [[1, 2], [3, 4]], [])]


def each(*others, shape=(2, 3, 4), dtype="float32"):
    """One array with each of these tuples of other arguments."""
    return [((array(dtype, shape), *rest), {}) for rest in others]


def shapes():
    yield Row("reshape", of((-1,)) + each(((4, 6),), ((4, -1),), (24,), ((5, 5),), ((-1, -1),),
                                          ((2.5,),), ("x",), ((),), ((0, -1),)))  # fmt: skip
    yield Row("ravel", of())
    yield Row(
        "transpose", of() + each(((2, 0, 1),), ((0, 1),), ((0, 0, 1),), ((-1, 0, 1),), (None,))
    )
    yield Row("permute_dims", of() + each(((2, 0, 1),), ((0, 1),), ((0, 0, 1),)))
    yield Row("matrix_transpose", of())
    yield Row("swapaxes", of(0, -1) + each((0, 2), (1, 1), (0, 3), (-1, -4), (1.5, 0)))
    pairs = ((0, 2), ((0, 1), (1, 0)), (0, 5), ((0, 0), (1, 2)), ((0, 1), 2))
    yield Row("moveaxis", of(0, -1) + each(*pairs))
    yield Row("rollaxis", of(-1) + each((2, 1), (0, 3), (1, 4), (3, 0)))
    yield Row("expand_dims", of(0) + each((1,), (-1,), ((0, 2),), (7,), ((0, 0),), (1.5,)))
    ones = [((array(d, (1, 3, 1)),), {}) for d in DTYPES] + of()
    yield Row("squeeze", ones + each((0,), (1,), (2,), ((0, 2),), (5,), shape=(1, 3, 1)))
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        yield Row(name, of() + of(3) + each((array("int8", ()),)))
    targets = ((2, 3, 4), (3, 4), (5, 2, 3, 4), (2, 3, 5), (), 7, (-1,))
    calls = [((array(d, (3, 1)), (2, 3, 4)), {}) for d in DTYPES]
    yield Row("broadcast_to", calls + each(*[(t,) for t in targets], shape=(3, 1)))
    calls = [((array(a, (3, 1)), array(b, (4,))), {}) for a in FEW for b in FEW]
    yield Row("broadcast_arrays", [*calls, ((array("int8", (3,)), array("int8", (4,))), {}),
                                   ((1, 2.5), {}), ((array("int8", (3,)),), {})])  # fmt: skip
    plain = [((3, 1), (4,)), ((2,), (3,)), ((),), (), (5, (1, 5)), ((0,), (1,)), ((-1,),)]
    yield Row("broadcast_shapes", [(c, {}) for c in plain])
    for name in ("shape", "ndim", "size"):
        yield Row(name, of())
    for name in ("flip", "fliplr", "flipud", "rot90"):
        more = each((0,), (1,), (-1,)) if name in ("flip", "rot90") else []
        yield Row(
            name,
            of() + more,
            options=[{"k": 2}, {"k": -3}, {"axes": (1, 0)}] if name == "rot90" else [],
        )
    rolls = ((1,), (-3,), (100,), ((1, 2), (0, 1)), ((1, 2),), (1, (0, 1)), (1.5,), ((1, 2), 0))
    yield Row("roll", of(1) + each(*rolls))
    yield Row("tile", of(2) + each(((2, 1),), ((1, 2, 1, 2),), ((0,),), ((),), ((-1,),), (1.5,)))
    yield Row(
        "repeat", of(2) + each((0,), ([1, 2], 0), ([1, 2, 3], 0), (-1,), (2, 1), (2, 7), (1.5,))
    )
    widths = (1, (1, 2), ((1, 0), (2, 1)), 0, -1, ((1, 2, 3),), 1.5)
    modes = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect",
             "symmetric", "wrap", "empty", "nonsense"]  # fmt: skip
    calls = [((array(d, (3, 4)), 1), {}) for d in DTYPES]
    calls += [
        ((array("float64", (3, 4)), w, m), {}) for w in widths[:3] for m in modes if m != "empty"
    ]
    calls += [((array("int16", (3, 4)), w), {}) for w in widths]
    odd = [{"constant_values": 7}, {"constant_values": ((1, 2), (3, 4))}, {"stat_length": 1}]
    yield Row("pad", calls, options=odd, sums=True, without=("mode",))
    yield Row("resize", of((3, 5)) + each(((2, 2),), (7,), ((0, 3),), ((-1,),)))
    yield Row(
        "trim_zeros",
        [((array(d, (9,)) * np.array([0, 0, 1, 1, 0, 1, 1, 0, 0], d),), {}) for d in DTYPES]
        + [(([0, 0],), {}), (([],), {}), ((array("int8", (3, 4)),), {})],
        options=[{"trim": "f"}, {"trim": "b"}, {"trim": "x"}],
    )


def joining():
    calls = [(([array(a, (2, 3)), array(b, (2, 3))],), {}) for a in DTYPES for b in DTYPES]
    calls += [
        (([array("int8", s), array("int8", t)],), {})
        for s, t in (((2, 3), (1, 3)), ((2, 3), (2, 2)), ((), ()), ((3,), (2, 3)), ((0,), (3,)))
    ]
    calls += [(([array("float32", (3,))],), {}), (([],), {}), (([[1, 2], [3]],), {}), ((5,), {}),
              ((array("int16", (2, 3, 4)),), {}), (([1, 2],), {})]  # fmt: skip
    for name in (
        "concatenate",
        "concat",
        "stack",
        "hstack",
        "vstack",
        "dstack",
        "column_stack",
        "row_stack",
    ):
        yield Row(name, calls)
    nested = [(([[array(a, (2, 2)), array(b, (2, 1))], [array(a, (1, 2)), array(b, (1, 1))]],), {})
              for a in FEW for b in FEW]  # fmt: skip
    yield Row(
        "block",
        [
            *nested,
            (([1, 2],), {}),
            ((array("int8", (3,)),), {}),
            (([[1, 2], [3]],), {}),
            (([],), {}),
            (([[array("int8", (2,))], 3],), {}),
        ],
    )
    two = [((array(a, (3,)), array(b, (3,))), {}) for a in FEW for b in FEW]
    two += [
        ((array("int8", (2, 3)), array("int8", (1, 3)), 0), {}),
        ((array("int8", (2, 3)), 5), {}),
        ((array("int8", (2, 3)), array("int8", (3,)), 0), {}),
    ]
    yield Row("append", two)
    parts = {
        "split": (2, -1),
        "array_split": (3, -1),
        "hsplit": (2,),
        "vsplit": (2,),
        "dsplit": (2,),
    }
    for name, rest in parts.items():
        calls = [((array(d, (2, 4, 6)), *rest), {}) for d in DTYPES]
        cuts = ((2,), (4,), (5,), ([1, 3],), ([1, 9],), ([],), (0,), (-1,), ("x",), ([3, 1],))
        yield Row(
            name,
            calls + each(*cuts, shape=(4, 4, 4)) + each((2,), shape=(4,)) + each((1,), shape=()),
        )
    yield Row("unstack", of())


def indexing():
    take = [((array(d, (3, 4)), [0, 2, -1]), {}) for d in DTYPES]
    take += [
        ((array("float64", (3, 4)), i), {})
        for i in (5, [[0, 1], [2, 3]], 99, -13, [], [1.5], [True, False], np.uint8(2), "x")
    ]
    take += [((array("int8", (0, 3)), [0]), {}), ((array("int8", (3, 4)), [0, 5], 1), {})]
    yield Row("take", take)
    calls = [
        ((array(d, (3, 4)), np.argsort(array("int8", (3, 4)), axis=1)), {"axis": 1}) for d in DTYPES
    ]
    calls += [
        ((array("int8", (3, 4)), array("int8", (3, 4)) % 3, 0), {}),
        ((array("int8", (3, 4)), [[9, 9]], 1), {}),
        ((array("int8", (3, 4)), [1, 2], None), {}),
        ((array("int8", (3, 4)), np.ones((3, 1)), 1), {}),
    ]
    yield Row("take_along_axis", calls, without=("axis",))
    choices = [((np.array([0, 2, 1]), [array(d, (3,)), array(d, (3,), seed=1), array(d, (1,))]), {})
               for d in DTYPES]  # fmt: skip
    choices += [
        ((np.array([0, 5]), [[1, 2], [3, 4]]), {}),
        ((1, [1, 2.5]), {}),
        (([-1], [1, 2]), {}),
    ]
    yield Row("choose", choices)
    masks = [((mask_like(np.empty(s)), array(d, s)), {}) for d in DTYPES for s in ((7,), (3, 4))]
    masks += [
        ((np.array([1, 0, 2]), array("int8", (3,))), {}),
        ((np.array([True]), array("int8", (3,))), {}),
        ((np.array([True] * 5), array("int8", (3,))), {}),
    ]
    yield Row("extract", masks)
    yield Row("compress", masks[1:] and [c for c in masks if c[0][0].ndim == 1])
    conds = [
        (([array("bool", (5,)), array("bool", (5,), seed=1)], [array(a, (5,)), array(b, (5,))]), {})
        for a in FEW
        for b in FEW
    ]
    yield Row(
        "select",
        [
            *conds,
            (([], []), {}),
            (([array("bool", (5,))], [1, 2]), {}),
            (([array("int8", (5,))], [1]), {}),
        ],
        options=[{"default": 2.5}, {"default": 7}],
    )
    calls = [((array(d, (3, 4)), i), {}) for d in DTYPES for i in (1,)]
    calls += [
        ((array("int8", (3, 4)), i), {})
        for i in ([0, 2], slice(0, 2), 99, -1, [True, False, True], [], 1.5, "x")
    ]
    yield Row("delete", calls)
    calls = [((array(a, (5,)), 2, array(b, ())), {}) for a in FEW for b in FEW]
    calls += [
        ((array("int8", (3, 4)), i, v), {})
        for i, v in (
            (1, 5),
            ([0, 2], 7),
            (slice(0, 2), 1),
            (99, 0),
            ([1, 1], [5, 6]),
            (-1, 3),
            (1.5, 0),
        )
    ]
    yield Row("insert", calls)
    yield Row("diag", of(shapes=((3,), (3, 4), (0,), (2, 3, 4), ())))
    yield Row("diagflat", of())
    yield Row("diagonal", of() + each((1,), (0, 1, 2), (0, 1, 1), (0, 0, 5)))
    yield Row("trace", of() + each((1,), (0, 1, 2), (0, 1, 1)), sums=True)
    for name in ("tril", "triu"):
        yield Row(name, of() + each((1,), (-2,), (9,), (1.5,)))
    for name in ("tril_indices_from", "triu_indices_from", "diag_indices_from"):
        yield Row(name, of(shapes=((3, 3), (3, 4), (3,), (2, 2, 2))))
    yield Row(
        "ix_",
        [
            ((array("int8", (3,)), array("int64", (2,))), {}),
            (([1, 2], [True, False]), {}),
            (([[1]],), {}),
            ((), {}),
            (([],), {}),
            ((array("float64", (3,)),), {}),
        ],
    )
    yield Row(
        "ravel_multi_index",
        [
            (((array("uint8", (4,)) % 3, [0, 1, 1, 0]), (3, 2)), {}),
            (([1, 2], (3, 3)), {}),
            (([3, 0], (3, 3)), {}),
            (([-1, 0], (3, 3)), {}),
            (([1.5, 0], (3, 3)), {}),
            (([1], (3, 3)), {}),
        ],
        options=[{"mode": ("wrap", "clip")}],
    )
    yield Row(
        "unravel_index",
        [
            ((array("uint8", (4,)) % 6, (2, 3)), {}),
            ((5, (2, 3)), {}),
            ((6, (2, 3)), {}),
            ((-1, (2, 3)), {}),
            (([[1, 2]], (7,)), {}),
            ((1.5, (3,)), {}),
            (([], (2, 3)), {}),
        ],
    )


def writing():
    for name in ("put",):
        calls = [((array(a, (6,)), [0, 2], array(b, (2,))), {}) for a in FEW for b in FEW]
        calls += [
            ((array("int8", (3, 4)), i, v), {})
            for i, v in ((99, 1), (-1, 5), ([1, 2, 3], [7, 8]), ([], []))
        ]
        yield Row(name, calls, changes=0)
    for name in ("place", "putmask"):
        calls = [
            ((array(a, (6,)), array("bool", (6,)), array(b, (2,))), {}) for a in FEW for b in FEW
        ]
        calls += [
            ((array("int8", (3, 4)), array("bool", (3, 4)), v), {}) for v in (7, [], [1, 2, 3])
        ]
        calls += [
            ((array("int8", (4,)), array("bool", (3,)), 1), {}),
            ((array("int8", (4,)), [0, 1, 2, 0], 1), {}),
        ]
        yield Row(name, calls, changes=0)
    calls = [((array(a, (3, 4)), array(b, (4,))), {}) for a in FEW for b in FEW]
    calls += [((array("int8", (3, 4)), v), {}) for v in (7, 2.5, 300, array("int8", (3,)))]
    yield Row(
        "copyto",
        calls,
        changes=0,
        options=[{"where": array("bool", (3, 4))}, {"where": array("bool", (4,))}],
    )
    calls = [((array(a, (3, 3)), array(b, ())), {}) for a in FEW for b in FEW]
    calls += [((array("int8", s), 1), {}) for s in ((3, 4), (6, 3), (2, 2, 2), (2, 3, 2), (3,))]
    yield Row("fill_diagonal", calls, changes=0, options=[{"wrap": True}])
    calls = [
        ((array(a, (3, 4)), np.array([[0], [2], [1]]), array(b, ()), 1), {})
        for a in FEW
        for b in FEW
    ]
    calls += [
        ((array("int8", (3, 4)), np.array([[9]]), 1, 1), {}),
        ((array("int8", (4,)), [1, 2], [5, 6], None), {}),
    ]
    yield Row("put_along_axis", calls, changes=0)


def rows():
    for group in (shapes, joining, indexing, writing):
        yield from group()
