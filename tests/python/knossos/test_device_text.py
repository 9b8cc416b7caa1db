"""Kernels as text for devices: programs that launch them, built and run on OpenCL; CUDA's text
compiled by NVRTC, and its programs by the C++ compiler."""

# ruff: noqa: F821

import ctypes
import glob
import os
import subprocess
import sysconfig

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

ITEMS, N = 4, 3  # of the programs that are written


@knossos.register
def relu3(x: float) -> float:
    """Like ReLu, but smoother."""
    if x < 0.0:
        return 0.0
    elif x < 1.0:
        return 1 / 3 * x**3
    else:
        return x - 2 / 3


@knossos.register
def smoothed(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
    h = np.zeros(len(x))
    h[0] = x[0]
    for i in range(1, len(x)):
        h[i] = np.tanh(w * h[i - 1] + x[i])
    return h


@knossos.register
def settled(x: "Tensor[float, n]", rate: float) -> float:
    z = x.copy()
    total = 0.0
    while np.sum(z * z) > 1e-3:
        for i in range(len(z)):
            z[i] = z[i] * rate * 0.9
        total += z[0]
    return total


@knossos.register
def counted(x: "Tensor[float, n]", k: int) -> tuple["Tensor[bool, n]", int]:
    large = np.zeros(len(x), dtype=bool)
    count = 0
    for i in range(len(x)):
        large[i] = x[i] > 0.5
        if large[i]:
            count += k
    return large, count


@knossos.register
def refused(x: "Tensor[float, n]", i: int) -> float:
    return x[i + 5]


KERNELS = [relu3, smoothed, settled, counted, knossos.vmap(smoothed), smoothed.vjp, settled.grad,
           relu3.vjp, relu3.jvp]  # fmt: skip


def numbers(*shape):
    return np.array([0.1 * (i + 1) for i in range(int(np.prod(shape)))]).reshape(shape)


def built(command, folder):
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made


def printed(kernel, folder):
    """The numbers that the program prints, by name."""
    name = kernel.__name__
    files = kernel.export(folder, language="opencl")
    assert files == [f"{name}.cl", f"{name}_example.cpp"]
    built(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"{name}_example.cpp",
           "-l:libOpenCL.so.1", "-o", name], folder)  # fmt: skip
    lines = built([os.path.join(folder, name)], folder).stdout.splitlines()
    return {key: np.array(text.split(), float) for key, text in (x.split(":") for x in lines)}


def test_the_text_of_a_kernel():
    text = relu3.source_for("opencl")
    assert "#pragma OPENCL FP_CONTRACT OFF" in text and "report_fault" not in text
    own = text[text.index("// Like ReLu") :]
    line = relu3.__wrapped__.__code__.co_firstlineno
    assert own.startswith(
        f"""// Like ReLu, but smoother.
__kernel void relu3(__global const double* all_x, __global double* all_y, const int64_t items) {{
    const int64_t item = (int64_t)get_global_id(0);
    if (item >= items) return;
    const double x = all_x[item];
    if (x < 0.0) {{  // test_device_text.py:{line + 3}
        all_y[item] = 0.0;  // test_device_text.py:{line + 4}
        return;
    }} else if (x < 1.0) {{  // test_device_text.py:{line + 5}
"""
    )
    for derivative in ("relu3_vjp", "relu3_jvp"):
        assert f"__kernel void {derivative}(" in text
    assert "__kernel void relu3_dx(" in relu3.grad.source_for("opencl")
    cuda = smoothed.source_for("cuda")
    assert 'extern "C" __global__ void smoothed_vjp(const double* all_x, const int64_t n,' in cuda
    for call in (relu3.source_for, lambda language: relu3.export(".", language=language)):
        with pytest.raises(
            ValueError, match=r"there is no language 'metal'\. One of .*opencl, cuda"
        ):
            call("metal")


def test_programs_on_opencl(tmp_path):
    x, rows, w = numbers(ITEMS), numbers(ITEMS, N), numbers(ITEMS)
    dy = numbers(ITEMS, N)
    expected = {
        relu3: {"all_y": relu3(x)},
        smoothed: {"all_h": np.stack([smoothed(a, b) for a, b in zip(rows, w)])},
        knossos.vmap(smoothed): {"all_h": np.stack([smoothed(a, b) for a, b in zip(rows, w)])},
        settled: {"all_y": np.array([settled(a, b) for a, b in zip(rows, w)])},
    }
    made = [smoothed.vjp(a, b, c) for a, b, c in zip(rows, w, dy)]
    expected[smoothed.vjp] = {
        "all_dx": np.stack([dx for dx, _ in made]), "all_dw": np.array([dw for _, dw in made])
    }  # fmt: skip
    for kernel, wanted in expected.items():
        found = printed(kernel, tmp_path)
        assert found.keys() == wanted.keys(), kernel
        for name, values in wanted.items():
            np.testing.assert_array_equal(found[name], values.ravel(), err_msg=kernel.__name__)
    found = list(printed(counted, tmp_path).values())
    large, counts = zip(*(counted(row, 1) for row in rows))
    assert sorted(map(len, found)) == [ITEMS, ITEMS * N]
    for values, wanted in zip(sorted(found, key=len), (counts, np.ravel(large))):
        np.testing.assert_array_equal(values, wanted)


def test_a_program_says_which_item_fails(tmp_path):
    refused.export(tmp_path, language="opencl")
    built(["g++", "-std=c++17", "refused_example.cpp", "-l:libOpenCL.so.1", "-o", "refused"],
          tmp_path)  # fmt: skip
    made = subprocess.run([tmp_path / "refused"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 1
    start = "item 0 fails what refused.cl requires in line "
    assert made.stderr.startswith(start), made.stderr
    line = int(made.stderr.removeprefix(start))
    assert "require(" in (tmp_path / "refused.cl").read_text().splitlines()[line - 1]


def nvrtc():
    packages = sysconfig.get_path("purelib")
    [path] = glob.glob(f"{packages}/nvidia/*/lib/libnvrtc.so.*")
    return ctypes.CDLL(path)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_files_for_cuda(kernel, tmp_path):
    name = kernel.__name__
    assert kernel.export(tmp_path, language="cuda") == [f"{name}.cu", f"{name}_example.cpp"]
    library, program = nvrtc(), ctypes.c_void_p()
    text = (tmp_path / f"{name}.cu").read_bytes()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text, b"k.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_90", b"--fmad=false")
    status, size = library.nvrtcCompileProgram(program, 2, options), ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    library.nvrtcGetProgramLog(program, log)
    assert status == 0, log.value.decode()
    built(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-c", f"{name}_example.cpp",
           "-o", os.devnull], tmp_path)  # fmt: skip
