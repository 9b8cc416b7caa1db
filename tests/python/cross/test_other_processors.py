"""Exports on processors of other kinds: cross compilers and qemu, the same bits as here."""

import shutil
import subprocess

import numpy as np
import pytest
from exported_programs import attention, integers, moved, recurrent

import composit
import composit.numpy as cnp
from composit import knossos, nn
from composit.knossos import Tensor

TARGETS = {
    "aarch64": ("aarch64-linux-gnu-g++", "qemu-aarch64"),
    "arm": ("arm-linux-gnueabihf-g++", "qemu-arm"),  # 32 bits, fma in software
    "riscv64": ("riscv64-linux-gnu-g++", "qemu-riscv64"),
}
F = "float32"
RANDOM = np.random.default_rng(7)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype(F)


def network():
    """A convolution, a normalisation and two layers, whose weights are in the file of weights."""
    w1, w2, w3 = drawn(8, 1, 3, 3), drawn(8 * 6 * 6, 32), drawn(32, 10)

    def forward(images):
        x = nn.relu(nn.convolution(images, w1, channels_last=False))
        x = nn.gelu(cnp.reshape(x, (4, -1)) @ w2)
        x = nn.layer_norm(x, np.ones(32, F), np.zeros(32, F))
        return nn.softmax(cnp.tanh(x) @ w3, axis=-1)

    return composit.compile(forward, drawn(4, 1, 8, 8), name="forward"), [drawn(4, 1, 8, 8)]


def training_step():
    """Loss and Adam's update of a small network, float32 and float64."""

    def step(weights, means, x, t):
        def loss(weights):
            return cnp.mean((cnp.tanh(x @ weights["w"]) @ weights["v"] - t) ** 2)

        value, gradients = composit.value_and_grad(loss)(weights)
        means = {key: 0.9 * means[key] + 0.1 * gradients[key] for key in weights}
        weights = {key: weights[key] - 0.01 * means[key] / (cnp.abs(means[key]) + 1e-8)
                   for key in weights}  # fmt: skip
        return value, weights, means

    weights = {"w": drawn(5, 16), "v": drawn(16, 2).astype("float64")}
    arguments = [weights, weights, drawn(24, 5), drawn(24, 2)]
    return composit.compile(step, *arguments, name="step"), arguments


@knossos.register
def fit(x: "Tensor[float, n]", rate: float) -> float:  # noqa: F821
    best = 1e300
    for i in range(len(x)):
        total = 0.0
        for j in range(len(x)):
            distance = abs(x[i] - x[j]) * rate
            if distance > 0.5:
                total = total + np.log(distance) ** 2
            else:
                total = total + np.exp(-distance) * np.sin(x[j])
        if total < best:
            best = total
    return best


KERNEL_MAIN = """
#include "fit.hpp"
#include <cstdio>
int main() {
    double x[9], along[9], slopes[9];
    for (int i = 0; i < 9; ++i) {
        x[i] = 1.7 * i / (i + 2.0) - 1;
        along[i] = 1.0 / (i + 1);
    }
    const double value = fit::fit(x, 9, 1.3), slope = fit::fit_vjp(x, 9, 1.3, 1.0, slopes);
    std::printf("%a %a %a\\n", value, slope, fit::fit_jvp(x, 9, 1.3, along, 0.5));
    for (const double each : slopes) std::printf("%a\\n", each);
}
"""


def leaves(value):
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [np.asarray(value)]


def built(compiler, folder, target):
    program = folder / f"run_{target}"
    sources = [str(path) for path in sorted(folder.glob("*.cpp"))]
    subprocess.run([compiler, "-std=c++17", "-O2", "-static", "-pthread", *sources, "-o", program],
                   cwd=folder, check=True)  # fmt: skip
    return program


def tools(target):
    compiler, emulator = TARGETS[target]
    for tool in (compiler, emulator):
        if shutil.which(tool) is None:
            pytest.fail(f"{tool} is missing: `make setup` installs it with Debian's packages.")
    return compiler, emulator


