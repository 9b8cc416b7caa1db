"""What kernels of all kinds are given: arrays with masks, tensors of two libraries, numbers that
are not real, tensors without elements. All that would lose something is refused."""

from typing import NamedTuple

import kernels
import numpy as np
import pytest
import torch

import composit
import composit.torch as ct
from composit import knossos
from composit.knossos import Tensor

relu3 = knossos.register(kernels.relu3)
ordered = knossos.register(kernels.ordered)


class Layer(NamedTuple):
    weight: "Tensor[float, n]"  # noqa: F821
    bias: float


@knossos.register
def scaled(x: "Tensor[float, n]", w: float) -> "Tensor[float, n]":  # noqa: F821
    return w * x


@knossos.register
def shifted(x: "Tensor[float, n]", k: int) -> "Tensor[float, n]":  # noqa: F821
    return x + k


@knossos.register
def applied(layer: Layer, x: "Tensor[float, n]") -> "Tensor[float, n]":  # noqa: F821
    return layer.weight * x + layer.bias


@knossos.register
def counted(x: float, n: int, b: bool) -> float:
    return x * n if b else x


MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
MASKED_CALLS = [
    lambda: relu3(MASKED),
    lambda: relu3([MASKED, MASKED]),
    lambda: relu3.grad(MASKED),
    lambda: relu3.vjp(np.ones(3), MASKED),
    lambda: ordered(composit.asarray(np.ones(3)), MASKED),
    lambda: ordered(torch.ones(3), MASKED),
    lambda: scaled(MASKED, 2.0),
    lambda: scaled(np.ones(3), np.ma.masked),
    lambda: applied(Layer(MASKED, 1.0), np.ones(3)),
    lambda: knossos.vmap(scaled)(MASKED[None], 2.0),
    lambda: scaled(composit.asarray(np.ones(3)), np.ma.masked_array(2.0)),
]


@pytest.mark.parametrize("call", MASKED_CALLS)
def test_masks_would_be_lost(call):
    relu3(np.ones(3)), scaled(np.ones(3), 2.0)
    text = r"(?s)\w+: an argument is given a masked array, .* whose mask would be lost"
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize("requires_grad", [False, True])
def test_tensors_of_both_torches(requires_grad):
    theirs = torch.ones(3, requires_grad=requires_grad)
    number = torch.tensor(2.0, requires_grad=requires_grad)
    calls = [
        lambda: ordered(ct.ones(3), theirs),
        lambda: ordered(theirs, ct.ones(3)),
        lambda: scaled(ct.ones(3), number),
        lambda: scaled(theirs, ct.tensor(2.0)),
        lambda: knossos.vmap(scaled)(ct.ones((2, 3)), theirs[:2]),
        lambda: applied(Layer(ct.ones(3), 1.0), theirs),
        lambda: ordered.nnModule(ct.ones(3), theirs),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"\w+: tensors of composit.torch and of torch are giv"):
            call()


def test_traces_would_hold_constants():
    text = r": it is called while torch writes down a graph .*torch.jit.trace"
    row = torch.ones(2)
    traced = [
        (relu3.nnModule, row),
        (lambda x: relu3(x), row),
        (lambda x: relu3(x), row.clone().requires_grad_()),
        (lambda x: scaled(x, 2.0), row),
        (lambda x: knossos.vmap(scaled)(x, 2.0), row[None]),
        (torch.nn.Sequential(relu3.nnModule), row),
    ]
    for function, x in traced:
        with pytest.raises(NotImplementedError, match=text):
            torch.jit.trace(function, x)
    assert relu3(row).shape == (2,)


def test_tensors_without_elements():
    from torch._subclasses.fake_tensor import FakeTensorMode

    text = "relu3: a FakeTensor has no elements to compute with"
    with FakeTensorMode(), pytest.raises(NotImplementedError, match=text):
        relu3(torch.ones(3))
    with pytest.raises(NotImplementedError, match=text):
        torch.export.export(torch.nn.Sequential(relu3.nnModule), (torch.ones(3),))
    with FakeTensorMode(), pytest.raises(NotImplementedError, match="scaled: a FakeTensor"):
        scaled(torch.ones(3), 2.0)


