"""Assembling, index arrays and choosing, against NumPy: over dtypes, shapes, forms of arguments."""

import numpy as np
import numpy_agreement
import pytest
from against_numpy import agrees

import composit
import composit.numpy as cnp

DTYPES = ["bool", "int8", "uint16", "int64", "float32", "float64"]
SHAPES = [(), (0,), (1,), (5,), (0, 3), (2, 3), (3, 3), (2, 3, 4), (4, 1, 2), (3, 3, 3)]


def array(dtype, shape, seed=0):
    generator = np.random.RandomState(seed + sum(shape))
    return (generator.randint(0, 7, shape) - (np.dtype(dtype).kind in "if") * 3).astype(dtype)


ARRAYS = [array(dtype, shape) for dtype in ("int8", "float32", "bool") for shape in SHAPES]
SOME = [array("float64", shape) for shape in SHAPES]
M, V = array("float64", (3, 4)), array("int64", (4,))
B = array("bool", (3, 4), 1)
SPLITS = [1, 2, 3, 0, -1, [1], [1, 3], [2, 1], [-1], [], np.array([1, 2])]
TRIANGLES = [(3,), (0,), (4, 1), (4, -1), (3, 0, 5), (5, 2, 3), (3, 9), (3, -9), (2, 1, 0), (-2,)]

