"""Functions that make arrays of numbers, and those that answer questions about dtypes."""

import numpy as np

from numpy_conformance.cases import Row
from numpy_conformance.values import DTYPES, FEW, SHAPES, array

NUMBERS = (0, 1, 5, -3, 2.5, 7.9, True, float("nan"), 1j, "x", None, np.int8(4), 30)
SIZES = ((), (3,), (2, 3), (0, 2), 4, (-1,), 2.5, (1.5,), "x", None, [2, 2], np.int8(3))


def plain(*arguments):
    return [(a if isinstance(a, tuple) else (a,), {}) for a in arguments]


def of_each(dtypes=DTYPES, shapes=SHAPES):
    return [((array(d, s),), {}) for d in dtypes for s in shapes]


def filled():
    dtypes = [{"dtype": d} for d in DTYPES] + [{"order": "F"}, {"order": "Q"}]
    sizes = [((size,), {}) for size in SIZES]
    for name in ("zeros", "ones", "empty"):
        calls = [((s, d), {}) for s in ((2, 3), 4) for d in DTYPES]
        yield Row(name, sizes + calls, like=name == "empty", options=dtypes)
    values = (7, 2.5, True, 1j, -1, 300, [1, 2, 3], float("nan"), "x", array("int8", (3,)))
    calls = [(((2, 3), v), {}) for v in values] + [(((2, 3), 3, d), {}) for d in DTYPES]
    yield Row("full", calls + [((s, 1), {}) for s in SIZES])
    extra = [{"shape": (5,)}, {"shape": 2, "dtype": "int8"}, {"shape": (2, 2), "order": "C"}]
    likes = [*of_each(), ((3,), {}), (([1.5, 2],), {}), (([[1], [2]],), {})]
    for name in ("zeros_like", "ones_like", "empty_like"):
        yield Row(name, likes, like=name == "empty_like", options=extra)
    fills = [((array(a, (2, 3)), array(b, ())), {}) for a in FEW for b in FEW]
    fills += [((array("int8", (2, 3)), v), {}) for v in values]
    yield Row("full_like", fills, options=extra)
    yield Row(
        "eye",
        plain(3, 0, -1, (3, 4), (3, None, 1), (2, 5, -1), 2.5, (3, 4, 1.5), (3, 3, 0, "int8"), "x"),
        options=dtypes,
    )
    yield Row("identity", plain(3, 0, -1, 2.5, (3, "float32"), "x"), options=dtypes)
    yield Row(
        "tri", plain(3, (3, 4), (3, 4, 1), (3, None, -1), 0, 2.5, (3, 3, 1.5)), options=dtypes
    )


