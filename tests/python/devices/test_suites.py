"""The tests of composit.torch and composit.tensorgrad on OpenCL: each file with its tensors made
there, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
# Tests of processes that do not take the device over, and of what knows no device at all.
LEFT_OUT = {"test_torch_any_order.py"}
FILES = [
    path.relative_to(HERE)
    for suite in ("torch", "tensorgrad")
    for path in sorted((HERE / suite).glob("test_*.py"))
    if path.name not in LEFT_OUT
]


@pytest.mark.long_tail
@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_suite(opencl, file):
    kept = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / file)],
        capture_output=True,
        text=True,
        env={**kept, "COMPOSIT_TEST_DEVICE": opencl.split(":")[0]},
        cwd=HERE.parents[1],
    )
    assert done.returncode in (0, 5), done.stdout[-6000:]
