"""The tests of composit.torch and composit.tensorgrad on OpenCL: each file with its tensors made
there, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
# Files of composit.torch's tests that say nothing of where tensors lie.
NAMES = (
    "anomaly", "archives", "autograd", "func_rules", "loss_targets", "optimizer_options",
    "sampled_pools", "windows",
)  # fmt: skip
FILES = [
    *(Path("torch") / f"test_torch_{name}.py" for name in NAMES),
    *(path.relative_to(HERE) for path in sorted((HERE / "tensorgrad").glob("test_*.py"))),
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