def ranges():
    ends = [
        5,
        0,
        -3,
        2.5,
        (1, 5),
        (5, 1),
        (1, 10, 3),
        (10, 1, -2),
        (0, 1, 0.25),
        (0.5, 3),
        (1, 5, 0),
        (0, 1, 0.1),
        (1, 2, float("nan")),
        "x",
        (np.float32(1), np.float32(4)),
        (0, 2**40, 2**38),
        (1j,),
        (True, 5),
        (-0.0, 1.0, 0.5),
        (3, None),
        (np.int8(1), np.int8(9), np.int8(2)),
    ]
    dtypes = [{"dtype": d} for d in DTYPES]
    yield Row(
        "arange", [*plain(*ends), ((), {"start": 1, "stop": 3}), ((), {"stop": 4})], options=dtypes
    )
    pairs = [
        (0, 1),
        (1, 10),
        (5, -5),
        (0.5, 0.5),
        (1j, 2),
        (array("float64", (3,)), 2.0),
        (array("float32", (2, 3)), array("float64", (3,))),
        ("x", 1),
        (np.float32(1), 2),
        (0, 1, 7),
        (0, 1, 1),
        (0, 1, 0),
        (0, 1, -1),
        (0, 1, 2.5),
        (1, 5, 4, False),
    ]
    extra = [{"retstep": True}, {"num": 5, "axis": -1}, {"endpoint": False, "num": 3}]
    yield Row("linspace", plain(*pairs), sums=True, options=dtypes + extra)
    yield Row(
        "logspace", plain(*pairs), sums=True, options=[*dtypes, {"base": 2}, {"base": [2.0, 3.0]}]
    )
    positive = [(1, 100), (2, 1), (0.5, 8.0), (-1, -100), (1, 0), (1j, 2), (-1, 1), (1, 10, 3),
                (array("float64", (3,), "positive"), 9.0)]  # fmt: skip
    yield Row("geomspace", plain(*positive), sums=True, options=dtypes)
    arrays = [((array(a, (3,)), array(b, (2,))), {}) for a in FEW for b in FEW]
    arrays += [
        ((array("int8", (3,)),), {}),
        ((), {}),
        ((1, [2, 3], 4.5), {}),
        ((array("int8", (2, 2)), [1]), {}),
    ]
    yield Row("meshgrid", arrays)
    sizes = [((s,), {}) for s in ((2, 3), (3,), (), (0, 2), 4, "x", (2.5,))]
    yield Row("indices", sizes, options=dtypes)
    yield Row(
        "fromfunction",
        [((f, s), {}) for f in (add, first) for s in ((2, 3), (4,), 3, (2, 2.5))],
        options=dtypes,
    )
    yield Row(
        "fromiter",
        plain(
            ([1, 2, 3], "int64"),
            ([1, 2.5], "float32"),
            ([1, 2, 3], "int8", 2),
            ([1, 2], float, 5),
            ([], "float64"),
            (["x"], "float64"),
            (5, int),
            ([1], "S3"),
        ),
        of_tensors=False,
    )
    yield Row("tril_indices", plain(3, (3, 1), (3, -1, 5), 0, -1, 2.5, "x"))
    yield Row("triu_indices", plain(3, (3, 1), (3, -1, 5), 0, -1, 2.5, "x"))
    yield Row("diag_indices", plain(3, (3, 1), (3, 3), 0, -1, 2.5, "x"))
    yield Row("mask_indices", [((3, np.triu), {}), ((3, np.tril, -1), {}), ((0, np.triu), {})])
    xs = [((array(d, (4,)),), {}) for d in DTYPES] + [
        (([1, 2],), {}),
        ((array("int8", (2, 2)),), {}),
        ((3,), {}),
        (([],), {}),
    ]
    yield Row("vander", xs, options=[{"N": 2}, {"N": 0}, {"N": 5}, {"increasing": True}, {"N": -1}])


def add(*indices):
    return sum(indices)


def first(*indices):
    return indices[0] * 2.0


def windows():
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        yield Row(name, plain(*NUMBERS, 51), sums=True)
    yield Row(
        "kaiser", plain(*[(m, 14) for m in NUMBERS], (12, 0), (12, 5.5), (12, -3.0)), sums=True
    )
    for name in ("fft.fftfreq", "fft.rfftfreq"):
        yield Row(name, plain(4, 5, 1, 0, -2, 2.5, "x", (4, 0.1), (4, 0), (5, 2)))


