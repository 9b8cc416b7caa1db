"""Whoever adds a line to a script gets the code that was compiled before."""

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
import composit
import composit.numpy as cnp
from composit import knossos

@knossos.register
def steps(x: float, n: int) -> float:
    for _ in range(n):
        x = x * x + 0.25
    return x

x = np.linspace(0, 1, 64, dtype="float32").reshape(8, 8)
compiled = composit.compile(lambda x: cnp.tanh(x) @ x, x, backend="cpp")
print(compiled(x).tobytes().hex(), steps(0.5, 3), "tanh  [moved.py:" in compiled.source)
"""


def run(script, folder):
    path = folder / "moved.py"
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=True,
        env=os.environ | {"COMPOSIT_CACHE": str(folder / "cache")},
    )  # fmt: skip
    return done.stdout, sorted(str(each) for each in (folder / "cache").rglob("kernel.so"))


def test_lines_above(tmp_path):
    first, entries = run(SCRIPT, tmp_path)
    assert entries
    assert run("# One.\n# Another.\n" + SCRIPT, tmp_path) == (first, entries)
    other, more = run(SCRIPT.replace("tanh", "sinh"), tmp_path)
    assert other != first and len(more) > len(entries)
