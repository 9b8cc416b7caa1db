"""Compares every function of composit.numpy with NumPy's: prints a line for each that is named (all
without names); `--write` makes docs/numpy-conformance.md of all.

    python tools/compare_with_numpy.py sum linalg.svd
"""

import argparse
import concurrent.futures
import os
import pickle
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/numpy-conformance.md"
# NumPy's loops differ between instruction sets, in which zero `fmax` returns for instance. Those of
# x86 that it looks for at run time, from all to none.
DISABLED = ("", "AVX512_ICL", "AVX512_ICL X86_V4", "AVX512_ICL X86_V4 X86_V3")
# Writes what came of all functions' cases: their number, ulps and deviations by name.
CHILD = """
import pickle, sys
from numpy_conformance import page
tried = {row.name: page.tried(row) for row in page.rows()}
pickle.dump({n: (o.count, o.ulps, dict(o.deviations)) for n, o in tried.items()}, sys.stdout.buffer)
"""
Found = dict[str, tuple[int, float, dict[str, list[str]]]]


def with_disabled(features: str) -> Found:
    """What comes of all functions' cases where NumPy does without some instructions."""
    path = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "NPY_DISABLE_CPU_FEATURES": features}
    command = [sys.executable, "-W", "ignore", "-c", CHILD]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    found: Found = pickle.loads(done.stdout)
    return found


def written_page(jobs: int) -> str:
    """The page of all functions, of the worst that comes of each instruction set."""
    from numpy_conformance import page  # type: ignore[import-not-found]

    outcomes = [page.Outcome(row) for row in page.rows()]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(with_disabled, DISABLED):
            for outcome in outcomes:
                outcome.count, ulps, deviations = found[outcome.row.name]
                outcome.add_worse(ulps, deviations)
    return page.page(outcomes)


def main() -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    from numpy_conformance import page  # type: ignore[import-not-found]

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=2, help="instruction sets at a time")
    arguments = parser.parse_args()
    if arguments.write:
        PAGE.write_text(written_page(arguments.jobs))
        return
    for row in page.rows():
        if not arguments.names or row.name in arguments.names:
            outcome = page.tried(row)
            print(outcome.line(), flush=True)
            if arguments.names:
                for kind, calls in outcome.deviations.items():
                    print(f"    {kind}:", *calls, sep="\n        ")


if __name__ == "__main__":
    main()
