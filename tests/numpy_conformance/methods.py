"""What an ndarray itself does: its methods and attributes, and Python's operators, with operands of
every pair of dtypes and Python's numbers on either side."""

import operator

import numpy as np

from numpy_conformance.cases import Row
from numpy_conformance.elementwise import SCALARS, of_two
from numpy_conformance.values import DTYPES, FEW, SHAPES, array

# Methods of files, memory, texts and records; and a view's class, which is asked for elsewhere.
NOT_MEANT = {
    "ctypes", "dump", "dumps", "getfield", "newbyteorder", "setfield", "setflags", "tofile",
    "tostring", "base", "data", "flags", "device", "to_device", "view", "resize", "flat",
}  # fmt: skip
# What each method is called with, behind the array.
ARGUMENTS: dict[str, list[tuple]] = {
    "all": [()], "any": [()], "argmax": [(), (0,)], "argmin": [(), (-1,)],
    "argpartition": [(0,)], "argsort": [()], "astype": [(d,) for d in DTYPES], "byteswap": [()],
    "choose": [(np.array([[1, 2], [3, 4]]),)], "clip": [(1, 3), (None, 2), (0,)],
    "compress": [([True, False, True],)], "conj": [()], "conjugate": [()], "copy": [(), ("F",)],
    "cumprod": [(), (0,)], "cumsum": [(), (0,)], "diagonal": [(), (1,)],
    "dot": [(2,), ([1, 2, 3],)], "fill": [(3,), (2.5,), (300,), ("x",)],
    "flatten": [(), ("F",)], "item": [(), (0,), (-1,), (99,)],
    "max": [(), (0,)], "mean": [(), (0,)], "min": [(), (0,)], "nonzero": [()],
    "partition": [(0,)], "prod": [(), (0,)], "put": [(0, 7), ([0, 1], [5, 6])],
    "ravel": [(), ("F",)],
    "repeat": [(2,), (3, 0)], "reshape": [(-1,), ((-1, 1),), (2, -1), (5, 5)],
    "resize": [((2, 2),), (3,)], "round": [(), (1,)], "searchsorted": [(2,), ([1, 2],)],
    "sort": [(), (0,)], "squeeze": [(), (0,)], "std": [(), (0,)], "sum": [(), (0,)],
    "swapaxes": [(0, 1), (0, -1)], "take": [(0,), ([0, -1],)], "tobytes": [(), ("F",)],
    "tolist": [()], "trace": [(), (1,)], "transpose": [(), ((1, 0),), (1, 0)], "var": [(), (0,)],
}  # fmt: skip
# Methods that write their array.
WRITING = ("fill", "partition", "put", "resize", "sort")
OPTIONS = {
    "all": "axis keepdims out where", "any": "axis keepdims out where",
    "argmax": "axis keepdims out", "argmin": "axis keepdims out", "argsort": "axis",
    "astype": "order casting subok copy", "clip": "out", "copy": "order",
    "cumprod": "axis dtype out", "cumsum": "axis dtype out", "diagonal": "offset",
    "flatten": "order", "max": "axis keepdims initial where out",
    "mean": "axis dtype keepdims where out", "min": "axis keepdims initial where out",
    "prod": "axis dtype keepdims initial where out", "put": "mode", "ravel": "order",
    "repeat": "axis", "reshape": "order copy", "round": "decimals out", "sort": "axis stable",
    "squeeze": "axis", "std": "axis dtype ddof keepdims where out",
    "sum": "axis dtype keepdims initial where out", "take": "axis mode out",
    "trace": "offset dtype out", "var": "axis dtype ddof keepdims where out",
}  # fmt: skip
SUMS = ("cumprod", "cumsum", "dot", "mean", "prod", "std", "sum", "trace", "var")
BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift",
          "rshift", "lt", "le", "eq", "ne", "gt", "ge")  # fmt: skip
UNARY = ("neg", "pos", "abs", "invert")
CONVERSIONS = (bool, int, float, complex, len, list, iter, hash)


def method(name):
    """The method of a name, whichever class has it."""
    return lambda module: lambda x, *arguments, **keywords: getattr(x, name)(*arguments, **keywords)


def attribute(name):
    """The attribute of a name."""
    return lambda module: lambda x: getattr(x, name)


def arrays(dtypes=DTYPES, shapes=SHAPES):
    return [array(d, s) for d in dtypes for s in shapes]


def public_names():
    """What an ndarray has, but for what is not meant."""
    names = [name for name in dir(np.ndarray) if name[0] != "_" and name not in NOT_MEANT]
    called = [name for name in names if callable(getattr(np.ndarray, name))]
    return called, [name for name in names if name not in called]


def methods():
    called, read = public_names()
    for name in called:
        few = FEW if len(ARGUMENTS[name]) > 3 else DTYPES
        keywords = {"stable": True} if name == "argsort" else {}
        given = [np.sort(x.ravel()) for x in arrays(few)] if name == "searchsorted" else arrays(few)
        calls = [((x, *more), keywords) for x in given for more in ARGUMENTS[name]]
        yield Row(
            f"ndarray.{name}",
            calls,
            sums=name in SUMS,
            like=name in ("argpartition", "partition"),
            changes=0 if name in WRITING else None,
            of_tensors=False,
            of=method(name),
            parameters=tuple(OPTIONS.get(name, "").split()),
        )
    for name in read:
        calls = [((x,), {}) for x in arrays()]
        yield Row(f"ndarray.{name}", calls, of_tensors=False, of=attribute(name))


