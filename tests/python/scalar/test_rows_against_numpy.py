"""Every row of the table, in every dtype that has kernels, on special values: against NumPy, and
printed against evaluated to the bit. Type rules against NumPy for all combinations of dtypes."""

import ctypes
import importlib.util
import itertools
import os
import subprocess
from pathlib import Path

import numpy as np
import numpy._core.umath as umath
import pytest

ROOT = Path(__file__).resolve().parents[3]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
KERNEL_DTYPES = ["bool", *INTEGERS, "float32", "float64"]
ALL_DTYPES = [*KERNEL_DTYPES, "float16", "complex64", "complex128"]

# Of equal operands (0 and -0) ours return the first; NumPy's choice depends on dtype and
# instruction set.
ZEROS_ARE_EQUAL = {"maximum", "minimum", "fmax", "fmin", "clip"}
# Units in the last place by which NumPy's result and ours, each within its own bound, may differ.
ULPS = 4
# Results near 0 where large terms cancel: compared relative to the operands.
CANCELLING = {"logaddexp", "logaddexp2"}


def library_folder():
    """Where libcomposit.so is: beside the Python package, or where COMPOSIT_LIBRARY_FOLDER says."""
    if "COMPOSIT_LIBRARY_FOLDER" in os.environ:
        return Path(os.environ["COMPOSIT_LIBRARY_FOLDER"])
    spec = importlib.util.find_spec("composit")
    for folder in spec.submodule_search_locations if spec else []:
        if (Path(folder) / "libcomposit.so").exists():
            return Path(folder)
    pytest.fail("libcomposit.so is not beside the Python package: build first")


class Table:
    """rows.cpp as a library, and the printed loops as another."""

    def __init__(self, folder):
        library = library_folder()
        self.compile(
            folder / "rows.so",
            ROOT / "tests/python/scalar/rows.cpp",
            "-std=c++20",
            "-O1",
            f"-I{ROOT}",
            *[str(file) for file in library.glob("lib*.so")],
            f"-Wl,-rpath,{library}",
        )
        self.rows = ctypes.CDLL(str(folder / "rows.so"))
        for function in (self.rows.row_names, self.rows.signature, self.rows.symbol):
            function.restype = ctypes.c_char_p
        lines = self.rows.row_names().decode().splitlines()
        self.arity = {name: int(arity) for name, arity in map(str.split, lines)}
        self.symbols = {}
        self.unsupported = []
        for name, arity in self.arity.items():
            for dtype in KERNEL_DTYPES:
                operands, result = self.signature(name, [dtype] * arity) or (None, None)
                if operands and {*operands, result} <= set(KERNEL_DTYPES):
                    self.add(name, operands)
        for name in self.arity:
            if self.arity[name] == 2:
                for mixed in (
                    ("int64", "uint64"),
                    ("uint64", "int64"),
                    ("float32", "int64"),
                    ("float64", "int32"),
                ):
                    operands, result = self.signature(name, mixed) or (None, None)
                    if operands and {*operands, result} <= set(KERNEL_DTYPES):
                        self.add(name, operands)
        keys = list(self.symbols)
        names = (ctypes.c_char_p * len(keys))(*[name.encode() for name, _ in keys])
        dtypes = (ctypes.c_char_p * len(keys))(*[" ".join(dtypes).encode() for _, dtypes in keys])
        self.rows.write_loops(
            str(folder / "loops.cpp").encode(), names, dtypes, ctypes.c_int64(len(keys))
        )
        # Warnings are errors: generated code compiles silently.
        self.compile(
            folder / "loops.so",
            folder / "loops.cpp",
            "-std=c++17",
            "-O1",
            "-march=native",
            "-Wall",
            "-Wextra",
            "-Werror",
        )
        self.loops = ctypes.CDLL(str(folder / "loops.so"))

    @staticmethod
    def compile(target, source, *flags):
        subprocess.run(
            [
                os.environ.get("CXX", "g++"),
                "-shared",
                "-fPIC",
                "-ffp-contract=off",
                str(source),
                "-o",
                str(target),
                *flags,
            ],
            check=True,
        )

    def signature(self, name, dtypes):
        line = self.rows.signature(name.encode(), " ".join(dtypes).encode()).decode()
        if line == "TypeError":
            return None
        operands, result = line.split(" -> ")
        return tuple(operands.split()), result

    def add(self, name, operands):
        symbol = self.rows.symbol(name.encode(), " ".join(operands).encode()).decode()
        if symbol:
            self.symbols[name, operands] = symbol
        else:
            self.unsupported.append((name, operands))

    def run(self, name, dtypes, operands):
        """The printed loop."""
        out = self.output(name, dtypes, operands[0].size)
        loop = getattr(self.loops, "loop_" + self.symbols[name, dtypes])
        loop(*[ctypes.c_void_p(x.ctypes.data) for x in [*operands, out]], ctypes.c_int64(out.size))
        return out

    def evaluate(self, name, dtypes, operands):
        """The meaning."""
        out = self.output(name, dtypes, operands[0].size)
        pointers = (ctypes.c_void_p * len(operands))(*[x.ctypes.data for x in operands])
        self.rows.evaluate_row(
            name.encode(),
            " ".join(dtypes).encode(),
            pointers,
            ctypes.c_void_p(out.ctypes.data),
            ctypes.c_int64(out.size),
        )
        return out

    def output(self, name, dtypes, size):
        return np.empty(size, self.signature(name, dtypes)[1])


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return Table(tmp_path_factory.mktemp("rows"))


