"""What the numbers depend on: the machine, its load, and the versions."""

import importlib.util
import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from measure import ROOT

PACKAGES = ("numpy", "scipy", "torch", "jax", "onnxruntime", "onnx", "onnxscript", "transformers",
            "emx-onnx-cgen")  # fmt: skip


def machine() -> dict[str, str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    sets = [name for name in ("avx2", "fma", "avx512f") if name in flags]
    compiler = subprocess.run(
        [os.environ.get("CXX", "c++"), "--version"], capture_output=True, text=True
    )
    return {
        "CPU": f"{names[0] if names else platform.processor()}, {len(names)} logical cores"
               f" ({', '.join(sets) or 'no vector extensions beyond the baseline'})",
        "load before the run": f"{os.getloadavg()[0]:.1f}",
        "composit": composit(),
        "compiler": compiler.stdout.splitlines()[0],
        "Python": platform.python_version(),
        **{name: found for name in PACKAGES if (found := version_of(name))},
    }  # fmt: skip


def composit() -> str:
    """The commit and the kind of build that Python imports."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=, changed"]
    commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    spec = importlib.util.find_spec("composit")
    cache = Path(spec.origin).parents[2] / "CMakeCache.txt" if spec and spec.origin else Path()
    types = (
        re.findall(r"(?m)^CMAKE_BUILD_TYPE:\w+=(\w+)", cache.read_text()) if cache.is_file() else []
    )
    return ", ".join(filter(None, [commit, *types])) or "unknown"


def version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