@pytest.mark.parametrize("target", TARGETS)
def test_a_kernel_and_its_derivatives(target, tmp_path):
    compiler, emulator = tools(target)
    fit.export(tmp_path)
    (tmp_path / "main.cpp").write_text(KERNEL_MAIN)
    here = subprocess.run([built("g++", tmp_path, "here")], capture_output=True, check=True)
    there = subprocess.run([emulator, built(compiler, tmp_path, target)], capture_output=True,
                           check=True)  # fmt: skip
    assert there.stdout == here.stdout and here.stdout.count(b"\n") == 10


def weights_in_few_bits():
    first, last = drawn(96, 130), drawn(130, 64)
    model = nn.quantize(lambda x: nn.relu(x @ first) @ last, bits=4, group=2)
    return composit.compile(model, drawn(3, 96), name="model"), [drawn(3, 96)]


def weights_of_float16():
    weight = drawn(96, 130)
    model = nn.quantize(lambda x: nn.relu(x @ weight), dtype="float16")
    return composit.compile(model, drawn(3, 96), name="model"), [drawn(3, 96)]


@pytest.mark.parametrize("make", [network, training_step, weights_in_few_bits, weights_of_float16])
@pytest.mark.parametrize("target", TARGETS)
def test_programs(target, make, tmp_path):
    expect_same_bits(target, *make(), tmp_path)


def halves(x):
    half = x.astype("float16")
    return half * half + 1, cnp.sum(half, axis=0), half.astype("float64"), cnp.fft.fft(x)


def drawn_by_key(x):
    key = composit.random.key(3)
    return composit.random.normal(key, x.shape) * x, composit.random.randint(key, (9,), 0, 100)


NAMES = ["exp", "expm1", "sin", "cos", "tan", "arctan", "sinh", "cbrt", "exp2", "rint"]


def kinds(x):
    size = cnp.abs(x)
    others = (cnp.log(size), cnp.power(size, x), cnp.hypot(x, 3), cnp.floor_divide(x, 0.3))
    return (*(getattr(cnp, name)(x) for name in NAMES), *others, nn.gelu(x))


CATALOGUE = {
    attention: [drawn(2, 5, 16), drawn(2, 7, 16), drawn(2, 7, 6)],
    recurrent: [drawn(9, 4), drawn(4), drawn(4, 4)],
    moved: [drawn(6, 40), np.array([3, -1, 0])],
    integers: [np.arange(-9, 9), np.arange(200, 218).astype("uint8")],
    halves: [drawn(33)],
    drawn_by_key: [drawn(20)],
    kinds: [np.linspace(-40, 40, 333)],
}


@pytest.mark.long_tail
@pytest.mark.parametrize("function", CATALOGUE, ids=lambda function: function.__name__)
@pytest.mark.parametrize("target", TARGETS)
def test_the_catalogue(target, function, tmp_path):
    arguments = CATALOGUE[function]
    expect_same_bits(target, composit.compile(function, *arguments), arguments, tmp_path)


def expect_same_bits(target, function, arguments, tmp_path):
    compiler, emulator = tools(target)
    function.export(tmp_path)
    program = built(compiler, tmp_path, target)
    inputs = leaves(arguments)
    for i, array in enumerate(inputs):
        array.tofile(tmp_path / f"in_{i}")
    expected = leaves(function(*arguments))
    files = [f"in_{i}" for i in range(len(inputs))] + [f"out_{i}" for i in range(len(expected))]
    usage = subprocess.run([emulator, program], cwd=tmp_path, capture_output=True, text=True)
    name = usage.stderr.splitlines()[1].split()[1]
    subprocess.run([emulator, program, name, *files], cwd=tmp_path, check=True)
    for i, wanted in enumerate(expected):
        found = np.fromfile(tmp_path / f"out_{i}", wanted.dtype)
        assert found.tobytes() == wanted.tobytes(), (target, i)
