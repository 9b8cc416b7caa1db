"""nanobind counts what its types leave behind at exit: nothing."""

import subprocess
import sys

PROGRAM = """
import numpy as np, composit, composit.numpy as cnp
x = cnp.asarray(np.ones(3))
composit.register(name="kept", value=lambda v: v / (1 + abs(v)), doc="kept by the core")
class BackEnd:
    name = "kept"
    def refuses(self, kernel): return "everything"
    def compile(self, program): raise RuntimeError
composit.backends.register(BackEnd())
@composit.wrap_as_operation()
def relu(v): return np.maximum(v, 0)
gradient = composit.grad(lambda v: cnp.sum(relu(cnp.kept(v))))(x)
compiled = composit.compile(lambda v: cnp.exp(v), x)
assert compiled(np.zeros(3)).sum() == 3
assert cnp.evaluate(gradient).shape == (3,)
graph = gradient.graph
"""


def test_nothing_is_left_at_exit():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" and done.stdout == ""