def grid(dtype):
    """Special values of a dtype, and a few ordinary ones."""
    dtype = np.dtype(dtype)
    random = np.random.default_rng(0)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = [
            0,
            1,
            2,
            3,
            7,
            8,
            31,
            32,
            63,
            64,
            100,
            info.max,
            info.max - 1,
            info.min,
            info.min + 1,
        ]
        values += [-v for v in values]
        inside = [v for v in values if info.min <= v <= info.max]
        return np.concatenate(
            [np.array(inside, dtype), random.integers(info.min, info.max, 9, dtype, True)]
        )
    info = np.finfo(dtype)
    values = [
        0,
        0.5,
        1,
        1.5,
        2,
        2.5,
        3,
        np.pi,
        7,
        0.1,
        100.3,
        1e5,
        2.0**23 + 0.5,
        2.0**31,
        2.0**52 + 0.5,
        2.0**63,
        2.0**64,
        info.max,
        info.tiny,
        info.smallest_subnormal,
        info.tiny / 3,
        np.inf,
        info.eps,
        1 - info.epsneg,
        1 + info.eps,
        88.5,
        104,
        710,
        745.2,
    ]
    values = np.array([*values, *[-v for v in values], np.nan], dtype)
    spread = np.exp(random.uniform(-80, 80, 9)) * random.choice([-1, 1], 9)
    return np.concatenate([values, spread.astype(dtype)])


def operands_for(dtypes):
    mesh = np.meshgrid(*[grid(dtype) for dtype in dtypes], indexing="ij")
    return [np.ascontiguousarray(x.ravel()) for x in mesh]


def same_bits(a, b):
    if a.dtype.kind != "f":
        return a == b
    bits = f"u{a.dtype.itemsize}"
    return (a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b))


# Rows that are one result of a function of NumPy's.
RESULTS = {
    "divmod_quotient": ("divmod", 0),
    "divmod_remainder": ("divmod", 1),
    "frexp_mantissa": ("frexp", 0),
    "frexp_exponent": ("frexp", 1),
    "modf_fraction": ("modf", 0),
    "modf_integer": ("modf", 1),
}


def numpy_function(name):
    if name == "where":
        return np.where
    if name in RESULTS:
        function, result = RESULTS[name]
        return lambda *x: getattr(np, function)(*x)[result]
    return getattr(umath, name, None)


