"""Plain C beside the C of emx-onnx-cgen and beside composit's fast style: time of a call, lines,
bytes, seconds of compiling. Both are compiled by `gcc -O2 -march=native`."""

import ctypes
import hashlib
import re
import subprocess
import sys
import time
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
from group import main
from measure import FOLDER, Case, Probe, Sides, check
from models import bert, resnet
from models.weights import draw

F = "float32"
FLAGS = ("-std=c99", "-O2", "-march=native")
# Calls of one argument that take less than ctypes are repeated in C.
LOOP = """
void repeat(long n, void (*f)(const void*, void*), const void* x, void* y) {
    for (long i = 0; i < n; ++i) f(x, y);
}
"""


def small():
    """A 4-16-3 network."""
    from composit import nn

    random = np.random.default_rng(0)
    w1, b1, w2, b2 = (random.standard_normal(s).astype(F) for s in ((4, 16), 16, (16, 3), 3))
    x = random.standard_normal(4).astype(F)
    return lambda x: nn.softmax(nn.relu(x @ w1 + b1) @ w2 + b2, axis=-1), [x]


def mlp(batch, *widths):
    """Layers from 784 numbers to 10 classes."""
    from composit import nn

    random = np.random.default_rng(0)
    layers = [
        (random.standard_normal((k, n)).astype(F) / np.sqrt(k, dtype=F), np.full(n, 0.1, F))
        for k, n in pairwise((784, *widths, 10))
    ]

    def model(x):
        for weights, bias in layers[:-1]:
            x = nn.relu(x @ weights + bias)
        weights, bias = layers[-1]
        return nn.softmax(x @ weights + bias, axis=-1)

    return model, [random.standard_normal((batch, 784)).astype(F)]


def bottlenecks():
    """ResNet-50's first two stages with two blocks each, for an image of 112 x 112."""
    stages = ((2, 64, 1), (2, 128, 2))
    weights = draw(resnet.shapes(stages))
    image = np.random.default_rng(0).standard_normal((1, 3, 112, 112)).astype(F)
    return lambda x: resnet.composit_model(x, weights, stages), [image]


def encoder():
    """BERT-base's first two layers, for 64 tokens, of a small vocabulary. The weights are
    arguments: compilers take minutes for so large constants."""
    weights = draw(bert.shapes(layers=2, vocabulary=64))

    def model(ids, mask, *values):
        return bert.composit_model(ids, mask, dict(zip(weights, values)))

    return model, [*bert.inputs(1, 64, 64), *weights.values()]


MODELS = {
    "4-16-3": small,
    "MLP of 0.4 MB": lambda: mlp(1, 128),
    "MLP of 2.7 MB": lambda: mlp(1, 512, 512),
    "MLP of 2.7 MB, batch 32": lambda: mlp(32, 512, 512),
    "ResNet": bottlenecks,
    "BERT": encoder,
}


def folder_of(name: str) -> Path:
    """Both sides' C, and libraries of it, kept while what they are made of stays."""
    import composit

    key = hashlib.sha256(f"{version('emx-onnx-cgen')}{' '.join(FLAGS)}".encode())
    for source in (Path(__file__), Path(resnet.__file__), Path(bert.__file__)):
        key.update(source.read_bytes())
    key.update(Path(composit._core.__file__).with_name("libcomposit.so").read_bytes())
    return FOLDER / f"plain-{name.replace(', ', '-').replace(' ', '-')}-{key.hexdigest()[:12]}"


def seconds_of(*command: str, cwd: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)
    return time.perf_counter() - start


@cache
def made(name: str) -> Path:
    import composit
    from composit import onnx

    folder = folder_of(name)
    if (folder / "seconds").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    function, arguments = MODELS[name]()
    compiled = composit.compile(function, *arguments, name="ours", backend="interpreter")
    compiled.export(folder, style="plain", language="c")
    onnx.save(str(folder / "theirs.onnx"), function, *arguments)
    emx = str(Path(sys.executable).with_name("emx-onnx-cgen"))
    seconds_of(emx, "compile", "theirs.onnx", "theirs.c", "--large-weight-threshold", "0",
               cwd=folder)  # fmt: skip
    (folder / "loop.c").write_text(LOOP)
    shared = ("gcc", *FLAGS, "-shared", "-fPIC")
    seconds_of(*shared, "loop.c", "-o", "loop.so", cwd=folder)
    times = [
        seconds_of(*shared, f"{side}.c", "-o", f"{side}.so", "-lm", cwd=folder)
        for side in ("ours", "theirs")
    ]
    (folder / "seconds").write_text(" ".join(map(str, times)))
    return folder


def caller(folder: Path, side: str, function: str, arguments: list, result: np.ndarray, count: int):
    """A function that calls that of a library `count` times."""
    library, loop = (ctypes.CDLL(str(folder / f"{each}.so")) for each in (side, "loop"))
    called = getattr(library, function)
    held = (*arguments, result)  # as long as the function

    def call():
        pointers = [ctypes.c_void_p(each.ctypes.data) for each in held]
        if count == 1:
            called(*pointers)
        else:
            loop.repeat(ctypes.c_long(count), ctypes.cast(called, ctypes.c_void_p), *pointers)

    return call


def interpreted(function, arguments: list) -> np.ndarray:
    import composit

    return composit.compile(function, *arguments, backend="interpreter")(*arguments)


