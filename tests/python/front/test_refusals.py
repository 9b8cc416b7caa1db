"""What is not supported, or wrong, is refused where it is written: function, value, what to do."""

import re
import subprocess
import sys

import numpy as np
import pytest

import composit
from composit import nn
from composit import numpy as cnp

BOOL = np.array([[True, False], [True, True]])
IMAGE = np.ones((1, 3, 5, 6))

REFUSED = [
    (
        ValueError,
        lambda: cnp.ones((2, 2), order="K"),
        "ones: order must be 'C' or 'F' (got 'K')",
    ),
    (
        ValueError,
        lambda: cnp.zeros_like(np.ones(2), order="Z"),
        "zeros_like: order must be one of 'C', 'F', 'A', or 'K' (got 'Z')",
    ),
    (
        ValueError,
        lambda: cnp.tri(2**31),
        "tri: shape (2147483648, 2147483648) is impossible. Lengths of at least 0, of at most 2^58 "
        "elements together, are required.",
    ),
    (
        ValueError,
        lambda: cnp.broadcast_to(cnp.ones(()), (2**40, 1)) + cnp.broadcast_to(1.0, 2**40),
        "add: shape (1099511627776, 1099511627776) is impossible. Lengths of at least 0, of at "
        "most 2^58 elements together, are required.",
    ),
    (
        ValueError,
        lambda: cnp.tile(cnp.arange(4), 2**62),
        "tile: shape (4611686018427387904, 4) is impossible. Lengths of at least 0, of at most "
        "2^58 elements together, are required.",
    ),
    (
        ValueError,
        lambda: cnp.repeat(cnp.arange(4), 2**62),
        "repeat: shape (4, 4611686018427387904) is impossible. Lengths of at least 0, of at most "
        "2^58 elements together, are required.",
    ),
    (
        ValueError,
        lambda: cnp.pad(cnp.arange(4), 2**62),
        "pad: widths (4611686018427387904, 4611686018427387904) for axis 0 are too large. At most "
        "2^31 is required.",
    ),
    (
        MemoryError,
        lambda: cnp.array_split(cnp.arange(4), 2**40),
        "the memory for this call's nodes is not available. Free memory, or ask for less.",
    ),
    (
        MemoryError,
        lambda: cnp.eye(2**20, 2**30),
        "allocate: 9007199254740992 bytes are not available. Free memory or use smaller arrays.",
    ),
    (
        TypeError,
        lambda: cnp.add(np.ones(3), np.ones(3, "int8"), casting="no"),
        "Cannot cast ufunc 'add' input 1 from dtype('int8') to dtype('float64') with casting rule "
        "'no'",
    ),
    (
        ValueError,
        lambda: bool(cnp.ones(2)),
        "The truth value of an array with more than one element is ambiguous. "
        "Use a.any() or a.all()",
    ),
    (
        TypeError,
        lambda: float(cnp.ones(2)),
        "only 0-dimensional arrays can be converted to Python scalars",
    ),
    (
        ValueError,
        lambda: cnp.ones(2).item(),
        "can only convert an array of size 1 to a Python scalar",
    ),
    (
        ValueError,
        lambda: nn.convolution(IMAGE, np.ones((2, 4, 3, 3)), channels_last=False),
        "convolution: channels do not fit: x has shape (1, 3, 5, 6), filters have shape "
        "(2, 4, 3, 3), groups is 1. x.shape[1] must equal filters.shape[1] * groups, and "
        "filters.shape[0] be a multiple of groups.",
    ),
    (
        ValueError,
        lambda: nn.convolution(IMAGE, np.ones((2, 3, 6, 6)), channels_last=True),
        "convolution: the window is empty or larger than the padded input along axis 2: 6 > 5 ",
    ),
    (
        ValueError,
        lambda: nn.convolution(IMAGE, np.ones((2, 3, 3, 9)), channels_last=False),
        "convolution: the window is empty or larger than the padded input along axis 3: 9 > 6 "
        "(x has shape (1, 3, 5, 6), filters have shape (2, 3, 3, 9)). Pad more or use a smaller "
        "window.",
    ),
    (
        ValueError,
        lambda: nn.convolution(IMAGE, np.ones((2, 3, 3, 3)), channels_last=False, groups=0),
        "convolution: groups is 0. At least 1 is required.",
    ),
    (
        np.exceptions.AxisError,
        lambda: nn.softmax(cnp.ones((2, 3)), axis=7),
        "softmax: axis 7 is out of bounds for an array of 2 dimensions. Axes are -2 to 1.",
    ),
    (
        np.exceptions.AxisError,
        lambda: cnp.ptp(cnp.ones((2, 3)), axis=2),
        "ptp: axis 2 is out of bounds for an array of 2 dimensions. Axes are -2 to 1.",
    ),
    (
        np.exceptions.AxisError,
        lambda: cnp.average(cnp.ones(3), axis=1),
        "average: axis 1 is out of bounds for an array of 1 dimension. Axes are -1 to 0.",
    ),
    (
        ValueError,
        lambda: cnp.exp(cnp.ones(2), out=(cnp.ones(2), cnp.ones(2))),
        "The 'out' tuple must have exactly one entry per ufunc output",
    ),
    (TypeError, lambda: composit.compile(3), "compile: 3 is not a function, which is required."),
    (TypeError, lambda: composit.grad(None), "grad: None is not a function, which is required."),
    (
        ValueError,
        lambda: cnp.evaluate(cnp.ones(2), threads="a"),
        "threads: 'a' threads. A positive integer or None is required.",
    ),
    (
        TypeError,
        lambda: cnp.evaluate(cnp.ones(2), backend=3),
        "backend: 3 is not a name. A back end's name is required.",
    ),
    (
        TypeError,
        lambda: composit.compile(lambda x: x, backend=None),
        "backend: None is not a name. A back end's name is required.",
    ),
    (
        TypeError,
        lambda: composit.compile(lambda x: x, name=3),
        "compile: name is 3. A text is required.",
    ),
    (
        TypeError,
        lambda: composit.register("refused", value=3),
        "register: value is 3. A function of one or more positional arguments is required.",
    ),
    (
        TypeError,
        lambda: composit.register("refused", value=lambda x: x if x > 0 else -x),
        "a scalar expression has no truth value while a row is defined. "
        "Use composit.scalar.where(condition, a, b).",
    ),
    (
        ValueError,
        lambda: composit.register("float32", value=lambda x: x),
        "register: 'float32' is a name of composit.numpy. Another one is required.",
    ),
    (
        TypeError,
        lambda: composit.register("refused", value=lambda x: "x"),
        "refused: the function returned a str. A scalar expression or a number is required.",
    ),
    (
        TypeError,
        lambda: composit.register("refused", value=lambda x: x > 0),
        "refused: its definition returns bool for operands of float64. Its type rule requires "
        "float64.",
    ),
    (
        ValueError,
        lambda: composit.register("refused", value=lambda x, y: x, slope=lambda x, y, r: 1),
        "refused: slope returned 1 expressions for 2 operands. One for each is required.",
    ),
]


