"""Where a compiled program's time goes: `python kernel_times.py vit` lists its slowest kernels.

The generated C++ is compiled by a stand-in for the compiler, which puts a clock around each kernel.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

CLOCK = r"""
#include <chrono>
#include <cstdio>
#include <vector>
namespace {
struct Log {
    std::vector<int64_t> times;
    ~Log() {
        if (FILE* file = std::fopen(COMPOSIT_TIMES, "ab")) {
            std::fwrite(times.data(), sizeof(int64_t), times.size(), file);
            std::fclose(file);
        }
    }
} kernel_log;
inline int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
template <auto run>
void timed(int64_t begin, int64_t end, void* const* at, void* scratch, Fault* fault) {
    const int64_t start = now();
    run(begin, end, at, scratch, fault);
    const int64_t stop = now();
    kernel_log.times.push_back(start);
    kernel_log.times.push_back(stop - start);
}
}  // namespace
extern "C" {
extern const Entry"""


def stand_in(arguments: list[str]) -> int:
    """The compiler, given the source with clocks in it."""
    for i, argument in enumerate(arguments):
        path = Path(argument)
        if argument.endswith(".cpp") and "composit_kernels[]" in path.read_text():
            file = os.environ["COMPOSIT_TIMES"]
            clock = CLOCK.replace("COMPOSIT_TIMES", f'"{file}"')
            text = path.read_text().replace('extern "C" {\nextern const Entry', clock)
            timed = path.with_name(f"timed_{path.name}")
            timed.write_text(re.sub(r"(?m)^    \{(run_\w+), ", r"    {timed<\1>, ", text))
            arguments[i] = str(timed)
    return subprocess.run(["c++", *arguments]).returncode


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
    if name == "resnet":
        weights = draw(resnet.shapes())
        return lambda image: resnet.composit_model(image, weights), (normal(1, 3, 224, 224),)
    model = {"convnet": convnet, "vit": vit}[name]
    weights = draw(model.shapes())
    step = training.composit_step(model.composit_model)
    return step, (*training.batch_of(32), weights, training.composit_state(weights))


def measure(name: str, runs: int, file: str) -> None:
    """Runs the program in this process; the clocks write `file` at its end."""
    import pickle

    import composit

    function, arguments = example(name)
    with tempfile.TemporaryDirectory() as cache:
        compiled = composit.compile(function, *arguments, threads=1, cache_folder=cache)
        for _ in range(runs):
            compiled(*arguments)
    kernels = [
        (k.name, k.kind, k.flops, shape_of(k), " ".join(k.lines))
        for k in compiled.kernels
        if k.kind != "Pack"  # run once, when the program is loaded
    ]
    Path(file + ".kernels").write_bytes(pickle.dumps(kernels))


def report(name: str, runs: int, lines: int) -> None:
    import pickle

    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/times"
        compiler = Path(folder) / "timed-c++"
        compiler.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} --as-compiler "$@"\n')
        compiler.chmod(0o755)
        environment = {**os.environ, "COMPOSIT_TIMES": file, "CXX": str(compiler)}
        command = [sys.executable, __file__, name, "--runs", str(runs), "--child", file]
        subprocess.run(command, env=environment, check=True)
        kernels = pickle.loads(Path(file + ".kernels").read_bytes())
        times = np.fromfile(file, np.int64).reshape(-1, 2)
    times = times[np.argsort(times[:, 0])][:, 1]
    # Without what is done once, when the program is loaded: the packing of constants.
    times = times[-runs * len(kernels) :].reshape(runs, -1)
    if times.shape[1] != len(kernels):
        sys.exit(f"{times.shape[1]} calls were timed, the program has {len(kernels)} kernels")
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
    if sys.argv[1:2] == ["--as-compiler"]:
        sys.exit(stand_in(sys.argv[2:]))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="bert, bert8, resnet, convnet or vit")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--lines", type=int, default=25)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        measure(chosen.model, chosen.runs, chosen.child)
    else:
        report(chosen.model, chosen.runs, chosen.lines)


if __name__ == "__main__":
    main()
