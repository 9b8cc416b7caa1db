"""Texts in CUDA C++ run, where there is no GPU: by a library that stands for the driver and for
NVRTC (tests/cpp/fake_cuda), which compiles them for the host and runs them thread by thread."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]
FAKE = TESTS / "cpp" / "fake_cuda"


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    """The environment in which `cuda:0` and `cuda:1` are the host."""
    folder = tmp_path_factory.mktemp("cuda")
    library = folder / "libcuda.so.1"
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library, "-ldl"]
    subprocess.run([*command, *sorted(FAKE.glob("*.cpp"))], check=True)
    kept = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    return {**kept, "LD_LIBRARY_PATH": str(folder), "COMPOSIT_NVRTC": str(library)}


def run(host, *words, **more):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, words)],
        capture_output=True, text=True, env={**host, **more}, cwd=TESTS.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


def test_devices(host):
    assert "cuda:1      Imagined GPU" in run(host, "-m", "composit.devices", "--quick")


FILES = sorted(path.stem for path in Path(__file__).parent.glob("test_*.py"))
FILES = [name for name in FILES if name not in ("test_cuda_on_host", "test_suites")]


@pytest.mark.parametrize("file", FILES)
def test_what_is_tested_on_devices(host, file):
    path = Path(__file__).with_name(f"{file}.py")
    run(host, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--device", "cuda", path)


@pytest.mark.long_tail
@pytest.mark.parametrize("share", range(8))
def test_the_judge(host, share):
    run(host, "-m", "composit.conformance", "cuda", "--share", f"{share}/8")


# Another library on the device: memory of its own by the driver, looked at by the host, which can.
SHARED = """
import ctypes, gc
import numpy as np
import composit, composit.numpy as cnp

x = cnp.asarray(np.arange(12.0).reshape(3, 4), device="cuda:1")
y = x + 1  # before
assert x.__dlpack_device__() == (2, 1)
def address_of(tensor):
    return tensor.__cuda_array_interface__["data"][0]

def memory_of(tensor, kind):
    return np.ctypeslib.as_array((kind * tensor.size).from_address(address_of(tensor)))

interface = x.__cuda_array_interface__
assert interface["shape"] == (3, 4) and interface["typestr"] == "<f8"
seen = memory_of(x, ctypes.c_double)
assert address_of(x) == interface["data"][0]  # the same memory each time
seen[5] = 100.0
assert float(cnp.sum(x)) == 161.0 and np.asarray(x)[1, 1] == 100.0
assert float(cnp.sum(y)) == 78.0
x[0, 0] = 7.0  # elsewhere from now on
assert seen[0] == 0.0 and float(x[0, 0]) == 7.0

# Taken: what others write is seen, and nothing of it is freed before.
lent = cnp.asarray(np.ones(6, "float32"), device="cuda")
class Other:
    def __init__(self, tensor):
        self.capsules, self.tensor = 0, tensor
    def __dlpack_device__(self):
        return (2, 0)
    def __dlpack__(self, **options):
        self.capsules += 1
        return self.tensor.__dlpack__(**options)
z = cnp.from_dlpack(Other(lent))
assert z.device == "cuda:0" and address_of(z) == address_of(lent)
memory = memory_of(lent, ctypes.c_float)
memory[:] = 3.0
assert float(cnp.sum(z)) == 18.0 and float(cnp.sum(lent)) == 18.0
compiled = composit.compile(lambda v: v * 2, z)
assert np.asarray(compiled(z)).tolist() == [6.0] * 6
memory[0] = 4.0
assert np.asarray(compiled(z)).tolist() == [8.0] + [6.0] * 5
copy = cnp.from_dlpack(Other(lent), copy=True)
memory[1] = 9.0
assert np.asarray(copy).tolist() == [4.0] + [3.0] * 5 and np.asarray(z).tolist()[1] == 9.0
assert np.asarray(z.to("cpu")).tolist()[1] == 9.0
del lent, compiled
gc.collect()
memory[2] = 5.0
assert np.asarray(z).tolist() == [4.0, 9.0, 5.0, 3.0, 3.0, 3.0]

# What cannot be shared is a copy: views, numbers, other orders; copies on demand.
w = cnp.asarray(np.arange(6.0).reshape(2, 3), device="cuda")
first = w[0]
memory_of(first, ctypes.c_double)[:] = -1.0
assert np.asarray(w).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
try:
    composit.grad(lambda v: cnp.from_dlpack(v).sum() + len(v.__dlpack__()))(w)
except TypeError as error:
    assert "would be a constant" in str(error), error
else:
    raise AssertionError("no error")

# composit.torch: copies, on the device.
import composit.torch as torch

t = torch.arange(4.0, device="cuda:1")
assert t.__dlpack_device__() == (2, 1)
u = torch.from_dlpack(t)
u += 1
assert u.device == t.device and u.tolist() == [1, 2, 3, 4] and t.tolist() == [0, 1, 2, 3]
assert cnp.from_dlpack(t).device == "cuda:1"
print("done")
"""


def test_memory_is_shared(host, tmp_path):
    (tmp_path / "shared.py").write_text(SHARED)
    assert run(host, tmp_path / "shared.py") == "done\n"


def test_the_page_says_how_many_programs_the_judge_has(host):
    page = (TESTS.parent / "docs" / "devices.md").read_text()
    # In a process where nobody has registered functions of their own.
    program = "from composit import conformance; print(*(c.group for c in conformance.all_cases()))"
    for group, count in Counter(run(host, "-c", program).split()).items():
        assert re.search(rf"\n\| {group}\b[^|]*\| {count} \|", page), (group, count)
