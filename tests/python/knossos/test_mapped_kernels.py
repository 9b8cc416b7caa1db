"""vmap of kernels with arrays: the bits of a call for each row, on every way."""

# ruff: noqa: F821

import copy
import shutil
import subprocess
from dataclasses import dataclass
from typing import NamedTuple

import array_kernels
import numpy as np
import pytest
import torch
from test_array_export import WARNINGS, selfcheck_of

import composit
from composit import _core, knossos
from composit import numpy as cnp
from composit import torch as ct
from composit.errors import NotSupported
from composit.knossos import Tensor
from composit.knossos.annotations import TensorOf

ROWS = 5
sqrl = knossos.register(array_kernels.sqrl)
vsqrl = knossos.vmap(sqrl)
X = np.random.default_rng(0).normal(size=(ROWS, 4))


class Layer(NamedTuple):
    weight: "Tensor[float, n, m]"
    bias: "Tensor[float, n]"
    scale: float


@dataclass
class Point:
    x: float
    y: float


@knossos.register
def dense(layer: Layer, x: "Tensor[float, m]", but: int) -> "tuple[Tensor[float, n], float]":
    """An array, then a number, of a record, with an element left out."""
    y = np.zeros(len(layer.bias))
    for i in range(len(layer.bias)):
        s = layer.bias[i]
        for j in range(len(x)):
            if j == but:
                continue
            s += layer.weight[i, j] * x[j]
        y[i] = layer.scale * s
    return y, np.sum(y)


@knossos.register
def first_above(x: "Tensor[float, n]", bound: float) -> float:
    """Returns within a loop."""
    for i in range(len(x)):
        if x[i] > bound:
            return x[i] * bound
    return bound


@knossos.register
def branched(x: "Tensor[float, n, m]") -> "Tensor[float, n, m]":
    if np.sum(x) < 0.0:
        return -0.125 * x
    y = np.zeros((x.shape[0], x.shape[1]))
    y[0] = x[0] * x[0]
    return y


@knossos.register
def turned(points: "Tensor[float, n, 2]", centre: Point) -> tuple[Point, float]:
    total = 0.0
    for i in range(len(points)):
        total += (points[i, 0] - centre.x) * (points[i, 1] - centre.y)
    return Point(total * centre.x, centre.y), total


def rows_of(kernel, random):
    """Arguments for each row, of random extents: leaves of the kernel with ROWS in front."""
    extents = {}
    leaves = []
    for leaf in kernel._leaves:
        shape = (ROWS,)
        for extent in leaf.extents if isinstance(leaf, TensorOf) else ():
            fixed = extent if isinstance(extent, int) else extents.setdefault(
                extent, int(random.integers(1, 5)))  # fmt: skip
            shape += (fixed,)
        if leaf.kind == "float":
            leaves.append(random.normal(size=shape))
        else:
            leaves.append(random.integers(0, 3, size=shape))
    return leaves


def packed(structures, leaves):
    """The leaves as the arguments that the annotations say."""
    rest = list(leaves)
    return [structure.result(rest) for structure in structures]


def of_row(leaves, row):
    return [each[row].item() if each.ndim == 1 else each[row] for each in leaves]


def flat(structure, made):
    return _core.knossos.numbers_in(structure, made)


def same(kernel, arguments, row_kernel, rows):
    """The kernel's results have the bits of the rows', one by one."""
    made = flat(kernel._result_structure(), kernel(*arguments))
    for row, given in enumerate(rows):
        wanted = flat(row_kernel._result_structure(), row_kernel(*given))
        assert len(wanted) == len(made)
        for found, want in zip(made, wanted):
            assert found.dtype == np.asarray(want).dtype
            assert found[row].tobytes() == np.asarray(want).tobytes()


EXAMPLES = [
    knossos.register(each) for each, _ in array_kernels.examples() if each.__name__ != "polynomials"
] + [dense, first_above, branched, turned]  # fmt: skip


def mapped_or_none(kernel):
    """None where an extent of the result depends on a number that is given."""
    try:
        knossos.vmap(kernel).procedure()
    except NotSupported as refused:
        assert "Extents of rows that are equal" in str(refused)
        return None
    return knossos.vmap(kernel)


