"""Arrays, scalars and dtypes of what is no number: what NumPy makes of them, where functions only
make or move values; elsewhere they are refused by a TypeError that says what to do."""

import datetime
import decimal
import re

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn

OBJECTS = r"Objects that are numbers become an array of numbers with array.astype\(float\)\."
TEXTS = r"Texts of numbers become numbers with array.astype\(float\); others are numbered by numpy"
DATES = r"Dates and spans of time are counted by array.astype\('int64'\)\."
RECORDS = r"Of records, take the fields: array\['name'\]\."
LONG = r"Use float64 or complex128: array.astype\(float\)\."

ARRAYS = {
    "objects": (np.array([None, 1]), OBJECTS),
    "decimals": (np.array([decimal.Decimal(1)]), OBJECTS),
    "text": (np.array(["a", "b"]), TEXTS),
    "bytes": (np.array([b"a", b"b"]), TEXTS),
    "dates": (np.array(["2020-01-01", "2021-01-01"], "M8[D]"), DATES),
    "spans": (np.array([1, 2], "m8[s]"), DATES),
    "records": (np.zeros(2, [("a", int), ("b", float)]), RECORDS),
    "long": (np.array([1, 2], "longdouble"), LONG),
    "long complex": (np.array([1, 2], "clongdouble"), LONG),
    "date": (np.datetime64("2020"), DATES),
    "word": ("word", TEXTS),
}
X = np.ones(2)
PLACES = {
    "asarray": lambda np, a: np.asarray(a),
    "array": lambda np, a: np.array(a),
    "evaluate": lambda _, a: composit.evaluate(a),
    "exp": lambda np, a: np.exp(a),
    "sum": lambda np, a: np.sum(a),
    "first operand": lambda np, a: np.add(a, np.asarray(X)),
    "second operand": lambda np, a: np.add(np.asarray(X), a),
    "concatenate": lambda np, a: np.concatenate([X, a]),
    "stack": lambda np, a: np.stack([a, X]),
    "where": lambda np, a: np.where(X > 0, X, a),
    "full": lambda np, a: np.full((2,), a),
    "linalg": lambda np, a: np.linalg.norm(a),
    "fft": lambda np, a: np.fft.fft(a),
    "sort": lambda np, a: np.sort(a),
    "nn": lambda _, a: nn.relu(a),
    "write": lambda np, a: written(np.zeros(2), a),
    "put": lambda np, a: np.put(np.zeros(2), [0, 1], a),
    "NumPy's function": lambda lib, a: np.add(lib.asarray(X), a),
    "NumPy's concatenate": lambda lib, a: np.concatenate([lib.asarray(X), a]),
    "override": lambda _, a: composit.evaluate(X_TENSOR + 1, {X_TENSOR: a}),
}
X_TENSOR = cnp.ones(2)
# Where nothing is computed of values: what holds no numbers is NumPy's there.
NUMPYS = {
    "asarray", "array", "concatenate", "where", "full", "sort", "write", "put", "NumPy's function",
    "NumPy's concatenate",
}  # fmt: skip


def written(to, value):
    to[:] = value
    return np.asarray(to)


def outcome(call):
    """What it returns, or the class of its error, which says it in its own words."""
    try:
        return call()
    except (TypeError, ValueError) as error:
        return error


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("place", PLACES)
def test_arrays(place, kind):
    value, advice = ARRAYS[kind]
    found = outcome(lambda: PLACES[place](cnp, value))
    if isinstance(found, TypeError) and re.search(advice, str(found)):
        return
    assert place in NUMPYS, found
    expected = outcome(lambda: PLACES[place](np, value))
    if isinstance(expected, Exception):
        assert isinstance(found, (TypeError, ValueError))
    else:
        same(found, expected)


def same(found, expected):
    assert not isinstance(found, Exception), found
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("odd", [decimal.Decimal(1), datetime.date(2020, 1, 1), object(), {1}])
@pytest.mark.parametrize("place", ["asarray", "exp", "second operand", "full", "sort"])
def test_objects(place, odd):
    found = outcome(lambda: PLACES[place](cnp, odd))
    if place in NUMPYS and not isinstance(found, Exception):
        return same(found, PLACES[place](np, odd))
    assert "An array of booleans, integers, floats or complex" in str(found)


DTYPES = {
    "O": OBJECTS, "S3": TEXTS, "U4": TEXTS, "M8[s]": DATES, "m8": DATES, "V8": RECORDS,
    "longdouble": LONG,
}  # fmt: skip


MAKING = [
    lambda np, d: np.zeros(2, dtype=d),
    lambda np, d: np.asarray([1, 2], dtype=d),
    lambda np, d: np.arange(3, dtype=d),
    lambda np, d: np.ones_like(X, dtype=d),
    lambda np, d: np.full((2,), 1, dtype=d),
    lambda np, d: np.asarray(X).astype(d),
    lambda np, d: np.astype(X, d),
    lambda np, d: np.eye(2, dtype=d),
    lambda np, d: np.concatenate([X, X], dtype=d),
]
COMPUTING = [
    lambda d: cnp.sum(X, dtype=d),
    lambda d: cnp.add(X, X, dtype=d),
    lambda d: composit.placeholder("x", (2,), d),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", COMPUTING)
def test_dtypes_of_what_is_computed(call, dtype):
    for given in (dtype, np.dtype(dtype)):
        with pytest.raises(TypeError, match=DTYPES[dtype]):
            call(given)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", MAKING)
def test_dtypes_of_what_is_made(call, dtype):
    for given in (dtype, np.dtype(dtype)):
        found = outcome(lambda given=given: call(cnp, given))
        if isinstance(found, TypeError) and re.search(DTYPES[dtype], str(found)):
            continue
        expected = outcome(lambda given=given: call(np, given))
        if isinstance(expected, Exception):
            assert type(found) is type(expected)
        else:
            same(found, expected)


def test_structured_dtypes():
    fields = [("a", int), ("b", float)]
    same(cnp.zeros(2, dtype=fields), np.zeros(2, dtype=fields))
