"""No function ends the process, or fails within composit, for tensors of unusual shapes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "any_shapes.py"


@pytest.mark.long_tail
@pytest.mark.parametrize("which", ["numpy", "torch"])
def test_every_function_returns_or_raises(which):
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), which, "0"], env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == ""
