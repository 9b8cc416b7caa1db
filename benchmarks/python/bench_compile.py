"""What compiling costs: BERT-base's first call, and how the time grows with the number of nodes."""

import json
import mmap
import statistics
import subprocess
import sys
import tempfile
import time
from functools import cache
from itertools import pairwise

import numpy as np
from group import main
from measure import Probe

SIZES = (100, 1_000, 10_000, 100_000)


def fresh(*arguments: str) -> float:
    """What this program prints in a process of its own."""
    command = [sys.executable, __file__, "--fresh", *arguments]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def resnet():
    """A function and its arguments."""
    from models import resnet
    from models.weights import draw, normal

    weights = draw(resnet.shapes())
    return lambda image: resnet.composit_model(image, weights), (normal(1, 3, 224, 224),)


def mobilenet():
    import torch
    from transformers import MobileNetV2Config, MobileNetV2ForImageClassification

    from composit import flashlight

    network = MobileNetV2ForImageClassification(MobileNetV2Config(num_labels=1000)).eval()
    pixels = torch.zeros(1, 3, 224, 224)
    traced = flashlight.trace(lambda x: network(x).logits, pixels)
    return traced, (pixels.numpy(),)


def perceptron():
    import composit.numpy as cnp

    rng = np.random.default_rng(0)
    x, first, second = (rng.standard_normal((64, 64)).astype("float32") for _ in range(3))
    return lambda x: cnp.maximum(x @ first + 1, 0) @ second, (x,)


def elementwise():
    import composit.numpy as cnp

    x = np.ones(1000, "float32")
    return lambda x, y: cnp.exp(x + y) * cnp.tanh(x), (x, x)


MODELS = {
    "ResNet-50": resnet,
    "MobileNetV2": mobilenet,
    "two layers of 64": perceptron,
    "exp(x + y) * tanh(x)": elementwise,
}


def first_result(name: str, folder: str, waits: bool) -> float:
    """Seconds from the function to its first result, of a model above."""
    import composit

    function, inputs = MODELS[name]()
    start = time.perf_counter()
    composit.compile(function, *inputs, cache_folder=folder, wait=waits)(*inputs)
    return time.perf_counter() - start


def evaluate_chain(nodes: int) -> float:
    """Seconds for a chain of so many additions, made and evaluated."""
    import composit.numpy as cnp

    start = time.perf_counter()
    x = y = cnp.asarray(np.ones((40, 40)))
    for _ in range(nodes):
        y = y + x
    cnp.evaluate(y)
    return time.perf_counter() - start


def first_results(name: str):
    def measure(threads):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            compiled = fresh("model", folder, name)
            meanwhile = fresh("meanwhile", other, name)
        return compiled, {"with wait=False, s": meanwhile}

    return measure


def first_call(library: str, folder: str) -> float:
    """Seconds from the function to its first result; imports and weights are there before."""
    from models import bert
    from models.weights import draw

    inputs, weights = bert.inputs(1), draw(bert.shapes())
    if library == "JAX":
        import jax

        held = jax.block_until_ready(jax.device_put((*inputs, weights)))
        start = time.perf_counter()
        jax.block_until_ready(jax.jit(bert.jax_model)(*held))
    else:
        import composit

        def model(ids, mask):
            return bert.composit_model(ids, mask, weights)

        start = time.perf_counter()
        composit.compile(model, cache_folder=folder)(*inputs)
    return time.perf_counter() - start


