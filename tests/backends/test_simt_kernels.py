"""Kernels on an OpenCL device, kind by kind, have the bits that the interpreter gives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import composit
from composit import nn
from composit import numpy as cnp
from composit.conformance import same_bits, values

Function = Callable[..., Any]


def has_opencl() -> bool:
    try:
        composit.compile(lambda x: x + 1, np.zeros(1, "float32"), backend="opencl")
    except KeyError:
        return False
    return True


pytestmark = pytest.mark.skipif(not has_opencl(), reason="no OpenCL device here")


def check(function: Function, *arguments: np.ndarray, refused: int = 0) -> None:
    """The device's results are the interpreter's, and it refuses so many kernels."""
    results = []
    for backend in ("interpreter", "opencl:0"):
        compiled = composit.compile(function, *arguments, backend=backend, name="f")
        result = compiled(*arguments)
        results.append([np.asarray(r) for r in (result if isinstance(result, list) else [result])])
    left = [place for place in compiled.placements if place[1] != "opencl:0"]
    assert len(left) == refused, left
    for i, (wanted, got) in enumerate(zip(*results)):
        assert same_bits(wanted, got), (i, wanted, got)


LENGTHS = {
    "float32": (0, 1, 2, 7, 9, 32, 33, 1000, 4095, 4096, 4097, 12289),
    "float64": (5, 40, 4100),
    "int16": (1, 6, 70, 4100),
}


@pytest.mark.parametrize("dtype", LENGTHS)
def test_rows_and_columns_of_any_length(dtype: str) -> None:
    for length in LENGTHS[dtype]:
        rows = values(dtype, (3, length), 1)
        columns = values(dtype, (length, 41), 2)
        check(lambda x, y: [cnp.sum(x, 1), cnp.sum(y, 0), cnp.sum(x)], rows, columns)


@pytest.mark.parametrize("name", ["prod", "max", "min", "argmax", "argmin", "any", "all"])
def test_every_combiner(name: str) -> None:
    reduction = getattr(cnp, name)
    for dtype in ("float32", "uint8"):
        x = values(dtype, (6, 50), 1)
        y = values(dtype, (9000, 9), 2)
        check(lambda x, y: [reduction(x, 1), reduction(y, 0), reduction(y.T, 1)], x, y)


def test_zeros_and_nan_in_extremes() -> None:
    x = np.zeros((40, 64), "float32")
    x[np.random.RandomState(0).rand(40, 64) < 0.5] = -0.0
    x[7, 3] = x[7, 50] = np.nan
    x[8] = np.nan
    x[9] = -np.inf
    for name in ("max", "min", "argmax", "argmin", "sum"):
        reduction = getattr(cnp, name)
        check(lambda x: [reduction(x, 1), reduction(x, 0), reduction(x)], x)  # noqa: B023


def test_values_that_are_computed_on_the_way() -> None:
    x, y = values("float32", (30, 300), 1), values("float32", (300,), 2)
    check(lambda x, y: [cnp.sum(cnp.exp(x * 0.1) * y, 1), cnp.sum(cnp.tanh(x + y), 0)], x, y)
    check(lambda x: cnp.sum(x.reshape(10, 3, 20, 15), (0, 2)), x)
    check(lambda x: cnp.sum(x.reshape(10, 3, 20, 15).transpose(3, 1, 0, 2) * 2, (1, 3)), x)


def test_a_sum_of_many_blocks() -> None:
    x = np.random.RandomState(0).standard_normal(4096 * 4096 + 5000).astype("float32")
    check(lambda x: [cnp.sum(x), cnp.argmax(x)], x)


def test_elements_side_by_side() -> None:
    for dtype in ("float32", "float64", "int8", "uint16", "bool", "int64"):
        x, y = values(dtype, (16, 1024), 1), values(dtype, (1024,), 2)
        check(lambda x, y: [cnp.where(x == y, x, y), (x + y).astype("float32")], x, y)
        check(lambda x: [x[1:, ::-1], x.T + x.T, x[:, 1:] + x[:, :-1]], x)


def test_tiles_of_transposed_operands() -> None:
    for dtype, shape in (("float32", (64, 96)), ("float64", (33, 50)), ("uint8", (17, 3, 41))):
        x, y = values(dtype, shape, 1), values(dtype, shape[::-1], 2)
        check(lambda x, y: [x.T * 1, cnp.where(y == x.T, x.T, y), x + y.T], x, y)
        check(lambda x: cnp.moveaxis(x[::-1], 0, -1) + cnp.moveaxis(x, 0, -1)[..., ::-1], x)


def test_running_sums() -> None:
    for dtype in ("float32", "int32", "bool"):
        x = values(dtype, (5, 333), 3)
        check(lambda x: [cnp.cumsum(x, 1), cnp.cumsum(x, 0), cnp.cumprod(x, 1)], x)
    check(lambda x: cnp.maximum.accumulate(x, 1), values("float32", (5, 333), 3))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64", "bool"])
def test_sorting(dtype: str) -> None:
    for length in (1, 9, 1025):
        x = values(dtype, (3, length), length)
        check(lambda x: [cnp.sort(x, 1), cnp.argsort(x, 1, stable=True)], x)
    x = values(dtype, (70, 6), 4)
    check(lambda x: [cnp.sort(x, 0), cnp.argsort(x, 0, stable=True)], x)


def test_searching() -> None:
    for dtype in ("float32", "int32"):
        row, wanted = np.sort(values(dtype, (100,), 1)), values(dtype, (7, 30), 2)
        for side in ("left", "right"):
            check(lambda a, v: cnp.searchsorted(a, v, side=side), row, wanted)  # noqa: B023


def test_gathers() -> None:
    x = values("float32", (50, 33), 1)
    i = np.random.RandomState(0).randint(-50, 50, (7, 9))
    j = np.random.RandomState(1).randint(-33, 33, (7, 9))
    check(lambda x, i, j: [x[i], x[i, j], x[:, j]], x, i, j)


@pytest.mark.parametrize("count", [5, 1000, 20000])
def test_scatters_add_in_order(count: int) -> None:
    generator = np.random.RandomState(count)
    index = generator.randint(-40, 40, count)
    update = generator.standard_normal((count, 3)) * 10.0 ** generator.randint(-5, 6, (count, 1))
    x = np.zeros((40, 3), "float32")
    check(lambda x, i, u: cnp_add_at(x, i, u), x, index, update.astype("float32"))


def cnp_add_at(x: Any, index: Any, update: Any) -> Any:
    return composit._core.numpy.add_at(x, (index,), update)


def test_an_index_out_of_bounds() -> None:
    x = np.zeros((5, 3), "float32")
    index = np.array([0, 4, -6, 7, 2] * 100)
    texts = []
    for backend in ("interpreter", "opencl:0"):
        compiled = composit.compile(lambda x, i: x[i] * 2, x, index, backend=backend)
        with pytest.raises(IndexError) as caught:
            compiled(x, index)
        texts.append(str(caught.value))
        assert np.asarray(compiled(x, index % 5)).shape == (500, 3)
    assert texts[0] == texts[1]
    assert "index -6 is out of bounds for axis 0 with size 5" in texts[0]


def test_windows_that_overlap() -> None:
    x = values("float32", (2, 3, 11, 12), 1)[..., :]
    x[~np.isfinite(x)] = 1

    def gradient(x: Any) -> Any:
        def loss(x: Any) -> Any:
            options: dict[str, Any] = {"kernel_size": (3, 2), "channels_last": False}
            return cnp.sum(nn.average_pool(x, strides=(2, 1), **options) ** 2)

        return composit.grad(loss)(x)

    check(gradient, x)
    check(lambda x: composit.grad(
        lambda x: cnp.sum(cnp.sliding_window_view(x, 4, axis=3) ** 3))(x), x)  # fmt: skip


def test_rows_in_one_kernel() -> None:
    for shape in ((64, 1000), (3, 5, 4096)):
        x = np.random.RandomState(0).standard_normal(shape).astype("float32")
        g, b = x.reshape(-1, shape[-1])[0] * 0.5, x.reshape(-1, shape[-1])[1] * 0.1
        check(lambda x, g, b: [nn.softmax(x, axis=-1), nn.layer_norm(x, g, b)], x, g, b)
        check(lambda x: composit.grad(lambda x: cnp.sum(nn.softmax(x, axis=-1) ** 2))(x), x)
        check(lambda x, g, b: list(composit.grad(
            lambda x, g, b: cnp.sum(nn.layer_norm(x, g, b) ** 3), (0, 1, 2))(x, g, b)),
            x, g, b)  # fmt: skip


def test_loops() -> None:
    def steps(x: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            return state * 0.5 + cnp.sum(state) * i.astype("float32")

        return composit.fori_loop(3, 20, step, x)

    check(steps, np.arange(100, dtype="float32"))


def test_names_that_are_words_of_the_languages() -> None:
    def function(kernel: Any, float4: Any, sqrt: Any, x_memory: Any, x: Any) -> Any:
        return kernel + float4 * sqrt - x_memory / x

    arguments = [np.full(4, i + 1, "float32") for i in range(5)]
    check(function, *arguments)


def test_the_text_says_what_it_does() -> None:
    x = np.zeros((8, 4), "float32")
    compiled = composit.compile(lambda x: cnp.sum(cnp.exp(x), 1), x, backend="opencl:0")
    assert "__kernel void" in compiled.source
    assert "fma(" in compiled.source
    assert "test_simt_kernels.py" in compiled.source


@pytest.mark.skipif("COMPOSIT_OPENCL_KERNELS" in os.environ, reason="the process of that test")
def test_kernels_for_gpus() -> None:
    """Tests of what is printed otherwise for GPUs, with the kernels that they get."""
    chosen = "rows_in or side_by_side or tiles or zeros or way or running or int16"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    command += ["-k", chosen]
    environment = {**os.environ, "COMPOSIT_OPENCL_KERNELS": "groups"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-1000:]
