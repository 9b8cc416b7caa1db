"""Kernels with arrays in plain C and C++: one function each, the interpreter's bits, no warning, a
status for what does not hold."""

# ruff: noqa: F821

import re

import array_kernels
import numpy as np
import plain_batches
import plain_exports
import pytest
from array_grammar import NestedWriter, RowsWriter, Writer
from changing_grammar import ChangingWriter
from operator_grammar import OperatorsWriter
from sequence_grammar import SequencesWriter
from test_array_fuzz import SEED, kernels_of
from test_array_nodes import X, loss, weighted
from test_sums_in_order import backwards, luminance

import composit
from composit import knossos
from composit import numpy as cnp
from composit.knossos import Tensor

RANDOM = np.random.default_rng(5)
COMPILERS = [("c", "gcc"), ("cpp", "g++"), ("c", "clang"), ("cpp", "clang++")]


@knossos.register
def picked(x: "Tensor[float, n]", at: "Tensor[int, m]", wanted: "Tensor[bool, m]", up: bool):
    total = 0.0
    count = 0
    y = np.zeros(len(at))
    for i in range(len(at)):
        if wanted[i]:
            y[i] = x[at[i]] if up else -x[at[i]]
            total += y[i]
            count += 1
    return y, total, count


@knossos.register
def first_above(x: "Tensor[float, n]", limit: float) -> int:
    """The place of the first element above a limit, or -1."""
    for i in range(len(x)):
        if x[i] > limit:
            return i
    return -1


