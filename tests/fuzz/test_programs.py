"""Random imperative programs against NumPy, for a fifth of COMPOSIT_FUZZ_MINUTES: `make fuzz`."""

import os
import time

import imperative_programs as programs
import numpy as np

import composit.numpy as cnp


def differs(text):
    return not programs.same(programs.run(text, np), programs.run(text, cnp))


def test_random_programs(capsys):
    seconds = 12 * float(os.environ.get("COMPOSIT_FUZZ_MINUTES", "5"))
    seed = int(os.environ.get("COMPOSIT_FUZZ_SEED", time.time_ns() % 10**9))
    start, counts, first = time.monotonic(), {}, seed
    while time.monotonic() - start < seconds:
        text = programs.Writer(seed, counts).program()
        if differs(text):
            raise AssertionError(f"seed {seed}:\n{programs.smallest(text, differs)}")
        seed += 1
    with capsys.disabled():
        print(f"\nfuzz: {seed - first} programs from seed {first} on: {counts}", flush=True)
