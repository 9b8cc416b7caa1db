"""Tests of composit.torch pass in any order: training in one of them leaves nothing to another.
`pytest --shuffle SEED tests/python/torch` does it for all of them."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = ("steps", "modules_trained", "writes", "hooks", "versions", "autograd", "anomaly")


@pytest.mark.on_cpu  # each test by itself runs on devices
def test_in_a_random_order():
    seed = random.SystemRandom().randrange(10**6)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "--shuffle",
        str(seed),
        *(str(HERE / f"test_torch_{file}.py") for file in FILES),
    ]
    kept = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    done = subprocess.run(command, capture_output=True, text=True, env=kept, cwd=HERE.parents[2])
    assert done.returncode == 0, f"--shuffle {seed}:\n{done.stdout[-4000:]}"
