"""What kernels cannot hold is refused by file and line, with what to write instead."""

import inspect
import math
from typing import NamedTuple

import numpy as np
import pytest

from composit import knossos
from composit.knossos import Tensor

UNKNOWN = object()
BOUND = 1


def unannotated(x):
    return x


def unknown_annotation(x: complex) -> float:
    return 1.0


def misspelled_annotation(x: "flaot") -> float:  # noqa: F821
    return x


def unknown_name(x: float) -> float:
    return x + missing  # noqa: F821


def no_number(x: float) -> float:
    return x + UNKNOWN


def text(x: float) -> float:
    return x + "1"


def no_return(x: float) -> float:
    if x > 0:
        return x


def raises(x: float) -> float:
    if x < 0:
        raise KeyError("negative")
    return x


def catches(x: float) -> float:
    try:
        return x
    finally:
        pass


def side_effect(x: float) -> float:
    print(x)
    return x


def inner_function(x: float) -> float:
    def f(*y):
        return y

    return x


def with_default(x: int = 1.0) -> float:
    return x


def with_star(*x: float) -> float:
    return 1.0


def maybe_unbound(x: float) -> float:
    if x > 0:
        y = x
    return y


def unbound_behind_loop(x: float, n: int) -> float:
    for _ in range(n):
        y = x
    return y


def changes_type(n: int, x: float) -> float:
    k = n + 1
    k = x
    return k


def returns_both(n: int, x: float):
    if n > 0:
        return n
    return x


def returns_other_count(x: float):
    if x > 0:
        return x, x
    return x


def endless(x: float) -> float:
    while True:
        x = x + 1
    return x


def over_number(x: float) -> float:
    for y in x:
        x = x + y
    return x


def step_of_zero(n: int) -> int:
    s = 0
    for i in range(0, n, 0):
        s += i
    return s


def float_range(x: float) -> int:
    s = 0
    for i in range(x):
        s += i
    return s


def bits_of_float(x: float) -> float:
    return x & 1


def unknown_function(x: float) -> float:
    return math.gamma(x)


def method(x: float) -> float:
    return x.real


def recursive(n: int) -> int:
    return 1 if n < 2 else n * recursive(n - 1)


def divides_literals(x: float) -> float:
    return x + 1 / 0


def identity(x: float) -> float:
    return x if x is BOUND else 0.0


def numbers_as_truth(x: float, y: float) -> float:
    return x or y


def part_assigned(t: tuple[float, float]) -> float:
    t[0] = 1.0
    return t[0]


def index_beyond(t: tuple[float, float]) -> float:
    return t[2]


def unknown_of_module(x: float) -> float:
    return math.foo(x)


def no_arguments(x: float) -> float:
    return x + math.sin()


def rounded_division(x: float) -> float:
    return x + 1 // 0


def method_of_number(x: float) -> float:
    return x.is_integer()


def method_of_record(x: float) -> float:
    return Pair(x, x).index(x)


def calls_number(x: float) -> float:
    return (2 * x)(x)


def calls_variable(x: float) -> float:
    f = x
    return f(x)


def largest_of_one(x: float) -> float:
    return max(x)


def unbound_integer(x: float, n: int) -> float:
    if n > 1:
        k = n
    return x * k


def texts(
    x: "Tensor[float, n]",  # noqa: F821
    y: "Tensor[str, n]",  # noqa: F821
) -> float:
    return x[0]


async def awaited(x: float) -> float:
    return x


def other_names(x: float) -> float:
    return doubled(y=x)


def given_twice(x: float) -> float:
    return doubled(x, x=x)


def starred_number(x: float) -> float:
    return doubled(*x)


def step_of_floats(x: "Tensor[float, n]") -> float:  # noqa: F821
    return np.sum(x * np.arange(0.0, 1.0, 0.1))


def ragged(x: float) -> float:
    return np.array([[x, 1.0], [2.0]])[0, 0]


def step_of_nothing(x: "Tensor[float, n]") -> float:  # noqa: F821
    return np.sum(x[::0])


def pairs_of_a_range(x: float) -> float:
    for i, _ in range(3):
        x += i
    return x


def by_name(x: float) -> float:
    return max(x, 1.0, key=abs)


class Pair(NamedTuple):
    a: float
    b: float


def two_functions(x: float) -> float:
    f = lambda y: y + x
    if x > 0:
        f = lambda y: y - x
    return f(x)


def with_dict(x: float) -> float:
    d = {"a": x}
    return d["a"]


def with_text(x: float) -> float:
    name = f"{x}"  # noqa: F841
    return x


def with_walrus(x: float) -> float:
    if (y := 2.0 * x) > 1.0:
        return y
    return x


def numpys_own(x: float) -> float:
    return np.kaiser(x, 1.0)


def another_field(x: float) -> float:
    p = Pair(x, 1.0)
    p = p._replace(c=2.0)
    return p.a


