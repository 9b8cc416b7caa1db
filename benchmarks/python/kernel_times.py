"""Where a compiled program's time goes: `python kernel_times.py vit` lists its slowest kernels."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import defaultdict

import numpy as np


def shape_of(kernel) -> str:
    """The loops, in short."""
    parts = ("batch", "rows", "columns", "depth", "extents", "kept", "reduced", "outer", "inner")
    fields = kernel.fields
    return " ".join(f"{p}{list(fields[p])}" for p in parts if p in fields).replace(", ", ",")


def example(name: str):
    """The function and its arguments."""
    from models import bert, convnet, resnet, training, vit
    from models.weights import draw, normal

    if name.startswith("bert"):  # weights that stay are constants of the program
        weights = draw(bert.shapes())
        ids, mask = bert.inputs(int(name[4:] or 1))
        return lambda ids, mask: bert.composit_model(ids, mask, weights), (ids, mask)
    if name == "gpt2":
        return token_of_gpt2()
    if name == "resnet":
        weights = draw(resnet.shapes())
        return lambda image: resnet.composit_model(image, weights), (normal(1, 3, 224, 224),)
    model = {"convnet": convnet, "vit": vit}[name]
    weights = draw(model.shapes())
    step = training.composit_step(model.composit_model)
    return step, (*training.batch_of(32), weights, training.composit_state(weights))


def token_of_gpt2():
    """What follows 128 tokens, in caches of 256."""
    from models import gpt2_step

    from composit.model_zoo import gpt2
    from composit.model_zoo.parameters import as_tensors

    parameters = as_tensors(gpt2.create_parameters())

    def model(ids, cache, position):
        return gpt2.gpt2(ids, parameters, num_heads=12, cache=cache, position=position)

    return model, (np.full((1, 1), 464), gpt2_step.empty_cache(256), np.int64(128))


def report(name: str, runs: int, lines: int) -> None:
    import composit

    function, arguments = example(name)
    with tempfile.TemporaryDirectory() as cache:
        compiled = composit.compile(function, *arguments, threads=1, cache_folder=cache)
    compiled(*arguments)
    times = np.array([compiled.seconds_of_kernels(*arguments) for _ in range(runs)]) * 1e9
    # Packs run once, when the program is loaded.
    kernels = [
        (k.name, k.kind, k.flops, shape_of(k), " ".join(k.lines)) if k.kind != "Pack" else None
        for k in compiled.kernels
    ]
    times = times[:, [kernel is not None for kernel in kernels]]
    kernels = [kernel for kernel in kernels if kernel is not None]
    medians = np.median(times[1:], axis=0) / 1e3
    print(f"{name}: {medians.sum():.0f} us in {len(kernels)} kernels, one thread")
    groups = defaultdict(lambda: [0, 0.0, 0.0])
    for time, (kernel, kind, flops, shape, line) in zip(medians, kernels):
        found = groups[(kind, re.sub(r"_\d+$", "", kernel), shape, line)]
        found[0] += 1
        found[1] += time
        found[2] += flops
    kinds = defaultdict(float)
    for (kind, *_), (_, time, _) in groups.items():
        kinds[kind] += time
    print("  " + ", ".join(f"{k} {100 * t / medians.sum():.1f} %" for k, t in kinds.items()))
    print(f"  {'us':>9} {'%':>5} {'count':>5} {'GFLOP/s':>8}  kernel")
    ordered = sorted(groups.items(), key=lambda item: -item[1][1])
    for (kind, kernel, shape, line), (count, time, flops) in ordered[:lines]:
        rate = flops / max(time, 1e-9) / 1e3
        share = 100 * time / medians.sum()
        print(f"  {time:9.0f} {share:5.1f} {count:5} {rate:8.1f}  {kind} {kernel} {shape} {line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="bert, bert8, gpt2, resnet, convnet or vit")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--lines", type=int, default=25)
    chosen = parser.parse_args()
    report(chosen.model, chosen.runs, chosen.lines)


if __name__ == "__main__":
    main()
