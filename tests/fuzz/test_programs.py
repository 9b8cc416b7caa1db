"""Random imperative programs against NumPy and PyTorch, and of C++: each for a fifth of
COMPOSIT_FUZZ_MINUTES, but COMPOSIT_FUZZ_PROGRAMS, 100,000, at least: `make fuzz`."""

import os
import time

import imperative_cpp_programs as cpp_programs
import imperative_programs as programs
import imperative_torch_programs as torch_programs
import numpy as np
import pytest

import composit.numpy as cnp


def least_programs():
    return int(os.environ.get("COMPOSIT_FUZZ_PROGRAMS", "100000"))


def differs_from_numpy(text):
    return programs.differ(text, np, cnp)


def differs_from_torch(text):
    return torch_programs.differ(text, programs.same)


@pytest.mark.parametrize(
    "writer, differs",
    [
        (programs.Writer, differs_from_numpy),
        (torch_programs.Writer, differs_from_torch),
    ],
    ids=["numpy", "torch"],
)
@pytest.mark.filterwarnings("ignore")
def test_random_programs(writer, differs, capsys):
    seconds = 12 * float(os.environ.get("COMPOSIT_FUZZ_MINUTES", "5"))
    seed = int(os.environ.get("COMPOSIT_FUZZ_SEED", time.time_ns() % 10**9))
    start, counts, first = time.monotonic(), {}, seed
    while seed - first < least_programs() or time.monotonic() - start < seconds:
        text = writer(seed, counts).program()
        if differs(text):
            raise AssertionError(f"seed {seed}:\n{programs.smallest(text, differs)}")
        seed += 1
    with capsys.disabled():
        print(f"\nfuzz: {seed - first} programs from seed {first} on: {counts}", flush=True)


def test_random_programs_of_cpp(capsys):
    seconds = 12 * float(os.environ.get("COMPOSIT_FUZZ_MINUTES", "5"))
    seed = int(os.environ.get("COMPOSIT_FUZZ_SEED", time.time_ns() % 10**9))
    start, counts, first = time.monotonic(), {}, seed
    while seed - first < least_programs() or time.monotonic() - start < seconds:
        texts = [cpp_programs.Writer(s, counts).program() for s in range(seed, seed + 2000)]
        place = cpp_programs.difference(texts)
        if place is not None:
            shown = cpp_programs.shown(texts[place])
            raise AssertionError(f"seed {seed + place}:\n{shown}")
        seed += 2000
    with capsys.disabled():
        print(f"\nfuzz: {seed - first} programs of C++ from seed {first} on: {counts}", flush=True)
