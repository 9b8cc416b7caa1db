"""Kernels as MLIR: what mlir-16-tools make of the text has the interpreter's bits."""

# ruff: noqa: F821

import contextlib
import dataclasses
import math

import array_kernels
import as_mlir
import audited
import audited_numerics
import kernel_grammar
import kernels
import numpy as np
import pytest
import test_fuzz
import written
from array_grammar import NestedWriter, RowsWriter, Writer
from changing_grammar import ChangingWriter
from operator_grammar import OperatorsWriter
from sequence_grammar import SequencesWriter
from test_array_fuzz import compare, kernels_of

from composit import _core, knossos
from composit.knossos import Tensor

pytestmark = [as_mlir.needs_tools, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def members_of(kernel):
    """The kernel and its derivatives, as far as it has them."""
    if not (kernel._floats() and kernel._float_results()):
        return [kernel]
    return [kernel, kernel.vjp, kernel.jvp]


def numbers_in(value):
    """Floats, then other numbers, of a structure."""
    parts = [value]
    if dataclasses.is_dataclass(value):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, (tuple, list)):
        parts = value
    else:
        return ([value], []) if isinstance(value, float) else ([], [int(value)])
    made = [numbers_in(part) for part in parts]
    return tuple(sum((each[i] for each in made), []) for i in range(2))


def are_floats(arrays):
    return [each for each in map(np.asarray, arrays) if each.dtype.kind == "f"]


def call_derivative(code, call, arrays, random):
    """With what the function was called with, then random numbers, and arrays like these."""
    floats, integers, given, _ = call
    count = sum(str(dtype).startswith("float") for _, dtype in code.procedure.parameters)
    more = random.normal(size=count - len(floats)).tolist()
    code([*floats, *more], integers, [*given, *(random.normal(size=each.shape) for each in arrays)])


def check_with_derivatives(function, arguments, folder):
    """Whether it has any."""
    kernel = knossos.register(function)
    try:
        members = members_of(kernel)
        procedures = [each.procedure() for each in members]
    except NotImplementedError:
        procedures = [kernel.procedure()]
    codes = as_mlir.beside(procedures, folder)
    if kernel.is_of_arrays:
        kernel._use(codes[0])
        kernel(*arguments)
    else:
        codes[0](*numbers_in(list(arguments)), [])
    random = np.random.default_rng(0)
    for call in codes[0].calls:
        if len(codes) > 1:
            results = call[3][len(codes[0].procedure.results) :]
            call_derivative(codes[1], call, are_floats(results), random)
            call_derivative(codes[2], call, are_floats(call[2]), random)
    assert all(code.calls for code in codes)
    return len(codes) > 1


CALLS = [
    *array_kernels.examples(), *written.calls(), *audited.CALLS.items(),
    *audited_numerics.CALLS.items(),
]  # fmt: skip


@pytest.mark.long_tail
@pytest.mark.parametrize("which", range(len(CALLS)), ids=lambda i: CALLS[i][0].__name__)
def test_kernels_of_people(which, tmp_path):
    check_with_derivatives(*CALLS[which], tmp_path)


NUMBERS = [
    kernels.relu3, kernels.gelu, kernels.square_plus_one, kernels.newton, kernels.polar,
    kernels.collatz, kernels.ordered, kernels.project, kernels.turned, kernels.distance,
    kernels.loops, kernels.guarded, kernels.polynomial, kernels.integers, kernels.shadowed,
    kernels.smooth,
]  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-310, 1e300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_kernels_of_numbers(dtype, tmp_path):
    members = [each for function in NUMBERS for each in members_of(knossos.register(function))]
    codes = as_mlir.beside([each.procedure(dtype) for each in members], tmp_path)
    random = np.random.default_rng(0)
    for code in codes:
        kinds = [str(kind) for _, kind in code.procedure.parameters]
        count = sum(kind.startswith("float") for kind in kinds)
        for i in range(30):
            drawn = random.choice(SPECIAL, count) if i % 3 == 0 else random.normal(size=count)
            floats = drawn.astype(dtype).astype(float).tolist()
            with contextlib.suppress(ArithmeticError, AssertionError, ValueError):
                code(floats, random.integers(1, 7, len(kinds) - count).tolist(), [])
        assert code.calls


@pytest.mark.long_tail
@pytest.mark.parametrize("part", range(10))
def test_random_kernels_of_numbers(part, tmp_path):
    random = np.random.default_rng([44, part])
    procedures = []
    while len(procedures) < 20:
        text, floats = kernel_grammar.written(random, name=f"kernel_{len(procedures)}")
        kernel = knossos.register(test_fuzz.defined(text, (part, len(procedures))))
        try:
            members = [each.procedure() for each in members_of(kernel)]
        except (TypeError, NotImplementedError):
            continue
        procedures += members
    for code in as_mlir.beside(procedures, tmp_path):
        kinds = [str(kind) for _, kind in code.procedure.parameters]
        count = sum(kind.startswith("float") for kind in kinds)
        for _ in range(12):
            floats = (2 * random.normal(size=count)).tolist()
            with contextlib.suppress(ArithmeticError, AssertionError, ValueError):
                code(floats, random.integers(-3, 9, len(kinds) - count).tolist(), [])


@pytest.mark.long_tail
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "writer",
    [Writer, OperatorsWriter, NestedWriter, RowsWriter, SequencesWriter, ChangingWriter],
)
def test_random_kernels(seed, writer, tmp_path):
    made, random = kernels_of([seed, 4400], 5, tmp_path, writer)
    members = [member for each in made for member in each]
    codes = as_mlir.beside([member.procedure() for member in members], tmp_path)
    for member, code in zip(members, codes, strict=True):
        member._use(code)
    for each in made:
        compare(each, random)
    assert all(code.calls for code in codes)
