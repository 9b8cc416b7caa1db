"""nanobind counts what its types leave behind at exit: nothing. Programs that hold objects until
then end without a word."""

from processes import run

PROGRAM = """
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


HOLDING = """
import threading, time
x = cnp.exp(cnp.ones(3))
threading.Thread(target=lambda kept: time.sleep(100), args=(x,), daemon=True).start()
"""


def test_nothing_is_left_at_exit():
    assert run(PROGRAM, COMPOSIT_REPORT_LEAKS="1") == (0, "", "")


def test_what_a_program_holds_at_exit_is_counted_when_asked_for():
    assert run(HOLDING) == (0, "", "")
    status, out, err = run(HOLDING, COMPOSIT_REPORT_LEAKS="1")
    assert (status, out) == (0, "") and "leaked" in err
