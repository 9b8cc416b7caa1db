"""Imperative programs: loops that look at values, elements, writes in place."""

from group import main
from measure import Case, Sides, check
from models import programs, torch_programs


def in_numpy(program):
    def prepare(threads):
        import numpy as np

        import composit.numpy as cnp

        def ours():
            return np.asarray(program(cnp))

        def theirs():
            return np.asarray(program(np))

        ours()
        check(program.__name__, ours(), theirs(), 1e-9)
        return Sides(ours, {"NumPy": theirs})

    return prepare


def in_torch(name, program):
    def prepare(threads):
        import torch

        import composit.torch as ours

        torch.set_num_threads(1)
        one, other = program(ours), program(torch)
        check(name, one(), other(), 1e-4)
        return Sides(one, {"PyTorch": other})

    return prepare


def cases():
    for program, most, aim in programs.PROGRAMS:
        name = program.__name__.replace("_", " ")
        yield Case(name, 1 / most, 1 / aim, in_numpy(program), threads=(1,), rounds=(3, 9))
    for name, program in torch_programs.PROGRAMS.items():
        yield Case(f"torch: {name}", 1 / 3, 1, in_torch(name, program), threads=(1,))


if __name__ == "__main__":
    notes = (
        "Whole programs of NumPy's and PyTorch's API, unedited: models/programs.py and "
        "torch_programs.py in benchmarks/python. An element is a node, a look ends a plan, a write "
        "finds its memory. The second run counts: the first one makes plans. Results agree to 1e-9 "
        "and 1e-4 of the largest."
    )
    main("Programs", notes, cases)
