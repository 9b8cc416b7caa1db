"""Operators of tensors and NumPy's arrays, and NumPy's functions of tensors: what is a tensor
again, of which dtype, and what is refused, as in PyTorch."""

import operator
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from torch_sides import peer, torch

OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "lt", "and_", "matmul",
             "iadd", "imul")  # fmt: skip
ARRAYS = {
    "float64": np.array([1.0, 2.0]), "float32": np.array([1, 2], "f4"), "int64": np.array([1, 2]),
    "no dimension": np.array(2.0), "rows": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "three": np.array([1.0, 2, 3]), "texts": np.array(["a", "b"]),
}  # fmt: skip


def outcome(t, program):
    try:
        found = program(t)
    except Exception as error:
        return "TypeError" if isinstance(error, TypeError) else type(error).__name__
    if isinstance(found, t.Tensor):
        return "Tensor", str(found.dtype), found.tolist()
    return type(found).__name__, np.asarray(found).tolist()


def check(program):
    assert outcome(torch, program) == outcome(peer, program)


@pytest.mark.on_cpu  # where NumPy's arrays lie
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("array", ARRAYS)
def test_operators(name, array):
    operate, given = getattr(operator, name), ARRAYS[array]
    check(lambda t: operate(t.tensor([3.0, 4.0]), given.copy()))
    check(lambda t: operate(given.copy(), t.tensor([3.0, 4.0])))
    check(lambda t: operate(t.tensor([3, 4]), given.copy()))
    check(lambda t: operate(given.copy(), t.tensor([3, 4])))


FUNCTIONS = {
    "exp": lambda t: np.exp(t.ones(2)), "sin of integers": lambda t: np.sin(t.arange(2)),
    "add": lambda t: np.add(t.ones(2), ARRAYS["float64"]), "abs": lambda t: np.abs(-t.ones(2)),
    "maximum": lambda t: np.maximum(t.ones(2), ARRAYS["float64"]),
    "of no dimension": lambda t: np.sqrt(t.tensor(4.0)), "log": lambda t: np.log(t.tensor(2.0)),
    "booleans": lambda t: np.greater(t.ones(2), ARRAYS["float64"]),
    "isfinite": lambda t: np.isfinite(t.ones(2)), "modf": lambda t: np.modf(t.tensor([1.5]))[0],
    "where": lambda t: np.where(t.ones(2) > 0, 1, 2), "dot": lambda t: np.dot(t.ones(2), t.ones(2)),
    "stack": lambda t: np.stack([t.ones(2), t.ones(2)]),
    "gradient": lambda t: np.exp(t.ones(2, requires_grad=True)),
    "gradient of an operator": lambda t: t.ones(2, requires_grad=True) * ARRAYS["float64"],
    "a loss": lambda t: t.nn.functional.smooth_l1_loss(
        t.ones(2), t.ones(2) + np.array([1, 2], "f4")),
    "a policy": lambda t: (
        t.tensor([[0.5], [0.25]]) * (1 - t.ones(2, 1)).numpy()).exp() - t.ones(1),
    "method": lambda t: t.ones(2).mul(ARRAYS["float64"]),
    "numbers": lambda t: np.float64(2) * t.ones(2) + np.int64(3),
}  # fmt: skip


@pytest.mark.on_cpu
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_numpy(name):
    check(FUNCTIONS[name])


GIVEN = {
    "a tensor of one element": lambda t: t.tensor([t.ones(1)]),
    "of two dimensions": lambda t: t.tensor([[t.ones(1, 1)]]),
    "of two elements": lambda t: t.tensor([t.ones(2)]), "of none": lambda t: t.tensor([t.ones(0)]),
    "numbers and tensors": lambda t: t.tensor([[t.ones(1), 2.0], [3, t.tensor([4])]]),
    "of no dimension": lambda t: t.tensor([t.tensor(3), 4.5]),
    "integers": lambda t: t.tensor([t.tensor([3])]),
    "booleans": lambda t: t.tensor([t.tensor([True])]),
    "float16": lambda t: t.tensor([t.ones(1, dtype=t.float16)]),
    "float16 and a number": lambda t: t.tensor([t.ones(1, dtype=t.float16), 0.5]),
    "float64 and an integer": lambda t: t.tensor([t.ones(1, dtype=t.float64), 1]),
    "a float as an integer": lambda t: t.tensor([t.ones(1)], dtype=t.int64),
    "an integer as a float": lambda t: t.tensor([t.tensor([2])], dtype=t.float64),
    "with a gradient": lambda t: t.tensor([t.ones(1, requires_grad=True) * 2]),
    "arrays": lambda t: t.tensor([np.ones(2), np.zeros(2)]),
    "array": lambda t: t.tensor([np.ones(1)]),
    "scalars of float32": lambda t: t.tensor([np.float32(1)]),
    "scalars of float64": lambda t: t.tensor([np.float64(1), 2]),
    "scalars of integers": lambda t: t.tensor([[np.int32(1)], [np.int32(2)]]),
    "uneven": lambda t: t.tensor([[1], [2, 3]]),
    "uneven below": lambda t: t.tensor([[[1], [2, 3]]]),
    "as_tensor": lambda t: t.as_tensor([t.ones(1)]),
    "typed": lambda t: t.FloatTensor([t.ones(1)]), "tuples": lambda t: t.tensor((t.ones(1),) * 2),
    "numbers": lambda t: t.tensor([[True, 2], [0.5, 1]]), "nothing": lambda t: t.tensor([[]]),
    "complex": lambda t: t.tensor([1j, t.ones(1)]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GIVEN)
def test_data_in_lists(name):
    check(GIVEN[name])


@pytest.mark.on_cpu  # NumPy takes memory of the CPU alone
def test_a_tensor_with_a_gradient_is_not_given_to_other_libraries():
    for library in (peer, torch):
        x = library.ones(2, requires_grad=True)
        for tensor in (x, x * 2):
            with pytest.raises(BufferError, match=r"^Can't export tensors that require gradient, "):
                tensor.__dlpack__()
        assert np.from_dlpack(x.detach()).tolist() == [1, 1]
