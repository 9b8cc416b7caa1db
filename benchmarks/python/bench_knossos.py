"""Kernels in plain Python beside C++ written by hand, JAX and torch."""

import ctypes
import gc
import math
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable

import numpy as np
from group import main
from measure import FOLDER, Case, Probe, Sides, check

from composit import knossos

# What a careful person writes: the compiler vectorises the choices.
HAND = r"""
#include <cmath>
#include <cstdint>
extern "C" {
void relu3(const float* __restrict x, float* __restrict y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const float v = x[i];
        const float cubic = v * v * v * (1.0f / 3);
        y[i] = v < 0 ? 0 : v < 1 ? cubic : v - 2.0f / 3;
    }
}
void relu3_vjp(const float* __restrict x, const float* __restrict g, float* __restrict d,
               int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const float v = x[i];
        d[i] = v < 0 ? 0 : v < 1 ? g[i] * v * v : g[i];
    }
}
void gelu(const float* __restrict x, float* __restrict y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
}
void gelu_vjp(const float* __restrict x, const float* __restrict g, float* __restrict d,
              int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        const float v = x[i];
        const float normal = 0.39894228f * expf(-0.5f * v * v);
        d[i] = g[i] * (0.5f * (1 + erff(v * 0.70710678f)) + v * normal);
    }
}
}
"""
SIZE = 1_000_000


@knossos.register
def relu3(x: float) -> float:
    if x < 0.0:
        return 0.0
    elif x < 1.0:
        return 1 / 3 * x**3
    else:
        return x - 2 / 3


@knossos.register
def gelu(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def hand_written() -> ctypes.CDLL:
    """The C++ above, compiled for this machine."""
    folder = FOLDER / "knossos"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hand.cpp").write_text(HAND)
    command = ["g++", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "hand.cpp"]
    subprocess.run([*command, "-o", "hand.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "hand.so"))


def in_jax(name: str) -> Callable:
    import jax
    import jax.numpy as jnp

    if name == "relu3":
        return jax.jit(lambda x: jnp.where(x < 0, 0, jnp.where(x < 1, x**3 / 3, x - 2 / 3)))
    return jax.jit(lambda x: jax.nn.gelu(x, approximate=False))


def eager(name: str) -> Callable:
    """As torch's users write it, "thinking in tensors"."""
    import torch

    if name == "gelu":
        return lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    return lambda x: torch.where(x < 0, 0.0, torch.where(x < 1, 1 / 3 * x**3, x - 2 / 3))


def case_of(kernel: knossos.Kernel, is_vjp: bool) -> Case:
    def prepare(threads: int) -> Sides:
        import jax
        import torch

        name = kernel.__name__
        rng = np.random.default_rng(0)
        x, g = rng.standard_normal((2, SIZE)).astype("float32")
        written = getattr(hand_written(), name + ("_vjp" if is_vjp else ""))
        out = np.empty_like(x)
        arrays = [x, g, out] if is_vjp else [x, out]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        count = ctypes.c_int64(SIZE)

        def hand() -> np.ndarray:
            written(*pointers, count)
            return out

        function, tx, tg = in_jax(name), torch.from_numpy(x), torch.from_numpy(g)
        jx, jg = jax.numpy.asarray(x), jax.numpy.asarray(g)
        in_torch = eager(name)
        if is_vjp:
            pulled = jax.jit(lambda x, g: jax.vjp(function, x)[1](g)[0])

            def eager_vjp() -> np.ndarray:
                leaf = tx.clone().requires_grad_()
                return torch.autograd.grad(in_torch(leaf), leaf, tg)[0].numpy()

            ours = lambda: kernel.vjp(x, g)  # noqa: E731
            peers = {
                "hand": hand, "torch eager": eager_vjp,
                "JAX": lambda: pulled(jx, jg).block_until_ready(),
            }  # fmt: skip
        else:
            ours = lambda: kernel(x)  # noqa: E731
            peers = {
                "hand": hand, "torch eager": lambda: in_torch(tx).numpy(),
                "JAX": lambda: function(jx).block_until_ready(),
            }  # fmt: skip
        for peer in peers.values():
            check(name, ours(), peer(), 1e-5)
        return Sides(ours, peers, bytes=sum(array.nbytes for array in arrays))

    what = "vjp" if is_vjp else "forward"
    return Case(f"{kernel.__name__}, 1M float32, {what}", 1, 1, prepare, threads=(1,))


def call_overhead(threads: int) -> tuple[float, dict[str, float]]:
    relu3(0.5)
    rounds = []
    for _ in range(15):
        start = time.perf_counter()
        for _ in range(20000):
            relu3(0.5)
        rounds.append((time.perf_counter() - start) / 20000 * 1e6)
    return statistics.median(rounds), {}


def first_result(is_cold: bool) -> Callable[[int], tuple[float, dict[str, float]]]:
    """From the decorator to the first result, in a process that has compiled before."""

    def measure(threads: int) -> tuple[float, dict[str, float]]:
        relu3(0.5)
        times = []
        for _ in range(6):
            # A constant that no other run has had makes a text that no cache holds.
            shift = time.time_ns() % 10**9 / 1e9 if is_cold else 0.125

            text = f"def shifted(x: float) -> float:\n    return x * x + {shift} if x > 1 else x\n"
            times.append(milliseconds(text))
            gc.collect()  # so that the library is loaded anew
        return statistics.median(times[1:]), {}

    return measure


def milliseconds(text: str) -> float:
    import linecache

    file = "kernel.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict = {"__name__": __name__}
    exec(compile(text, file, "exec"), names)
    start = time.perf_counter()
    knossos.register(names["shifted"])(0.5)
    return (time.perf_counter() - start) * 1e3


def cases():
    if shutil.which("g++"):
        for kernel in (relu3, gelu):
            for is_vjp in (False, True):
                yield case_of(kernel, is_vjp)
    one = (1,)
    yield Probe("call of a number", 0.5, 0.5, "us", call_overhead, threads=one)
    yield Probe("first result, cold", 500, 500, "ms", first_result(True), threads=one)
    yield Probe("first result, from the cache", 5, 5, "ms", first_result(False), threads=one)


if __name__ == "__main__":
    notes = (
        "Hand is C++ compiled with -O3 -march=native -ffast-math, which vectorises erff and expf; "
        "results agree to 1e-5."
    )
    main("Kernels in plain Python", notes, cases)