def operators():
    pairs = of_two()
    for name in BINARY:
        function = getattr(operator, name)
        yield Row(f"operator.{name}", pairs, of_tensors=False, of=lambda m, f=function: f)
        in_place = getattr(operator, "i" + name.rstrip("_"), None)
        if in_place is not None:
            targets = [c for c in pairs if isinstance(c[0][0], np.ndarray)]
            yield Row(
                f"operator.i{name.rstrip('_')}",
                targets,
                changes=0,
                of_tensors=False,
                of=lambda m, f=in_place: f,
            )
    for name in UNARY:
        calls = [((array(d, s, kind),), {}) for d in DTYPES for s in ((), (24,), (2, 3))
                 for kind in ("plain", "special", "extreme")]  # fmt: skip
        function = getattr(operator, name)
        yield Row(f"operator.{name}", calls, of_tensors=False, of=lambda m, f=function: f)
    yield Row("operator.divmod", pairs, of_tensors=False, of=lambda m: divmod)
    powers = [((array(d, (5,)), 2, n), {}) for d in FEW for n in (3, None)]
    yield Row("operator.pow3", powers, of_tensors=False, of=lambda m: pow)


def products():
    shapes = (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
              ((2, 3), (2, 3)), ((), (3,)), ((2, 0), (0, 2)))  # fmt: skip
    calls = [((array(d, a), array(e, b, seed=1)), {}) for d in FEW for e in FEW for a, b in shapes]
    calls += [((array("float64", (3,)), value), {}) for value in SCALARS]
    calls += [((value, array("float64", (3,))), {}) for value in SCALARS]
    yield Row("operator.matmul", calls, sums=True, of_tensors=False, of=lambda m: operator.matmul)
    square = [((array(d, (2, 2)), array(e, (2, 2), seed=1)), {}) for d in DTYPES for e in DTYPES]
    yield Row(
        "operator.imatmul",
        square,
        sums=True,
        changes=0,
        of_tensors=False,
        of=lambda m: operator.imatmul,
    )


def conversions():
    shapes = ((), (1,), (2, 3), (0,), (1, 1))
    calls = [((array(d, s),), {}) for d in DTYPES for s in shapes]
    for function in CONVERSIONS:
        if function in (iter, hash):
            continue
        name = f"operator.{function.__name__}"
        yield Row(name, calls, of_tensors=False, of=lambda m, f=function: f)
    index = [((array(d, s),), {}) for d in DTYPES for s in ((), (1,))]
    yield Row("operator.index", index, of_tensors=False, of=lambda m: operator.index)
    held = [((array(d, (6,)), v), {}) for d in DTYPES for v in SCALARS]
    yield Row("operator.contains", held, of_tensors=False, of=lambda m: operator.contains)
    places = (0, -1, 5, slice(1, None, 2), [0, 1], None, (), Ellipsis, (0, 1), (slice(None), 0),
              [True, False, True], 1.5, "x", (Ellipsis, None), ([0, 1], [1, 0]), True,
              np.array([[0], [1]]))  # fmt: skip
    taken = [((array(d, s), i), {}) for d in FEW for s in ((3,), (3, 4), ()) for i in places]
    yield Row("operator.getitem", taken, of_tensors=False, of=lambda m: operator.getitem)
    put = [((array(d, (3, 4)), i, v), {}) for d in FEW for i in places
           for v in (1, 2.5, 1j, array("float64", (4,)))]  # fmt: skip
    yield Row("operator.setitem", put, changes=0, of_tensors=False, of=lambda m: operator.setitem)


def ufunc_methods():
    """reduce, accumulate, reduceat, outer and at of every ufunc of two operands."""
    for name in sorted(set(dir(np))):
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc) or (ufunc.nin, ufunc.nout) != (2, 1):
            continue
        if ufunc.signature or ufunc.__name__ != name:
            continue
        xs = [array(d, s) for d in FEW for s in ((7,), (2, 3), (0,), (2, 3, 4))]
        extra = [
            {"axis": 1}, {"axis": None}, {"axis": (0, 1)}, {"axis": 5}, {"keepdims": True},
            {"dtype": "float64"}, {"dtype": "int16"}, {"initial": 2}, {"initial": None},
        ]  # fmt: skip
        calls = [((x,), {}) for x in xs] + [((xs[9],), e) for e in extra] + [((3,), {})]
        yield Row(f"{name}.reduce", calls, sums=True, of_tensors=False)
        calls = [((x,), {}) for x in xs] + [((xs[9],), e) for e in extra[:4] + extra[5:7]]
        yield Row(f"{name}.accumulate", calls, sums=True, of_tensors=False)
        calls = [((x, i), {}) for x in xs for i in ([0, 1], [1, 0], [0, 9], [0.5])]
        yield Row(f"{name}.reduceat", calls, sums=True, of_tensors=False)
        calls = [((array(d, (3,)), array(e, (2,), seed=1)), {}) for d in FEW for e in FEW]
        yield Row(f"{name}.outer", calls, of_tensors=False)
        calls = [
            ((array(d, (5,)), [0, 2, 2], array(e, (3,), seed=1)), {}) for d in FEW for e in FEW
        ]
        yield Row(f"{name}.at", calls, changes=0, of_tensors=False)


def rows():
    for group in (methods, operators, products, conversions, ufunc_methods):
        yield from group()
