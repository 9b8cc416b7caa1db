"""Kernels of every kind, built by each compiler that composit looks for, return the same bits."""

import os
import subprocess
import sys

import numpy as np
import pytest

import composit

PROGRAM = """
import sys
import numpy as np
import composit
import composit.numpy as cnp
from composit import nn

draw = np.random.default_rng(0)
x = draw.standard_normal((96, 200)).astype("float32")
w = draw.standard_normal((200, 70)).astype("float32")
n = draw.integers(-9, 9, (96, 200))
image = draw.standard_normal((2, 3, 16, 16)).astype("float32")

def kernels(x, n, image):
    pooled = nn.max_pool(image, kernel_size=(3, 3), strides=(2, 2), padding=(1, 1),
                         channels_last=False)
    return [
        nn.softmax(nn.gelu(x @ w), axis=-1),
        cnp.where(n % 3 == 0, n // 2, n << 2),
        cnp.cumsum(cnp.astype(x, "float64"), axis=0),
        cnp.sin(x) ** cnp.astype(n, "float32"),
        x[n[0]],
        cnp.argmax(x, axis=1),
        pooled,
        *composit.vjp(lambda v: cnp.sum(v[n[:, 0]] * cnp.tanh(v)), x)[1](np.float32(1)),
    ]

compiled = composit.compile(kernels, x, n, image, cache_folder=sys.argv[1])
assert sys.argv[2] in compiled.build_command, compiled.build_command
interpreted = composit.compile(kernels, x, n, image, backend="interpreter")
for a, b in zip(compiled(x, n, image), interpreted(x, n, image), strict=True):
    nan = a != a
    assert (nan == (b != b)).all() and a[~nan].tobytes() == b[~nan].tobytes()
print("equal")
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++", f"{sys.executable} -m ziglang c++"])
def test_kernels_are_the_same_bits(compiler, tmp_path):
    environment = {**os.environ, "CXX": compiler}
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path), compiler]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout == "equal\n", done.stderr


@pytest.mark.parametrize("level", "0123")
def test_no_level_of_optimisation_changes_a_bit(level, tmp_path):
    environment = {**os.environ, "COMPOSIT_OPTIMIZE": level}
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path), f"-O{level} "]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout == "equal\n", done.stderr


@pytest.mark.parametrize("level", ["4", "fast", "-1"])
def test_a_level_that_does_not_exist_is_refused(level, tmp_path, monkeypatch):
    monkeypatch.setenv("COMPOSIT_OPTIMIZE", level)
    with pytest.raises(ValueError) as caught:
        composit.compile(lambda x: x + 1, np.ones(3), cache_folder=str(tmp_path))
    assert str(caught.value).startswith(
        f"compile: the environment variable COMPOSIT_OPTIMIZE is '{level}'. "
        "It must be 0, 1, 2 or 3, as in g++ -O3, or unset."
    )


def test_without_others_the_package_ziglang_is_taken(tmp_path):
    environment = {**os.environ, "PATH": str(tmp_path)}
    environment.pop("CXX", None)
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(tmp_path), "-m ziglang c++"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout == "equal\n", done.stderr
