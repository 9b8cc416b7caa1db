"""Kernels in plain Python beside C++ written by hand, JAX and torch."""

import ast
import ctypes
import gc
import inspect
import math
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from group import main
from measure import ROOT, Case, Probe, Sides, check, in_turns

from composit import knossos

sys.path.insert(0, str(ROOT / "examples/kernels"))
import bundle_adjustment
import by_hand
import gaussian_mixture
import hand_tracking
import kmeans
import least_squares
import logsumexp
import lstm
import lstm_layer

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
        function, tx, tg = in_jax(name), torch.from_numpy(x), torch.from_numpy(g)
        jx, jg = jax.numpy.asarray(x), jax.numpy.asarray(g)
        in_torch = eager(name)
        compiled = torch.compile(in_torch)
        if is_vjp:
            pulled = jax.jit(lambda x, g: jax.vjp(function, x)[1](g)[0])

            def pulled_in_torch(function: Callable) -> Callable:
                def pulled() -> np.ndarray:
                    leaf = tx.clone().requires_grad_()
                    return torch.autograd.grad(function(leaf), leaf, tg)[0].numpy()

                return pulled

            ours = lambda: kernel.vjp(x, g)  # noqa: E731
            peers = {
                "torch eager": pulled_in_torch(in_torch),
                "torch.compile": pulled_in_torch(compiled),
                "JAX": lambda: pulled(jx, jg).block_until_ready(),
            }  # fmt: skip
        else:
            ours = lambda: kernel(x)  # noqa: E731
            peers = {
                "torch eager": lambda: in_torch(tx).numpy(),
                "torch.compile": lambda: compiled(tx).numpy(),
                "JAX": lambda: function(jx).block_until_ready(),
            }  # fmt: skip
        for peer in peers.values():
            check(name, ours(), peer(), 1e-5)
        return Sides(ours, peers, bytes=(3 if is_vjp else 2) * x.nbytes)

    what = "vjp" if is_vjp else "forward"
    return Case(f"{kernel.__name__}, 1M float32, {what}", 1, 1, prepare, threads=(1,))


# The functions over arrays of an exported kernel, with names that C finds.
IN_C = """#include "{name}.hpp"
extern "C" void forward(const float* x, float* y, int64_t n) {{ {name}::v{name}(x, y, n); }}
extern "C" void vjp(const float* x, const float* dy, float* dx, int64_t n) {{
    {name}::v{name}_vjp(x, dy, dx, n);
}}
"""


def exported(kernel: knossos.Kernel) -> ctypes.CDLL:
    """Compiled as its header says, for this machine."""
    name = kernel.__name__
    with tempfile.TemporaryDirectory() as folder:
        kernel.export(folder)
        (Path(folder) / "in_c.cpp").write_text(IN_C.format(name=name))
        flags = re.search("Compile: c\\+\\+ (.*) -c", (Path(folder) / f"{name}.hpp").read_text())
        assert flags
        command = ["g++", *flags[1].split(), "-march=native", "-shared", "-fPIC"]
        files = [f"{name}.cpp", "in_c.cpp", "-o", "made.so"]
        subprocess.run([*command, *files], cwd=folder, check=True)
        return ctypes.CDLL(str(Path(folder) / "made.so"))


def exported_case(kernel: knossos.Kernel, is_vjp: bool) -> Case:
    """C++ beside C++: both sides write to the same array."""

    def prepare(threads: int) -> Sides:
        x, g = np.random.default_rng(0).standard_normal((2, SIZE)).astype("float32")
        out = np.empty_like(x)
        arrays = [x, g, out] if is_vjp else [x, out]
        code = exported(kernel)
        ours = by_hand.prepared(code.vjp if is_vjp else code.forward, *arrays, SIZE)
        activations = by_hand.library("activations", "-ffast-math")
        written = getattr(activations, kernel.__name__ + "_vjp" * is_vjp)
        hand = by_hand.prepared(written, *arrays, SIZE)
        ours()
        found = out.copy()
        hand()
        check(kernel.__name__, found, out, 1e-5)
        return Sides(ours, {"hand": hand}, bytes=sum(array.nbytes for array in arrays))

    what = "vjp" if is_vjp else "forward"
    return Case(f"{kernel.__name__}, 1M float32, {what}, exported", 1, 1, prepare, threads=(1,))


