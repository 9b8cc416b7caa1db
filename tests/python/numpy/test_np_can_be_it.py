"""What programs expect of `np`: classes, names, files, printing, texts, records, masked arrays."""

import typing

import numpy as np
import pytest
from numpy_programs import same

import composit
import composit.numpy as cnp
from composit.errors import NotSupported

PROGRAMS = {
    "arrays are instances": """
        x = np.ones((2, 3))
        print(isinstance(x, np.ndarray), isinstance(x[0], np.ndarray),
              isinstance(x.sum(), np.ndarray))
        print(isinstance([1], (list, np.ndarray)), isinstance(1.0, np.ndarray))
        print(isinstance(x[...], np.ndarray), isinstance(np.zeros(()), np.ndarray))
        print(issubclass(type(x), np.ndarray), type(x) == np.ndarray, np.ndarray == type(x))
        match x:
            case np.ndarray():
                print("an array")
    """,
    "annotations": """
        import typing
        def f(x: np.ndarray | None, y: "np.typing.NDArray[np.float64]" = None) -> np.ndarray:
            return x
        print(len(typing.get_type_hints(f, {"np": np})), f(np.arange(3)))
        print(typing.Optional[np.ndarray] == (np.ndarray | None), np.ndarray.__name__)
    """,
    "single dispatch": """
        import functools
        @functools.singledispatch
        def kind(x):
            return "other"
        @kind.register(np.ndarray)
        def _(x):
            return "array"
        print(kind(np.ones(2)), kind(3))
    """,
    "methods of the class": """
        x = np.arange(6.0).reshape(2, 3)
        print(np.ndarray.sum(x), np.ndarray.mean(x, axis=0), np.ndarray.tolist(x))
        print(np.ndarray((2, 2), dtype=int).shape)
    """,
    "scalars": """
        x = np.arange(4, dtype=np.int32)
        f = np.float32([1.5])[0]
        print(isinstance(x[0], np.int32), isinstance(x[0], np.integer), isinstance(x[0], np.int64))
        print(isinstance(x.mean(), np.float64), isinstance(x[0] > 1, np.bool_))
        print(isinstance(np.float64(1), np.float64), isinstance(f, np.float32), np.float64(2.5))
        print(isinstance(x, np.generic), isinstance(x[0], np.generic),
              isinstance(x.sum(), np.number))
        print(np.float64, np.int8.__name__, x.dtype == np.int32, x.dtype.type == np.int32)
        print(np.dtype(np.float32), np.zeros(2, np.complex64).dtype, np.iinfo(np.uint8).max)
        print({np.float64: "double"}[np.ones(1).dtype.type], np.issubdtype(np.float32, np.floating))
        print(np.array([1, 2], dtype=np.float16), np.ones(2).astype(np.uint8), np.bool_(1))
        print(np.float64 | None, issubclass(np.float64, float), np.result_type(np.int8, np.float32))
        print(x[1].numerator, x[1].denominator)
    """,
    "texts of numbers": """
        np.set_printoptions(precision=3)
        print(np.array([1 / 3, 2 / 3]), np.get_printoptions()["precision"])
        np.set_printoptions(precision=8)
        with np.printoptions(suppress=True):
            print(np.array([1e-10, 1.0]))
        print(np.array2string(np.arange(3) / 7, precision=2, separator=", "))
        print(np.array_repr(np.eye(2)), np.array_str(np.ones(3)))
    """,
    "files": """
        import io, os, tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.npy")
            x = np.arange(6.0).reshape(2, 3)
            np.save(path, x)
            y = np.load(path)
            print(y, isinstance(y, np.ndarray), (y + x).sum())
            np.savez(os.path.join(folder, "b.npz"), x, again=x.T)
            with np.load(os.path.join(folder, "b.npz")) as both:
                print(sorted(both), both["again"] + 1)
            np.savez_compressed(os.path.join(folder, "c"), a=x)
            np.savetxt(os.path.join(folder, "d.txt"), x, fmt="%.2f", header="of x")
            print(np.loadtxt(os.path.join(folder, "d.txt")), sorted(os.listdir(folder)))
            x.tofile(os.path.join(folder, "e"))
            print(np.fromfile(os.path.join(folder, "e")),
                  np.fromfile(os.path.join(folder, "e"), "i1", 3))
            x.dump(os.path.join(folder, "f"))
            print(np.load(os.path.join(folder, "f"), allow_pickle=True))
            print(np.load(path, mmap_mode="r")[1])
        print(np.genfromtxt(io.StringIO("1,,3"), delimiter=",", filling_values=-1))
        print(np.frombuffer(b"\\x01\\x02\\x03", dtype=np.uint8), np.fromstring("1 2", sep=" "))
        print(np.fromregex(io.StringIO("1 a\\n2 b"), r"(\\d) (\\w)", [("n", int), ("t", "U1")]))
        np.load("no such file")
    """,
    "iterators": """
        a = np.arange(6).reshape(2, 3)
        for x in np.nditer(a, op_flags=["readwrite"]):
            x[...] = 2 * x
        print(a)
        with np.nditer(a, flags=["multi_index"], op_flags=[["readwrite"]]) as it:
            for x in it:
                if it.multi_index[0]:
                    x[...] = -x
        print(a, [int(x) for x in np.nditer(a, order="F")])
        for x in np.nditer(a, op_flags=["readwrite"]):
            x[...] = 9
            break
        del x
        print(a, list(np.ndenumerate(a))[-1][0], np.nditer([a, a]).nop)
        for row in np.nditer(a, flags=["external_loop"], order="C"):
            print(row)
    """,
    "functions of Python": """
        double = np.frompyfunc(lambda x: x * 2, 1, 1)
        both = np.frompyfunc(divmod, 2, 2)
        x = np.arange(4)
        print(double(x), double(x).dtype, both(x, 3), double.nin)
        print(np.frompyfunc(lambda a, b: a + b, 2, 1).reduce(x))
        add = np.frompyfunc(lambda a, b: (a, b), 2, 1)
        print(add(x, 1)[0])
    """,
    "polynomials": """
        from numpy import testing
        p = np.polynomial.Polynomial([1, 2, 3])
        x = np.linspace(0, 1, 4)
        print(p(x), p.deriv()(x), p.degree(), (p * p).coef, p.roots().round(6))
        q = np.polynomial.Polynomial.fit(x, 2 * x + 1, 1).convert()
        print(q.coef.round(9), np.polynomial.Chebyshev([1, 2, 3])(x))
        print(np.poly1d([1, 2, 3])(x), np.polynomial.Legendre.basis(2)(x))
        print(np.polynomial.Polynomial(np.array([1.0, 2.0]))(2))
    """,
    "masked arrays": """
        x = np.arange(5.0)
        m = np.ma.masked_array(x, mask=x > 2)
        print(m, m.mean(), np.ma.masked_where(x == 1, x).sum(), m.filled(-1), np.ma.getmaskarray(m))
        print(np.ma.masked_invalid(np.array([1.0, np.nan])), (m + x).count(), np.ma.is_masked(m))
        print((x + m), x * m, isinstance(m, np.ndarray), np.ma.masked is np.ma.masked)
        print(np.ma.median(m), np.ma.average(m, weights=x + 1))
    """,
    "texts": """
        names = np.array(["b", "a", "b"])
        print(np.char.upper(names), np.strings.str_len(names), np.unique(names), names == "b")
        print(np.where(names == "b", "yes", "no"), np.sort(names), np.isin(names, ["a"]))
        print(np.concatenate([names, ["c"]]), np.argsort(names), np.array(["1", "2"]).astype(float))
        labels, numbers = np.unique(names, return_inverse=True)
        print(labels[numbers], np.full(2, "x"), np.zeros(2, "U3"), np.array([[1, "a"]]))
    """,
    "records": """
        z = np.array([(1, 2.5), (3, 4.5)], dtype=[("n", int), ("x", float)])
        print(z["x"] + np.ones(2), z.dtype.names, np.sort(z, order="x"), z[0])
        r = np.rec.array(z)
        print(r.x, np.rec.fromarrays([np.arange(2), np.ones(2)], names="a,b").b)
        print(np.zeros(2, dtype=[("a", "i4")])["a"].sum())
    """,
    "objects": """
        x = np.array([1, None, "a"], dtype=object)
        print(x, np.empty(2, dtype=object), np.array(None), x[1] is None,
              np.arange(3).astype(object))
        print(np.arange(2) + np.array([1, 2], dtype=object),
              np.array([1, 2], dtype=object) * np.ones(2))
        print(np.arange(2) == np.array([0, None], dtype=object))
    """,
    "dates": """
        days = np.arange("2024-01-30", "2024-02-02", dtype="datetime64[D]")
        print(days, days[1] - days[0], np.datetime_as_string(days), np.is_busday(days))
        print(np.busday_offset(days, 1, roll="forward"),
              np.array(["2024-01-01"], "M8[D]") + np.arange(2))
        print(days.astype("datetime64[M]"), np.isnat(days), np.datetime_data(days.dtype))
    """,
    "memory": """
        x = np.arange(4.0)
        interface = x.__array_interface__
        print(interface["shape"], interface["typestr"], interface["version"],
              len(interface["data"]))
        x.setflags(write=False)
        print(x.flags.writeable, x.ctypes.shape[0], x.getfield("i4", 4))
        x[0] = 1
    """,
    "writing without leave": """
        x = np.arange(4.0)
        x.setflags(write=False)
        x.setflags(write=True)
        x[0] = 7
        x.setfield(5.0, "f8")
        print(x, np.asmatrix(np.eye(2)) * np.matrix("1 2; 3 4"),
              np.bmat([[np.eye(1), np.ones((1, 1))]]))
        x.setflags(uic=True)
    """,
    "a subclass": """
        class Metres(np.ndarray):
            unit = "m"
        x = np.arange(3.0).view(Metres)
        print(type(x).__name__, x.unit, (x + np.ones(3)).unit, isinstance(x, np.ndarray), np.sum(x))
        print(issubclass(Metres, np.ndarray), isinstance(np.ones(2), Metres))
    """,
    "versions": """
        import numpy.lib
        print(np.__version__, np.lib.NumpyVersion(np.__version__) > "1.0.0", np.typing.NDArray)
        print(np.typecodes["Float"], np.little_endian, np.finfo(np.float32).eps,
              np.lib.mixins.__name__)
    """,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_print_what_they_print_under_numpy(name):
    same(PROGRAMS[name])


def test_no_name_of_numpy_is_missing():
    lacking = [name for name in np.__all__ if name != "core" and not hasattr(cnp, name)]
    assert lacking == []
    assert set(np.__all__) - {"core"} <= set(dir(cnp))


def test_classes_are_found_at_once_and_stay_the_same():
    assert cnp.ndarray is composit.ndarray is cnp.ndarray
    assert cnp.float64 is cnp.double and cnp.float64 == np.float64 and np.float64 == cnp.float64
    assert cnp.ndarray == np.ndarray and cnp.ndarray == cnp.LazyTensor
    assert typing.get_type_hints(annotated)["x"] == (cnp.ndarray | None)


def annotated(x: cnp.ndarray | None):
    return x


def test_classes_know_placeholders():
    seen = []

    def f(x):
        seen.append((isinstance(x, cnp.ndarray), isinstance(x.sum(), cnp.float32)))
        seen.append((isinstance(x.sum(), cnp.ndarray), (x == None).shape))  # noqa: E711
        return x * 2

    composit.compile(f, cnp.ones(3, "float32"))
    assert seen[:2] == [(True, True), (False, (3,))]


@pytest.mark.parametrize("call", [
    cnp.array2string, lambda x: cnp.save("never", x), cnp.ma.masked_invalid,
    lambda x: x.tofile("never"), cnp.char.upper, lambda x: cnp.nditer(x), cnp.asmatrix,
    lambda x: cnp.frompyfunc(abs, 1, 1)(x), lambda x: cnp.astype(x, object),
])  # fmt: skip
def test_placeholders_have_no_values(call):
    with pytest.raises(NotSupported, match="depends on a placeholder"):
        composit.compile(call, np.ones(3))


def test_what_comes_back_is_lazy():
    assert isinstance(cnp.loadtxt(["1 2", "3 4"]), cnp.LazyTensor)
    assert isinstance(cnp.frombuffer(b"ab", "u1"), cnp.LazyTensor)
    assert type(cnp.array(["a"])) is np.ndarray
    slope = composit.grad(lambda x: cnp.polynomial.Polynomial([1, 2, 3])(x).sum())
    assert np.asarray(slope(np.array([1.0, 2.0]))).tolist() == [8, 14]


def test_masks_are_not_lost():
    masked = cnp.ma.masked_array([1.0, 5.0], mask=[0, 1])
    with pytest.raises(TypeError, match=r"exp: .*without a mask"):
        cnp.exp(masked)


def test_records_by_numpys_older_path():
    import composit.numpy as cnp

    made = cnp.core.records.fromarrays([cnp.arange(2), cnp.ones(2)], names="a,b")
    assert isinstance(made, np.recarray) and made.a.tolist() == [0, 1] and made.b.tolist() == [1, 1]
