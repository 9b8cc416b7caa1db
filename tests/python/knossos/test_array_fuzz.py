"""Random kernels with arrays: values as CPython's; reverse and forward mode agree, and differences
with them, where they can tell.

FUZZ_ARRAY_KERNELS is how many are interpreted, and a quarter as many in nested loops, of rows, of
operators, of sequences and of arrays that change; 80 for each of FUZZ_ARRAY_COMPILED are
compiled, to the bits of the interpreter. FUZZ_ARRAY_SEED gives others."""

import importlib.util
import os

import numpy as np
import pytest
from array_grammar import HEADER, NestedWriter, RowsWriter, Writer
from changing_grammar import ChangingWriter
from operator_grammar import OperatorsWriter
from own_functions import with_own_functions
from sequence_grammar import SequencesWriter

from composit import _core, knossos

COUNT = int(os.environ.get("FUZZ_ARRAY_KERNELS", "2000"))
SEED = int(os.environ.get("FUZZ_ARRAY_SEED", "0"))
COMPILED = int(os.environ.get("FUZZ_ARRAY_COMPILED", "3"))
TOGETHER = 20  # kernels are compiled many at once
PARTS = 8


def module_of(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernels_of(seed, count, tmp_path, writer=Writer):
    """Of each kernel itself, its jvp and its vjp."""
    random = np.random.default_rng(seed)
    names = [f"kernel_{i}" for i in range(count)]
    text = HEADER + "".join(writer(random, name).text() for name in names)
    module = module_of(tmp_path / f"kernels_{'_'.join(map(str, seed))}.py", text)
    kernels = []
    for name in names:
        kernel = knossos.register(getattr(module, name))
        kernels.append([kernel, kernel.jvp, kernel.vjp])
    return kernels, random


@pytest.mark.long_tail
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize(
    ("writer", "count"),
    [
        (Writer, COUNT),
        *(
            (each, COUNT // 4)
            for each in (NestedWriter, RowsWriter, OperatorsWriter, SequencesWriter, ChangingWriter)
        ),
    ],
)
def test_against_cpython_and_forward_mode(part, writer, count, tmp_path):
    for batch in range(0, count // PARTS, 250):
        kernels, random = kernels_of(
            [SEED, part, batch], min(250, count // PARTS - batch), tmp_path, writer
        )
        for members in kernels:
            for member in members:
                made = _core.procedure.interpreted(member.procedure())
                member._use(made)
            made = compare(members, random)
            if random.integers(4 if writer is ChangingWriter else 16) == 0:
                compare_second(members[2], made[2][0], random)


@pytest.mark.long_tail
@pytest.mark.parametrize("seed", range(COMPILED))
@pytest.mark.parametrize(
    ("writer", "count"),
    [(Writer, TOGETHER), (OperatorsWriter, TOGETHER),
     (NestedWriter, TOGETHER // 2), (RowsWriter, TOGETHER // 2), (SequencesWriter, TOGETHER // 2),
     (ChangingWriter, TOGETHER // 2)],
)  # fmt: skip
def test_compiled(seed, writer, count, tmp_path):
    kernels, random = kernels_of([SEED, 1000 + seed], count, tmp_path, writer)
    family = [member.procedure() for members in kernels for member in members]
    codes = iter(_core.procedure.load_arrays(f"kernels_{seed}", [family], ""))
    for members in kernels:
        for member in members:
            member._use(next(codes))
        compiled = compare(members, random)
        for member, (arguments, found) in zip(members, compiled, strict=True):
            member._use(_core.procedure.interpreted(member.procedure()))
            for a, b in zip(member(*arguments), found, strict=True):
                about = member.procedure().source
                assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), about


def are_close(a, b):
    return np.allclose(a, b, rtol=1e-9, atol=1e-11, equal_nan=True)


def compare_with_differences(value_at, forward, about):
    """The derivative beside differences of two widths, where these agree: where they do not, a kink
    or a jump is near, or the values are large."""
    with np.errstate(all="ignore"):
        one, other = ((value_at(h) - value_at(-h)) / (2 * h) for h in (1e-5, 2e-5))
    if np.isfinite(one) and abs(one - other) < 1e-6 * (1 + abs(one)):
        assert abs(one - forward) < 1e-4 * (1 + abs(one)), f"{one} {forward}\n{about}"


def compare_second(back, given, random):
    """Reverse and forward mode of a derivative in reverse, its function's operands, then a number
    and an array."""
    again, forward = back.vjp, back.jvp
    for each in (again, forward):
        each._use(_core.procedure.interpreted(each.procedure()))
    x, y, s, _, r, received = given
    tangents = [random.normal(size=np.shape(each)) for each in (x, y, s, r, received)]
    tangents = [each if each.ndim else float(each) for each in tangents]
    moved = forward(*given, *tangents)
    v = [random.normal(size=np.shape(each)) for each in moved]
    v = [each if each.ndim else float(each) for each in v]
    found = again(*given, *v)
    terms = [np.sum(a * b) for a, b in [*zip(found, tangents, strict=True)]]
    expected = [np.sum(a * b) for a, b in zip(moved, v, strict=True)]
    scale = 1 + sum(map(np.abs, terms)) + sum(np.abs(each).sum() for each in found)
    assert abs(sum(terms) - sum(expected)) < 1e-9 * scale, again.procedure().source


def compare(members, random):
    """Checks the kernel and its derivatives; (arguments, results) of each."""
    kernel = members[0]
    x, y, dx, dy, received = random.normal(size=(5, int(random.integers(1, 7))))
    s, ds, r = random.normal(size=3).tolist()
    k = int(random.integers(4))
    calls = [(x, y, s, k), (x, y, s, k, dx, dy, ds), (x, y, s, k, r, received)]
    made = [(call, member(*call)) for call, member in zip(calls, members)]
    value, array = made[0][1]
    wanted_value, wanted_array = kernel.__wrapped__(x, y, s, k)
    about = kernel.procedure().source
    if not (are_close(value, wanted_value) and are_close(array, wanted_array)):
        # A function's last bit may have grown: then composit's own functions give the same bits.
        wanted_value, wanted_array = with_own_functions(kernel.__wrapped__)(x, y, s, k)
        np.testing.assert_array_equal(value, wanted_value, err_msg=about)
        np.testing.assert_array_equal(array, wanted_array, err_msg=about)
    moved_value, moved_array = made[1][1]
    forward = r * moved_value + received @ moved_array

    def value_at(h):
        value, array = kernel(x + h * dx, y + h * dy, s + h * ds, k)
        return r * value + received @ array

    compare_with_differences(value_at, forward, about + members[1].procedure().source)
    gx, gy, gs = made[2][1]
    backward = gx @ dx + gy @ dy + gs * ds
    scale = 1 + abs(forward) + np.abs(gx).sum() + np.abs(gy).sum() + abs(gs)
    about += members[2].procedure().source
    assert abs(forward - backward) < 1e-9 * scale, f"{forward} {backward}\n{about}"
    return made