WRONG_KINDS = [
    (lambda: relu3(torch.tensor([1j])), "relu3: an array of dtype complex64 stands for one of flo"),
    (lambda: relu3(np.array([1j])), "relu3: an array of dtype complex128 .* Real numbers are"),
    (lambda: relu3([1j]), "relu3: an array of dtype complex128"),
    (lambda: relu3(np.complex64(1j)), "relu3: a number of dtype complex64"),
    (lambda: relu3(composit.asarray([1j])), "relu3: an array of dtype complex128"),
    (lambda: relu3(np.array(["a"])), "relu3: an array of dtype <U1"),
    (lambda: counted(1.0, np.ones(2, "float32"), True), "counted: an array of dtype float32 stand"),
    (lambda: counted(1.0, torch.ones(2), True), "counted: an array of dtype float32 stands for"),
    (lambda: counted(1.0, 2, np.ones(2, int)), "counted: an array of dtype int64 stands for one o"),
    (lambda: relu3(np.timedelta64(5)), "relu3: a number of dtype timedelta64 stands for one of fl"),
    (lambda: scaled(np.ones(2), np.timedelta64(5)), "scaled: a number of dtype timedelta64 stands"),
    (lambda: scaled(np.ones(2), np.array(5, "M8[s]")), r"scaled: a number of dtype datetime64\[s"),
    (lambda: scaled(np.ones(2, "m8[s]"), 1.0), r"scaled: an array of dtype timedelta64\[s\] stand"),
    (lambda: shifted(np.ones(2), np.timedelta64(5)), "shifted: a number of dtype timedelta64 stan"),
    (lambda: knossos.vmap(scaled)(np.ones((2, 2)), np.timedelta64(5)), "vscaled: a number of dty"),
    (lambda: relu3(np.longdouble(1)), "relu3: a number of dtype float128 stands for one of float"),
    (lambda: relu3(np.ones(2, np.longdouble)), "relu3: an array of dtype float128 stands for one"),
    (lambda: scaled(np.ones(2), np.longdouble(1)), "scaled: a number of dtype float128 stands"),
    (lambda: scaled(np.ones(2, np.longdouble), 1.0), "scaled: an array of dtype float128 stands"),
    (
        lambda: shifted(np.ones(2), np.float64(1)),
        "shifted: a number of dtype float64 stands for on",
    ),
    (
        lambda: scaled(np.ones(2), np.array("a")),
        "scaled: a number of dtype <U1 stands for one of f",
    ),
]


@pytest.mark.parametrize("call, text", WRONG_KINDS)
def test_kinds_of_numbers(call, text):
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize("make", [np.asarray, composit.asarray, torch.from_numpy])
def test_shapes_that_do_not_broadcast(make):
    with pytest.raises(ValueError, match=r"^ordered: operands could not be broadcast"):
        ordered(make(np.ones(2)), make(np.ones(3)))
    with pytest.raises(ValueError, match=r"^ordered_vjp: operands could not be broadcast"):
        ordered.vjp(make(np.ones(2)), make(np.ones(3)), 1.0)


def test_errors_name_the_line_that_calls_torch():
    """No line of torch's, through which the kernel is called."""
    x, row = torch.ones(2, dtype=torch.complex64), torch.ones(2, requires_grad=True)
    model = torch.nn.Sequential(torch.nn.Identity(), relu3.nnModule)
    for call in (
        lambda: relu3(x),
        lambda: relu3.nnModule(x),
        lambda: relu3.nnModule("x"),
        lambda: model(x),
        lambda: relu3.autogradFunction.apply(x),
        lambda: torch.func.vmap(lambda row: relu3(row))(x),
        lambda: torch.func.grad(lambda w: scaled(row, w.to(torch.complex64)))(torch.ones(())),
        lambda: ordered.nnModule(row, torch.ones(3)),
    ):
        with pytest.raises((TypeError, ValueError)) as error:
            call()
        line = call.__code__.co_firstlineno
        assert str(error.value).endswith(f"[test_given_values.py:{line}]")
