"""What a program will take is known before it runs."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# A process of its own: the peak is the process's. The middle value is read twice, so that it and
# others of its size are kept in the arena.
PROGRAM = """
import re
from pathlib import Path

import numpy as np

import composit
import composit.numpy as cnp
from composit import mosaic

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) << 10

def model(n):
    x = composit.placeholder("x", (n, n))
    a = cnp.sum(x, axis=1, keepdims=True)
    b = x @ cnp.tanh(x - a)
    return b + cnp.exp(b - cnp.max(b, axis=0)) @ x

def compiled(n):
    return mosaic.compile(model(n), target={target!r}, threads=1)

compiled(64)(np.ones((64, 64), "float32"))  # loads what is loaded once
program = compiled(2048)
value = np.full((2048, 2048), 1e-6, "float32")
Path("/proc/self/clear_refs").write_text("5")
before = peak()
result = program(value)
print(peak() - before, program.memory.peak)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc/self/clear_refs"
)
@pytest.mark.parametrize("target", ["cpp", "interpreter"])
def test_predicted_peak_is_what_is_allocated(target):
    command = [sys.executable, "-c", PROGRAM.replace("{target!r}", repr(target))]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    measured, predicted = map(int, re.findall(r"\d+", out))
    assert predicted > 40 << 20
    assert np.isclose(measured, predicted, rtol=0.05), (measured, predicted)
