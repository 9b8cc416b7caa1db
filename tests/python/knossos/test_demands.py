"""What a first user tries beyond the examples: records with constructors of their own, integers
that do not fit, annotations of results, arguments by name, names that C's headers take."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import composit.numpy as cnp
from composit import knossos
from composit.knossos import Tensor


@dataclass
class Doubled:
    x: float

    def __post_init__(self):
        self.x *= 2


@dataclass(init=False)
class Swapped:
    x: float
    y: float

    def __init__(self, y, x):
        self.x, self.y = x, y


@dataclass
class Pair:
    x: float
    y: float


@dataclass(kw_only=True)
class Named:
    x: float
    y: float


class Point(NamedTuple):
    x: float
    y: float = 1.0


class Moved(Point):
    def __new__(cls, x, y):
        return super().__new__(cls, x + 1, y)


def doubled(a: float) -> float:
    return Doubled(a).x


def swapped(v: float, w: float) -> float:
    return Swapped(v, w).x


def moved(a: float) -> float:
    return Moved(a, a).x


def of_a_doubled(a: Doubled) -> float:
    return a.x


def too_many(a: float) -> float:
    return Pair(a, a, a).x


def twice(a: float) -> float:
    return Pair(a, a, y=a).x


def by_position(a: float) -> float:
    return Named(a, a).x


OWN = "A NamedTuple or dataclass that only has fields is required."
EACH = "A value for each is required."


@pytest.mark.parametrize("function, said", [
    (doubled, f"doubled: Doubled is made by its own __post_init__. {OWN}"),
    (swapped, f"swapped: Swapped is made by its own __init__. {OWN}"),
    (moved, f"moved: Moved is made by its own __new__. {OWN}"),
    (of_a_doubled, f"of_a_doubled: Doubled is made by its own __post_init__. {OWN}"),
    (too_many, f"too_many: Pair has the fields x, y: too many positional arguments. {EACH}"),
    (twice, f"twice: Pair has the fields x, y: multiple values for argument 'y'. {EACH}"),
    (by_position, f"by_position: Named has the fields x, y: too many positional arguments. {EACH}"),
])  # fmt: skip
def test_records_that_python_makes_otherwise(function, said):
    with pytest.raises(TypeError) as caught:
        knossos.register(function)(*[1.0] * function.__code__.co_argcount)
    assert re.sub(r" \[[^\[]*\]$", "", str(caught.value)) == said


def test_records_by_name():
    @knossos.register
    def sums(a: float) -> Named:
        pair = Pair(a, y=2 * a)
        return Named(y=pair.x + Point(y=a, x=1.0).x, x=pair.y)

    assert sums(3.0) == Named(x=6.0, y=4.0)


@knossos.register
def as_it_is(n: int) -> int:
    return n


@knossos.register
def each_as_it_is(n: Tensor[int, k]) -> Tensor[int, k]:  # noqa: F821
    return n * 1


@pytest.mark.parametrize("kernel", [as_it_is, each_as_it_is])
def test_integers_that_do_not_fit(kernel):
    fits = np.array([2**63 - 1, 5], "uint64")
    assert np.array_equal(kernel(fits), fits.astype("int64"))
    said = f"{kernel.__name__}: 9223372036854775808 stands for int, and does not fit in int64"
    with pytest.raises(OverflowError, match=said):
        kernel(np.array([1, 2**63], "uint64"))


def test_a_tensor_of_uint64_is_refused():
    with pytest.raises(TypeError, match="as_it_is: a tensor of dtype uint64 stands for int"):
        as_it_is(cnp.asarray(np.array([1], "uint64")))


@knossos.register
def squared(x: float) -> float:
    return x * x


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int64", "bool", "uint64"])
def test_integers_where_floats_are_wanted_are_float64(dtype):
    x = np.array([0, 1, 100]).astype(dtype)
    wanted = x.astype("float64") ** 2
    for given in (x, cnp.asarray(x)):
        made = squared(given)
        assert made.dtype == "float64" and np.array_equal(made, wanted)


def test_integers_beside_floats_take_their_dtype():
    @knossos.register
    def product(x: float, y: float) -> float:
        return x * y

    made = product(np.array([3], "uint8"), np.array([0.5], "float32"))
    assert made.dtype == "float32" and made[0] == 1.5


def test_arguments_by_name():
    @knossos.register
    def difference(x: float, y: float) -> float:
        return x - y

    assert difference(1.0, y=3.0) == -2 and difference(y=3.0, x=1.0) == -2
    assert np.array_equal(difference(np.ones(2), y=np.ones(2)), [0, 0])
    for call, said in (
        (lambda: difference(1.0, z=2.0), "difference: missing a required argument: 'y'"),
        (lambda: difference(1.0, 2.0, z=2.0), "got an unexpected keyword argument 'z'"),
        (lambda: difference.vjp(x=1.0), "difference_vjp: it is derived, and takes arguments by"),
    ):
        with pytest.raises(TypeError, match=said):
            call()


def number_for_array(a: Tensor[float, n]) -> float:  # noqa: F821
    return a * 2


def array_for_number(a: float) -> Tensor[float, 3]:
    return a


def integers(a: Tensor[float, n]) -> Tensor[int, n]:  # noqa: F821
    return a * 2


def first_and_all(a: Tensor[float, n]) -> tuple[float, float]:  # noqa: F821
    return a[0], a * 2


def other_record(a: float) -> Point:
    return Pair(a, a)


def tuple_for_record(a: float) -> Pair:
    return a, a


@pytest.mark.parametrize("function, said", [
    (number_for_array, "an array of 1 axes of float, and a number by its annotation"),
    (array_for_number, "a number, and an array of 1 axes of float by its annotation"),
    (integers, "an array of 1 axes of float, and an array of 1 axes of int by its annotation"),
    (first_and_all, "an array of 1 axes of float, and a number by its annotation"),
    (other_record, "a Pair, and a Point by its annotation"),
    (tuple_for_record, "a tuple of a number, a number, and a Pair by its annotation"),
])  # fmt: skip
def test_results_that_the_annotation_does_not_say(function, said):
    given = 1.0 if function.__annotations__["a"] in (float, "float") else np.ones(3)
    with pytest.raises(TypeError, match=f"{function.__name__}: it returns {said}"):
        knossos.register(function)(given)


def test_extents_of_results_are_those_of_the_annotation():
    @knossos.register
    def second(a: Tensor[float, n], b: Tensor[float, m]) -> Tensor[float, n]:  # noqa: F821
        return b * 2.0

    @knossos.register
    def turned(a: Tensor[float, n, m]) -> Tensor[float, m, n]:  # noqa: F821
        return a * 2.0

    assert np.array_equal(second(np.zeros(3), np.ones(3)), [2, 2, 2])
    assert np.array_equal(turned(np.ones((2, 2))), np.full((2, 2), 2.0))
    for call in (lambda: second(np.zeros(3), np.ones(2)), lambda: turned(np.ones((2, 3)))):
        with pytest.raises(ValueError, match=r"extents . and . do not fit"):
            call()


def size_t(x: float) -> float:
    return x * 100.25 + 3.5


def INT64_MAX(M_PI: float, SIZE_MAX: float) -> float:
    return M_PI - SIZE_MAX


def signbit(char8_t: float, HUGE_VAL: float) -> float:
    return char8_t * HUGE_VAL


def halves(a: int) -> float:
    return a / 2


def every_other(x: Tensor[float, n]) -> float:  # noqa: F821
    i = 0
    total = 0.0
    while i < len(x):
        total += x[i] * i
        i += 2
    return total


def ends(x: Tensor[float, n]) -> float:  # noqa: F821
    return np.min(x) + np.max(x)


HEADERS = "".join(f"#include <{one}>\n" for one in ("cmath", "cstdlib", "climits", "cfloat"))


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("function", [size_t, INT64_MAX, signbit, halves, every_other, ends])
def test_exports_are_silent_behind_other_headers(function, compiler, tmp_path):
    name = function.__name__
    knossos.register(function).export(tmp_path)
    (tmp_path / "after.cpp").write_text(f'{HEADERS}#include "{name}.hpp"\n')
    for file in (f"{name}.cpp", "after.cpp"):
        subprocess.run(
            [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-c", file, "-o", "made.o"],
            cwd=tmp_path, check=True,
        )  # fmt: skip


def test_values_of_kernels_that_are_called_as_types_of_c():
    assert knossos.register(size_t)(0.25) == 28.5625
    assert knossos.register(INT64_MAX)(1.0, 0.25) == 0.75
    x = np.arange(5.0)
    assert np.array_equal(knossos.register(every_other).vjp(x, 1.0), [0, 0, 2, 0, 4])
    assert np.array_equal(knossos.register(ends).vjp(x, 1.0), [1, 0, 0, 0, 1])


def larger(x: float, y: float) -> float:
    return max(x, y)


def rest(x: float, y: float) -> float:
    return x % y


def chosen(x: float, y: float) -> float:
    return x if x > y else 2 * y


def squared_wrongly(x: float) -> float:
    return x * x


@pytest.mark.parametrize("function", [larger, rest, chosen, squared_wrongly])
def test_the_check_finds_wrong_derivatives_and_no_kinks(function, tmp_path):
    kernel = knossos.register(function)
    if function is squared_wrongly:

        @kernel.derivative
        def squared_wrongly_vjp(x: float, dy: float) -> float:
            return 3 * x * dy

    name = function.__name__
    kernel.export(tmp_path)
    (tmp_path / "main.cpp").write_text(
        f'#include <cstdio>\n#include "{name}.hpp"\n'
        f'int main() {{ std::printf("%g", {name}::{name}_selfcheck()); }}\n'
    )
    command = ["g++", "-std=c++17", "main.cpp", f"{name}.cpp", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    worst = float(subprocess.run(["./main"], cwd=tmp_path, capture_output=True, check=True).stdout)
    assert worst > 0.1 if function is squared_wrongly else worst < 1e-8
