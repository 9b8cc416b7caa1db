"""What becomes an integer, a float or a bool when it is written or converted, as NumPy has it."""

import itertools

import numpy as np
import pytest
from numpy_programs import same

import composit.numpy as cnp

TARGETS = ["int", "'u1'", "float", "'f4'", "complex", "bool"]
VALUES = [
    "float('nan')", "float('inf')", "1e30", "300", "300.0", "-1", "2.7", "True", "None", "'5'",
    "'a'", "[np.nan, 1, 2]", "[np.inf, 1, 2]", "[1e30, 1, 2]", "[300, 1, 2]", "['7', 1, 2]",
    "['a', 1, 2]", "[None, 1, 2]", "[[1], [2, 3]]", "(1, 2.5, True)", "np.array([1, 2, 3])",
    "{}", "object()", "10**30", "range(3)", "[]",
]  # fmt: skip
KEYS = [":", "[0, 1, 2]", "x == 0"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("value", VALUES)
def test_written(target, value):
    for key in KEYS:
        same(f"""
            x = np.zeros(3, {target})
            x[{key}] = {value}
            print(x)
        """)


@pytest.mark.parametrize(("target", "value"), list(itertools.product(TARGETS, [
    "float('nan')", "float('inf')", "1e30", "300", "2.7", "None", "'5'", "'a'", "10**30", "True",
    "{}",
])))  # fmt: skip
def test_written_as_an_element(target, value):
    same(f"""
        x = np.zeros((2, 3), {target})
        x[0, 1] = {value}
        print(x)
    """)


@pytest.mark.parametrize("call", [
    "np.put(x, 0, {0})", "x.put(0, {0})", "np.place(x, x == 0, [{0}])",
    "np.putmask(x, x == 0, {0})",
    "x.fill({0})", "np.fill_diagonal(y, {0})", "x.flat[0] = {0}", "x.flat = {0}",
    "print(np.insert(x, 0, {0}))", "print(np.array([{0}, 1], dtype=x.dtype))",
    "print(np.asarray([{0}, 1]).astype(x.dtype))", "print(np.full(2, {0}, x.dtype))",
    "np.put_along_axis(x, np.array([0]), {0}, 0)", "np.copyto(x, {0})", "x += {0}",
])  # fmt: skip
@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "1e30", "2"])
def test_by_functions(call, value):
    same(f"""
        x, y = np.zeros(3, int), np.zeros((2, 2), int)
        {call.format(value)}
        print(x, y)
    """)


def test_errors_name_what_was_called_and_leave_the_array():
    x = cnp.zeros(3, int)
    with pytest.raises(ValueError, match=r"^set_item: cannot convert float NaN to integer\. \["):
        x[:] = [float("nan"), 1, 2]
    with pytest.raises(ValueError, match=r"^put: cannot convert float NaN to integer\. \["):
        cnp.put(x, 0, float("nan"))
    with pytest.raises(ValueError, match=r"^array: setting an array element with a sequence\."):
        cnp.array([[1, 2], [3]])
    assert x.tolist() == [0, 0, 0]


COMPARED = [
    "None", "'a'", "b'a'", "{}", "object()", "['a', 'b', 'c']", "[1, None, 2]", "(0, 1, 5)",
    "np.array(['0', '1', '2'])", "np.array([0, None, 'a'], dtype=object)", "{1, 2}", "len", "...",
]  # fmt: skip


@pytest.mark.parametrize("value", COMPARED)
@pytest.mark.parametrize("dtype", ["int", "float", "bool"])
def test_comparisons_with_anything(dtype, value):
    same(f"""
        x, value = np.array([0, 1, 2], {dtype}), {value}
        print(x == value, x != value, value == x, np.any(x == value))
    """)
    same(f"print(np.zeros((2, 0), {dtype}) == {value})")
    same(f"print(np.array([0, 1, 2], {dtype}) < {value})")


def test_whether_something_is_in_an_array():
    same("""
        x = np.arange(3)
        print(None in x, "a" in x, 2 in x, 7 in x, [1] in x, x[0] == None, x[1] != "a")
    """)


def test_arithmetic_with_nothing():
    for value in ("None", "'a'", "{}"):
        same(f"np.arange(3) + {value}")
        same(f"{value} - np.arange(3)")


def test_unequal_shapes_are_still_errors():
    same("print(np.arange(3) == [1, 2])")
    with pytest.raises(ValueError, match="equal"):
        cnp.arange(3) == [1, 2]  # noqa: B015


@pytest.mark.parametrize("name", ["arctan", "arctanh"])
def test_inverse_tangents_near_the_limits(name):
    import mpmath

    sizes = [1e308, 1.7e308, 2e-308, 5e-324, 1.0, 1e-160, 1e160, 3e-300, 1e300, 1 - 2**-53, 0.5]
    numbers = [complex(a, b) for a, b in itertools.product(sizes, sizes) if a != 1 or b > 1e-300]
    numbers += [-z for z in numbers] + [z.conjugate() for z in numbers]
    got = np.asarray(getattr(cnp, name)(np.array(numbers)))
    mpmath.mp.prec = 2300
    function = {"arctan": mpmath.atan, "arctanh": mpmath.atanh}[name]
    for z, value in zip(numbers, got):
        right = complex(function(mpmath.mpc(z)))
        for a, b in ((value.real, right.real), (value.imag, right.imag)):
            assert abs(a - b) <= 8 * np.spacing(abs(b)), (z, value, right)