@pytest.mark.parametrize(
    ("error", "call", "text"), REFUSED, ids=[text[:40] for _, _, text in REFUSED]
)
def test_refusals(error, call, text):
    with pytest.raises(error) as caught:
        call()
    end = "" if text.endswith(" ") else r" \[test_refusals\.py:\d+\]$"
    assert re.match(re.escape(text) + end, str(caught.value)), str(caught.value)


def test_math_of_an_expression_says_what_to_use():
    import math

    with pytest.raises(TypeError, match=r"use those of composit\.scalar, such as .*exp\(x\)\. \["):
        composit.register("refused", value=lambda x: math.exp(x))
    assert not hasattr(cnp, "refused")


def test_numpy_of_an_expression_is_the_row():
    f = composit.register("numpy_row", value=lambda x: np.exp(x) + np.maximum(2 * x, 1))
    x = np.array([-1.0, 2.0])
    np.testing.assert_array_equal(
        composit.evaluate(f(x)), composit.evaluate(cnp.exp(x) + cnp.maximum(2 * x, 1))
    )


@pytest.mark.parametrize("subscripts", ["ij->j", "ij->", "ii->", "ij,jk->ik", "ij,jk->"])
def test_einsum_of_bool(subscripts):
    operands = [BOOL] * (1 + subscripts.count(","))
    made = cnp.einsum(subscripts, *operands)
    expected = np.einsum(subscripts, *operands)
    assert made.dtype == expected.dtype
    np.testing.assert_array_equal(composit.evaluate(made), expected)


def test_bfloat16_without_its_package():
    program = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import composit.numpy as cnp\n"
        "try: cnp.ones(2, 'bfloat16')\n"
        "except TypeError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == (
        "dtype bfloat16: NumPy has it with the package ml_dtypes only, which is not installed "
        "(pip install ml_dtypes). Use float32 otherwise. [<string>:3]\n"
    ), done.stderr
