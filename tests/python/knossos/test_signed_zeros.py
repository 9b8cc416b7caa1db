"""Differences from zero keep the sign of zero, which g++ 12 folds away where it is let."""

import numpy as np
import pytest

import composit
from composit import knossos


def of_integer(x: float, n: int) -> float:
    return 0.0 - float(n)


def of_negated(x: float, n: int) -> float:
    return 0.0 + -float(n)


def of_negated_first(x: float, n: int) -> float:
    return -float(n) + 0.0


def of_choice(x: float, n: int) -> float:
    return 0.0 - (float(n) if x > 0.0 else 1.0)


def of_literals(x: float, n: int) -> float:
    return 0.0 - (0.0 if x > 0.0 else 1.0)


def of_comparison(x: float, n: int) -> float:
    return 0.0 - float(x < 0.0)


def of_absolute(x: float, n: int) -> float:
    return 0.0 - abs(float(n))


@pytest.mark.parametrize(
    "function",
    [of_integer, of_negated, of_negated_first, of_choice, of_literals, of_comparison, of_absolute],
)
def test_zero_minus_zero(function):
    """g++ 12 folds 0.0 - x to -x where it sees that x is never -0.0."""
    kernel = knossos.register(function)
    x = np.array([0.5, -1.0, 2.0, 0.0])
    n = np.array([0, 3, 0, 0])
    wanted = np.array([function(*each) for each in zip(x.tolist(), n.tolist())])
    assert kernel(x, n).tobytes() == wanted.tobytes()
    assert np.array([kernel(*each) for each in zip(x.tolist(), n.tolist())]).tobytes() == (
        wanted.tobytes()
    )
    compiled = composit.compile(lambda x, n: kernel(x, n), composit.asarray(x), composit.asarray(n))
    assert np.asarray(compiled(x, n)).tobytes() == wanted.tobytes()


def truncated(x: float) -> float:
    return float(int(x))


def rounded(x: float) -> float:
    return 0.0 + float(round(x))


@pytest.mark.parametrize("function", [truncated, rounded])
def test_integers_of_negative_fractions(function):
    """g++ 12 makes a truncation of them, of which -0.0 would be left."""
    kernel = knossos.register(function)
    x = np.array([-0.4, 0.4, -1.0, 2.6])
    wanted = np.array([function(each) for each in x.tolist()])
    assert kernel(x).tobytes() == wanted.tobytes()
    assert np.array([kernel(each) for each in x.tolist()]).tobytes() == wanted.tobytes()
    compiled = composit.compile(lambda x: kernel(x), composit.asarray(x))
    assert np.asarray(compiled(x)).tobytes() == wanted.tobytes()
