"""The device of examples/backend/apart.cpp, built once for a run of tests and loaded."""

import ctypes
import subprocess
from pathlib import Path

import composit

SOURCE = Path(__file__).parents[1] / "examples" / "backend" / "apart.cpp"


def build(folder):
    """The library of the example, in a folder."""
    package = Path(composit.__file__).parent
    library = Path(folder) / "apart.so"
    subprocess.run(["g++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                    "-I", package / "include", SOURCE, "-o", library,
                    package / "libcomposit.so"], check=True)  # fmt: skip
    return library


def load(factory):
    """The device's name, in this process."""
    if "apart:0" not in composit.devices.names():
        ctypes.CDLL(str(build(factory.mktemp("apart"))))
    return "apart:0"
