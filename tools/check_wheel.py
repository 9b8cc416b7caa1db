"""Installs a wheel into an empty environment and uses it: Python, C++, kernels, no compiler."""

import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSUMER = ROOT / "tests/python/packaging/consumer"
MEGABYTES = 10
PROGRAM = """
import pathlib, composit, composit.numpy as cnp
assert float(cnp.sum(cnp.arange(5) * 2.0)) == 20.0
print(pathlib.Path(composit.__file__).parent / "cmake")
"""
COMPILING = """
import numpy as np, composit, composit.numpy as cnp
x = np.linspace(-3, 3, 1000, dtype="float32")
f = lambda x: cnp.exp(x) * cnp.tanh(x)
compiled = composit.compile(f, x)
assert "-m ziglang c++" in compiled.build_command, compiled.build_command
interpreted = composit.compile(f, x, backend="interpreter")
assert np.asarray(compiled(x)).tobytes() == np.asarray(interpreted(x)).tobytes()
print("compiles with what composit[compiler] brings")
"""


def missing_parts(names: list[str]) -> list[str]:
    """The parts that a wheel must hold and that `names`, its files, lack."""
    parts = {
        "the extension": lambda name: name.startswith("composit/_core."),
        "its stubs": lambda name: name == "composit/_core/__init__.pyi",
        "libcomposit.so": lambda name: name.startswith("composit/libcomposit.so"),
        "headers": lambda name: name.startswith("composit/include/composit/ir/"),
        "CMake files": lambda name: name == "composit/cmake/composit-config.cmake",
        "py.typed": lambda name: name == "composit/py.typed",
        "the licence": lambda name: name.endswith("/licenses/LICENSE"),
        "NumPy's licence": lambda name: name.endswith("/licenses/NumPy.txt"),
    }
    return [part for part, is_part in parts.items() if not any(map(is_part, names))]


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=env).stdout


def without_compilers(folder: Path) -> dict[str, str]:
    """The environment of a machine that has no compiler: an empty PATH, no CXX, no kernels yet."""
    kept = {name: value for name, value in os.environ.items() if name != "CXX"}
    return {**kept, "PATH": str(folder / "empty"), "XDG_CACHE_HOME": str(folder / "cache")}


def main(wheel: str) -> int:
    size = Path(wheel).stat().st_size / 1e6
    print(f"{wheel}: {size:.1f} MB")
    if size > MEGABYTES:
        print(f"too large: at most {MEGABYTES} MB")
        return 1
    with zipfile.ZipFile(wheel) as archive:
        if missing := missing_parts(archive.namelist()):
            print("missing: " + ", ".join(missing))
            return 1
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "venv/bin/python"
        venv.create(python.parent.parent, with_pip=True)
        constraints = str(ROOT / "constraints.txt")
        pip = [str(python), "-m", "pip", "install", "--quiet", "-c", constraints]
        run(*pip, wheel)
        cmake_folder = run(python, "-I", "-c", PROGRAM).strip()
        build = Path(folder) / "consumer"
        run("cmake", "-S", CONSUMER, "-B", build, f"-Dcomposit_DIR={cmake_folder}")
        run("cmake", "--build", build)
        print(run(build / "consumer").strip() + ": installs and works")
        run(*pip, f"{wheel}[compiler]")
        print(run(python, "-I", "-c", COMPILING, env=without_compilers(Path(folder))).strip())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