def conversions():
    dtypes = [{"dtype": d} for d in DTYPES]
    values = of_each() + plain(
        3,
        2.5,
        True,
        1j,
        [1, 2],
        [[1, 2.5], [3, 4]],
        [True, 1],
        [1, 1j],
        ((1, 2),),
        [[]],
        [[1], [2, 3]],
        [2**63],
        [2**40],
        [-1, 2**63],
        range(3),
        "x",
        None,
        ([np.float32(1), 2],),
        {1, 2},
        b"ab",
        [None],
        [np.array([1, 2]), [3, 4]],
    )
    own = {
        "array": [{"ndmin": 3}, {"ndmin": 0}, {"copy": False}], "asarray": [{"copy": False}],
        "asanyarray": [], "ascontiguousarray": [], "asfortranarray": [], "asarray_chkfinite": [],
        "copy": [], "require": [{"requirements": r} for r in ("C", ["O", "W"], "x", ["C", "F"])],
    }  # fmt: skip
    for name, extra in own.items():
        yield Row(name, values, options=dtypes + extra, of_tensors=name != "require")
    calls = [((array(a, (5,)), b), {}) for a in DTYPES for b in DTYPES]
    calls += [
        ((array("float64", (2, 2)), d), {}) for d in (int, "f4", np.float32, "x", None, bool, "S3")
    ]
    yield Row("astype", [*calls, ((3, "int8"), {})])
    yield Row("from_dlpack", [((array(d, (3, 4)),), {}) for d in DTYPES] + plain([1, 2], 3))
    for name in ("iscomplexobj", "isrealobj", "isscalar", "iterable"):
        yield Row(name, of_each() + plain(3, 1j, [1, 2], "x", None, np.float32(1), (1j,)))
    yield Row("isfortran", of_each() + plain(3, [1, 2]))
    shared = array("int8", (4,))
    for name in ("shares_memory", "may_share_memory"):
        yield Row(name, [((shared, array("int8", (4,))), {}), ((shared, 3), {}), (([1], [1]), {})])
    yield Row("packbits", [((array(d, s),), {}) for d in DTYPES for s in ((9,), (3, 4), (0,), ())])
    bits = [((array("uint8", s),), {}) for s in ((3,), (2, 3), (0,), ())] + [
        ((array("int8", (3,)),), {})
    ]
    yield Row("unpackbits", bits, options=[{"count": 5}, {"count": -3}, {"count": 99}])


def questions():
    kinds = (
        *DTYPES,
        int,
        float,
        complex,
        bool,
        np.float32,
        np.dtype("int8"),
        "x",
        None,
        "S3",
        np.generic,
    )
    yield Row(
        "can_cast",
        plain(*[(a, b) for a in DTYPES for b in DTYPES], (3, "int8"), ("f4", "f8", "same_kind")),
        options=[{"casting": "unsafe"}],
    )
    yield Row(
        "promote_types", plain(*[(a, b) for a in DTYPES for b in DTYPES], ("x", "f4"), (int, float))
    )
    values = (*DTYPES[:3], array("float32", (2,)), array("int8", ()), 3, 2.5, 1j, True)
    yield Row(
        "result_type", plain(*[(a, b) for a in values for b in values], *[(a,) for a in values], ())
    )
    yield Row(
        "issubdtype",
        plain(*[(a, b) for a in kinds for b in (np.integer, np.floating, "float32", np.number)]),
    )
    groups = ("real floating", "numeric", "bool", ("integral", "bool"), "nonsense", np.float32)
    yield Row(
        "isdtype", plain(*[(np.dtype(d), g) for d in DTYPES for g in groups], ("int8", "bool"))
    )
    yield Row(
        "min_scalar_type",
        plain(3, -3, 300, 2.5, 1e300, 1j, True, [1, 2], 2**63, 2**40) + of_each(FEW),
    )
    yield Row(
        "common_type",
        [((array(d, (2,)),), {}) for d in DTYPES]
        + [((array("float32", (2,)), array("int8", (2,))), {})],
    )
    yield Row("mintypecode", plain((["d", "f"],), (["F", "d"],), (["i"],), ("",)))
    yield Row("typename", plain("d", "F", "?", "S1", "z"))
    yield Row("base_repr", plain(5, (5, 3), (-7, 16), (5, 2, 3), (5, 40), (0, 2), 2.5))
    yield Row("binary_repr", plain(5, -3, (5, 8), (-3, 8), (3, 1), 2.5, 0))
    numbers = (0.1, 1e10, -3.5, np.float32(1 / 3), float("inf"), 2, float("nan"))
    yield Row(
        "format_float_positional",
        plain(*numbers),
        options=[{"precision": 2}, {"trim": "0"}, {"sign": True}],
    )
    yield Row(
        "format_float_scientific",
        plain(*numbers),
        options=[{"precision": 2}, {"exp_digits": 4}, {"sign": True}],
    )


def rows():
    for group in (filled, ranges, windows, conversions, questions):
        yield from group()
