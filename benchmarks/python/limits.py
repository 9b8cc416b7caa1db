"""What the machine can do at most, measured by limits.cpp, built for the CPU that it runs on."""

import hashlib
import os
import subprocess
from pathlib import Path

from measure import FOLDER, Limits

SOURCE = Path(__file__).with_name("limits.cpp")


def limits(threads: int) -> Limits:
    """Of as many cores as threads: the multiply-adds of one, times their number, so that another
    program on one of them does not lower the limit; and what all copy together."""
    key = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    program = FOLDER / f"limits-{key}"
    if not program.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CXX", "c++")
        command = [compiler, "-O2", "-std=c++17", "-march=native", "-ffp-contract=fast"]
        subprocess.run([*command, "-pthread", SOURCE, "-o", program], check=True)
    printed = subprocess.run([program, str(threads)], capture_output=True, text=True, check=True)
    flops, bandwidth = map(float, printed.stdout.split())
    return Limits(1e9 * flops * threads, 1e9 * bandwidth)