@pytest.mark.long_tail
@pytest.mark.parametrize("kernel", EXAMPLES, ids=lambda kernel: kernel.__name__)
def test_values_and_derivatives(kernel):
    random = np.random.default_rng(1)
    mapped = mapped_or_none(kernel)
    if mapped is None:
        return
    leaves = rows_of(kernel, random)
    try:
        rows = [packed(kernel.parameter_structures, of_row(leaves, row)) for row in range(ROWS)]
        wanted = [kernel(*given) for given in rows]
    except (IndexError, ValueError):
        pytest.skip("these arguments do not fit it")
    same(mapped, packed(mapped.parameter_structures, leaves), kernel, rows)
    outs = [flat(kernel._result_structure(), made) for made in wanted]
    received = [np.array([out[i] for out in outs]) for i in range(len(outs[0]))]
    received = [each + 0.5 for each in received if each.dtype == np.float64]
    both = [*leaves, *received]
    same(mapped.vjp, both, kernel.vjp, [of_row(both, row) for row in range(ROWS)])
    tangents = [random.normal(size=leaves[i].shape) for i in kernel._floats()]
    both = [*leaves, *tangents]
    same(mapped.jvp, both, kernel.jvp, [of_row(both, row) for row in range(ROWS)])


def test_the_seeds_sqrl():
    assert np.array_equal(vsqrl(X), [sqrl(x) for x in X])
    dy = np.arange(5.0)
    assert np.array_equal(vsqrl.vjp(X, dy), [sqrl.vjp(x, d) for x, d in zip(X, dy)])
    assert np.array_equal(vsqrl.grad(X), [sqrl.grad(x) for x in X])
    assert knossos.vmap(sqrl) is vsqrl and vsqrl.__name__ == "vsqrl"

    @knossos.vmap
    def decorated(x: "Tensor[float, n]") -> float:
        return np.sum(x * x)

    assert np.array_equal(decorated.grad(X), 2 * X)
    single = vsqrl(X.astype("float32"))
    assert single.dtype == np.float32
    assert np.array_equal(single, [sqrl(x) for x in X.astype("float32")])
    assert vsqrl(np.zeros((0, 4))).shape == (0,)


def test_numbers_stand_for_themselves_in_each_row():
    smoothed = knossos.register(array_kernels.recurrence)
    mapped = knossos.vmap(smoothed)
    assert np.array_equal(mapped(X, 0.5), [smoothed(x, 0.5) for x in X])
    _, dw = mapped.vjp(X, 0.5, X)
    assert dw.shape == (ROWS,) and dw[1] == smoothed.vjp(X[1], 0.5, X[1])[1]


def test_twice():
    twice = knossos.vmap(vsqrl)
    z = np.stack([X, -X, X + 1])
    assert np.array_equal(twice(z), [vsqrl(x) for x in z])
    assert np.array_equal(twice.grad(z), [vsqrl.grad(x) for x in z])


def test_with_torch():
    x = torch.tensor(X, requires_grad=True)
    vsqrl(x).sum().backward()
    assert np.array_equal(x.grad.numpy(), vsqrl.grad(X))
    assert torch.equal(vsqrl.autogradFunction.apply(x), vsqrl(x))
    layer, given, but = Layer(*rows_of(dense, np.random.default_rng(2))[:3]), X, 1
    layer = layer._replace(weight=np.ones((ROWS, 3, 4)), bias=np.ones((ROWS, 3)))
    tensors = Layer(*(torch.tensor(each, requires_grad=True) for each in layer))
    y, total = knossos.vmap(dense)(tensors, torch.tensor(given), but)
    (y.sum() + total.sum()).backward()
    wanted = knossos.vmap(dense).vjp(*layer, given, but, np.ones((ROWS, 3)), 1.0)
    for tensor, want in zip(tensors, wanted):
        assert np.array_equal(tensor.grad.numpy(), want)