def eager_case(kernel: knossos.Kernel) -> Case:
    """Beside torch's vectorised eager version, where the choices are all computed."""

    def prepare(threads: int) -> Sides:
        import torch

        x = np.random.default_rng(0).standard_normal(SIZE).astype("float32")
        tx, function = torch.from_numpy(x), torch.vmap(eager(kernel.__name__))
        check(kernel.__name__, kernel(x), function(tx).numpy(), 1e-5)
        return Sides(lambda: kernel(x), {"torch.vmap": lambda: function(tx)}, bytes=2 * x.nbytes)

    return Case(f"{kernel.__name__}, 1M float32, beside vmap", 20, 20, prepare, threads=(1,))


# ----- ADBench: of each, the function and its derivative, with hand-written ones beside them


def mixture_sides() -> list[tuple]:
    random, n, k, d = np.random.default_rng(0), 1000, 25, 10
    given = [
        random.normal(size=k), random.normal(size=(k, d)),
        random.normal(size=(k, d * (d + 1) // 2)) / 3, random.normal(size=(n, d)), 0.7, 2,
    ]  # fmt: skip
    kernel = gaussian_mixture.gaussian_mixture
    return [(lambda: kernel(*given), by_hand.gaussian_mixture(*given)),
            (lambda: kernel.grad(*given), by_hand.gaussian_mixture_gradient(*given))]  # fmt: skip


def lstm_sides() -> list[tuple]:
    given = lstm.example(np.random.default_rng(0), 1024, 2, 14)
    return [(lambda: lstm.lstm(*given), by_hand.lstm(*given)),
            (lambda: lstm.lstm.grad(*given), by_hand.lstm_gradient(*given))]  # fmt: skip


def bundle_sides() -> list[tuple]:
    given = bundle_adjustment.example(np.random.default_rng(0), 49, 7776, 31843)
    return [(lambda: bundle_adjustment.errors(*given), by_hand.bundle_adjustment(*given)),
            (lambda: bundle_adjustment.jacobian_values(*given),
             by_hand.bundle_adjustment_jacobian(*given))]  # fmt: skip


def hand_sides() -> list[tuple]:
    random, count = np.random.default_rng(0), 1000
    model, theta = hand_tracking.example(random), 0.3 * random.normal(size=26)
    points = random.normal(size=(count, 3))
    given = random.integers(0, 544, size=(count, 3)), random.random((count, 2)) / 2

    def errors() -> np.ndarray:
        shares = hand_tracking.shares_of(given[1])
        return hand_tracking.errors(model, theta, given[0], shares, points)

    return [(errors, by_hand.hand_tracking(model, theta, *given, points)),
            (lambda: hand_tracking.jacobian_values(model, theta, *given),
             by_hand.hand_tracking_jacobian(model, theta, *given))]  # fmt: skip


def layer_sides() -> list[tuple]:
    random = np.random.default_rng(0)
    given, received = lstm_layer.example(random, 100, 64, 32), random.normal(size=(100, 64))
    kernel = lstm_layer.lstm_layer
    return [(lambda: kernel(*given), by_hand.lstm_layer(*given)),
            (lambda: kernel.vjp(*given, received),
             by_hand.lstm_layer_gradient(*given, received))]  # fmt: skip


ADBENCH = {"Gaussian mixture": mixture_sides, "LSTM": lstm_sides,
           "bundle adjustment": bundle_sides, "hand tracking": hand_sides}  # fmt: skip
OTHERS = {"LSTM of operators": layer_sides}
RATIOS: dict[str, float] = {}  # of the derivatives' times, by kernel


def over_hand(name: str, is_derivative: bool) -> Probe:
    """The time over that of the hand-written function; more below 1 is better."""

    def measure(threads: int) -> tuple[float, dict[str, float]]:
        ours, (hand, made) = (ADBENCH | OTHERS)[name]()[is_derivative]
        value = hand()
        wanted, found = made or [value], ours()
        for each, other in zip(found if isinstance(found, tuple) else [found], wanted):
            check(name, each, np.asarray(other).reshape(np.shape(each)), 1e-9)
        times = in_turns([ours, hand])
        ratio = statistics.median(side[0] / side[1] for side in times)
        if is_derivative:
            RATIOS[name] = ratio
        own, other = (statistics.median(side) * 1e3 for side in zip(*times))
        return ratio, {"composit ms": own, "hand ms": other}

    what = "derivative" if is_derivative else "function"
    must = 1.2 if name in ADBENCH else None
    return Probe(f"{name}, {what} over hand", must, 1.0, "x", measure, threads=(1,))


def mean_over_hand(threads: int) -> tuple[float, dict[str, float]]:
    for name in ADBENCH:
        if name not in RATIOS:
            over_hand(name, True).measure(threads)
    return math.exp(statistics.mean(math.log(RATIOS[name]) for name in ADBENCH)), {}


def python_lines(function: Callable) -> int:
    """Without documentation, comments and decorators."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    definition.decorator_list = []
    if ast.get_docstring(definition):
        del definition.body[0]
    return len(ast.unparse(tree).splitlines())


# Functions of several results that a kernel of numbers calls, which become part of it.
PARTS = {"residuals": (bundle_adjustment.rotated, bundle_adjustment.cross)}


def lines(kernel: knossos.Kernel, derivative: str = "") -> Probe:
    """Lines of the C++ of the function, or of its vjp or jvp, per line of the Python that it is
    made of, without documentation and comments."""

    def measure(threads: int) -> tuple[float, dict[str, float]]:
        functions = [kernel.__wrapped__, *PARTS.get(kernel.__name__, ())]
        python = sum(map(python_lines, functions))
        member = getattr(kernel, derivative) if derivative else kernel
        made = member.procedure().source.splitlines()
        count = sum(bool(line.strip()) and not line.strip().startswith("//") for line in made)
        return count / python, {"C++": count, "Python": python}

    parts = [kernel.__wrapped__.__module__, kernel.__name__]
    name = ".".join(dict.fromkeys(part for part in parts if part != __name__))
    name = ", ".join(part for part in (name, derivative) if part)
    return Probe(f"{name}, lines of C++ per line", 4, 1.5, "x", measure, threads=(1,))


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
                yield exported_case(kernel, is_vjp)
                yield case_of(kernel, is_vjp)
            yield eager_case(kernel)
        for name in ADBENCH | OTHERS:
            for is_derivative in (False, True):
                yield over_hand(name, is_derivative)
        yield Probe(
            "geometric mean of the derivatives", 1.0, 1.0, "x", mean_over_hand, threads=(1,)
        )
    for derivative in ("", "vjp", "jvp"):
        for kernel in (
            relu3, gelu, gaussian_mixture.gaussian_mixture, lstm.lstm, bundle_adjustment.residuals,
            hand_tracking.poses, hand_tracking.skin, hand_tracking.rotations, kmeans.cost,
            least_squares.polynomial, least_squares.linear, logsumexp.logsumexp,
            lstm_layer.lstm_layer,
        ):  # fmt: skip
            yield lines(kernel, derivative)
    one = (1,)
    yield Probe("call of a number", 0.5, 0.5, "us", call_overhead, threads=one)
    yield Probe("first result, cold", 500, 500, "ms", first_result(True), threads=one)
    yield Probe("first result, from the cache", 5, 5, "ms", first_result(False), threads=one)


if __name__ == "__main__":
    notes = (
        "Hand is C++ of examples/kernels/hand, compiled with -O3 -march=native; that of relu3 and "
        "gelu with -ffast-math, too, which vectorises erff and expf. Exported kernels are compiled "
        "as their headers say. Results agree to 1e-5, those "
        "of ADBench's problems to 1e-9. Derivatives are with respect to all arguments that are "
        "floats; those of bundle adjustment and hand tracking are the stored elements of sparse "
        "Jacobians."
    )
    main("Kernels in plain Python", notes, cases)
