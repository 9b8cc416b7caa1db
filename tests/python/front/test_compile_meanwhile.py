"""compile(..., wait=False): the interpreter answers until the C++ compiler has ended, to the same
bits; errors and warnings of the compiler come with a later call."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import composit
from composit import numpy as cnp

X = np.random.default_rng(0).normal(size=(40, 30))


def network(x):
    return cnp.tanh(x @ x.T) * 2 - cnp.exp(-cnp.abs(x @ x.T)).sum(axis=0)


@pytest.fixture
def held_compiler(tmp_path, monkeypatch):
    """A compiler that waits until the file that this returns is there."""
    gate, script = tmp_path / "go", tmp_path / "compiler"
    script.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--version*) exec c++ --version;; esac\n'
        f'while [ ! -e "{gate}" ]; do sleep 0.02; done\n'
        'exec c++ "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    return gate


def test_the_interpreter_answers_until_the_compiler_has_ended(held_compiler, tmp_path):
    f = composit.compile(network, X, wait=False, cache_folder=str(tmp_path / "cache"))
    expected = composit.compile(network, X, backend="interpreter")(X)
    np.testing.assert_array_equal(f(X), expected)
    assert not held_compiler.exists()
    held_compiler.touch()
    assert "double" in f.source  # waits
    np.testing.assert_array_equal(f(X), expected)


def test_threads_call_while_it_is_compiled(held_compiler, tmp_path):
    f = composit.compile(network, X, wait=False, cache_folder=str(tmp_path / "cache"))
    expected = composit.compile(network, X, backend="interpreter")(X)
    wrong, stop = [], time.monotonic() + 1.5

    def call():
        while time.monotonic() < stop:
            if not np.array_equal(f(X), expected):
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    held_compiler.touch()
    for thread in threads:
        thread.join()
    assert not wrong


def test_without_a_compiler_the_interpreter_answers_for_good_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/c++")
    f = composit.compile(network, X, wait=False, cache_folder=str(tmp_path / "cache"))
    with pytest.warns(RuntimeWarning, match="/nowhere/c.*The interpreter runs the program instead"):
        for _ in range(500):
            last = f(X)
            time.sleep(0.01)
    np.testing.assert_array_equal(last, composit.compile(network, X, backend="interpreter")(X))


def test_donated_arguments_and_errors_are_as_ever(held_compiler, tmp_path):
    def step(x, i):
        return x + x[i]

    x, i = np.arange(6.0), np.array([0, 5, 1, 2, 3, 4])
    f = composit.compile(step, x, i, wait=False, donate=0, cache_folder=str(tmp_path / "cache"))
    np.testing.assert_array_equal(f(np.arange(6.0), i), x + x[i])
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
        f(np.arange(6.0), i + 1)
    held_compiler.touch()
    assert f.source
    np.testing.assert_array_equal(f(np.arange(6.0), i), x + x[i])
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
        f(np.arange(6.0), i + 1)


@pytest.mark.parametrize("end", ["", "os._exit(0)", "del f"])
def test_a_process_ends_while_it_is_compiled(held_compiler, tmp_path, end):
    text = (
        "import os, numpy as np, composit\n"
        f"f = composit.compile(lambda x: x @ x, np.ones((9, 9)), wait=False,"
        f" cache_folder={str(tmp_path / 'cache')!r})\n"
        "print(f(np.ones((9, 9)))[0, 0], flush=True)\n" + end
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "9.0\n", "")
    assert time.monotonic() - start < 30


def test_a_fork_compiles_when_it_is_called(held_compiler, tmp_path):
    text = (
        "import os, numpy as np, composit\n"
        f"f = composit.compile(lambda x: x @ x, np.ones((9, 9)), wait=False,"
        f" cache_folder={str(tmp_path / 'cache')!r})\n"
        "child = os.fork()\n"
        f"if child == 0: open({str(held_compiler)!r}, 'w').close()\n"
        "print(f(np.ones((9, 9)))[0, 0], 'double' in f.source, flush=True)\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True, timeout=60,
        env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "9.0 True\n9.0 True\n"), done.stderr
