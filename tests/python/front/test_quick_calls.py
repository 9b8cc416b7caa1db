"""Operators and ufuncs go a quick way with tensors and numbers; it does what the others do."""

import gc
import operator
import random

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit.types import LazyTensor

BINARY = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge",
    "eq", "ne",
]  # fmt: skip


def made(x):
    """What a node is, without its identity."""
    return str(x.node.operation), x.dtype, x.shape, x.location, composit.evaluate(x).tobytes()


@pytest.mark.parametrize("name", BINARY)
def test_operators_are_their_methods(name):
    x = cnp.asarray(np.array([1.5, -2.0, 3.0], np.float32))
    y = cnp.asarray(np.array([2.0, 0.5, 4.0], np.float32))
    operate, method = getattr(operator, name), getattr(LazyTensor, f"__{name}__")
    others = [y] if name == "matmul" else [y, 2, 2.5, True, np.float64(3), np.ones(3), [1, 2, 3]]
    for other in others:
        quick, slow = made(operate(x, other)), made(method(x, other))
        assert quick[:3] + quick[4:] == slow[:3] + slow[4:]
        assert quick[3].startswith("test_quick_calls.py:")


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
def test_operators_of_integers(name):
    a = np.array([5, 6, 7], np.int32)
    operate = getattr(operator, name)
    for first, second in ((a, 3), (3, a), (a, a)):
        lazy = [cnp.asarray(v) if isinstance(v, np.ndarray) else v for v in (first, second)]
        np.testing.assert_array_equal(composit.evaluate(operate(*lazy)), operate(first, second))


def test_operators_leave_others_to_python():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, left):
            return "mine"

        def __rpow__(self, left):
            return "mine, too"

    x = cnp.ones(3)
    assert x + Other() == "mine"
    assert x ** Other() == "mine, too"
    for operate in (operator.add, operator.pow, operator.matmul, operator.lt):
        with pytest.raises(TypeError, match=r"not supported between|unsupported operand"):
            operate(x, "text")
        with pytest.raises(TypeError, match=r"not supported between|unsupported operand"):
            operate(None, x)
    assert (x == "text").tolist() == [False] * 3
    with pytest.raises(TypeError):
        pow(x, 2, 5)
    with pytest.raises(ValueError, match=r"add: operands could not .* \[test_quick_calls.py:\d+\]"):
        x + cnp.ones(4)


def test_ufuncs_are_their_slow_way():
    x = cnp.asarray(np.array([0.5, 2.0], np.float32))
    for quick, slow in (
        (cnp.exp(x), cnp.exp(x, out=None)),
        (cnp.add(x, 1), cnp.add(x, 1, dtype=None)),
        (cnp.maximum(x, x), cnp.maximum(x, x, where=True)),
    ):
        assert made(quick)[:3] == made(slow)[:3]
        assert made(quick)[4] == made(slow)[4]
        assert quick.location.startswith("test_quick_calls.py:")
    with pytest.raises(TypeError, match="from 1 to 2 positional arguments but 0 were given"):
        cnp.exp()
    with pytest.raises(TypeError, match="exp"):
        cnp.exp("text")
    with pytest.raises(TypeError, match="unexpected keyword"):
        cnp.exp(x, wrong=1)
    with pytest.raises(TypeError, match="was not made by composit"):
        cnp.Ufunc.__new__(cnp.Ufunc)(x)


def test_a_replaced_row_is_the_one_that_is_called():
    first = composit.register("quick_scale", value=lambda x: x * 2, doc="a multiple")
    x = cnp.ones(2)
    assert composit.evaluate(first(x))[0] == 2
    composit.register("quick_scale", value=lambda x: x * 3, doc="another")
    assert composit.evaluate(first(x))[0] == composit.evaluate(cnp.quick_scale(x))[0] == 3


def test_live_objects_are_found_whatever_else_lives_and_dies():
    draw = random.Random(0)
    x = cnp.ones(3)
    live = [cnp.sin(x)]
    for _ in range(20_000):
        if draw.random() < 0.55 or len(live) < 2:
            live.append(cnp.sin(live[draw.randrange(len(live))]))
        else:
            live[draw.randrange(len(live))] = live[-1]
            live.pop()
    for y in live:
        user = cnp.cos(y)
        assert user.node.operands[0] is y
    del live, y, user
    gc.collect()
    assert cnp.cos(x).node.operands[0] is x