@knossos.register
def smoothed(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
    """Each element drags its neighbour along."""
    h = np.zeros(len(x))
    h[0] = x[0]
    for i in range(1, len(x)):
        h[i] = np.tanh(w * h[i - 1] + x[i])
    return h


@knossos.register
def settled(x: "Tensor[float, n]", rate: float) -> float:
    z = x.copy()
    total = 0.0
    while np.sum(z * z) > 1e-3:
        for i in range(len(z)):
            z[i] = z[i] * rate * 0.9
        total += z[0]
    return total


@knossos.register
def at(x: "Tensor[float, n]", i: int) -> float:
    return x[i + 1]


@knossos.register
def positive(x: "Tensor[float, n]") -> float:
    total = 0.0
    for i in range(len(x)):
        assert x[i] > -4.0
        total += x[i]
    return total


@knossos.register
def large(x: "Tensor[float, n]") -> "Tensor[float, n]":
    """Room for more than a stack should hold."""
    t = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            t[i, j] = x[i] * x[j]
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            y[i] += t[j, i]
    return y


def everything(x, w):
    """Values and gradients, in batches, of arrays that do not lie side by side."""
    h, total = weighted(x, w, 2)
    rows = cnp.stack([x, x * 2, -x])
    made = picked(x, np.array([3, 0, 1, 2]), x > 0.0, True)
    return (
        h, total, *composit.grad(loss, (0, 1))(x, w), *made,
        composit.vmap(lambda row: loss(row, w))(rows),
        composit.vmap(lambda row: weighted(row, 0.5, 1)[1])(rows.T),
        composit.vmap(composit.vmap(lambda row: weighted(row, 0.5, 1)[0]))(rows[:, None, ::-1]),
        composit.jvp(lambda x: loss(x, w), (x,), (h,))[1],
        knossos.register(array_kernels.affine)(rows.T, rows[:, 1], x),
    )  # fmt: skip


def between(x, a, w):
    """Elementwise neighbours and products before and behind, and a derivative through all."""

    def loss(w):
        h = composit.vmap(lambda row: smoothed(cnp.exp(row) - 1.0, 0.3))(x @ w)
        return cnp.sum((h * 2.0 + 1.0) @ a)

    return composit.value_and_grad(loss)(w)


def repeated(x, w):
    return composit.fori_loop(0, 5, lambda i, h: smoothed(h, w) + 0.1 * i, x)


def early(x):
    return (
        first_above(x[0], 0.5), composit.vmap(lambda row: first_above(row, 1e9))(x),
        composit.vmap(lambda column: settled(column, 0.5))(x.T), large(x[1]),
        composit.vmap(large)(x),
    )  # fmt: skip


@knossos.register
def turned(x: "Tensor[float, n, 2]", c: float, s: float) -> "Tensor[float, n, 2]":
    """Neighbours of which one is a difference: g++ would fuse their products."""
    y = np.zeros((len(x), 2))
    for i in range(len(x)):
        y[i, 0] = c * x[i, 0] - s * x[i, 1]
        y[i, 1] = s * x[i, 0] + c * x[i, 1]
    return y


def neighbours(x):
    light, back = knossos.register(luminance), knossos.register(backwards)
    return (light(x), back(x[:, :2]), composit.grad(light)(x), turned(x[:, 1:], 0.6, 0.8),
            composit.grad(lambda x: cnp.sum(turned(x, 0.28, 0.96) ** 2))(x[:, :2]))  # fmt: skip


def drawn(*shape):
    return RANDOM.normal(size=shape)


CASES = {
    "everything": (everything, [X[0], np.asarray(0.7)]),
    "everything32": (everything, [X[0].astype("float32"), np.float32(0.7)]),
    "between": (between, [drawn(3, 4), drawn(5, 2), drawn(4, 5)]),
    "repeated": (repeated, [X[0], np.asarray(0.7)]),
    "early": (early, [drawn(4, 40)]),
    "neighbours": (neighbours, [drawn(24, 3)]),
}


@pytest.mark.parametrize(("language", "compiler"), COMPILERS)
@pytest.mark.parametrize("name", CASES)
def test_bits(name, language, compiler, tmp_path):
    flags = ("-O2",) if language == "c" else ("-O3", "-march=native")
    text = plain_exports.check(*CASES[name], tmp_path, language, compiler, flags)
    assert all(len(line) <= 100 for line in text.splitlines()[1:])
    heads = re.findall(r"^static \w+ (\w+)\(", text, re.M)
    assert len(heads) == len(set(heads))


@pytest.mark.parametrize(("language", "compiler"), [("c", "gcc"), ("cpp", "clang++")])
@pytest.mark.parametrize("name", ["everything", "early"])
def test_strict(name, language, compiler, tmp_path):
    more = ["-Wsign-conversion", "-Wcast-qual", "-Wvla", "-Wfloat-conversion"]
    plain_exports.check(*CASES[name], tmp_path, language, compiler, more=more)


def exported(function, arguments, folder, language="c"):
    compiled = composit.compile(function, *arguments, name="run", backend="interpreter")
    header, source = plain_exports.export(compiled, folder, language, "model")
    return header.read_text(), source.read_text()


def test_one_function_for_all_calls(tmp_path):
    def function(x, y, w):
        rows = cnp.stack([x, x * 2.0])
        return smoothed(x, w), smoothed(y, 0.5), composit.vmap(lambda r: smoothed(r, w))(rows)

    header, text = exported(function, [X[0], drawn(9), np.asarray(0.7)], tmp_path)
    line = smoothed.__wrapped__.__code__.co_firstlineno
    assert text.count(f"test_plain_kernels.py:{line + 1}: Each element drags") == 1
    assert "static int smoothed(const double* x, int64_t n, double w, double* restrict h) {" in text
    assert len(re.findall(r"\bsmoothed\(", text)) == 4  # itself, and a call for each kernel
    assert "int run(" in header


def test_memory_of_a_function(tmp_path):
    """What is too large for the stack is static, or the caller's, and counted."""
    x = drawn(40)
    header, _ = exported(large, [x], tmp_path)
    assert f"// {40 * 40 * 8} bytes of memory are static" in header
    compiled = composit.compile(lambda x: large(x), x, name="run", backend="interpreter")
    compiled.export(tmp_path / "owned", style="plain", language="c", workspace=True)
    assert f"run_workspace_bytes = {40 * 40 * 8}" in (tmp_path / "owned/run.h").read_text()


FAILURES = {
    1: (lambda x, i: at(x, i), [X[0], np.asarray(len(X[0]))], IndexError),
    2: (lambda x, i: positive(x) * 2.0, [X[0] - 5.0, np.asarray(1)], AssertionError),
}


@pytest.mark.parametrize(("language", "compiler"), [("c", "gcc"), ("cpp", "clang++")])
@pytest.mark.parametrize("status", FAILURES)
def test_what_does_not_hold_is_a_status(status, language, compiler, tmp_path):
    function, arguments, error = FAILURES[status]
    header, _ = exported(function, arguments, tmp_path, language)
    said = "1: an index is out of bounds" in header, "// 2: something else that" in header
    assert said == (True, status == 2)
    with pytest.raises(error):
        composit.compile(function, backend="interpreter")(*arguments)
    result = [np.zeros(())]
    program = plain_exports.build(tmp_path, "model", "run", language, compiler, arguments, result)
    assert plain_exports.run(program, tmp_path, arguments, result)[0] == status


def test_what_needs_a_heap_is_refused(tmp_path):
    gradient = composit.grad(lambda x: settled(x, 0.5))
    compiled = composit.compile(gradient, X[0], name="run", backend="interpreter")
    with pytest.raises(
        NotImplementedError, match=r"calls the kernel settled_vjp, whose array `\w+` has a size"
    ):
        compiled.export(tmp_path, style="plain")


def usable(kernels, random):
    """Functions of graphs: each kernel, its derivative in reverse, and a batch of it."""
    x, y = random.normal(size=(2, 5))
    s, k = float(random.normal()), int(random.integers(4))
    rows = random.normal(size=(3, 5))
    functions = []
    for kernel, _, vjp in kernels:
        own = [
            lambda x, y, s, kernel=kernel: kernel(x, y, s, k),
            lambda rows, y, s, kernel=kernel: composit.vmap(lambda x: kernel(x, y, s, k))(rows),
            lambda x, y, s, vjp=vjp: vjp(x, y, s, k, 0.7, y),
        ]
        functions += [(own[0], [x, y, s]), (own[1], [rows, y, s]), (own[2], [x, y, s])]
    return functions


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    "writer",
    [Writer, NestedWriter, RowsWriter, OperatorsWriter, SequencesWriter, ChangingWriter],
)
def test_random_kernels(writer, number, tmp_path):
    kernels, random = kernels_of([SEED, 2000 + number], 4, tmp_path, writer)
    functions, expected = [], []
    for function, arguments in usable(kernels, random):
        arguments = [np.asarray(each) for each in arguments]
        compiled = composit.compile(function, *arguments, name="run", backend="interpreter")
        try:
            compiled.export(tmp_path / "alone", style="plain")
        except NotImplementedError as refused:
            assert "has a size that only its values tell" in str(refused)
            continue
        functions.append((function, arguments))
        expected.append(plain_exports.leaves(compiled(*arguments)))
    assert len(functions) >= 8
    language, compiler = COMPILERS[number]
    flags = ("-O1",) if language == "c" else ("-O3", "-march=native")
    found = plain_batches.exported(functions, expected, tmp_path, language, compiler, flags)
    for wanted, values in zip(expected, found, strict=True):
        for one, other in zip(wanted, values, strict=True):
            assert plain_exports.same_bits(one, other)
