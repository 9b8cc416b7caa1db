"""Objects with an `__array_ufunc__` of their own are asked as NumPy's ufuncs ask them."""

import re

import numpy as np
import pytest

import composit.numpy as cnp


class Answers:
    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc.__name__, method, len(inputs), keywords


class Refuses:
    def __array_ufunc__(self, *_, **__):
        return NotImplemented

    def __repr__(self):
        return "Refuses()"


class Forbids:
    __array_ufunc__ = None


a, refuses, forbids = Answers(), Refuses(), Forbids()
CALLS = [
    lambda np: np.add(1, a),
    lambda np: np.multiply(a, [1]),
    lambda np: np.add(1, 2, out=a),
    lambda np: np.add(1, 2, a),
    lambda np: np.add(1, 2, out=(a,)),
    lambda np: np.add(1, forbids),
    lambda np: np.add(1, refuses),
    lambda np: np.add(refuses, a),
    lambda np: np.add(1, a, foo=2),
    lambda np: np.add(a),
    lambda np: np.add.reduce(a, 1, 2, 3, 4, 5, 6, 7),
    lambda np: np.add.reduce(a, 0, None, None, False),
    lambda np: np.add.reduce(a, None, out=(None,), dtype=None),
    lambda np: np.add.reduce(a, axis=1, foo=3),
    lambda np: np.add.accumulate(a, 1, out=a),
    lambda np: np.add.reduceat(a, [1], 1),
    lambda np: np.add.at(a, 1),
    lambda np: np.add.at(a, 1, 2),
    lambda np: np.add.outer(1, a, foo=3),
    lambda np: np.add.outer(1, a, dtype=3),
    lambda np: np.add(1, a, sig="a", signature="b"),
    lambda np: np.add(1, a, sig="a"),
    lambda np: np.modf(a, out=(None, a)),
    lambda np: np.modf(a, None, a),
    lambda np: np.modf(a, out=3),
    lambda np: np.add(1, 2, out=(a, a)),
    lambda np: np.add(1, 2, a, out=3),
    lambda np: np.add(1, 2, where=a),
    lambda np: np.exp(a, None),
]


OPERATORS = [
    lambda x: x + a,
    lambda x: a - x,
    lambda x: x**a,
    lambda x: x < a,
    lambda x: a >= x,
    lambda x: x == a,
    lambda x: divmod(x, a),
    lambda x: divmod(a, x),
    lambda x: x.__mul__(a),
    lambda x: x.__rmul__(a),
    lambda x: x + refuses,
    lambda x: x + forbids,
]


def outcome(call, module):
    try:
        return call(module)
    except (TypeError, ValueError) as error:
        text = str(error).replace("composit ufunc", "ufunc")
        return type(error), re.sub(r" \[\w+\.py:\d+\]$", "", text.splitlines()[0])


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls_as_numpys(number):
    assert outcome(CALLS[number], cnp) == outcome(CALLS[number], np)


@pytest.mark.parametrize("number", range(len(OPERATORS)))
def test_operators_as_numpys(number):
    operator = OPERATORS[number]
    expected = outcome(lambda np: operator(np.ones(3)), np)
    found = outcome(lambda np: operator(np.ones(3)), cnp)
    if isinstance(expected[1], str) and "(" in expected[1]:  # the text shows the operands
        expected, found = expected[:1], found[:1]
    assert found == expected


def test_operators_in_place_name_their_output():
    for module in (np, cnp):
        x = given = module.ones(3)
        x += a
        name, method, count, keywords = x
        assert (name, method, count, list(keywords)) == ("add", "__call__", 2, ["out"])
        assert keywords["out"][0] is given


def test_subclasses_are_asked_first_and_each_class_once():
    asked = []

    class Base:
        def __array_ufunc__(self, *_, **__):
            asked.append(type(self).__name__)
            return NotImplemented

    class Sub(Base):
        pass

    for module in (np, cnp):
        with pytest.raises(TypeError, match=r"all returned NotImplemented.*'Base', 'Sub'"):
            module.add(Base(), Sub())
        with pytest.raises(TypeError):
            module.add(Base(), Base())
    assert asked == 2 * ["Sub", "Base", "Base"]


def test_what_has_none_of_its_own_is_an_operand_as_before():
    class Array:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    x = cnp.asarray([1.0, 2.0, 3.0])
    for other in (Array(), np.arange(3.0), [0, 1, 2], range(3)):
        assert cnp.add(x, other).evaluated().tolist() == [1, 3, 5]
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    assert isinstance(np.add(masked, 1), np.ma.MaskedArray)
