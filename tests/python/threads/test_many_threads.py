"""Many Python threads build, compile and run at once, beside other libraries' threads; whoever
waits for composit does not hold Python's lock."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from processes import compiler_script, run

import composit
import composit.numpy as cnp
from composit import mosaic, nn

THREADS = 6


def drawn(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


X, W = drawn(0, 24, 96), cnp.asarray(drawn(1, 96, 256), name="w")


def softmax_of_product(x):
    return nn.softmax(nn.gelu(x @ W), axis=-1)


def written(x):
    y = cnp.sin(x) + x
    y[3:7] *= 2
    return cnp.cumsum(y, axis=0)


def trained(x):
    w = cnp.asarray(drawn(2, 96, 4))
    for step in range(3):
        loss = cnp.mean(cnp.tanh(x @ w) ** 2)
        (w,) = composit.optimize(
            [w], composit.chain_rule({loss: loss}, [w]), composit.sgd_optimizer(1 / (1 + step))
        )
    return w


GRAPHS = [softmax_of_product, written, trained]


def ways(graph, n):
    """The same values, by another way for each n."""
    if n % 4 == 0:
        return composit.evaluate(graph(cnp.asarray(X)), threads=1 + n % 3)
    if n % 4 == 1:
        return composit.evaluate(graph(cnp.asarray(X)), backend="cpp")
    if graph is trained:  # evaluates, so it has no placeholders
        return composit.evaluate(graph(cnp.asarray(X)))
    if n % 4 == 2:
        return composit.compile(graph, X, threads=1 + n % 3)(X)
    return mosaic.compile(graph(composit.placeholder("x", X.shape)), schema={})(X)


def at_once(work):
    """work(n) for many n, on threads that start together; what it returned, in order."""
    start = threading.Barrier(THREADS)

    def waiting(n):
        if n < THREADS:
            start.wait()
        return work(n)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(waiting, range(8 * THREADS)))


def test_every_thread_gets_the_same_bits():
    expected = [composit.evaluate(graph(cnp.asarray(X))).tobytes() for graph in GRAPHS]
    found = at_once(lambda n: ways(GRAPHS[n % len(GRAPHS)], n // len(GRAPHS)).tobytes())
    assert found == [expected[n % len(GRAPHS)] for n in range(len(found))]


def test_one_program_is_called_by_all_threads():
    compiled = composit.compile(softmax_of_product, X, threads=2)
    program = mosaic.compile(softmax_of_product(composit.placeholder("x", X.shape)))
    kernel = program.kernels[-1]
    for call, shapes in (
        (compiled, [X.shape]),
        (program, [X.shape]),
        (kernel, [operand.shape for operand in kernel.inputs]),
    ):
        arguments = [[drawn(n, *shape) for shape in shapes] for n in range(8 * THREADS)]
        alone = [call(*these).tobytes() for these in arguments]
        assert at_once(lambda n: call(*arguments[n]).tobytes()) == alone  # noqa: B023


def test_torch_computes_in_the_same_process():
    import torch

    a = torch.from_numpy(drawn(4, 256, 256))
    product = (a @ a).numpy().tobytes()
    expected = composit.evaluate(softmax_of_product(X)).tobytes()

    def work(n):
        if n % 2:
            return (a @ a).numpy().tobytes() == product
        return composit.evaluate(softmax_of_product(X), threads=2).tobytes() == expected

    assert all(at_once(work))


def test_python_runs_while_composit_computes():
    """The thread that interrupts could not, if the one that computes held Python's lock."""
    status, out, err = run("""
import threading
x = np.ones(4, "float32")
def f(x):
    return composit.fori_loop(0, 1 << 50, lambda i, y: y * 0.5 + 1, x)
compiled = composit.compile(f, x)
for way in (lambda: compiled(x), lambda: cnp.evaluate(f(cnp.asarray(x)))):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        way()
    except KeyboardInterrupt:
        print("interrupted")
""")
    assert (status, out) == (0, "interrupted\n" * 2), err


def test_python_runs_while_composit_compiles(tmp_path):
    """A compiler that ends when another thread of Python says so."""
    script = compiler_script(
        tmp_path / "cxx",
        f'touch {tmp_path}/begun; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; exec g++ "$@"',
    )
    program = f"""
import threading, time
def answer():
    while not os.path.exists({str(tmp_path / "begun")!r}): time.sleep(0.01)
    open({str(tmp_path / "go")!r}, "w").close()
threading.Thread(target=answer).start()
compiled = composit.compile(lambda x: x + 1, np.ones(3))
print(compiled(np.ones(3)).tolist(), compiled.placements[0][1])
"""
    status, out, err = run(program, tmp_path / "cache", CXX=script)
    assert (status, out) == (0, "[2.0, 2.0, 2.0] cpp\n"), err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_again():
    status, out, err = run("""
warnings.simplefilter("ignore", DeprecationWarning)  # of fork where there are threads
x = np.ones((300, 300), "float32")
def total():
    return float(cnp.evaluate(cnp.sum(cnp.asarray(x) @ x), threads=3))
print(total(), flush=True)
child = os.fork()
if child == 0:
    os._exit(0 if total() == 27e6 else 1)
print(total(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert (status, out) == (0, "27000000.0\n27000000.0 0\n"), err