def touch() -> float:
    """Seconds to touch as much new memory as BERT-base's packed weights take."""
    memory = mmap.mmap(-1, 340 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    start = time.perf_counter()
    for page in range(0, len(memory), 4096):
        memory[page] = 1
    return time.perf_counter() - start


def first_calls(is_warm: bool):
    def measure(threads):
        with tempfile.TemporaryDirectory() as folder:
            if not is_warm:
                return fresh("composit", folder), {"JAX, cold, s": fresh("JAX", "")}
            fresh("composit", folder)
            times = [fresh("composit", folder) for _ in range(5)]
        # The packed weights lie in new memory; what that costs is the host's affair.
        touched = [fresh("touch", "") for _ in range(5)]
        beside = {"median, s": statistics.median(times), "JAX, cold, s": fresh("JAX", "")}
        for name, value in (("least", min(touched)), ("most", max(touched))):
            beside[f"new memory for its weights alone, {name}, s"] = value
        return min(times), beside

    return measure


def mixed(nodes: int):
    """A function of about so many nodes: a chain of elementwise functions and small products, whose
    links read what earlier ones made."""
    import composit.numpy as cnp

    def function(x, matrix):
        kinds = np.random.default_rng(0).integers(0, 6, nodes)
        made = [x, x]
        for kind in kinds:
            last, other = made[-1], made[-(2 + int(kind) % 3) if len(made) > 4 else -2]
            made.append(
                last @ matrix if kind == 0
                else cnp.tanh(last) if kind == 1
                else last + other if kind == 2
                else last * other if kind == 3
                else cnp.maximum(last, other) if kind == 4
                else last - 0.5
            )  # fmt: skip
        return made[-1]

    return function


def compile_mixed(nodes: int, folder: str) -> float:
    import composit

    x, matrix = np.ones((4, 4), np.float32), np.full((4, 4), 0.1, np.float32)
    start = time.perf_counter()
    composit.compile(mixed(nodes), x, matrix, cache_folder=folder)
    return time.perf_counter() - start


@cache
def growth() -> tuple[list[float], list[float]]:
    """Seconds of each size, first cold, then warm, the least of three: what is large waits for
    memory, which others on the machine use, too."""
    cold, warm = [], []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            cold.append(fresh("mixed", folder, str(size)))
            warm.append(min(fresh("mixed", folder, str(size)) for _ in range(3)))
    return cold, warm


def steepest(times: list[float]) -> float:
    """From one size to the next, so that a constant part cannot hide what grows."""
    points = [(np.log(size), np.log(seconds)) for size, seconds in zip(SIZES, times)]
    return max((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points))


def slope(kind: int):
    def measure(threads):
        times = growth()[kind]
        return steepest(times), {f"{size:,} nodes, s": t for size, t in zip(SIZES, times)}

    return measure


def cases():
    yield Probe("BERT-base, first call, cold", 2.5, None, "s", first_calls(False), threads=(2,))
    yield Probe("BERT-base, first call, warm", 0.3, None, "s", first_calls(True), threads=(2,))
    for name, must in zip(MODELS, (3, 3, 0.15, 0.15)):
        yield Probe(f"{name}, first call, cold", must, None, "s", first_results(name), threads=(2,))
    yield Probe(
        "a chain of a million additions, made and evaluated", 2, None, "s",
        lambda threads: (fresh("chain", ""), {}), threads=(2,),
    )  # fmt: skip
    yield Probe("compile time over nodes, cold", 1.15, 1.05, "slope", slope(0), threads=(2,))
    yield Probe("compile time over nodes, warm", 1.15, 1.05, "slope", slope(1), threads=(2,))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fresh"]:
        what, folder, *size = sys.argv[2:]
        if what == "touch":
            found = touch()
        elif what == "chain":
            found = evaluate_chain(1_000_000)
        elif what in ("model", "meanwhile"):
            found = first_result(size[0], folder, what == "model")
        else:
            found = compile_mixed(int(size[0]), folder) if size else first_call(what, folder)
        print(json.dumps(found))
        sys.exit()
    notes = (
        "Each in a process of its own. A first call goes from the function to its first result; "
        "cold has an empty cache folder, warm (the least of five) that of an earlier process. With "
        "wait=False the interpreter answers until the C++ compiler has ended. "
        "The nodes are a chain of mixed elementwise functions and products of 4 x 4 (warm: the "
        "least of three); the slope is the steepest of log(seconds) over log(nodes) from one size "
        "to the next."
    )
    main("Compiling", notes, cases)