# name: (arguments, keywords) of each call
CASES = {
    "column_stack": [(([a, a],),) for a in ARRAYS]
    + [(([V, V.astype("float32"), M.T],),), (([],),), (([V, np.ones(3)],),), (([1, 2],),)],
    "hsplit": [((a, n),) for a in SOME for n in SPLITS],
    "vsplit": [((a, n),) for a in SOME for n in SPLITS],
    "dsplit": [((a, n),) for a in SOME for n in SPLITS],
    "unstack": [((a,), {"axis": axis}) for a in ARRAYS for axis in (0, -1, 2)],
    "block": [
        ((x,),)
        for x in (
            M, [M], [[M, M], [M, M]], [V, V], [[V], [V]], [1, 2], [[1, 2.5], [True, 3]], [],
            [[]], [M, [M]], [[M], [V, V]], (M, M), [(M, M)], [[M, np.ones((3, 1))], [np.ones(5)]],
            [[[V]]], [[M, V]], 3, [[array("int8", (2, 2)), array("float32", (2, 1))]],
        )
    ],
    "diagflat": [((a, k),) for a in ARRAYS for k in (0, 2, -1)],
    "vander": [((a, n, i),) for a in ARRAYS if a.ndim < 3 for n in (None, 0, 1, 4, -1)
               for i in (False, True)],
    "kron": [((a, b),) for a in ARRAYS[:9] for b in (V, M, np.float32(2), SOME[7], B, 3)],
    "matvec": [((a, b),) for a in SOME for b in SOME],
    "vecmat": [((a, b),) for a in SOME for b in SOME],
    "vecdot": [((a, b),) for a in SOME for b in SOME]
    + [((M, M), {"axis": 0}), ((M, M), {"axis": 5}), ((M, M), {"keepdims": True}), ((B, B),),
       ((V, V.astype("float32")),), ((np.int8([100, 100]), np.int8([100, 2])),),
       ((SOME[7], SOME[7][:1]), {"axis": 1})],
    "logspace": [((0, 3, 4),), ((2.0, 3.0),), ((0, 3, 4, False),), ((0, 3, 4), {"base": 2}),
                 ((1, 2, 0),), ((1, 2, 1),), ((0, 1, 5), {"dtype": "float32"}), ((1, 2, -1),),
                 ((0, 3, 4), {"dtype": int}), ((0, 1, 3), {"axis": 1})],
    "geomspace": [((1, 1000, 4),), ((1, 1000, 3, False),), ((1000, 1, 4),), ((-1, -8, 4),),
                  ((0, 1),), ((1, 256, 9), {"dtype": int}), ((1, 2, 0),), ((1, 2, 1),),
                  ((1, 2, 1, False),), ((1, 2, 2),), ((1, 2, -1),), ((2.5, 7.25, 11),),
                  ((1, 9, 3), {"dtype": "float32"})],
    "diag_indices": [((3,),), ((0,),), ((4, 3),), ((3, 0),), ((-1,),)],
    "diag_indices_from": [((a,),) for a in SOME],
    "tril_indices": [(t,) for t in TRIANGLES],
    "triu_indices": [(t,) for t in TRIANGLES],
    "tril_indices_from": [((a, k),) for a in SOME for k in (0, 1, -1)],
    "triu_indices_from": [((a, k),) for a in SOME for k in (0, 1, -1)],
    "mask_indices": [],
    "indices": [((s,),) for s in SHAPES]
    + [((s,), {"sparse": True}) for s in SHAPES]
    + [((s, "float32"),) for s in SHAPES] + [(((-1, 2),),), (((2, -3),),)],
    "ix_": [((),), ((V,),), ((V, np.array([True, False, True])),), (([], [1, 2]),), ((M,),),
            (([0, 1], [2], V),), ((1,),)],
    "ravel_multi_index": [
        (((np.array([0, 1, 2]), np.array([3, 0, 1])), (3, 4)),),
        (((np.array([0, 1, 2]), np.array([3, 0, 1])), (3, 4)), {"order": "F"}),
        (((np.array([0, 1, 3]), np.array([3, 0, 1])), (3, 4)),),
        (((np.array([0, -1]), np.array([3, 0])), (3, 4)),),
        (((np.array([-5, 1, 3]), np.array([9, 0, 1])), (3, 4)), {"mode": "wrap"}),
        (((np.array([-5, 1, 3]), np.array([9, 0, 1])), (3, 4)), {"mode": ("clip", "wrap")}),
        (((np.array([[0], [1]]), np.array([3, 0])), (3, 4)),),
        (((1, 2), (3, 4)),), (((1,), (3, 4)),), (((1, 2), (3, 4)), {"mode": "none"}),
        (((np.array([1.5]), np.array([1])), (3, 4)),), (((1, 2), (3, 4)), {"order": "Z"}),
    ],
    "unravel_index": [((np.array([0, 5, 11]), (3, 4)),), ((7, (3, 4)),), ((12, (3, 4)),),
                      ((-1, (3, 4)),), ((np.array([[0, 5], [11, 7]]), (3, 4)), {"order": "F"}),
                      ((np.array([1.5]), (3, 4)),), ((np.array([3, 1]), (2, 2, 2)),),
                      ((5, 7),)],
    "argwhere": [((a,),) for a in ARRAYS],
    "flatnonzero": [((a,),) for a in ARRAYS],
}  # fmt: skip
CHOICES = {
    "select": [
        (([M > 0, M < -1], [M, -M]),), (([M > 0, M < -1], [M, -M], 7),),
        (([M > 0], [V], 2.5),), (([V > 0, V > 1], [1, 2]),), (([V > 0], [np.int8([1, 2, 3, 4])]),),
        (([V > 0], [np.int8([1, 2, 3, 4])], 300),), (([], []),), (([V > 0], []),),
        (([V], [V]),), (([V > 0], [np.float32(2)], np.float64(1)),), (([True], [M]),),
        (([np.ones((2, 1), bool)], [V]),), (([V > 0], [np.ones(3)]),),
    ],
    "choose": [
        ((np.array([0, 1, 1]), [V[:3], V[1:]]),), ((np.array([0, 3]), [V[:2], V[2:]]),),
        ((np.array([-1, 0]), [V[:2], V[2:]]),),
        ((np.array([5, -3]), [V[:2], V[2:]], None, "wrap"),),
        ((np.array([5, -3]), [V[:2], V[2:]], None, "clip"),), ((V > 0, [V, M]),), ((0, [V, M]),),
        ((np.array([0.5]), [1, 2]),), ((np.array([0]), []),), ((np.uint64([0]), [1, 2]),),
        ((np.array([[0], [1]]), [np.int8([1, 2, 3]), 2.5]),), ((np.array([0, 1]), M),),
        ((np.array([0, 1]), [V, V]),), ((np.array([0]), [1], None, "odd"),),
    ],
    "extract": [((a > 0, a),) for a in ARRAYS]
    + [((np.array([1, 0, 2]), V),), ((np.ones(6), V),), (([True], M),)],
    "compress": [((c, M, axis),) for c in ([1, 0, 1], [0, 1], [], [0] * 4 + [1], [[1]], 1)
                 for axis in (None, 0, 1, -1, 2)],
    "trim_zeros": [((np.array(x), *rest),) for x in (
        [0, 0, 1, 2, 0, 3, 0], [0, 0], [], [1], 5, [[0, 0, 0], [0, 1, 2], [0, 0, 0]], [[0, 0]],
        [0.0, -0.0, 2.5, 0.0],
    ) for rest in ((), ("f",), ("B",), ("x",), ("fb", 0), ("fb", -1), ("bf", 3), ("f", ()))],
    "insert": [((V, i, v),) for i in (0, 2, -1, 4, 5, -5, [1, 3], [3, 1], [0, 0, 4], [], [9, 0],
                                      slice(1, 3), slice(None), slice(None, None, -2),
                                      np.array([True, False, True, False]), [[1]], np.array([2]),
                                      [1.5, 2.0])
               for v in (7, [8, 9], 2.5, [1, 2, 3])]
    + [((M, i, v, axis),) for i in (0, 1, -1, [0, 2], [1], slice(0, 2))
       for v in (7, [1, 2, 3], [1, 2, 3, 4], [[1], [2]], [[1, 2]], [[1, 2, 3]])
       for axis in (None, 0, 1, 2)]
    + [((array("int8", (3,)), 1, 300),), ((np.array(4), 0, 2),), ((np.array(4), 0, 2, 0),)],
    "delete": [((a, i, axis),) for a in (V, M, np.array(3)) for axis in (None, 0, -1, 3)
               for i in (0, -1, 9, [0, 2], [0, 0, 1], [], slice(1, 3), slice(None, None, 2),
                         [True, False, True, False], [True, False], [1.5], [9], [[0, 1]],
                         np.array([], int))],
    "apply_over_axes": [((np.sum, a, axes),) for a in (M, SOME[7]) for axes in (0, [0, 1], (-1,))],
}  # fmt: skip
TABLE = [
    pytest.param(name, calls, id=name)
    for table in (CASES, CHOICES)
    for name, calls in table.items()
    if calls
]
ULPS = {"vander": 4, "matvec": 4, "vecmat": 4, "vecdot": 4, "logspace": 8, "geomspace": 8}


