"""Memory that ends while nodes are made is a MemoryError, after which all goes on."""

import pytest
from processes import run

KINDS = {
    "unary": "cnp.tanh(x)",
    "scalar": "x + 1",
    "reshape": "cnp.reshape(x, (2, 5))",
    "asarray": "cnp.asarray(np.ones(100))",
    "placeholder": "composit.placeholder('p', (3,))",
    "evaluate": "cnp.evaluate(x + 1)",
    "torch": "(t * 2).sum()",
    "indexing": "x[2:5]",
    "random": "cnp.random.random((3,))",
}
PROGRAM = """
import resource, threading
import composit.torch as ct

x, t = cnp.ones(10), ct.ones(10, requires_grad=True)
total = float(cnp.evaluate(cnp.sum(x)))
used = resource.getpagesize() * int(open("/proc/self/statm").read().split()[0])
limit = used + BYTES
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))

def fill():
    kept = []
    try:
        while True:
            kept.append(EXPRESSION)
    except MemoryError:
        kept.clear()
        print("MemoryError")

WORK
print(float(cnp.evaluate(cnp.sum(x))) == total)
"""
IN_A_THREAD = "thread = threading.Thread(target=fill)\nthread.start()\nthread.join()"


def filled(kind, megabytes, work="fill()"):
    program = PROGRAM.replace("EXPRESSION", KINDS[kind]).replace("WORK", work)
    return run(program.replace("BYTES", str(int(megabytes * (1 << 20)))))


@pytest.mark.parametrize("kind", KINDS)
def test_nodes(kind):
    assert filled(kind, 150) == (0, "MemoryError\nTrue\n", "")


def test_in_another_thread():
    assert filled("scalar", 150, IN_A_THREAD) == (0, "MemoryError\nTrue\n", "")


@pytest.mark.parametrize("megabytes", [6, 12, 25, 50, 99, 99.5, 100])
def test_wherever_it_ends(megabytes):
    assert filled("unary", megabytes) == (0, "MemoryError\nTrue\n", "")
