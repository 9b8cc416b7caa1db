"""What fori_loop refuses, and in which words."""

import re

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import mosaic

X = np.ones(3, "float32")
TILED = composit.placeholder("x", (4,))


def same(i, x):
    return x


REFUSED = [
    (
        TypeError,
        lambda: composit.fori_loop(0, 3, None, X),
        "fori_loop: None is not a function, which is required.",
    ),
    (
        TypeError,
        lambda: composit.fori_loop(0.5, 3, same, X),
        "fori_loop: lower is 0.5. An integer is required.",
    ),
    (
        TypeError,
        lambda: composit.fori_loop(0, cnp.asarray(X), same, X),
        "fori_loop: upper is a tensor of shape (3,) and dtype float32. An integer is required.",
    ),
    (
        composit.errors.NotSupported,
        lambda: composit.compile(lambda n: composit.fori_loop(0, n, same, X))(np.int64(3)),
        "fori_loop: upper is a tensor that has no value yet. The number of iterations is part of "
        "the program: an integer is required.",
    ),
    (
        TypeError,
        lambda: composit.fori_loop(0, 3, lambda i, x: x[1:], X),
        "fori_loop: the body takes part 0 of the state as float32[3] and returns it as float32[2]. "
        "Equal types are required.",
    ),
    (
        TypeError,
        lambda: composit.fori_loop(0, 3, lambda i, s: (s[0], s[1] * i), (X, X)),
        "fori_loop: the body takes part 1 of the state as float32[3] and returns it as float64[3]. "
        "Equal types are required.",
    ),
    (
        TypeError,
        lambda: composit.fori_loop(0, 3, lambda i, x: (x, x), X),
        "fori_loop: body_fun takes a state of the structure * and returns (*, *). They must be "
        "equal.",
    ),
    (
        TypeError,
        lambda: composit.fori_loop(0, 3, lambda i, s: {"b": s["a"]}, {"a": X}),
        "fori_loop: body_fun takes a state of the structure {'a': *} and returns {'b': *}. They "
        "must be equal.",
    ),
    (
        TypeError,
        lambda: composit.fori_loop(0, 3, lambda i, x: None, X),
        "fori_loop: body_fun takes a state of the structure * and returns None. They must be "
        "equal.",
    ),
    (
        composit.errors.NotSupported,
        lambda: mosaic.compile(
            composit.fori_loop(0, 3, lambda i, x: x * 2, TILED), schema={TILED: (2,)}
        ),
        "mosaic: tiles are given for a program with a loop, loop "
        "(test_loop_errors.py:LINE). Tiles cannot go through loops yet: a program without them, or "
        "no tiles, are required.",
    ),
]


@pytest.mark.parametrize(("error", "call", "message"), REFUSED)
def test_refused(error, call, message):
    with pytest.raises(error) as raised:
        call()
    pattern = re.escape(message).replace("LINE", r"\d+") + r" \[test_loop_errors\.py:\d+\]"
    assert re.fullmatch(pattern, str(raised.value)), str(raised.value)


def test_what_the_body_raises_is_left_alone():
    def body(i, x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        composit.fori_loop(0, 3, body, X)


def test_mistakes_are_reported_on_their_line():
    with pytest.raises(ValueError, match=r"\[test_loop_errors\.py:\d+\]"):
        composit.fori_loop(0, 3, lambda i, x: x + np.ones(5, "float32"), X)


def test_bounds_that_are_known():
    upper = cnp.asarray(np.int32(3))
    found = composit.fori_loop(np.int64(0), upper, lambda i, x: x * 2, X)
    np.testing.assert_array_equal(found, X * 8)