@pytest.mark.long_tail
@pytest.mark.parametrize(("name", "calls"), TABLE)
def test_agrees(name, calls):
    made = []
    for arguments, *keywords in calls:
        ours, theirs = getattr(cnp, name), getattr(np, name)
        try:
            made += numpy_agreement.assert_agree(
                ours, theirs, arguments, *keywords, ulps=ULPS.get(name, 0)
            )
        except AssertionError as error:
            raise AssertionError(f"{name}{arguments} {keywords}: {error}") from error
    numpy_agreement.assert_compiled_equals_interpreted(made[:60])


def test_functions_of_positions():
    grid = cnp.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=int)
    numpy_agreement.assert_same(grid, np.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=int))
    numpy_agreement.assert_same(
        cnp.fromfunction(lambda i, by: i * by, (4,), by=2.5),
        np.fromfunction(lambda i, by: i * by, (4,), by=2.5),
    )
    for ours, theirs in ((cnp.triu, np.triu), (cnp.tril, np.tril)):
        numpy_agreement.assert_same(cnp.mask_indices(3, ours, 1), np.mask_indices(3, theirs, 1))
    with pytest.raises(TypeError, match="mask_indices: an argument is 3"):
        cnp.mask_indices(3, 3)
    with pytest.raises(TypeError, match="fromfunction: function is 'f'"):
        cnp.fromfunction("f", (2,))


PIECES = [
    ([V < 0, V >= 0], [lambda v: -v, lambda v: v * v]),
    ([V < 0], [lambda v: -v, 5]),
    ([V < 0], [lambda v: v.sum() + v]),
    (V < 0, [1, 2]),
    ([V > 100], [lambda v: 1 / 0, 3]),
    ([V < 0, V < 5], [1, 2]),
    ([V < 0], [1, 2, 3]),
    ([[True, False, True, False]], [7]),
    ([True, False, True, False], [7, 8]),
]


@pytest.mark.parametrize("conditions, pieces", PIECES)
def test_piecewise(conditions, pieces):
    numpy_agreement.assert_agree(cnp.piecewise, np.piecewise, (V, conditions, pieces))


def test_piecewise_of_scalars_and_with_arguments():
    for x in (-2.0, 3.0):
        args = (np.array(x), [np.array(x) < 0, np.array(x) >= 0], [lambda v: -v, lambda v: v + 1])
        numpy_agreement.assert_agree(cnp.piecewise, np.piecewise, args)
    scaled = [lambda v, k, c=0: v * k + c]
    numpy_agreement.assert_agree(cnp.piecewise, np.piecewise, (M, [M > 0], scaled, 2), {"c": 1})


@pytest.mark.parametrize("axis", [0, 1, 2, -1, 3])
@pytest.mark.parametrize("shape", [(2, 3, 4), (3,), (2, 0), (0, 2)])
@pytest.mark.parametrize("name", ["sum", "cumsum", "diag", "mean"])
def test_apply_along_axis(name, shape, axis):
    x = array("float64", shape)
    ours, theirs = getattr(cnp, name), getattr(np, name)
    expected, wrong = numpy_agreement.attempt(np.apply_along_axis, (theirs, axis, x), {})
    if wrong is not None:
        with pytest.raises((type(wrong), ValueError)):
            cnp.apply_along_axis(ours, axis, cnp.asarray(x))
        return
    numpy_agreement.assert_same(cnp.apply_along_axis(ours, axis, cnp.asarray(x)), expected, 4)


