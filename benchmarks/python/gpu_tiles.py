"""`gpu_tiles.py [SIZE…]` times composit's matrix product on a GPU by how many groups of threads a
processor is to have room for: the second number of __launch_bounds__. Beside them cuBLAS, by CuPy.

More groups hide one another's waiting; fewer have more registers, so that no sums are spilled.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Callable

import numpy as np

BOUNDS = re.compile(r"(__launch_bounds__\((\d+), )(\d+)(\)\s+(\w+)\()")
OPTIONS = ("--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
TILE = 128


def text_of(size: int) -> str:
    import composit

    a = np.zeros((size, size), np.float32)
    return composit.compile(lambda a, b: a @ b, a, a, device="cuda").source


def with_groups(text: str, groups: int) -> tuple[str, str, int]:
    """The text with that number, the function that it bounds, and its threads."""
    found = BOUNDS.search(text)
    if found is None:
        raise ValueError("the text has no __launch_bounds__: the product is not done in tiles")
    return BOUNDS.sub(rf"\g<1>{groups}\g<4>", text), found[5], int(found[2])


def milliseconds(call: Callable[[], object]) -> float:
    import cupy

    for _ in range(3):
        call()
    times = []
    for _ in range(9):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end))
    return statistics.median(times)


def main(sizes: list[int]) -> None:
    import cupy

    for size in sizes:
        random = np.random.default_rng(size)
        a, b = (cupy.asarray(random.standard_normal((size, size), np.float32)) for _ in "ab")
        out, first = cupy.empty_like(a), None
        tiles = (size // TILE) ** 2
        text = text_of(size)
        for groups in (1, 2):
            changed, name, threads = with_groups(text, groups)
            kernel = cupy.RawModule(code=changed, options=OPTIONS).get_function(name)
            time = milliseconds(lambda: kernel((tiles,), (threads,), (a, b, out)))  # noqa: B023
            first = out.copy() if first is None else first
            equal = bool((out.view(cupy.uint32) == first.view(cupy.uint32)).all())
            print(
                f"{size}: {groups} groups, {kernel.num_regs} registers, "
                f"{kernel.local_size_bytes} bytes spilled: {time:.3f} ms, "
                f"{2e-9 * size**3 / time:.1f} TFLOP/s, equal bits: {equal}",
                flush=True,
            )
        time = milliseconds(lambda: cupy.matmul(a, b, out=out))  # noqa: B023
        print(f"{size}: cuBLAS {time:.3f} ms, {2e-9 * size**3 / time:.1f} TFLOP/s", flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [2048, 4096, 8192])
