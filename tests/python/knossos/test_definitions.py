"""What is no kernel is refused as such, before what its calls lack."""

import functools
import math

import numpy as np
import pytest

from composit import knossos


def defaults(x: float, y: float = 2.0) -> float:
    return x * y


def by_position_only(x: float, /, y: float = 2.0) -> float:
    return x * y


def several(x: float, *y: float) -> float:
    return x


def by_name_only(x: float, *, y: float) -> float:
    return x * y


CALLS = [
    (by_position_only, (1.0,), {}, "by_position_only: it has arguments by position only"),
    (by_position_only, (np.ones(2),), {}, "by_position_only: it has arguments by position only"),
    (several, (1.0, 2.0), {}, r"several: it has \*args"),
    (several, (1.0,), {"z": 2.0}, r"several: it has \*args"),
    (by_name_only, (1.0,), {"z": 2.0}, "by_name_only: it has arguments by name only"),
]


@pytest.mark.parametrize("function, arguments, named, text", CALLS)
def test_definitions_are_refused_before_calls(function, arguments, named, text):
    with pytest.raises(NotImplementedError, match=text):
        knossos.register(function)(*arguments, **named)


class Callable:
    def __call__(self, x: float) -> float:
        return x

    def method(self, x: float) -> float:
        return x


@pytest.mark.parametrize(
    "given",
    [math.sin, np.sin, int, 3, functools.partial(defaults, 1.0), Callable(), Callable().method],
)
@pytest.mark.parametrize("decorator", [knossos.register, knossos.elementwise, knossos.vmap])
def test_what_is_no_function_of_python(decorator, given):
    text = rf"{decorator.__name__}: .* is no function of Python\. One made by `def`, with annotated"
    with pytest.raises(TypeError, match=text):
        decorator(given)