CASES = {
    unannotated: (0, "x has no annotation", "Write x: float"),
    unknown_annotation: (0, "`complex` is no type", "is required"),
    misspelled_annotation: (0, "`'flaot'` is not known", "is required"),
    unknown_name: (1, "`missing` means nothing", "spelled"),
    no_number: (1, "`UNKNOWN` is object, no number", "Numbers and tuples"),
    text: (1, "'1' is no number", "numbers"),
    no_return: (1, "its end can be reached without a return", "Every path"),
    raises: (2, "`raise KeyError('negative')`", "raise of one of ValueError, IndexError,"),
    catches: (1, "`try:`", "write an if"),
    side_effect: (1, "print cannot be called in kernels", "no side effects"),
    inner_function: (1, "f has other arguments than plain ones", "one by one"),
    with_default: (0, "the default of x is 1.0", "A number of type int"),
    with_star: (0, "*args", "Plain"),
    maybe_unbound: (3, "y may have no value here", "y = 0.0"),
    unbound_behind_loop: (3, "y may have no value here", "y = 0.0"),
    changes_type: (2, "k is a float here and an int elsewhere", "int(…)"),
    returns_both: (2, "the result is an int here and a float elsewhere", "float(…)"),
    returns_other_count: (3, "it returns 1 numbers here, and 2 elsewhere", "same number"),
    endless: (1, "the loop never ends", "break"),
    over_number: (1, "a loop over `x`, a float", "range"),
    step_of_zero: (2, "the step `0` is 0", "Another integer"),
    float_range: (2, "range of a float", "Integers"),
    bits_of_float: (1, "& of a float", "integers"),
    unknown_function: (1, "math.gamma cannot be called", "math.lgamma"),
    method: (1, "x has no part real", ""),
    recursive: (1, "it calls itself", "or a loop"),
    divides_literals: (1, "division by zero (of 1, 0)", "other than 0"),
    identity: (1, "`is`, and `in` what is no tuple", "=="),
    numbers_as_truth: (1, "and and or of numbers", "Compare with 0"),
    part_assigned: (1, "`t[0]` is part of a value", "new tuple"),
    index_beyond: (1, "index 2 of a tuple of 2", "required"),
    unknown_of_module: (1, "math has no foo", "spelled"),
    no_arguments: (1, "sin of 0 arguments, in `math.sin()`", "1 is required"),
    rounded_division: (1, "by zero (of 1, 0), in `1 // 0`", "other than 0"),
    method_of_number: (1, "`x.is_integer()` calls a method of a float", "Call a function"),
    method_of_record: (1, "`Pair(x, x).index(x)` calls a method of Pair", "Call a function"),
    calls_number: (1, "`(2 * x)(x)` calls `2 * x`, a float", "Functions are called"),
    calls_variable: (2, "`f(x)` calls `f`, a float", "Functions are called"),
    largest_of_one: (1, "max of a float alone, in `max(x)`", "Several values"),
    unbound_integer: (3, "k may have no value here", "k = 0 before"),
    texts: (2, "the annotation `str` is no type", "is required"),
    awaited: (0, "it is made by `async def`", "write `def`"),
    other_names: (1, "doubled is given no x, y, which it has not", "each of x is required"),
    given_twice: (1, "doubled is given x twice", "each of x is required"),
    starred_number: (1, "*arguments that are no tuple", "Write the arguments"),
    step_of_floats: (1, "arange of a float", "start + step * np.arange(n)"),
    ragged: (1, "extents 2 and 1 do not fit", "Equal extents"),
    step_of_nothing: (1, "a slice of step 0, in `x[::0]`", "Another step"),
    pairs_of_a_range: (1, "the loop over a range has several names", "One name"),
    by_name: (1, "arguments by name", "position"),
    two_functions: (3, "f is one function here and another one before", "two names"),
    with_dict: (1, "`{'a': x}`", "a NamedTuple"),
    with_text: (1, "`f'{x}'`", "leave it out"),
    with_walrus: (1, "`(y := (2.0 * x))`", "on a line of its own"),
    numpys_own: (1, "np.kaiser cannot be called", "Functions of math"),
    another_field: (2, "Pair has the fields a, b", "Give others of them by name"),
}  # fmt: skip


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_refused_by_line(function):
    offset, wrong, instead = CASES[function]
    line = inspect.getsourcelines(function)[1] + offset
    kinds = (NotImplementedError, TypeError, NameError, ValueError, IndexError)
    with pytest.raises(kinds) as caught:
        knossos.register(function).procedure()
    message = str(caught.value)
    assert message.startswith(f"{function.__name__}: ")
    assert wrong in message and instead in message
    assert message.endswith(f"[{__file__}:{line}]")


def doubled(x: float) -> float:
    return 2 * x


def flagged(n: int, b: bool) -> int:
    return n if b else -n


def test_calls_that_do_not_fit():
    kernel = knossos.register(doubled)
    for arguments, words in (
        ((), "doubled: got 0 arguments. 1 are required"),
        ((1.0, 2.0), "doubled: got 2 arguments. 1 are required"),
        (("a",), "doubled: 'a' is no number"),
        ((None,), "doubled: None is no number"),
        ((1j,), "doubled: 1j is no number"),
    ):
        with pytest.raises(TypeError) as caught:
            kernel(*arguments)
        assert words in str(caught.value)
    with pytest.raises(TypeError, match=r"1\.5 stands for an argument of type int"):
        knossos.register(flagged)(1.5, True)
    with pytest.raises(OverflowError, match="does not fit in int64"):
        knossos.register(flagged)(2**70, True)
    with pytest.raises(TypeError, match="no function"):
        knossos.register(3)


def test_lambdas_are_refused():
    with pytest.raises(NotImplementedError, match="def name"):
        knossos.register(lambda x: x)
