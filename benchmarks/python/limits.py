"""What the machine can do at most, measured by limits.cpp, built for the CPU that it runs on."""

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path

from measure import FOLDER, Limits

SOURCE = Path(__file__).with_name("limits.cpp")


def limits(threads: int) -> Limits:
    """Of as many cores as threads: the multiply-adds of one, times their number, so that another
    program on one of them does not lower the limit; and what all copy together."""
    command = [built("limits"), str(threads)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    flops, bandwidth = map(float, printed.stdout.split())
    return Limits(1e9 * flops * threads, 1e9 * bandwidth)


def multiply_adds(threads: int, operations: float) -> None:
    """Nothing but multiply-adds, by all threads: what a product of so many operations takes at
    the least, at the moment of the call."""
    library = ctypes.CDLL(str(built("limits.so", "-shared", "-fPIC")))
    library.multiply_adds(ctypes.c_int(threads), ctypes.c_double(operations))


def built(name: str, *options: str) -> Path:
    key = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    result = FOLDER / f"{key}-{name}"
    if not result.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CXX", "c++")
        command = [compiler, "-O2", "-std=c++17", "-march=native", "-ffp-contract=fast", *options]
        subprocess.run([*command, "-pthread", SOURCE, "-o", result], check=True)
    return result
