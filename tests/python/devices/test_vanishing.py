"""A device that vanishes while a program runs: errors that name it, and the CPU goes on.

A library in front of libOpenCL.so.1 passes all calls on, until it is told to answer as a driver
does whose device is gone."""

import ctypes.util
import os
import shutil
import subprocess
import sys
import textwrap

import pytest

LIBRARY = """
#include <dlfcn.h>
static int is_gone = 0;
void vanish(void) { is_gone = 1; }
typedef long (*Function)(long, long, long, long, long, long, long, long, long, long);
static Function real(const char* name) {
    static void* library = 0;
    if (!library) library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
    return (Function)dlsym(library, name);
}
/* All arguments are integers and addresses: what a function does not have is not looked at. */
#define PARAMETERS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j
#define PASSED a, b, c, d, e, f, g, h, i, j
#define PASS(name) long name(PARAMETERS) { return real(#name)(PASSED); }
#define FAIL(name) long name(PARAMETERS) { return is_gone ? -2 : real(#name)(PASSED); }
PASS(clGetPlatformIDs) PASS(clGetPlatformInfo) PASS(clGetDeviceIDs) PASS(clGetDeviceInfo)
PASS(clCreateContext) PASS(clCreateCommandQueue) PASS(clReleaseMemObject)
PASS(clCreateProgramWithSource) PASS(clCreateProgramWithBinary) PASS(clBuildProgram)
PASS(clGetProgramInfo) PASS(clGetProgramBuildInfo) PASS(clReleaseProgram) PASS(clCreateKernel)
PASS(clReleaseKernel) PASS(clSetKernelArg) PASS(clGetEventInfo) PASS(clGetEventProfilingInfo)
PASS(clReleaseEvent)
FAIL(clEnqueueReadBuffer) FAIL(clEnqueueWriteBuffer) FAIL(clEnqueueCopyBuffer)
FAIL(clEnqueueFillBuffer) FAIL(clEnqueueNDRangeKernel) FAIL(clEnqueueMarkerWithWaitList)
FAIL(clWaitForEvents) FAIL(clFlush) FAIL(clFinish)
long clCreateBuffer(PARAMETERS) {
    if (!is_gone) return real("clCreateBuffer")(PASSED);
    *(int*)e = -2;
    return 0;
}
"""

PROGRAM = textwrap.dedent("""
    import ctypes, os
    import numpy as np
    import composit
    import composit.numpy as cnp
    import composit.torch as torch

    a = np.linspace(-1, 1, 10000, dtype="float32").reshape(100, 100)
    x = cnp.asarray(a, device="opencl")
    compiled = composit.compile(lambda x: cnp.tanh(x) @ x, device="opencl")
    known = np.asarray(compiled(x))
    looked = cnp.exp(x)
    looked_at = np.asarray(looked)
    parameter = torch.nn.Parameter(torch.ones(3, device="opencl"))
    parameter.sum().backward()

    ctypes.CDLL(os.environ["LIBRARY"]).vanish()

    def refused(use):
        try:
            use()
        except (RuntimeError, MemoryError) as error:
            print(type(error).__name__, str(error).split(" failed: ")[0])
            assert "CL_DEVICE_NOT_AVAILABLE" in str(error), error
        else:
            raise AssertionError("no error")

    refused(lambda: np.asarray(compiled(x)))
    refused(lambda: np.asarray(cnp.sin(x)))
    refused(lambda: np.asarray(cnp.asarray(a + 1, device="opencl") + 1))
    refused(lambda: composit.devices.synchronise("opencl"))
    refused(lambda: (parameter * 2).tolist())
    for _ in range(100):
        refused(lambda: np.asarray(cnp.cos(x)))

    # What was looked at before is there, and the CPU computes.
    assert (np.asarray(looked) == looked_at).all()
    there = np.asarray(composit.compile(lambda x: cnp.tanh(x) @ x)(a))
    assert there.tobytes() == known.tobytes()
    del x, looked, parameter
    print("went on")
""")


def test_the_program_goes_on(opencl, tmp_path):
    if not opencl.startswith("opencl"):
        pytest.skip("a test of OpenCL's driver")
    real = ctypes.util.find_library("OpenCL")
    assert real and shutil.which("cc")
    (tmp_path / "gone.c").write_text(LIBRARY)
    library = tmp_path / "libOpenCL.so.1"
    subprocess.run(
        ["cc", "-shared", "-fPIC", f'-DREAL="{real_path(real)}"', "gone.c", "-o", str(library)],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True,
        env=os.environ | {"LD_LIBRARY_PATH": str(tmp_path), "LIBRARY": str(library)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "went on"
    assert all(line.split(" ")[1] == "opencl:0:" for line in lines[:-1]), lines


def real_path(name):
    """Where the loader finds a library."""
    handle = ctypes.CDLL(name)
    with open("/proc/self/maps") as maps:
        (path,) = {
            line.split()[-1] for line in maps if line.rstrip().split("/")[-1].startswith(name)
        }
    del handle
    return path
