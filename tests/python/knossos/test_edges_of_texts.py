"""Kernels at the edges of what their language has: nothing to loop over, steps beyond int64,
numbers beyond the floats, defaults of inner functions, texts that are nested deep."""

import math
import sys
import threading

import numpy as np
import pytest

from composit import knossos

T = knossos.Tensor[float, "n"]
A = np.array([1.0, 2.0, 3.0])


def beside_nothing(a: T, x: float) -> float:
    total = x
    for _u, v in zip((), a):
        total += v
    for _k, (v, _u) in enumerate(zip(a, [])):
        total += v
    return total + sum(v for u, v in zip((), a))


def long_steps(x: float) -> float:
    t = (x, 2.0, 3.0)
    return t[1::9223372036854775807][0] + sum([x for i in range(1, 3, 9223372036854775807)])


def remainder(x: float) -> float:
    return x * (4611686018427387908 % 4611686018427387909)


def of_default(a, v):
    def inner(u, a=a):
        return u * a

    return inner(v)


def default_of_the_outer(a: float, x: float) -> float:
    return of_default(x, a)


def nothing_repeated(x: float) -> float:
    for v in () * 10**12:
        x += v
    return x


def no_divisor(x: float) -> float:
    return x + math.gcd()


@pytest.mark.parametrize("function, arguments", [
    (beside_nothing, (A, 0.5)), (long_steps, (4.0,)), (remainder, (1.0,)),
    (default_of_the_outer, (3.0, 5.0)), (nothing_repeated, (2.0,)), (no_divisor, (2.0,)),
])  # fmt: skip
def test_values_are_pythons(function, arguments):
    assert knossos.register(function)(*arguments) == function(*arguments)


def without_axes_taken_apart(x: float) -> float:
    a, b = np.zeros(())
    return a + b + x


def without_axes_looped_over(x: float) -> float:
    for v in np.zeros(()):
        x += v
    return x


def length_without_axes(x: float) -> float:
    return x + len(np.zeros(()))


def product_without_axes(a: T) -> float:
    return np.sum(np.zeros(()) @ a)


def differences_without_axes(a: T) -> float:
    return np.sum(np.diff(np.zeros(()))) + a[0]


def length_of_two(a: T) -> float:
    return len(2, a)


def step_beyond_int64(x: float) -> float:
    for _ in range(0, 10, 10**20):
        x += 1.0
    return x


def many_parts(x: float) -> float:
    return sum((x,) * 10**12)


@pytest.mark.parametrize("function, error, words", [
    (without_axes_taken_apart, TypeError, "an array without axes"),
    (without_axes_looped_over, (TypeError, NotImplementedError), "an array without axes"),
    (length_without_axes, (TypeError, NotImplementedError), "an array without axes"),
    (product_without_axes, (TypeError, NotImplementedError), "an array without axes"),
    (differences_without_axes, (TypeError, NotImplementedError), "an array without axes"),
    (length_of_two, (TypeError, NotImplementedError), "len"),
    (step_beyond_int64, ValueError, "is beyond int64"),
    (many_parts, (TypeError, NotImplementedError), "a tuple of more than 1048576 parts"),
])  # fmt: skip
def test_refusals_name_the_line(function, error, words):
    arguments = (A,) if T in function.__annotations__.values() else (1.0,)
    with pytest.raises(error, match=rf"^{function.__name__}: .*{words}.*test_edges_of_texts.py:"):
        knossos.register(function)(*arguments)


def test_integers_beyond_the_floats(tmp_path, monkeypatch):
    (tmp_path / "large_number.py").write_text(
        f"def f(x: float) -> float:\n    return x + float({10**400})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import large_number

    with pytest.raises(OverflowError, match="int too large to convert to float"):
        knossos.register(large_number.f)(1.0)


def test_a_text_that_is_nested_deep_is_refused(tmp_path, monkeypatch):
    terms = " + ".join(["x"] * 6000)
    (tmp_path / "deep.py").write_text(f"def f(x: float) -> float:\n    return {terms}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = sys.getrecursionlimit()
    found = []

    def run():
        import deep

        try:
            knossos.register(deep.f)(1.0)
        except RecursionError as error:
            found.append(str(error))

    sys.setrecursionlimit(100_000)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(before)
    assert found and "recursion" in found[0]