def is_close(name, ours, numpys, operands):
    """Where results differ as two good libraries may: by a few units in the last place.

    Special values never differ.
    """
    with np.errstate(all="ignore"):
        both = np.isfinite(ours) & np.isfinite(numpys)
        unit = np.spacing(np.abs(numpys))
        if name in CANCELLING:
            unit = np.maximum(unit, np.spacing(np.maximum(np.maximum(*operands), 1)))
        error = np.abs(ours.astype(np.longdouble) - numpys) / unit
        same_zero = ((ours == 0) == (numpys == 0)) | (name in CANCELLING)
        return both & (error <= ULPS) & same_zero


EXACT = {
    "add",
    "subtract",
    "multiply",
    "divide",
    "square",
    "sqrt",
    "absolute",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "negative",
    "positive",
    "reciprocal",
    "sign",
    "fmod",
    "remainder",
    "floor_divide",
    "copysign",
    "nextafter",
    "spacing",
    "ldexp",
    "heaviside",
    "deg2rad",
    "rad2deg",
    "where",
    *RESULTS,
    *ZEROS_ARE_EQUAL,
}


def test_values(table):
    failures = []
    for name, dtypes in table.symbols:
        function = numpy_function(name)
        if function is None:
            continue
        operands = operands_for(dtypes)
        if name == "power" and dtypes[0] in INTEGERS:
            operands = [np.ascontiguousarray(x[operands[1] >= 0]) for x in operands]
        ours = table.run(name, dtypes, operands)
        with np.errstate(all="ignore"):
            numpys = np.ascontiguousarray(function(*operands))
        assert ours.dtype == numpys.dtype, (name, dtypes)
        good = same_bits(ours, numpys)
        if name in ZEROS_ARE_EQUAL:
            good |= (ours == 0) & (numpys == 0)
        if name not in EXACT and ours.dtype.kind == "f":
            good |= is_close(name, ours, numpys, operands)
        for i in np.flatnonzero(~good)[:3]:
            failures.append(
                (name, *dtypes, *[x[i].item() for x in operands], ours[i].item(), numpys[i].item())
            )
    assert not failures, "\n".join(map(str, failures))


def test_printed_code_computes_what_evaluation_does(table):
    random = np.random.default_rng(1)
    failures = []
    for name, dtypes in table.symbols:
        operands = operands_for(dtypes)
        if operands[0].size > 150:
            chosen = random.choice(operands[0].size, 150, replace=False)
            operands = [np.ascontiguousarray(x[chosen]) for x in operands]
        printed = table.run(name, dtypes, operands)
        evaluated = table.evaluate(name, dtypes, operands)
        for i in np.flatnonzero(~same_bits(printed, evaluated))[:3]:
            failures.append(
                (
                    name,
                    *dtypes,
                    *[x[i].item() for x in operands],
                    printed[i].item(),
                    evaluated[i].item(),
                )
            )
    assert not failures, "\n".join(map(str, failures))


def test_types(table):
    failures = []
    for name, arity in table.arity.items():
        function = numpy_function(name)
        if function is None:
            continue
        for dtypes in itertools.product(ALL_DTYPES, repeat=arity):
            try:
                with np.errstate(all="ignore"):
                    numpys = function(*[np.ones(1, dtype) for dtype in dtypes]).dtype.name
            except TypeError:
                numpys = None
            ours = table.signature(name, dtypes)
            if (ours and ours[1]) != numpys:
                failures.append((name, dtypes, ours, numpys))
    assert not failures, "\n".join(map(str, failures[:40]))


def test_every_real_ufunc_has_a_row(table):
    """The functions still missing, so that this list shrinks with the table."""
    missing = set()
    skipped = {"isnat", "matmul", "vecdot", "matvec", "vecmat"}  # not elementwise on numbers
    skipped |= {"degrees", "radians"}  # aliases of rad2deg and deg2rad here
    skipped |= {
        "divmod",
        *(name for name, _ in RESULTS.values()),
    }  # two rows each, or floor_divide and remainder
    names = {f.__name__ for f in vars(np).values() if isinstance(f, np.ufunc)}
    rows = set(table.arity)
    assert {n for n in names if n not in rows} - skipped == missing
