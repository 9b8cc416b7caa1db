"""Random kernels with arrays, and their derivatives, for the items of a batch on a device: the bits
of the interpreter. Several are one program, since drivers take long to build one.

FUZZ_DEVICE_KERNELS is how many of each kind of program there are; FUZZ_DEVICE_SEED gives others."""

import importlib
import importlib.util
import os
import pathlib
import sys

import numpy as np
import pytest

import composit
from composit import _core, knossos

COUNT = int(os.environ.get("FUZZ_DEVICE_KERNELS", "1"))
SEED = int(os.environ.get("FUZZ_DEVICE_SEED", "0"))
TOGETHER = 2
ITEMS = 3


def grammar(module, name):
    """Of the folder of knossos' own tests."""
    folder = str(pathlib.Path(__file__).parents[1] / "knossos")
    sys.path.insert(0, folder)
    try:
        return getattr(importlib.import_module(module), name)
    finally:
        sys.path.remove(folder)


def kernels_of(random, writer, path):
    """Of each kernel itself, its jvp and its vjp."""
    names = [f"kernel_{i}" for i in range(TOGETHER)]
    header = grammar("array_grammar", "HEADER")
    path.write_text(header + "".join(writer(random, name).text() for name in names))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernels = [knossos.register(getattr(module, name)) for name in names]
    return [[each, each.jvp, each.vjp] for each in kernels]


def one_by_one(kernel, arguments):
    kernel._use(_core.procedure.interpreted(kernel.procedure()))
    made = [kernel(*(_number(each[i]) for each in arguments)) for i in range(ITEMS)]
    return [np.stack([np.asarray(each[part]) for each in made]) for part in range(len(made[0]))]


def _number(value):
    return value.item() if value.ndim == 0 else value


@pytest.mark.long_tail
@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize(
    ("module", "writer"),
    [("array_grammar", "Writer"), ("array_grammar", "NestedWriter"),
     ("array_grammar", "RowsWriter"), ("operator_grammar", "OperatorsWriter"),
     ("sequence_grammar", "SequencesWriter"), ("changing_grammar", "ChangingWriter")],
)  # fmt: skip
def test_random_kernels_on_a_device(module, writer, seed, opencl, tmp_path):
    random = np.random.default_rng([SEED, seed, len(writer)])
    kernels = kernels_of(random, grammar(module, writer), tmp_path / f"{writer}.py")
    x, y, dx, dy, received = random.normal(size=(5, ITEMS, int(random.integers(1, 7))))
    s, ds, r = random.normal(size=(3, ITEMS))
    k = random.integers(4, size=ITEMS)
    calls = [(x, y, s, k), (x, y, s, k, dx, dy, ds), (x, y, s, k, r, received)]

    def program(*arrays):
        x, y, s, k, dx, dy, ds, r, received = arrays
        given = [(x, y, s, k), (x, y, s, k, dx, dy, ds), (x, y, s, k, r, received)]
        return [
            part
            for members in kernels
            for member, arguments in zip(members, given)
            for part in composit.vmap(member)(*arguments)
        ]

    compiled = composit.compile(program, backend=opencl)
    found = iter(compiled(x, y, s, k, dx, dy, ds, r, received))
    assert {where for _, where, _ in compiled.placements} == {opencl}
    for members in kernels:
        for member, arguments in zip(members, calls):
            for wanted in one_by_one(member, arguments):
                about = member.procedure().source
                assert np.asarray(next(found)).tobytes() == wanted.tobytes(), about
