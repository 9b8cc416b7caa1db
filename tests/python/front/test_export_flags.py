"""Exports under the flags of other projects: silent, or refused where bits would differ."""

import subprocess

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import knossos, nn

WARNINGS = [
    "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wpedantic", "-Werror",
]  # fmt: skip
F = "float32"


def mixed(x, w, b, places):
    hidden = nn.relu(x @ w + b)
    ordered = cnp.cumsum(cnp.sort(hidden, axis=1), axis=1)
    return nn.softmax(ordered, axis=-1), hidden[places], cnp.argmax(hidden, axis=1)


def step(p, m, x, t):
    def loss(p):
        return cnp.mean((nn.relu(x @ p["w"] + p["b"]) - t) ** 2)

    value, gradients = composit.value_and_grad(loss)(p)
    m = {key: 0.9 * m[key] + gradients[key] for key in p}
    return value, {key: p[key] - 0.1 * m[key] for key in p}, m


def numbers(x, i, b):
    return (cnp.searchsorted(x, x), cnp.where(b, i // 3, i % 5), cnp.fft.fft(x), cnp.cumprod(i),
            x.astype("float16"), nn.convolution(x[None, None], np.ones((2, 1, 3)),
            channels_last=False))  # fmt: skip


@knossos.register
def kernel(x: float, n: int) -> float:
    total = 0.0
    for i in range(n):
        if x > i // 2:
            total = total + np.sqrt(x) * i
        else:
            total = total - x**3
    return total


def weights():
    return {"w": np.ones((33, 48), F), "b": np.ones(48, F)}


def exported(name, folder):
    """The source of an export."""
    if name == "kernel":
        kernel.export(folder)
    elif name == "mixed":
        examples = np.ones((64, 33), F), np.ones((33, 48), F), np.ones(48, F), np.zeros(3, int)
        composit.compile(mixed, *examples).export(folder)
    elif name == "step":
        examples = weights(), weights(), np.ones((16, 33), F), np.ones((16, 48), F)
        composit.compile(step, *examples).export(folder)
    else:
        composit.compile(numbers, np.arange(8.0), np.arange(8), np.ones(8, bool)).export(folder)
    return folder / f"{name}.cpp"


def compiled(compiler, flags, source):
    command = [compiler, "-std=c++17", "-O2", "-fsyntax-only", *flags, source.name]
    return subprocess.run(command, cwd=source.parent, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["kernel", "mixed", "step", "numbers"])
def test_warnings(name, tmp_path):
    source = exported(name, tmp_path)
    for compiler in ("g++", "clang++"):
        made = compiled(compiler, WARNINGS, source)
        assert (made.returncode, made.stderr) == (0, ""), compiler


@pytest.mark.parametrize("name", ["kernel", "mixed"])
def test_arithmetic_that_changes_bits_is_refused(name, tmp_path):
    source = exported(name, tmp_path)
    for compiler in ("g++", "clang++"):
        made = compiled(compiler, ["-ffast-math"], source)
        assert made.returncode != 0
        assert "Compile without -ffast-math" in made.stderr
    extended = compiled("g++", ["-mfpmath=387"], source)  # float and double are rounded later
    assert extended.returncode == 0 or "arithmetic of float and double" in extended.stderr
