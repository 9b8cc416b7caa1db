"""The tests of composit.torch and composit.tensorgrad on OpenCL: with their tensors made there, in
a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from share_of_tests import SHARES, turn

HERE = Path(__file__).resolve().parents[1]
TURNS = 40
TENSORGRAD = sorted((HERE / "tensorgrad").glob("test_*.py"))


def run(opencl, path, **more):
    kept = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)],
        capture_output=True,
        text=True,
        env={**kept, "COMPOSIT_TEST_DEVICE": opencl.split(":")[0], **more},
        cwd=HERE.parents[1],
    )
    assert done.returncode in (0, 5), done.stdout[-6000:] + done.stderr[-2000:]


@pytest.mark.long_tail
@pytest.mark.parametrize("file", TENSORGRAD, ids=lambda file: file.stem)
def test_tensorgrad(opencl, file):
    run(opencl, file)


@pytest.mark.long_tail
@pytest.mark.parametrize("share", range(SHARES))
def test_composit_torch(opencl, request, share):
    """A tenth of the tests; where only a share of the long tail runs, a fortieth of that, which
    goes round with the commits: a driver takes a tenth of a second for each kernel."""
    part, parts = share, SHARES
    if request.config.getoption("--share") is not None:
        part, parts = share + SHARES * turn(TURNS), SHARES * TURNS
    run(opencl, HERE / "torch", COMPOSIT_TEST_PART=f"{part}/{parts}")
