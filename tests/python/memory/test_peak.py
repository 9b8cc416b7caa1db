"""What a program will take is known before it runs."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from processes import run

# A process of its own: the peak is the process's. The middle value is read twice, so that it and
# others of its size are kept in the arena.
PROGRAM = """
from composit import mosaic

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
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = peak()
result = program(value)
print(peak() - before, program.memory.peak)
"""

EXAMPLES = """
compiled = composit.compile(lambda x, y: (cnp.tanh(x["a"]) @ y).sum(), threads=1)
small = np.ones((4, 4), "float32")
compiled.specialise({"a": small}, small)
large = np.ones((6000, 6000), "float32")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = peak()
compiled.specialise({"a": large}, large)
print(peak() - before, large.nbytes)
"""


# Two blocks of which each would be handed out: Linux promises more than it has. Their sum is out of
# reach of the process, should composit go on.
TOO_LARGE = """
import re
import resource
from pathlib import Path

import numpy as np

import composit
import composit.numpy as cnp
from composit import mosaic

free = int(re.search(r"MemAvailable:\\s+(\\d+)", Path("/proc/meminfo").read_text())[1]) << 10
n = int((0.6 * free / 4) ** 0.5)
resource.setrlimit(resource.RLIMIT_AS, (int(1.1 * free),) * 2)

def model(x, y):
    z = cnp.exp(x + y)
    return z / cnp.max(z, axis=0)

column, row = np.ones((n, 1), "float32"), np.ones((1, n), "float32")
x, y = composit.placeholder("x", column.shape), composit.placeholder("y", row.shape)
program = mosaic.compile(model(x, y), schema={{}}, target={target!r}, name="outer")
planned = program.memory.peak
assert planned > 8 * n * n
for call in (
    lambda: program(column, row),
    lambda: composit.compile(model, column, row, backend={target!r}, name="outer")(column, row),
    lambda: composit.evaluate(model(cnp.asarray(column), cnp.asarray(row)), backend={target!r}),
):
    try:
        call()
    except MemoryError as error:
        print(str(error).replace(str(planned), "ALL").replace(str(4 * n * n), "RESULTS"))
status = Path("/proc/self/status").read_text()
assert int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) << 10 < 0.2 * free
"""


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="needs Linux's /proc/meminfo")
@pytest.mark.parametrize("target", ["cpp", "interpreter"])
def test_more_than_there_is_is_refused_before_it_is_taken(target):
    command = [sys.executable, "-c", TOO_LARGE.format(target=target)]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 3, done.stderr
    for line, name in zip(lines, ("outer", "outer", "evaluate")):
        assert re.fullmatch(
            rf"{name}: ALL bytes are planned, \d+ for temporaries and RESULTS for results, but \d+ "
            r"bytes are available\. Free memory or use smaller arrays\. \[<string>:\d+\]",
            line,
        ), line


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc/self/clear_refs"
)
@pytest.mark.parametrize("target", ["cpp", "interpreter"])
def test_predicted_peak_is_what_is_allocated(target):
    status, out, err = run(PROGRAM.replace("{target!r}", repr(target)))
    assert status == 0, err
    measured, predicted = map(int, re.findall(r"\d+", out))
    assert predicted > 40 << 20
    assert np.isclose(measured, predicted, rtol=0.05), (measured, predicted)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc/self/clear_refs"
)
def test_compiling_copies_no_arguments():
    status, out, err = run(EXAMPLES)
    assert status == 0, err
    taken, given = map(int, out.split())
    assert taken < 0.5 * given, (taken, given)