def beside_emx(name: str, count: int):
    def prepare(threads):
        folder = made(name)
        function, arguments = MODELS[name]()
        expected = interpreted(function, arguments)
        calls = []
        for side, called in (("ours", "ours"), ("theirs", "model")):
            result = np.zeros_like(expected)
            calls.append((caller(folder, side, called, arguments, result, count), result))
            calls[-1][0]()
        if calls[0][1].tobytes() != expected.tobytes():
            raise AssertionError(f"{name}, plain: other bits than in the process")
        check(f"{name}: emx-onnx-cgen", calls[1][1], expected, 1e-4)
        return Sides(calls[0][0], {"emx-onnx-cgen": calls[1][0]})

    return prepare


def beside_fast(name: str, count: int):
    """The project of `style="fast"`, compiled in the same way, with one thread."""

    def prepare(threads):
        import composit

        folder = made(name)
        function, arguments = MODELS[name]()
        expected = interpreted(function, arguments)
        if not (folder / "fast.so").exists():
            compiled = composit.compile(function, *arguments, name="fast")
            compiled.export(folder / "fast")
            inputs = ", ".join(
                f"const {'float' if each.dtype == F else 'int64_t'}* x{i}"
                for i, each in enumerate(arguments)
            )
            names = ", ".join(f"x{i}" for i in range(len(arguments)))
            has_weights = (folder / "fast/fast.weights").exists()
            load = f'fast::load_weights("{folder}/fast/fast.weights");' if has_weights else ""
            (folder / "fast/call.cpp").write_text(
                f'#include "fast.hpp"\nextern "C" void load() {{ {load} }}\n'
                f'extern "C" void call({inputs}, float* y) {{ fast::fast_({names}, y, 1); }}\n'
            )
            seconds_of("g++", "-std=c++17", "-DNDEBUG", *FLAGS[1:], "-shared", "-fPIC", "-pthread",
                       "fast.cpp", "call.cpp", "-o", "../fast.so", cwd=folder / "fast")  # fmt: skip
        ctypes.CDLL(str(folder / "fast.so")).load()
        calls = []
        for side, called in (("ours", "ours"), ("fast", "call")):
            result = np.zeros_like(expected)
            calls.append(caller(folder, side, called, arguments, result, count))
            calls[-1]()
            if result.tobytes() != expected.tobytes():
                raise AssertionError(f"{name}, {side}: other bits than in the process")
        return Sides(calls[0], {"fast style": calls[1]})

    return prepare


def without_weights(path: Path) -> int:
    """Lines but those of tables: initialisers of constants."""
    count, is_inside = 0, False
    for line in path.read_text().splitlines():
        is_inside |= bool(re.match(r"(static )?const (EMX_UNUSED )?float \w+\[.*= \{", line))
        count += not is_inside
        is_inside &= not line.endswith("};")
    return count


def lines(name: str):
    def measure(threads):
        return tuple_of(*(without_weights(made(name) / f"{side}.c") for side in ("ours", "theirs")))

    return measure


def tuple_of(ours: float, theirs: float) -> tuple[float, dict[str, float]]:
    return ours, {"emx-onnx-cgen": theirs}


def size(name: str):
    """Text and data at -Os, beside the weights."""

    def measure(threads):
        folder, found = made(name), []
        for side in ("ours", "theirs"):
            seconds_of("gcc", "-std=c99", "-Os", "-c", f"{side}.c", "-o", "size.o", cwd=folder)
            printed = subprocess.run(
                ["size", "size.o"], cwd=folder, capture_output=True, text=True, check=True
            ).stdout
            text, data = (int(word) for word in printed.split()[6:8])
            found.append(text + data - 4 * WEIGHTS[name])
        return tuple_of(*found)

    return measure


WEIGHTS = {"4-16-3": 4 * 16 + 16 + 16 * 3 + 3}  # numbers


def compile_seconds(name: str):
    def measure(threads):
        return tuple_of(*map(float, (made(name) / "seconds").read_text().split()))

    return measure


CALLS = {"4-16-3": 20000, "MLP of 0.4 MB": 100, "MLP of 2.7 MB": 20}
# Of the smallest, a call is most of it; one row's product with the large weights is the time that
# memory takes, of either side.
WITHOUT_DEMAND = ("4-16-3", "MLP of 2.7 MB")


def cases():
    one = (1,)
    for name in MODELS:
        count = CALLS.get(name, 1)
        must = None if name in WITHOUT_DEMAND else 2.0
        yield Case(f"{name}, plain C", must, 3.0, beside_emx(name, count), count, one)
        yield Case(f"{name}, plain C beside fast", 0.4, 0.6, beside_fast(name, count), count, one)
        most = 100 if name == "4-16-3" else None
        yield Probe(f"{name}, lines", most, None, "lines", lines(name), threads=one)
        most_seconds = 1.0 if name == "4-16-3" else None
        yield Probe(f"{name}, gcc -O2", most_seconds, None, "s", compile_seconds(name), threads=one)
    yield Probe("4-16-3, -Os", 4096, None, "bytes", size("4-16-3"), threads=one)


if __name__ == "__main__":
    notes = (
        "Functions of one thread in C99, with their weights as constants of the text, but BERT, "
        "whose are arguments; emx-onnx-cgen's is made of the ONNX model that composit writes. "
        "Plain C has the bits of "
        "the interpreter, emx-onnx-cgen's agrees to 1e-4 of the largest. Lines and bytes are "
        "those beside the weights."
    )
    main("Plain C", notes, cases)
