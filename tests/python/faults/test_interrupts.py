"""Ctrl-C is a KeyboardInterrupt, soon, whatever composit is at, and leaves nothing half done."""

import os
import signal
import subprocess
import sys
import time

import pytest
from processes import (
    compiler_script,
    exists,
    finish,
    interrupt,
    start,
    temporaries,
    wait_until_ready,
)

SOON = 5.0  # seconds of computing; the work takes more

LONG = {
    "map": "x = np.ones(1 << 25, 'float32')\ndef f(x):\n"
    "    for _ in range(300): x = cnp.sin(x) + 1\n    return x",
    "matmul": "x = np.ones((9000, 9000))\ndef f(x): return x @ x",
    "sum": "x = np.ones(1 << 24, 'float32')\ndef f(x):\n"
    "    for _ in range(20): x = cnp.lgamma(x) + 2\n    return cnp.sum(x)",
    "loop": "x = np.ones(4, 'float32')\n"
    "def f(x): return composit.fori_loop(0, 1 << 50, lambda i, y: y * 0.5 + 1, x)",
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", LONG)
def test_a_long_kernel(name, threads):
    program = f"""
{LONG[name]}
ready()
try:
    cnp.evaluate(f(cnp.asarray(x)), threads={threads})
    print("ran to its end")
except KeyboardInterrupt:
    print("interrupted", cnp.evaluate(cnp.ones(3) + 1).tolist())
"""
    seconds, (status, out, err) = interrupt(start(program))
    assert (status, out) == (0, "interrupted [2.0, 2.0, 2.0]\n"), err
    assert seconds < SOON


def test_the_passes_over_a_long_graph():
    program = """
x = cnp.ones(20000)  # of more elements than pieces of unlooked loops have
for _ in range(120000):
    x = x + 1
ready()
try:
    cnp.evaluate(x)
    print("ran to its end")
except KeyboardInterrupt:
    print("interrupted")
"""
    seconds, (status, out, err) = interrupt(start(program), after=0.2)
    assert (status, out) == (0, "interrupted\n"), err
    assert seconds < SOON


@pytest.mark.parametrize("name", ["map", "matmul", "loop"])
def test_a_long_compiled_kernel(name):
    program = f"""
{LONG[name]}
compiled = composit.compile(f, x)
ready()
try:
    compiled(x)
    print("ran to its end")
except KeyboardInterrupt:
    print("interrupted")
"""
    seconds, (status, out, err) = interrupt(start(program, COMPOSIT_OPTIMIZE="3"))
    assert (status, out) == (0, "interrupted\n"), err
    assert seconds < SOON


# One row that takes seconds.
LONG_ROWS = {
    "sort": "x = np.random.default_rng(0).random(3 << 24)\ndef f(x): return cnp.sort(x)",
    "argsort": "x = np.random.default_rng(0).random(3 << 24)\ndef f(x): return cnp.argsort(x)",
    "cumsum": "x = np.ones(1 << 26)\ndef f(x): return cnp.cumsum(cnp.lgamma(x + 0.3))",
    "sum": "x = np.ones(1 << 26)\ndef f(x): return cnp.sum(cnp.lgamma(x + 0.3))",
    "argmax": "x = np.ones(1 << 26)\ndef f(x): return cnp.argmax(cnp.lgamma(x + 0.3))",
}


@pytest.mark.parametrize("how", ["evaluate", "compile"])
@pytest.mark.parametrize("name", LONG_ROWS)
def test_one_long_row(name, how):
    program = f"""
{LONG_ROWS[name]}
compiled = composit.compile(f, x) if {how == "compile"} else None
given = cnp.asarray(x)
ready()
try:
    compiled(x) if compiled else cnp.evaluate(f(given), threads=1)
    print("ran to its end")
except KeyboardInterrupt:
    print("interrupted", cnp.evaluate(cnp.sort(cnp.asarray([2.0, 1.0]))).tolist())
"""
    seconds, (status, out, err) = interrupt(start(program, COMPOSIT_OPTIMIZE="3"), after=0.1)
    assert (status, out) == (0, "interrupted [1.0, 2.0]\n"), err
    assert seconds < 1.5  # with the end of the process


KERNELS = """
from composit import knossos
from composit.knossos import Tensor


@knossos.register
def flat(n: int) -> float:
    total = 0.0
    for i in range(n):
        total = total * 0.999999 + 1.0 / (i + 1)
    return total


@knossos.register
def nested(x: "Tensor[float, m]", n: int) -> float:
    total = 0.0
    for _ in range(n):
        for i in range(len(x)):
            total = 0.5 * total + x[i]
    return total


@knossos.register
def halved(x: float) -> float:
    while x * x > 1e-300:
        x = 0.999999999 * x
    return x


@knossos.register
def at_one_element(x: "Tensor[float, m]", n: int) -> float:
    total = 0.0
    while total < n:
        total = total + x[0]
    return total


@knossos.register
def at_changing_elements(x: "Tensor[float, m]", n: int) -> float:
    total = 0.0
    for i in range(n):
        total = 0.5 * total + x[i % len(x)]
    return total


def by_another(x: float, n: int) -> float:
    for _ in range(n):
        x = x * 0.5 + 1.0 / (1.0 + x * x)
    return x


@knossos.register
def through(x: float, n: int) -> float:
    return by_another(x, n) + 1.0
"""
CALLS = {
    "flat": "kernels.flat(int(n))",
    "nested": "kernels.nested(np.ones(1000), int(n))",
    "one element": "kernels.at_one_element(np.ones(3), int(n))",
    "changing elements": "kernels.at_changing_elements(np.ones(3), int(n))",
    "while": "kernels.halved(1.0 if n > 1 else 0.0)",
    "helper": "kernels.through(0.5, int(n))",
    "over arrays": "kernels.flat(np.full(1 << 25, int(n) // 10**9))",
    "derivative": "kernels.through.jvp(0.5, int(n), 1.0)",
    "in a graph": "cnp.evaluate(kernels.through(cnp.asarray(0.5), int(n)))",
    "compiled": "compiled(0.5, np.int64(n))",
    "compiled, over arrays": "compiled(np.full(1 << 20, 0.5), np.int64(n))",
    "compiled, many short ones": "compiled(np.full(1 << 23, 0.5), np.int64(n / 10**7))",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_of_loops(name, tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    program = f"""
import composit, kernels
compiled = composit.compile(lambda x, n: kernels.through(x, n) + 1.0)
def call(n):
    return {CALLS[name]}
call(1)
ready()
try:
    call(1e11)
    print("ran to its end")
except KeyboardInterrupt:
    print("interrupted", kernels.halved(0.0))
"""
    process = start(program, COMPOSIT_OPTIMIZE="3", PYTHONPATH=str(tmp_path))
    seconds, (status, out, err) = interrupt(process)
    assert (status, out) == (0, "interrupted 0.0\n"), err
    assert seconds < 1.5  # with the end of the process


def test_other_threads_run_beside_a_kernel_of_loops(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    program = """
import kernels, threading
ready()
threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT)).start()
try:
    kernels.flat(10**11)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert finish(start(program, PYTHONPATH=str(tmp_path)), 60) == (0, "ready\ninterrupted\n", "")


DECOMPOSITIONS = {
    "svd": "cnp.linalg.svd(x)",
    "eigh": "cnp.linalg.eigh(x + x.T)",
    "eig": "cnp.linalg.eig(x)",
    "solve": "cnp.linalg.solve(cnp.tile(x, (3, 3)) + cnp.eye(9000), cnp.ones((9000, 9000)))[:1]",
}


@pytest.mark.parametrize("name", ["svd", pytest.param("eigh", marks=pytest.mark.long_tail),
                                  pytest.param("eig", marks=pytest.mark.long_tail),
                                  pytest.param("solve", marks=pytest.mark.long_tail)])  # fmt: skip
def test_a_decomposition(name):
    """LAPACK cannot be stopped, but is left behind; a process that ends meanwhile ends well."""
    program = f"""
x = cnp.asarray(np.random.default_rng(0).random((3000, 3000)))
ready()
try:
    cnp.evaluate(*{DECOMPOSITIONS[name]})
    print("ran to its end")
except KeyboardInterrupt:
    small = np.random.default_rng(0).random((5, 5))
    s = cnp.evaluate(cnp.linalg.svd(small, compute_uv=False))
    print("interrupted", np.allclose(s, np.linalg.svd(small, compute_uv=False)))
sys.exit(7)
"""
    seconds, (status, out, err) = interrupt(start(program))
    assert (status, out) == (7, "interrupted True\n"), err
    assert seconds < SOON


def test_calls_that_take_their_arguments():
    """Python's handler runs where Python's code does: in none of what such a call ends with."""
    program = """
step = composit.compile(lambda w, x: w * 0.999 + x, np.ones(8), np.ones(8), donate=(0,))
w, x = np.ones(8), np.ones(8)
caught = 0
ready()
for _ in range(40):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        while True:
            w = step(w, x)
    except KeyboardInterrupt:
        caught += 1
        w = np.ones(8)
print(caught)
"""
    program = (
        "signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))" + program
    )
    assert finish(start(program)) == (0, "ready\n40\n", "")


def test_a_compilation(tmp_path):
    script = compiler_script(tmp_path / "cxx", f"sleep 100 & echo $! > {tmp_path}/pid; wait")
    cache = tmp_path / "cache"
    program = """
ready()
try:
    composit.compile(lambda x: x + 1, np.ones(3))
except KeyboardInterrupt:
    print("interrupted")
"""
    process = start(program, cache, CXX=script)
    wait_until_ready(process)
    while not (tmp_path / "pid").exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    status, out, err = finish(process)
    assert (status, out, err) == (0, "interrupted\n", "")
    assert time.monotonic() - begin < 50  # the compiler sleeps for 100
    assert not temporaries(cache) and not list(cache.glob("*/*.failed"))
    assert not exists((tmp_path / "pid").read_text().strip())


def test_an_export(tmp_path):
    program = f"""
weights = np.arange(1 << 23, dtype="float64")
x = np.ones(1 << 23)
compiled = composit.compile(lambda x: x + weights, x, backend="interpreter", name="f")
compiled.export({str(tmp_path)!r})
ready()
try:
    while True:
        compiled.export({str(tmp_path)!r})
except KeyboardInterrupt:
    print("interrupted")
"""
    _, (status, out, err) = interrupt(start(program), after=0.1)
    assert (status, out) == (0, "interrupted\n"), err
    assert not temporaries(tmp_path)
    assert (tmp_path / "f.weights").stat().st_size == 64 + 8 * (1 << 23)


def test_the_demo(tmp_path):
    demo = subprocess.Popen(
        [sys.executable, "-u", "-m", "composit.examples.digits", "--epochs", "9999",
         "--output", str(tmp_path / "out")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for line in demo.stdout:
        if line.startswith("time per step"):
            break
    time.sleep(0.3)
    demo.send_signal(signal.SIGINT)
    status, _, err = finish(demo)
    assert status == 130, err
    assert err.endswith("digits: interrupted; every file that was written is whole.\n")
    assert not temporaries(tmp_path) and "Traceback" not in err


def test_a_handler_of_the_users_runs_and_the_work_goes_on():
    program = """
def note(*_):
    print("noted")
signal.signal(signal.SIGINT, note)
x = cnp.ones(1 << 21)
for _ in range(80):
    x = cnp.sin(x) + 1
ready()
values = cnp.evaluate(x, threads=1)
print(values.shape)
"""
    _, (status, out, err) = interrupt(start(program), after=0.1)
    assert (status, out) == (0, "noted\n(2097152,)\n"), err


def test_a_kernel_in_another_thread_is_not_interrupted():
    program = """
import threading
x = cnp.ones(1 << 21)
for _ in range(80):
    x = cnp.sin(x) + 1
done = threading.Event()
def work():
    print(cnp.evaluate(x, threads=1).shape)
    done.set()
threading.Thread(target=work).start()
ready()
try:
    done.wait()
except KeyboardInterrupt:
    print("interrupted")
done.wait()
"""
    _, (status, out, err) = interrupt(start(program), after=0.1)
    assert (status, out) == (0, "interrupted\n(2097152,)\n"), err


def test_children_of_the_terminal(tmp_path):
    """Ctrl-C in a terminal goes to all processes of the group: the compiler is not among them."""
    script = compiler_script(tmp_path / "cxx", f"ps -o pgid= -p $$ > {tmp_path}/group; exit 1")
    program = """
warnings.simplefilter("ignore")
composit.compile(lambda x: x + 1, np.ones(3))
print(os.getpgid(0))
"""
    status, out, err = finish(start(program, tmp_path / "cache", CXX=script))
    assert status == 0, err
    assert out.strip() == str(os.getpgid(0))
    assert (tmp_path / "group").read_text().strip() != out.strip()
