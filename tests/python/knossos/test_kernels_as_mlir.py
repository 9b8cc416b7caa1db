"""Kernels as MLIR: what mlir-16-tools make of the text has the interpreter's bits."""

# ruff: noqa: F821

import math

import array_kernels
import as_mlir
import audited
import numpy as np
import pytest
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


def like(values, random):
    """Numbers and arrays of the same shapes."""
    return [random.normal(size=np.shape(each))[()] for each in values]


def floats_of(arguments):
    return [each for each in arguments if np.asarray(each).dtype.kind == "f"]


def check_with_derivatives(function, arguments, folder):
    kernel = knossos.register(function)
    members = members_of(kernel)
    codes = as_mlir.beside([each.procedure() for each in members], folder)
    for member, code in zip(members, codes, strict=True):
        member._use(code)
    random = np.random.default_rng(0)
    made = kernel(*arguments)
    results = made if isinstance(made, tuple) else (made,)
    if len(members) > 1:
        members[1](*arguments, *like(floats_of(results), random))
        members[2](*arguments, *like(floats_of(arguments), random))
    assert all(code.calls == 1 for code in codes)


@pytest.mark.long_tail
@pytest.mark.parametrize("which", range(len(array_kernels.examples())))
def test_array_kernels(which, tmp_path):
    check_with_derivatives(*array_kernels.examples()[which], tmp_path)


@pytest.mark.long_tail
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "writer",
    [Writer, OperatorsWriter, NestedWriter, RowsWriter, SequencesWriter, ChangingWriter],
)
def test_random_kernels(seed, writer, tmp_path):
    kernels, random = kernels_of([seed, 4400], 10, tmp_path, writer)
    members = [member for each in kernels for member in each]
    codes = as_mlir.beside([member.procedure() for member in members], tmp_path)
    for member, code in zip(members, codes, strict=True):
        member._use(code)
    for each in kernels:
        compare(each, random)
    assert all(code.calls for code in codes)
