"""Mistakes: NumPy's class, the exact text, the user's line once."""

import inspect

import numpy as np
import pytest

import composit as cnp


def here(offset=0):
    return f"[test_errors.py:{inspect.currentframe().f_back.f_lineno + offset}]"


def raised(error, call):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).count("[test_errors.py:") == 1
    return str(caught.value)


def test_line_of_the_user():
    x, y = cnp.ones(3), cnp.ones(4)
    with pytest.raises(ValueError) as caught:
        x + y
    assert str(caught.value).endswith(here(-1))
    assert "operands could not be broadcast together with shapes (3,) (4,)" in str(caught.value)


@pytest.mark.parametrize("index", [slice(2), [0, 1], ([[0], [1]], [0, 2]), (0, [1, 2])])
def test_assignments_say_what_numpy_says_and_the_line_is_a_note(index):
    raised = []
    for xp in (np, cnp):
        x = xp.zeros((3, 4))
        with pytest.raises(ValueError) as caught:
            x[index] = xp.zeros((7, 5))
        raised.append(caught.value)
    assert str(raised[1]) == str(raised[0])
    assert raised[1].__notes__ == [here(-3)]


def test_line_through_numpy_and_composit_frames():
    x, y = cnp.ones(3), cnp.ones(4)
    with pytest.raises(ValueError) as caught:
        np.add(x, y)
    assert str(caught.value).endswith(here(-1))
    with pytest.raises(ValueError) as caught:
        cnp.concatenate([x, cnp.ones((2, 2))])
    assert str(caught.value).endswith(here(-1))


def test_nodes_carry_their_line():
    x = cnp.exp(cnp.ones(3))
    assert x.node.location == here(-1).strip("[]")


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda: cnp.ones((2, 3)).reshape(4, 2)),
        (np.exceptions.AxisError, lambda: cnp.sum(cnp.ones(3), axis=2)),
        (IndexError, lambda: cnp.ones(3)[5]),
        (IndexError, lambda: cnp.ones(3)[1, 2]),
        (IndexError, lambda: cnp.ones(3)["a"]),
        (ValueError, lambda: cnp.ones((2, 3)) @ cnp.ones((2, 3))),
        (TypeError, lambda: cnp.exp(cnp.ones(3), cnp.ones(3), 3)),
        (TypeError, lambda: cnp.exp(np.array(["a"]))),
        (TypeError, lambda: len(cnp.asarray(1.0))),
        (ValueError, lambda: cnp.reshape(cnp.ones((2, 3)), (3, 2), order="X")),
        (NotImplementedError, lambda: cnp.argpartition(cnp.ones(3), 1, order="x")),
        (ValueError, lambda: cnp.zeros(-1)),
        (KeyError, lambda: cnp.evaluate(cnp.ones(2) + 1, backend="missing")),
    ],
)
def test_classes(error, call):
    raised(error, call)


def test_type_errors_of_python():
    with pytest.raises(TypeError, match=r"unsupported operand type"):
        cnp.ones(3) + "a"
    message = raised(TypeError, lambda: cnp.sum(cnp.ones(3), axis=1.5))
    assert message.startswith("sum: axis is 1.5. An integer is required.")


def test_what_an_ndarray_cannot_take_as_out_is_told_with_the_line():
    x, fixed = cnp.ones(3), np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(TypeError, match=r"clip: Cannot cast .*test_errors.py"):
        cnp.clip(x, 0, 1.5, out=np.zeros(3, "int8"))
    with pytest.raises(ValueError, match=r"clip: .*read-only.*test_errors.py"):
        cnp.clip(x, 0, 1.5, out=fixed)


def test_an_array_that_is_no_axis_is_told_with_the_line():
    for axis in (np.array([0, 1]), np.array([0])):
        message = raised(TypeError, lambda axis=axis: cnp.ones((2, 3)).any(axis))
        assert "An integer is required" in message and "test_errors.py" in message