def test_positions_that_are_computed_are_checked_at_the_call():
    one = cnp.ones(2, int) + cnp.asarray([0, 8])
    for call in (lambda x: cnp.choose(x, [1, 2, 3]), lambda x: cnp.unravel_index(x, (3, 3))[0],
                 lambda x: cnp.unravel_index(-x, (3, 3))[0],
                 lambda x: cnp.ravel_multi_index((x,), (3,))):  # fmt: skip
        with pytest.raises(IndexError):
            cnp.evaluate(call(one))
        with pytest.raises(IndexError):
            composit.compile(call)(np.array([1, 9]))
    good = cnp.evaluate(cnp.choose(one - 1, [1, 2] + [3] * 7))
    assert good.tolist() == [1, 3]


DIFFERENTIABLE = {
    "column_stack": lambda x: cnp.column_stack([x, x[:, 0]]),
    "block": lambda x: cnp.block([[x, x * 2], [cnp.ones((1, 8))]]),
    "vander": lambda x: cnp.vander(x[0], 5),
    "kron": lambda x: cnp.kron(x, x[:2]),
    "matvec": lambda x: cnp.matvec(x, x[1]),
    "vecdot": lambda x: cnp.vecdot(x, x * x),
    "select": lambda x: cnp.select([x > 0.5, x > 0], [x * x, x * 3], -x),
    "choose": lambda x: cnp.choose(cnp.asarray([0, 1, 0, 1]), [x, x * x]),
    "insert": lambda x: cnp.insert(x, [1, 2], x[:, :2] * 2, axis=1),
    "delete": lambda x: cnp.delete(x, 1, axis=1),
    "hsplit": lambda x: cnp.hsplit(x, 2)[1],
    "unstack": lambda x: cnp.unstack(x)[1],
    "apply_along_axis": lambda x: cnp.apply_along_axis(lambda row: row * row[0], 1, x),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name):
    function = DIFFERENTIABLE[name]
    x = np.random.RandomState(2).uniform(-1, 1, (3, 4))
    weights = np.random.RandomState(3).uniform(-1, 1, function(cnp.asarray(x)).shape)

    def total(x):
        return cnp.sum(function(cnp.asarray(x)) * weights)

    found = np.asarray(composit.grad(total)(x))
    for place in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        slope = (np.asarray(total(x + step)) - np.asarray(total(x - step))) / 2e-6
        assert abs(slope - found[place]) < 1e-7, place


def test_sequences_between_arrays():
    a, b = np.array([1.0, 2.0, -3.0]), np.array([[4.0], [9.0]])
    for name in ("linspace", "logspace", "geomspace"):
        for low, high in ((a, np.abs(a) + 1), (a, 5.0), (2, b), (a, b), (np.float32(1), b)):
            for axis in (0, 1, -1, 2, 3):
                for endpoint in (True, False):
                    for num in (0, 1, 4):
                        agrees(name, low, high, num, endpoint, axis=axis, ulp=64)
        for dtype in ("float32", "int64", "float64"):
            agrees(name, np.abs(a), np.array([4, 7, 9]), 5, dtype=dtype, ulp=64)
        agrees(name, np.array([1, 5], "int8"), np.array([9.0, 7.5], "float32"), 6, ulp=64)
        agrees(name, a, np.ones(2))
        agrees(name, 1, 2, axis=1)
        agrees(name, [1, 2], [3, 4], -1)
    agrees("linspace", a, b, 4, retstep=True)
    agrees("geomspace", a, 0.0)
    agrees("geomspace", np.zeros(2), 1.0)
    for base in (np.array([2.0, 3.0]), np.array([[2.0], [10.0]]), np.float32(2), 2):
        for axis in (0, -1):
            agrees("logspace", 1.0, 3.0, 4, base=base, axis=axis, ulp=64)
            agrees("logspace", np.array([1, 2]), 3.0, 4, base=base, axis=axis, ulp=64)


@pytest.mark.parametrize("name", ["hsplit", "vsplit", "dsplit"])
@pytest.mark.parametrize("value", [2, [1, 2], [[1, 2]], [[[1, 2]]]])
def test_split_of_no_array_is_refused_as_numpy_does(name, value):
    def outcome(module):
        try:
            return [np.asarray(part).tolist() for part in getattr(module, name)(value, 1)]
        except (AttributeError, ValueError) as error:
            return type(error)

    assert outcome(cnp) == outcome(np)
