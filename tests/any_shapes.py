"""Calls every public function of composit.torch or composit.numpy with tensors of unusual shapes:
without dimensions, without elements, with too few or too many axes. Each function runs in a process
of its own; what ends it by a signal, or is an internal error, is printed.

    any_shapes.py torch|numpy SEED
"""

import inspect
import itertools
import os
import random
import signal
import sys
import warnings

SHAPES = [(), (0,), (1,), (3,), (0, 3), (3, 0), (2, 3), (3, 3), (2, 3, 4), (1, 2, 3, 4), (0, 0)]
TENSORS = [(shape, "float64") for shape in SHAPES]
TENSORS += [(shape, "int64") for shape in ((), (0,), (2,), (2, 3))]
OTHERS = [("other", value) for value in (0, 1, -1, 2, 0.5, None, (1,), (0, 1), "sum")]
# What draws memory without end for these arguments, works on files, or changes the process.
LEFT_OUT = {
    "breakpoint", "cartesian_prod", "combinations", "compile", "fromfile", "genfromtxt", "info",
    "load", "load_library", "loadtxt", "manual_seed", "memmap", "open_memmap", "save", "savetxt",
    "savez", "savez_compressed", "seed", "set_default_device", "set_default_dtype",
    "set_num_threads", "show_config", "test",
}  # fmt: skip


def spaces_of(name):
    if name == "torch":
        from composit import torch as t

        return [t, t.nn.functional, t.linalg, t.special, t.fft], t
    from composit import numpy as cnp

    return [cnp, cnp.linalg, cnp.fft], cnp


def functions(spaces):
    seen = set()
    for space in spaces:
        for name in sorted(dir(space)):
            function = getattr(space, name)
            is_left_out = name.startswith("_") or name in LEFT_OUT or inspect.isclass(function)
            if is_left_out or not callable(function) or id(function) in seen:
                continue
            seen.add(id(function))
            yield name, function


def calls(draw, count):
    """One tensor; a tensor and another argument; then any."""
    yield from ([tensor] for tensor in TENSORS)
    yield from itertools.islice(itertools.product(TENSORS, TENSORS + OTHERS), 0, None, 3)
    for _ in range(count):
        yield [draw.choice(TENSORS if draw.random() < 0.65 else OTHERS)
               for _ in range(draw.randint(2, 5))]  # fmt: skip


def run(function, module, all_calls, number):
    """Calls it; before each, the call's number goes to the file."""
    signal.alarm(60)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    for i, call in enumerate(all_calls):
        os.write(number, b"%d\n" % i)
        try:
            arguments = [
                value if kind == "other" else module.ones(kind, dtype=getattr(module, value))
                for kind, value in call
            ]
            made = function(*arguments)
            for part in made if isinstance(made, (tuple, list)) else (made,):
                part.tolist()
        except BaseException as error:
            if type(error).__name__ in ("InternalError", "SystemError"):
                os.write(number, b"internal\n")
    os._exit(0)


def found(name, function, module, all_calls):
    """What went wrong, as lines."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        run(function, module, all_calls, writing)
    os.close(writing)
    with os.fdopen(reading) as file:
        lines = file.read().split()
    _, status = os.waitpid(child, 0)
    for before, line in itertools.pairwise(lines):
        if line == "internal":
            yield f"{name}{all_calls[int(before)]}: internal error"
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGALRM:
        number = next(line for line in reversed(lines) if line != "internal")
        yield f"{name}{all_calls[int(number)]}: signal {os.WTERMSIG(status)}"


def main(which, seed):
    warnings.filterwarnings("ignore")
    spaces, module = spaces_of(which)
    draw = random.Random(int(seed))
    for name, function in functions(spaces):
        for line in found(name, function, module, list(calls(draw, 150))):
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
