"""The library's functions compared with the C library in higher precision."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np

UNARY = [
    "exp", "exp2", "expm1", "sigmoid", "silu", "log", "log2", "log10", "log1p", "softplus", "tanh",
    "sinh", "cosh", "arcsinh", "arccosh", "arctanh", "erf", "erfc", "gelu", "sin", "cos", "tan",
    "arcsin", "arccos", "arctan", "cbrt", "lgamma", "ndtri",
]  # fmt: skip
BINARY = ["power", "arctan2", "hypot", "logaddexp", "logaddexp2"]
BOUNDS = {"float32": 2, "float64": 4}  # units in the last place


class References:
    """references.cpp, compiled into `folder`."""

    def __init__(self, folder: Path) -> None:
        source = Path(__file__).with_name("references.cpp")
        library = folder / "references.so"
        compiler = os.environ.get("CXX", "g++")
        flags = ["-std=c++17", "-O2", "-fno-math-errno", "-ffp-contract=off", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
        self.library = ctypes.CDLL(str(library))

    def errors(self, name: str, operands: list[np.ndarray], got: np.ndarray) -> np.ndarray:
        """How far each element is from the exact result, in units of its last place.

        float32 is judged by float64 (logaddexp by long double), float64 by long double; infinity
        where special values differ.
        """
        errors = np.empty(got.size)
        arrays = [np.ascontiguousarray(x) for x in (operands[0], operands[-1], got)]
        assert all(x.dtype == got.dtype and x.size == got.size for x in arrays)
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in arrays]
        compare = getattr(self.library, f"{name}_{got.dtype.name}")
        compare(*pointers, ctypes.c_int64(got.size), ctypes.c_void_p(errors.ctypes.data))
        return errors
