"""Runs a training script under PyTorch and, with only the import swapped, under composit.torch,
with equal draws, and compares the losses of its `backward` calls:

    python tools/compare_scripts.py --losses 20 train.py --epochs 1

What a script needs besides (data, environments of games) lies in folders named by --with; modules
there and in the script's folder have swapped imports as well.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SIDES = ("pytorch", "composit")


class _Enough(BaseException):
    """As many losses were recorded as were asked for."""


def recorded(kind: type, losses: list[float], most: int) -> None:
    """Makes `backward` of a class of tensors record the tensor's sum, and the process stop at the
    most of them."""
    original = kind.backward  # type: ignore[attr-defined]

    def backward(self: Any, *args: Any, **options: Any) -> Any:
        losses.append(float(self.detach().sum().item()))
        result = original(self, *args, **options)
        if len(losses) >= most:
            raise _Enough
        return result

    kind.backward = backward  # type: ignore[attr-defined]


def run_side(options: argparse.Namespace) -> dict[str, Any]:
    """Runs the script under one library: its losses, and the error that stopped it, if one did."""
    import numpy as np

    import swapped_imports

    losses: list[float] = []
    is_ours = options.side == "composit"
    if is_ours:
        from composit import torch
    else:
        import torch  # type: ignore[no-redef]

        import equal_draws

        equal_draws.give_pytorch_composits_draws()
    recorded(torch.Tensor, losses, options.losses)
    if options.double:
        from composit import torch as makes_draws

        for library in (torch, makes_draws):
            library.set_default_dtype(library.float64)
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    folders = [Path(folder) for folder in options.folders]
    error = None
    try:
        swapped_imports.run(Path(options.script), options.arguments, folders, is_ours)
    except (_Enough, SystemExit):
        pass
    except Exception as stopped:
        import traceback

        error = "".join(traceback.format_exception(stopped))
    return {"losses": losses, "error": error}


def largest_difference(first: list[float], second: list[float]) -> float:
    """The largest relative difference; infinite where one is not finite and the other differs."""
    found = 0.0
    for a, b in zip(first, second):
        if a == b or (math.isnan(a) and math.isnan(b)):
            continue
        if not (math.isfinite(a) and math.isfinite(b)):
            return math.inf
        found = max(found, abs(a - b) / max(abs(a), abs(b)))
    return found


def of_side(side: str, options: argparse.Namespace, given: list[str]) -> dict[str, Any]:
    """What a process of its own says of one library."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "losses.json")
        # One thread: small products are slower on several where other programs run.
        own = {"MPLBACKEND": "Agg", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        environment = {**own, **os.environ}
        command = [sys.executable, __file__, "--side", side, "--file", str(file), *given]
        try:
            done = subprocess.run(command, env=environment, timeout=options.seconds, text=True,
                                  capture_output=True)  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"losses": [], "error": f"not finished within {options.seconds} seconds"}
        if not file.exists():
            return {"losses": [], "error": done.stderr[-2000:]}
        found: dict[str, Any] = json.loads(file.read_text())
        return found


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--losses", type=int, default=20, help="how many are compared")
    parser.add_argument("--double", action="store_true", help="both compute in float64")
    parser.add_argument("--with", dest="folders", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=120, help="the time of one library")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args(given)


def main() -> int:
    options = arguments(sys.argv[1:])
    if options.side:
        Path(options.file).write_text(json.dumps(run_side(options)))
        return 0
    found = {side: of_side(side, options, sys.argv[1:]) for side in SIDES}
    theirs, mine = (found[side]["losses"] for side in SIDES)
    for side in SIDES:
        if found[side]["error"]:
            print(f"{side} stopped after {len(found[side]['losses'])} losses:")
            print(found[side]["error"].rstrip())
    difference = largest_difference(theirs, mine)
    print(f"{options.script}: {len(theirs)} and {len(mine)} losses, "
          f"largest relative difference {difference:.0e}")  # fmt: skip
    is_same = len(theirs) == len(mine) > 0 and difference <= 1e-5
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
