"""Kernels' MLIR, lowered and compiled by Debian's mlir-16-tools, called with ctypes."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

from composit import _core

LOWERING = [
    "--llvm-request-c-wrappers", "--convert-scf-to-cf", "--expand-strided-metadata",
    "--lower-affine", "--convert-memref-to-llvm", "--convert-math-to-llvm",
    "--convert-arith-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
]  # fmt: skip
NUMBERS = {
    "f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64, "i32": ctypes.c_int32,
    "i16": ctypes.c_int16, "i8": ctypes.c_int8,
    "i1": ctypes.c_uint8,  # of which the lowest bit counts
}  # fmt: skip


def done(command, **options):
    if shutil.which(command[0]) is None:
        pytest.fail(f"{command[0]} is missing: `make setup` installs it with Debian's packages.")
    made = subprocess.run(command, capture_output=True, text=True, **options)
    assert made.returncode == 0, made.stderr[:4000]
    return made.stdout


def split(text):
    """The parts between commas, as no type has one."""
    return [part.strip() for part in text.split(",") if part.strip()]


class Function:
    """A function of a module, called with numbers and arrays in the order of its head."""

    def __init__(self, library, text, name):
        head = re.search(rf"func\.func @{name}\((.*?)\)(?:\s+->\s+(.*?))?\s+{{", text, re.S)
        self.parameters = [part.split(": ") for part in split(head[1])]
        self.results = split((head[2] or "").strip("()"))
        self.call = getattr(library, f"_mlir_ciface_{name}")
        self.call.restype = NUMBERS[self.results[0]] if len(self.results) == 1 else None

    def __call__(self, numbers, arrays):
        """`numbers`: by name."""
        arrays = iter(arrays)
        given = []
        for name, kind in self.parameters:
            if kind.startswith("memref"):
                given.append(descriptor(next(arrays)))
            else:
                given.append(NUMBERS[kind](numbers[name[1:]]))
        if len(self.results) < 2:
            made = self.call(*given)
            return [number(made, self.results[0])] if self.results else []

        class Results(ctypes.Structure):
            _fields_ = [(f"r{i}", NUMBERS[kind]) for i, kind in enumerate(self.results)]

        made = Results()
        self.call(ctypes.byref(made), *given)
        return [number(getattr(made, name), kind)
                for (name, _), kind in zip(Results._fields_, self.results)]  # fmt: skip


def number(made, kind):
    return bool(made & 1) if kind == "i1" else made


def descriptor(array):
    """What a memref is in memory."""
    rank = array.ndim

    class Memref(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p),
                    ("offset", ctypes.c_int64), ("sizes", ctypes.c_int64 * rank),
                    ("strides", ctypes.c_int64 * rank)]  # fmt: skip

    at = array.ctypes.data
    strides = [step // array.itemsize for step in array.strides]
    made = Memref(at, at, 0, (ctypes.c_int64 * rank)(*array.shape),
                  (ctypes.c_int64 * rank)(*strides))  # fmt: skip
    return ctypes.byref(made)


def lowered(text, folder, name="kernels"):
    """The library of a module's functions: optimised, with no mathematics but what is written."""
    source = folder / f"{name}.mlir"
    source.write_text(text.rstrip().removesuffix("}") + "  func.func @main() { return }\n}\n")
    dialect, code, library = (folder / f"{name}.{end}" for end in ("llvm.mlir", "o", "so"))
    done(["mlir-opt-16", source, *LOWERING, "-o", dialect])
    done(["mlir-cpu-runner-16", dialect, "-O2", "-e", "main", "-entry-point-result=void",
          "-dump-object-file", f"-object-filename={code}"])  # fmt: skip
    done(["gcc", "-shared", "-Wl,-Bsymbolic", code, "-o", library, "-lm"])
    return ctypes.CDLL(str(library))


def have_same_bits(a, b):
    """Any not-a-number is as good as another."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "f":
        a, b = (np.where(np.isnan(each), np.full_like(each, np.nan), each) for each in (a, b))
    return a.shape == b.shape and a.tobytes() == b.tobytes()


class Beside:
    """Code of a procedure that interprets it and calls its MLIR, which have the same bits."""

    def __init__(self, procedure, function):
        self.procedure, self.function = procedure, function
        self.interpreted = _core.procedure.interpreted(procedure)
        self.calls = []

    def in_order(self, order):
        return lambda *arguments: NotImplemented

    def __call__(self, floats, integers, arrays):
        wanted = self.interpreted(floats, integers, arrays)
        numbers, left = {}, [iter(floats), iter(integers)]
        for name, dtype in self.procedure.parameters:
            numbers[name] = next(left[not str(dtype).startswith("float")])
        count = len(self.procedure.results)
        outputs = [np.empty_like(np.asarray(each)) for each in wanted[count:]]
        for each in outputs:
            each.view(np.uint8 if each.ndim else each.dtype).fill(0x7B if each.ndim else 1)
        kept = [np.array(each) for each in arrays]
        made = self.function(numbers, [*kept, *outputs])
        # Integers have no sign in MLIR.
        dtypes = [np.dtype(str(dtype)) for _, dtype in self.procedure.results]
        made = [np.array(each).astype(dtype) for each, dtype in zip(made, dtypes, strict=True)]
        exact = [np.array(each).astype(dtype) for each, dtype in zip(wanted, dtypes)]
        exact += wanted[count:]
        made += outputs
        for before, after in zip(arrays, kept, strict=True):
            assert np.asarray(before).tobytes() == after.tobytes()
        for a, b in zip(exact, made, strict=True):
            assert have_same_bits(a, b), (a, b, floats, integers, arrays, self.procedure.source)
        self.calls.append((floats, integers, arrays, wanted))
        return wanted


def beside(procedures, folder, name="kernels"):
    """Code of each procedure, out of one module."""
    text = _core.procedure.print_mlir([procedures])
    library = lowered(text, folder, name)
    names = re.findall(r"func\.func @(\w+)\(", text)
    return [Beside(each, Function(library, text, own))
            for each, own in zip(procedures, names, strict=True)]  # fmt: skip