@pytest.mark.parametrize("torch", [torch, ct])
def test_modules(torch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 6), vsqrl.nnModule)
    assert tuple(model(torch.randn(3, 4)).shape) == (3,)
    model(torch.randn(3, 4)).sum().backward()
    assert tuple(model[0].weight.grad.shape) == (6, 4)


def test_graphs():
    x = composit.asarray(X)
    assert np.array_equal(composit.evaluate(vsqrl(x)), vsqrl(X))
    gradient = composit.grad(lambda x: cnp.sum(vsqrl(x)))
    assert np.array_equal(composit.evaluate(gradient(x)), vsqrl.grad(X))
    assert np.array_equal(vsqrl.compile(X)(X), vsqrl(X))
    assert np.array_equal(composit.compile(gradient)(X), vsqrl.grad(X))
    _, moved = composit.jvp(vsqrl, (x,), (x,))
    assert np.array_equal(composit.evaluate(moved), vsqrl.jvp(X, X))
    z = np.stack([X, X + 1])
    assert np.array_equal(composit.evaluate(composit.vmap(vsqrl)(composit.asarray(z))),
                          [vsqrl(x) for x in z])  # fmt: skip


def test_a_derivative_that_is_given():
    @knossos.register
    def scaled(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":
        return x * w

    mapped = knossos.vmap(scaled)
    before = mapped.vjp(X, 2.0, X)

    @scaled.derivative
    def other(x: "Tensor[float, n]", w: float, dy: "Tensor[float, n]"
              ) -> "tuple[Tensor[float, n], float]":  # fmt: skip
        return 100 * dy, 7.0

    dx, dw = mapped.vjp(X, 2.0, X)
    assert np.array_equal(dx, 100 * X) and np.array_equal(dw, np.full(ROWS, 7.0))
    assert np.array_equal(before[0], 2 * X)
    with pytest.raises(NotSupported, match=r"vscaled.derivative: .* @scaled.derivative"):
        mapped.derivative(copy.copy(other.__wrapped__))


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("kernel", [sqrl, dense, branched, turned], ids=lambda k: k.__name__)
def test_exported(compiler, kernel, tmp_path):
    mapped = knossos.vmap(kernel)
    name = f"v{kernel.__name__}"
    assert mapped.export(tmp_path) == [f"{name}.hpp", f"{name}.cpp"]
    first = (tmp_path / f"{name}.cpp").read_bytes()
    mapped.export(tmp_path)
    assert (tmp_path / f"{name}.cpp").read_bytes() == first
    assert shutil.which(compiler)
    command = [compiler, *WARNINGS, "-O1", "-c", f"{name}.cpp", "-o", "/dev/null"]
    subprocess.run(command, cwd=tmp_path, check=True)
    if compiler == "g++":
        leaves = rows_of(kernel, np.random.default_rng(3))
        assert selfcheck_of(mapped, leaves, tmp_path) < 1e-13


def test_the_text_is_one_loop_over_rows():
    text = vsqrl.procedure().source
    assert "\nvoid vsqrl(const double* x, int64_t rows, int64_t n, " in text
    assert text.count("row < rows") == 1 and "x[row * n + i]" in text


def test_refusals():
    with pytest.raises(ValueError, match=r"vsqrl: an array of shape .* 2 axes"):
        vsqrl(X[0])
    with pytest.raises(ValueError, match=r"vsqrl: numbers stand for arrays"):
        vsqrl(1.0)
    with pytest.raises(ValueError, match="is required"):
        knossos.vmap(array_kernels.affine)(np.ones((2, 3, 4)), np.ones((2, 4)), np.ones((3, 3)))

    @knossos.vmap
    def ragged(k: int) -> "Tensor[float, n]":
        return np.zeros(k)

    with pytest.raises(NotSupported, match=r"vragged: an extent of .* is made of k.*\.py:\d+\]"):
        ragged(np.arange(3))

    @knossos.register
    def calls(x: "Tensor[float, n, m]") -> float:
        return np.sum(vsqrl(x))

    with pytest.raises(NotSupported, match=r"vsqrl is made of a kernel with arrays.*\.py:\d+\]"):
        calls(X)
