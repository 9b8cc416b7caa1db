"""A process ends while its daemon threads compute."""

import subprocess
import sys

import pytest

PROGRAM = """
import threading, time
import numpy as np
import composit
import composit.numpy as cnp

x = cnp.asarray(np.random.default_rng(0).random((200, 200)))
compiled = composit.compile(lambda a: a @ a + 1.0, backend="interpreter")
numbers = np.ones((50, 50))
work = {
    "evaluate": lambda: cnp.evaluate(cnp.sin(x) @ x, threads=1),
    "in threads": lambda: cnp.evaluate(cnp.sin(x) @ x, threads=3),
    "compiled": lambda: compiled(numbers),
}[KIND]

def forever():
    while True:
        work()

for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
"""


@pytest.mark.parametrize("kind", ["evaluate", "in threads", "compiled"])
def test_threads_that_compute_do_not_end_the_process(kind):
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM.replace("KIND", repr(kind))],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (run.returncode, run.stderr) == (0, "")
