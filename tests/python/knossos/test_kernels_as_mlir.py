"""Kernels as MLIR: what mlir-16-tools make of the text has the interpreter's bits.

FUZZ_MLIR_SEED gives other random kernels."""

# ruff: noqa: F821

import contextlib
import dataclasses
import inspect
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

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

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


SEED = int(os.environ.get("FUZZ_MLIR_SEED", "0"))


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
    return tuple([number for each in made for number in each[i]] for i in range(2))


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
        bound = inspect.signature(function).bind(*arguments)
        bound.apply_defaults()
        codes[0](*numbers_in(bound.args), [])
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
    random = np.random.default_rng([SEED, 44, part])
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
    made, random = kernels_of([SEED, seed, 4400], 5, tmp_path, writer)
    members = [member for each in made for member in each]
    codes = as_mlir.beside([member.procedure() for member in members], tmp_path)
    for member, code in zip(members, codes, strict=True):
        member._use(code)
    for each in made:
        compare(each, random)
    assert all(code.calls for code in codes)


# ----- the text


@knossos.register
def relu3(x: float) -> float:
    """Like ReLu, but smoother."""
    if x < 0.0:
        return 0.0
    elif x < 1.0:
        return 1 / 3 * x**3
    else:
        return x - 2 / 3


@knossos.register
def root(a: float) -> float:
    x = a
    for _ in range(50):
        old = x
        x = 0.5 * (x + a / x)
        if abs(x - old) < 1e-12:
            break
    return x


