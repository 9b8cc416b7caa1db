"""`gpu.py [WORD]` measures composit on a device beside PyTorch, CuPy and JAX on the same GPU.

Each row first compares the device's results with the CPU's, bit for bit, then times calls whose
arguments lie on the device. Everything computes in float32, without tf32. A file of JSON holds all
rows so far after each; a row that fails, or takes too long, says so there and the next one begins.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from gpu_rows import Row, Steps, Work, all_rows

ROOT = Path(__file__).resolve().parents[2]
LEAST_SECONDS, ROUNDS = 20e-3, 7
Call = Callable[[], Any]


# ----- one row, in the child


def leaves(result: Any) -> list[Any]:
    if isinstance(result, (list, tuple)):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def differing(ours: Any, expected: Any) -> int:
    """Elements whose bits differ, NaN being equal to NaN."""
    count = 0
    for a, b in zip(map(np.asarray, leaves(ours)), map(np.asarray, leaves(expected)), strict=True):
        bits = np.dtype(f"u{a.dtype.itemsize}")
        unequal = np.ascontiguousarray(a).view(bits) != np.ascontiguousarray(b).view(bits)
        if a.dtype.kind == "f":
            unequal &= ~(np.isnan(a) & np.isnan(b))
        count += int(unequal.sum())
    return count


def farthest(ours: Any, theirs: Any) -> float:
    """The largest difference, as a part of the largest element."""
    a = np.asarray(leaves(ours)[0], np.float64)
    b = np.asarray(leaves(theirs)[0], np.float64)
    return float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-30))


def seconds_of(call: Call, wait: Callable[[Any], None]) -> float:
    """Of one call, when many are asked for one after the other: the median of a few rounds."""
    for _ in range(3):
        wait(call())
    start = time.perf_counter()
    wait(call())
    once = time.perf_counter() - start
    count = max(1, min(1000, round(LEAST_SECONDS / max(once, 1e-6))))
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(count):
            result = call()
        wait(result)
        times.append((time.perf_counter() - start) / count)
    return statistics.median(times)


def feeding(function: Callable[..., Any], work: Work, arguments: list[Any]) -> Call:
    """Calls with the same arguments, or with the last results."""
    if not work.feeds_back:
        return lambda: function(*arguments)
    held = list(arguments)

    def call() -> Any:
        result = function(*held)
        held[:] = result[1:]
        return result

    return call


class Torch:
    def __init__(self) -> None:
        import torch

        self.torch = torch
        if not torch.cuda.is_available():
            raise RuntimeError("torch has no GPU")
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True

    def put(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(array).cuda()

    def prepared(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            with self.torch.inference_mode():
                return function(*arguments)

        return call

    def wait(self, result: Any) -> None:
        self.torch.cuda.synchronize()

    def fetch(self, result: Any) -> Any:
        return [leaf.cpu().numpy() for leaf in leaves(result)]


class Cupy:
    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        cupy.cuda.Device(0).use()

    def put(self, array: np.ndarray) -> Any:
        return self.cupy.asarray(array)

    def prepared(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def wait(self, result: Any) -> None:
        self.cupy.cuda.get_current_stream().synchronize()

    def fetch(self, result: Any) -> Any:
        return [self.cupy.asnumpy(leaf) for leaf in leaves(result)]


class Jax:
    def __init__(self) -> None:
        import jax

        self.jax = jax
        if jax.devices()[0].platform != "gpu":
            raise RuntimeError("jax has no GPU")
        jax.config.update("jax_default_matmul_precision", "highest")

    def put(self, array: np.ndarray) -> Any:
        return self.jax.device_put(array)

    def prepared(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.jax.jit(function)

    def wait(self, result: Any) -> None:
        self.jax.block_until_ready(result)

    def fetch(self, result: Any) -> Any:
        return [np.asarray(leaf) for leaf in leaves(result)]


LIBRARIES: dict[str, Callable[[], Any]] = {"torch": Torch, "cupy": Cupy, "jax": Jax}


def measure_peer(name: str, function: Any, work: Work, ours: Any) -> dict[str, Any]:
    library = LIBRARIES[name]()
    arguments = [library.put(np.asarray(argument)) for argument in work.arguments]
    if getattr(function, "makes", False):
        prepared = function(*arguments)
        prepared = library.prepared(prepared) if name == "torch" else prepared
    else:
        prepared = library.prepared(function)
    far = farthest(ours, library.fetch(prepared(*arguments)))
    seconds = seconds_of(feeding(prepared, work, arguments), library.wait)
    return {"seconds": seconds, "difference": far, "agrees": far <= work.tolerance}


def measure(row: Row, device: str, small: bool) -> dict[str, Any]:
    import composit
    import composit.numpy as cnp

    work = row.make(small)
    if isinstance(work, Steps):
        return measure_steps(row, work, device)
    found: dict[str, Any] = named(row)
    start = time.perf_counter()
    compiled = composit.compile(work.ours, *work.arguments, device=device)
    found["compile_seconds"] = time.perf_counter() - start
    arguments = [cnp.asarray(argument, device=device) for argument in work.arguments]

    def wait(result: Any) -> None:
        composit.devices.synchronise(device)

    start = time.perf_counter()
    result = compiled(*arguments)
    ours = [np.asarray(leaf) for leaf in leaves(result)]
    found["first_seconds"] = time.perf_counter() - start
    expected = composit.compile(work.ours, *work.arguments, backend="interpreter")(*work.arguments)
    found["differing"] = differing(ours, [np.asarray(leaf) for leaf in leaves(expected)])
    found["seconds"] = seconds_of(feeding(compiled, work, arguments), wait)
    found["gflops"] = work.flops / found["seconds"] / 1e9
    found["gigabytes"] = work.bytes / found["seconds"] / 1e9
    for name, function in work.peers.items():
        try:
            found["peers"][name] = measure_peer(name, function, work, ours)
        except Exception as error:
            found["peers"][name] = {"failed": f"{type(error).__name__}: {error}"[:500]}
    return with_ratio(found)


def named(row: Row) -> dict[str, Any]:
    return {"name": row.name, "must": row.must, "aim": row.aim, "peers": {}}


def with_ratio(found: dict[str, Any]) -> dict[str, Any]:
    """The best peer's time over composit's, if any peer was timed."""
    timed = {n: p["seconds"] for n, p in found["peers"].items() if "seconds" in p}
    if timed:
        best = min(timed, key=lambda name: timed[name])
        found |= {"best": best, "ratio": timed[best] / found["seconds"]}
    return found


def measure_steps(row: Row, work: Steps, device: str) -> dict[str, Any]:
    """Seconds are those of `count` steps. The first steps' losses and weights are compared with
    the CPU's to the bit, and PyTorch's losses with those."""
    import composit
    import composit.torch as torch

    few, found = 3, named(row)
    start = time.perf_counter()
    ours, on_cpu = work.training(torch, device), work.training(torch, "cpu")
    losses = [ours.steps(1).item() for _ in range(few)]
    expected = [on_cpu.steps(1).item() for _ in range(few)]
    found["first_seconds"] = time.perf_counter() - start
    of_both = [np.float32(losses), *ours.weights().values()]
    found["differing"] = differing(of_both, [np.float32(expected), *on_cpu.weights().values()])

    def wait(result: Any) -> None:
        composit.devices.synchronise(device)

    found["seconds"] = seconds_of(lambda: ours.steps(work.count), wait)
    found["compile_seconds"] = found["gflops"] = found["gigabytes"] = 0.0
    try:
        library = Torch()
        theirs = work.training(library.torch, "cuda")
        far = max(abs(a / theirs.steps(1).item() - 1) for a in losses)
        seconds = seconds_of(lambda: theirs.steps(work.count), library.wait)
        found["peers"]["torch"] = {"seconds": seconds, "difference": far, "agrees": far <= 1e-3}
    except Exception as error:
        found["peers"]["torch"] = {"failed": f"{type(error).__name__}: {error}"[:500]}
    return with_ratio(found)


def child(names: list[str], device: str, small: bool) -> None:
    """Prints a line of JSON for each row. Ends after a row that failed: the device may not work in
    this process any more."""
    for row in all_rows():
        if row.name not in names:
            continue
        print(json.dumps({"begins": row.name}), flush=True)
        try:
            print(json.dumps(measure(row, device, small)), flush=True)
        except Exception:
            text = traceback.format_exc()[-3000:]
            print(json.dumps({"name": row.name, "failed": text}), flush=True)
            sys.exit(1)


# ----- all rows, in the parent


def about(device: str) -> dict[str, Any]:
    """What was measured, where: unknown things are left out."""
    found: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "python": sys.version.split()[0],
        "commit": os.environ.get("COMMIT", ""),
    }
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    if commit.returncode == 0:
        found["commit"] = commit.stdout.strip()
    for name in ("composit", "numpy", "torch", "cupy", "jax"):
        try:
            found[name] = getattr(importlib.import_module(name), "__version__", "")
        except Exception as error:
            found[name] = f"not here: {error}"[:200]
    import composit

    found["device"] = composit.devices.describe(device)
    return found


def printed(row: dict[str, Any]) -> str:
    if "failed" in row:
        return f"{row['name']:<36} failed: {row['failed'].strip().splitlines()[-1]}"
    bits = "equal bits" if row["differing"] == 0 else f"{row['differing']} ELEMENTS DIFFER"
    parts = [f"{row['name']:<36} {row['seconds'] * 1e6:10.1f} us", bits]
    if row["gflops"]:
        parts.append(f"{row['gflops']:.0f} GFLOP/s")
    if row["gigabytes"]:
        parts.append(f"{row['gigabytes']:.0f} GB/s")
    for name, peer in row["peers"].items():
        if "seconds" in peer:
            far = "" if peer["agrees"] else f" DIFFERS by {peer['difference']:.1e}"
            parts.append(f"{name} {peer['seconds'] * 1e6:.1f} us{far}")
        else:
            parts.append(f"{name}: {peer['failed'][:60]}")
    return ", ".join(parts)


def run_rows(names: list[str], chosen: argparse.Namespace, keep: Callable[[dict], None]) -> None:
    """Rows in children, one after the other; a new child where one ends early."""
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    while names:
        command = [sys.executable, __file__, "--child", "--device", chosen.device, *names]
        if chosen.small:
            command.insert(3, "--small")
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout
        began = names[0]
        late: list[str] = []

        def end(process: Any = process, late: list[str] = late) -> None:
            late.append(f"took more than {chosen.limit} seconds")
            process.kill()

        clock = threading.Timer(chosen.limit, end)
        clock.start()
        for line in process.stdout:
            try:
                found = json.loads(line)
            except json.JSONDecodeError:
                print(line, end="", file=sys.stderr)
                continue
            clock.cancel()
            clock = threading.Timer(chosen.limit, end)
            clock.start()
            if "begins" in found:
                began = found["begins"]
                continue
            keep(found)
            names = [name for name in names if name != found["name"]]
        clock.cancel()
        status = process.wait()
        if names and began in names:  # killed, or crashed, in that row
            reason = late[0] if late else f"the process ended with status {status}"
            keep({"name": began, "failed": reason})
            names = [name for name in names if name != began]
        elif status == 0:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only rows with one of these in their names")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=ROOT / "build/gpu/gpu.json")
    parser.add_argument("--limit", type=float, default=90, help="seconds of a row at most")
    parser.add_argument("--small", action="store_true", help="small arrays, to try the script")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(chosen.words, chosen.device, chosen.small)
        return
    names = [
        row.name
        for row in all_rows()
        if not chosen.words or any(word in row.name for word in chosen.words)
    ]
    rows: list[dict[str, Any]] = []
    facts = about(chosen.device)

    def keep(row: dict[str, Any]) -> None:
        rows.append(row)
        print(printed(row), flush=True)
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        unfinished = chosen.out.with_suffix(".new")
        unfinished.write_text(json.dumps({"about": facts, "rows": rows}, indent=1) + "\n")
        unfinished.replace(chosen.out)

    run_rows(names, chosen, keep)
    sys.exit(any("failed" in row or row["differing"] for row in rows))


if __name__ == "__main__":
    main()
