"""Graphs that call kernels with arrays, exported: silent under both compilers, the same bits."""

# ruff: noqa: F821

import ctypes
import subprocess

import array_kernels
import numpy as np
import pytest
from test_array_nodes import X, loss, weighted

import composit
from composit import knossos
from composit import numpy as cnp
from composit.knossos import Tensor

WARNINGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]


@knossos.register
def picked(x: "Tensor[float, n]", at: "Tensor[int, m]", wanted: "Tensor[bool, m]", up: bool):
    total = 0.0
    count = 0
    y = np.zeros(len(at))
    for i in range(len(at)):
        if wanted[i]:
            y[i] = x[at[i]] if up else -x[at[i]]
            total += y[i]
            count += 1
    return y, total, count


def other_of_its_name():
    @knossos.register
    def weighted(x: "Tensor[float, n]", w: float) -> float:
        return np.sum(x * w)

    return weighted


def everything(x, w):
    """Results of values and gradients, in batches, of arrays that do not lie side by side."""
    h, total = weighted(x, w, 2)
    rows = cnp.stack([x, x * 2, -x])
    made = picked(x, np.array([3, 0, 1, 2]), x > 0.0, True)
    return (
        h, total, *composit.grad(loss, (0, 1))(x, w), *made,
        composit.vmap(lambda row: loss(row, w))(rows),
        composit.vmap(lambda row: weighted(row, 0.5, 1)[1])(rows.T),
        composit.vmap(composit.vmap(lambda row: weighted(row, 0.5, 1)[0]))(rows[:, None, ::-1]),
        composit.jvp(lambda x: loss(x, w), (x,), (h,))[1],
        other_of_its_name()(x, w),
        knossos.register(array_kernels.affine)(rows.T, rows[:, 1], x),
    )  # fmt: skip


def run(*command, folder):
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert finished.returncode == 0, f"{' '.join(command)}\n{finished.stderr}"


def library_of(function, operands, folder, compiler, flags):
    """Exports the function and compiles it; what it computes here."""
    compiled = composit.compile(function, *operands, name="f")
    made = compiled(*operands)
    made = [np.asarray(each) for each in (made if isinstance(made, (tuple, list)) else [made])]
    composit.export(folder, "it", [compiled])
    types = {"f8": "double", "f4": "float", "i8": "int64_t", "b1": "bool"}
    arrays = [*(np.asarray(each) for each in operands), *made]
    parameters = ", ".join(
        f"{'const ' if i < len(operands) else ''}{types[each.dtype.str[1:]]}* a{i}"
        for i, each in enumerate(arrays)
    )
    (folder / "call.cpp").write_text(
        f'#include "it.hpp"\nextern "C" void call({parameters}) '
        f"{{ it::f({', '.join(f'a{i}' for i in range(len(arrays)))}); }}\n"
    )
    run(compiler, *WARNINGS, *flags, "-shared", "-fPIC", "it.cpp", "call.cpp", "-o", "it.so",
        folder=folder)  # fmt: skip
    return made


def called(folder, operands, like):
    made = [np.ones_like(each) for each in like]
    kept = [np.ascontiguousarray(np.asarray(each)) for each in operands]
    library = ctypes.CDLL(str(folder / "it.so"))
    library.call(*(each.ctypes.data_as(ctypes.c_void_p) for each in [*kept, *made]))
    return made


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("compiler", "flags"),
    [("g++", ["-O2"]), ("g++", ["-O3", "-march=native"]), ("clang++", ["-O1"])],
)
def test_same_bits(compiler, flags, dtype, tmp_path):
    operands = [composit.asarray(X[0].astype(dtype)), composit.asarray(np.asarray(0.7, dtype))]
    wanted = library_of(everything, operands, tmp_path, compiler, flags)
    for mine, other in zip(called(tmp_path, operands, wanted), wanted, strict=True):
        assert mine.tobytes() == other.tobytes()


def test_a_project_of_nothing_else(tmp_path):
    kernel = knossos.register(array_kernels.recurrence)
    operands = [composit.asarray(X[0]), composit.asarray(0.7)]
    wanted = library_of(lambda x, w: kernel(x, w), operands, tmp_path, "g++", ["-O2"])
    (mine,) = called(tmp_path, operands, wanted)
    assert mine.tobytes() == kernel(X[0], 0.7).tobytes()


def test_in_a_loop(tmp_path):
    """The call stands in the loop, and its function once in the project."""

    def function(x, w):
        return composit.fori_loop(0, 5, lambda i, h: weighted(h, w, 1)[0] + 0.1 * i, x)

    operands = [composit.asarray(X[0]), composit.asarray(0.7)]
    wanted = library_of(function, operands, tmp_path, "g++", ["-O2"])
    (mine,) = called(tmp_path, operands, wanted)
    assert mine.tobytes() == wanted[0].tobytes()
    assert (tmp_path / "it.cpp").read_text().count("double weighted(") == 1


def test_equal_input_equal_bytes(tmp_path):
    operands = [composit.asarray(X[0]), composit.asarray(0.7)]
    texts = []
    for each in ("a", "b"):
        composit.export(tmp_path / each, "it", [composit.compile(everything, *operands)])
        texts.append((tmp_path / each / "it.cpp").read_bytes())
    assert texts[0] == texts[1]