@knossos.register
def smoothed(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
    h = np.zeros(len(x))
    for i in range(1, len(x)):
        h[i] = w * h[i - 1] + x[i]
    return h


@knossos.register
def shrunk(x: "Tensor[float, n]", rate: float) -> float:
    z = x.copy()
    total = 0.0
    while np.sum(z * z) > 1e-3:
        for i in range(len(z)):
            z[i] = z[i] * rate * 0.9
        total += z[0]
    return total


def function_in(text, name):
    """The function's lines, without marks."""
    start = text.index(f"  func.func @{name}(")
    own = text[start : text.index("\n  }\n", start) + 4]
    return re.sub(r"  // [\w.]+:\d+$", "", own, flags=re.MULTILINE)


def test_branches_are_branches():
    own = function_in(relu3.mlir, "relu3")
    assert (
        own
        == """\
  func.func @relu3(%x: f64) -> f64 {
    %c0.0 = arith.constant 0.0 : f64
    %c1.0 = arith.constant 1.0 : f64
    %c0.3333333333333333 = arith.constant 0.3333333333333333 : f64
    %c0.6666666666666666 = arith.constant 0.6666666666666666 : f64
    %0 = arith.cmpf olt, %x, %c0.0 : f64
    %y = scf.if %0 -> (f64) {
      scf.yield %c0.0 : f64
    } else {
      %1 = arith.cmpf olt, %x, %c1.0 : f64
      %y_2 = scf.if %1 -> (f64) {
        %2 = func.call @cube_float64(%x) : (f64) -> f64
        %y_3 = arith.mulf %c0.3333333333333333, %2 : f64
        scf.yield %y_3 : f64
      } else {
        %y_4 = arith.subf %x, %c0.6666666666666666 : f64
        scf.yield %y_4 : f64
      }
      scf.yield %y_2 : f64
    }
    return %y : f64
  }"""
    )


def test_loops_are_loops():
    own = function_in(smoothed.mlir, "smoothed")
    assert (
        own
        == """\
  func.func @smoothed(%x: memref<?xf64>, %w: f64, %h: memref<?xf64>) {
    %c0 = arith.constant 0 : index
    %c0.0 = arith.constant 0.0 : f64
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?xf64>
    func.call @fill_f64(%h, %c0.0) : (memref<?xf64>, f64) -> ()
    scf.for %i = %c1 to %n step %c1 {
      %0 = arith.subi %i, %c1 : index
      %h_value = memref.load %h[%0] : memref<?xf64>
      %x_value = memref.load %x[%i] : memref<?xf64>
      %1 = arith.mulf %w, %h_value : f64
      %2 = arith.addf %1, %x_value : f64
      memref.store %2, %h[%i] : memref<?xf64>
    }
    return
  }"""
    )
    assert "scf.while" in root.mlir and "%has_stopped" in root.mlir
    assert "cf.br" not in root.mlir


@knossos.register
def heat(u: "Tensor[float, n]", rate: float, steps: int) -> "Tensor[float, n]":
    u = u.copy()
    new = np.zeros(len(u))
    for _ in range(steps):
        for i in range(len(u)):
            left = u[i - 1] if i > 0 else 0.0
            new[i] = u[i] + rate * (left - u[i])
        u, new = new, u
    return u


def test_arrays_exchange_their_memory(tmp_path):
    check_with_derivatives(heat.__wrapped__, [np.array([0.5, 2.0, -1.0]), 0.1, 5], tmp_path)
    check_with_derivatives(heat.__wrapped__, [np.array([0.5, 2.0, -1.0]), 0.1, 0], tmp_path)
    own = function_in(heat.mlir, "heat")
    assert re.search(r"scf.yield %u_\w+, %new_3 : memref<\?xf64>, memref<\?xf64>", own), own
    assert own.count("memref.alloc(") == 2


def test_marks_and_locations():
    line = root.__wrapped__.__code__.co_firstlineno
    assert f"  // test_kernels_as_mlir.py:{line + 5}\n" in root.mlir
    text = _core.procedure.print_mlir([[root.procedure()]], "roots", True)
    assert text.startswith("module @roots {") and "//" not in text
    assert f'loc("test_kernels_as_mlir.py":{line + 5}:0)' in text
    as_mlir.done(["mlir-opt-16"], input=text)


def test_logs_of_derivatives_grow(tmp_path):
    text = shrunk.mlir
    assert "func.func private @append_f64(" in text and "func.call @append_f64(" in text
    assert text.count("memref.alloc(") <= text.count("memref.dealloc")
    check_with_derivatives(shrunk.__wrapped__, [np.array([0.5, 2.0, -1.0]), 0.97], tmp_path)


def test_a_failed_assertion_ends_the_process(tmp_path):
    @knossos.register
    def second(x: "Tensor[float, n]") -> float:
        return x[1]

    text = second.mlir
    assert 'cf.assert %0, "second: an assertion does not hold [test_kernels_as_mlir.py:' in text
    as_mlir.lowered(text, tmp_path)
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import as_mlir, ctypes, numpy
library = ctypes.CDLL({str(tmp_path / "kernels.so")!r})
second = as_mlir.Function(library, {text!r}, "second")
print(second({{}}, [numpy.array([1.0, 2.0])]), flush=True)
second({{}}, [numpy.array([1.0])])
print("after")
"""
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert made.stdout.splitlines()[0] == "[2.0]" and "after" not in made.stdout
    assert made.returncode == -signal.SIGABRT


def test_kernels_of_kernels(tmp_path):
    vsmoothed = knossos.vmap(smoothed)
    codes = as_mlir.beside([each.procedure() for each in (vsmoothed, vsmoothed.vjp)], tmp_path)
    for member, code in zip((vsmoothed, vsmoothed.vjp), codes, strict=True):
        member._use(code)
    rows = np.random.default_rng(0).normal(size=(3, 5))
    vsmoothed(rows, 0.5)
    vsmoothed.vjp(rows, 0.5, rows)
    assert "func.func @root_dx" in root.grad.mlir or "func.func @root_da" in root.grad.mlir


def trunc(x: float) -> float:
    return float(int(x)) * 2.0


def fmod(x: float) -> float:
    return x % 2.0 + 1.0


def roundeven(x: float) -> float:
    return round(x) + 0.5


def malloc(x: "Tensor[float, n]") -> float:
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        y[i] = x[i] * x[i]
        total += y[i]
    return total


def abort(x: float) -> float:
    assert x > 0.0
    return x * 3.0


def unspoken(x: float) -> float:
    return abort(x) + 1.0


@pytest.mark.parametrize("function", [trunc, fmod, roundeven, malloc, abort])
def test_names_that_operations_are_lowered_to(function, tmp_path):
    """The kernel has another name, and is not called in the place of the C library's function."""
    check_with_derivatives(function, (np.ones(3) if function is malloc else 2.5,), tmp_path)
    assert f"func.func @{function.__name__}_2(" in knossos.register(function).mlir


def test_functions_without_words_have_no_comment():
    assert not re.search(r"^ *// *$", knossos.register(unspoken).mlir, re.MULTILINE)


def test_files(tmp_path):
    assert smoothed.export(tmp_path, "kernels", language="mlir") == ["kernels.mlir"]
    text = (tmp_path / "kernels.mlir").read_text()
    assert text.startswith("module @kernels {")
    for name in ("smoothed", "smoothed_vjp", "smoothed_float", "smoothed_jvp_float"):
        assert f"func.func @{name}(" in text
    as_mlir.done(["mlir-opt-16", tmp_path / "kernels.mlir"])
    with pytest.raises(ValueError, match=r"no language 'tpu'\. One of cpp, opencl, cuda, mlir is"):
        smoothed.export(tmp_path, language="tpu")


def test_what_cannot_be_written():
    short = _core.procedure.parse("f", "(x: float16) -> numpy.sin(x)", "float16", 2**31)
    with pytest.raises(
        NotImplementedError, match=r"mlir: f computes in float16\. Floats of dtype "
    ):
        _core.procedure.print_mlir([[short]])
