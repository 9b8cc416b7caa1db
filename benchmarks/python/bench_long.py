"""Loops of 100,000 steps: time of a late step beside an early one, and how much memory grows."""

import json
import subprocess
import sys
import time
from itertools import pairwise
from statistics import median

from group import main
from measure import Probe

STEPS = 100_000


def elements(np):
    x = np.zeros(1000)

    def step(i):
        x[i % 1000] = 0.5 * x[(i + 1) % 1000] + 1

    return step


def moving_average(np):
    x = np.sin(np.arange(1000.0))
    held = [x[0]]

    def step(i):
        held[0] = 0.9 * held[0] + 0.1 * x[i % 1000]

    return step


def small_arrays(np):
    held = [np.array([1.0, 0.0, 0.0])]
    turned = np.array([0.5, 0.25, 0.25])

    def step(i):
        held[0] = held[0] * 0.999 + 0.001 * turned

    return step


def with_a_look(np):
    held = [np.linspace(0.1, 1, 100)]

    def step(i):
        held[0] = held[0] * 0.99 + 0.001
        return float(held[0].max())

    return step


def heat_in_place(np):
    u = np.zeros(100)
    u[40:60] = 1

    def step(i):
        u[1:-1] += 0.1 * (u[2:] + u[:-2] - 2 * u[1:-1])
        return float(u[50])

    return step


def training_by_hand(t):
    w = t.full((10,), 0.5).requires_grad_()
    x = t.linspace(-1, 1, 10)

    def step(i):
        loss = ((w * x).sum() - 1) ** 2
        loss.backward()
        w.data = w.data - 0.01 * w.grad
        w.grad = None
        return float(loss)

    return step


PROGRAMS = [elements, moving_average, small_arrays, with_a_look, heat_in_place, training_by_hand]


def resident() -> float:
    """MiB."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def measured(name):
    """Runs a program: a late step's median time over an early one's, growth in MiB."""
    program = next(p for p in PROGRAMS if p.__name__ == name)
    if program is training_by_hand:
        import composit.torch as module
    else:
        import composit.numpy as module
    step = program(module)
    ends, most, begin = [], 0.0, 0.0
    for i in range(STEPS):
        step(i)
        ends.append(time.thread_time())
        if i == 1000:
            begin = resident()
        if i % 1000 == 0:
            most = max(most, resident())
    times = [b - a for a, b in pairwise(ends)]
    early, late = median(times[100:1100]), median(times[-1000:])
    return {"ratio": late / early, "growth": most - begin, "us": late * 1e6}


def late_over_early(name):
    def measure(threads):
        printed = subprocess.run(
            [sys.executable, __file__, "--program", name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = json.loads(printed.splitlines()[-1])
        return found["ratio"], {"a late step, us": found["us"], "growth, MiB": found["growth"]}

    return measure


def cases():
    for program in PROGRAMS:
        name = program.__name__.replace("_", " ")
        measure = late_over_early(program.__name__)
        yield Probe(f"100,000 steps: {name}", 1.2, 1, "x", measure, threads=(1,))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        print(json.dumps(measured(sys.argv[2])))
    else:
        notes = (
            "Each program runs in a process of its own. The ratio is the median time of the last "
            "1,000 steps beside that of steps 100 to 1,100. Memory grows until the history of "
            "values that were looked at reaches its bound."
        )
        main("Long loops", notes, cases)
