"""BERT-base, inference: in the process, and exported as C++; what an export takes."""

import ctypes
import os
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
from group import main
from measure import Case, Probe, Sides, check
from models import bert
from models.weights import draw
from peers import jitted, onnx_engines, tensors


def inference(batch: int, must: float, aim: float, rounds: tuple[int, int]) -> Case:
    def prepare(threads):
        import torch

        import composit

        weights, (ids, mask) = draw(bert.shapes()), bert.inputs(batch)

        def model(ids, mask):  # the weights are constants of the program, as in a session
            return bert.composit_model(ids, mask, weights)

        ours = composit.compile(model, ids, mask, threads=threads)
        module, inputs = bert.torch_model(weights), tuple(tensors(ids, mask))

        def eager():
            with torch.inference_mode():
                return module(*inputs)

        peers = {
            **onnx_engines(module, inputs, f"bert-{batch}", threads),
            "JAX": jitted(bert.jax_model, ids, mask, weights),
            "torch": eager,
        }
        result = ours(ids, mask)
        for name, call in peers.items():
            check(f"BERT: {name}", result, call(), 1e-4)
        tables = ("words", "positions", "types")
        moved = sum(value.nbytes for name, value in weights.items() if name not in tables)
        return Sides(lambda: ours(ids, mask), peers, bert.flops(batch), moved)

    return Case(f"BERT-base, 128 tokens, batch {batch}", must, aim, prepare, rounds=rounds)


def compiled(threads: int):
    import composit

    weights = draw(bert.shapes())
    given = bert.inputs(1)
    model = composit.compile(
        lambda ids, mask: bert.composit_model(ids, mask, weights),
        *given,
        threads=threads,
        name="bert",
    )
    return model, given


@cache
def exported() -> tuple[Path, dict[str, float]]:
    """A library of the exported model, and what it takes. The folder goes with the process."""
    held = tempfile.TemporaryDirectory()
    held_folders.append(held)
    folder = Path(held.name)
    compiled(1)[0].export(folder)
    source = sum(file.stat().st_size for file in folder.glob("*.[ch]pp"))
    call = 'extern "C" void call(const int64_t* ids, const int64_t* mask, float* result, int n) '
    (folder / "call.cpp").write_text(
        '#include "bert.hpp"\n' + call + "{ bert::bert_(ids, mask, result, n); }\n"
        'extern "C" void load(const char* file) { bert::load_weights(file); }\n'
    )
    command = "g++ -O2 -DNDEBUG -std=c++17 -shared -fPIC -pthread bert.cpp call.cpp -o bert.so"
    start = time.perf_counter()
    subprocess.run(command.split(), cwd=folder, check=True)
    seconds = time.perf_counter() - start
    return folder, {"source": source / 1e6, "build": seconds}


held_folders: list[tempfile.TemporaryDirectory] = []


def beside_the_process(threads: int) -> Sides:
    ours, (ids, mask) = compiled(threads)
    folder, _ = exported()
    library = ctypes.CDLL(str(folder / "bert.so"))
    library.load(os.fsencode(folder / "bert.weights"))
    expected = ours(ids, mask)
    result = np.zeros_like(expected)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (ids, mask, result)]

    def call():
        library.call(*pointers, threads)
        return result

    if call().tobytes() != expected.tobytes():
        raise AssertionError("BERT, exported: other bits than in the process")
    return Sides(call, {"in the process": lambda: ours(ids, mask)}, bert.flops(1))


def traced(threads: int) -> tuple[float, dict[str, float]]:
    """Seconds until transformers' BertModel is a plan: what is left is the compiler's."""
    import torch
    from transformers import BertConfig, BertModel

    from composit import flashlight

    model, ids = BertModel(BertConfig()).eval(), torch.zeros((1, 128), dtype=torch.int64)
    flashlight.trace(model, ids)  # PyTorch imports much at its first trace
    start = time.perf_counter()
    program = flashlight.trace(model, ids)
    middle = time.perf_counter()
    program.compile(backend="interpreter", threads=threads)
    end = time.perf_counter()
    return end - start, {"tracing, s": middle - start}


def cases():
    yield inference(1, 1.1, 1.3, (5, 9))
    yield inference(8, 1.05, 1.25, (3, 3))
    yield Case("BERT-base exported, batch 1", 0.95, None, beside_the_process, rounds=(5, 9))
    one = (1,)
    size, build = (lambda n, what=what: (exported()[1][what], {}) for what in ("source", "build"))
    yield Probe("BERT-base exported, source", 1, None, "MB", size, threads=one)
    yield Probe("BERT-base exported, built by g++", 60, None, "s", build, threads=one)
    yield Probe("BertModel traced and planned", 1.5, None, "s", traced, threads=one)


if __name__ == "__main__":
    notes = (
        "By hand in composit.nn and jax.numpy; transformers' BertModel in torch, exported for ONNX "
        "Runtime. Weights are constants of composit's program and ONNX Runtime's session, "
        "arguments of JAX's function. Bytes are those of the weights. Results agree to 1e-4 of "
        "the largest. The exported model is compared with the compiled one, which has its bits; "
        "traced and planned is transformers' BertModel, before the compiler is called."
    )
    main("BERT-base", notes, cases)
