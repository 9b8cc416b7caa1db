"""Arrays, scalars and dtypes of what is no number are refused wherever they enter, by a TypeError
that says what to do."""

import datetime
import decimal

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
    "asarray": cnp.asarray,
    "array": cnp.array,
    "evaluate": composit.evaluate,
    "exp": cnp.exp,
    "sum": cnp.sum,
    "first operand": lambda a: cnp.add(a, cnp.asarray(X)),
    "second operand": lambda a: cnp.add(cnp.asarray(X), a),
    "concatenate": lambda a: cnp.concatenate([X, a]),
    "stack": lambda a: cnp.stack([a, X]),
    "where": lambda a: cnp.where(X > 0, X, a),
    "full": lambda a: cnp.full((2,), a),
    "linalg": lambda a: cnp.linalg.norm(a),
    "fft": lambda a: cnp.fft.fft(a),
    "sort": cnp.sort,
    "nn": nn.relu,
    "write": lambda a: cnp.zeros(2).__setitem__(slice(None), a),
    "put": lambda a: cnp.put(cnp.zeros(2), [0, 1], a),
    "NumPy's function": lambda a: np.add(cnp.asarray(X), a),
    "NumPy's concatenate": lambda a: np.concatenate([cnp.asarray(X), a]),
    "override": lambda a: composit.evaluate(X_TENSOR + 1, {X_TENSOR: a}),
}
X_TENSOR = cnp.ones(2)
# There it is the name of something, or no array at all.
NOT_THERE = {("word", "NumPy's concatenate"), ("word", "array")}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("place", PLACES)
def test_arrays(place, kind):
    value, advice = ARRAYS[kind]
    if (kind, place) in NOT_THERE:
        with pytest.raises(TypeError):
            PLACES[place](value)
        return
    with pytest.raises(TypeError, match=advice):
        PLACES[place](value)


@pytest.mark.parametrize("odd", [decimal.Decimal(1), datetime.date(2020, 1, 1), object(), {1}])
@pytest.mark.parametrize("place", ["asarray", "exp", "second operand", "full", "sort"])
def test_objects(place, odd):
    with pytest.raises(TypeError, match="An array of booleans, integers, floats or complex"):
        PLACES[place](odd)


DTYPES = {
    "O": OBJECTS, "S3": TEXTS, "U4": TEXTS, "M8[s]": DATES, "m8": DATES, "V8": RECORDS,
    "longdouble": LONG,
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "call",
    [
        lambda d: cnp.zeros(2, dtype=d),
        lambda d: cnp.asarray([1, 2], dtype=d),
        lambda d: cnp.arange(3, dtype=d),
        lambda d: cnp.ones_like(X, dtype=d),
        lambda d: cnp.full((2,), 1, dtype=d),
        lambda d: cnp.sum(X, dtype=d),
        lambda d: cnp.add(X, X, dtype=d),
        lambda d: cnp.concatenate([X, X], dtype=d),
        lambda d: cnp.asarray(X).astype(d),
        lambda d: cnp.astype(X, d),
        lambda d: cnp.eye(2, dtype=d),
        lambda d: composit.placeholder("x", (2,), d),
    ],
)
def test_dtypes(call, dtype):
    for given in (dtype, np.dtype(dtype)):
        with pytest.raises(TypeError, match=DTYPES[dtype]):
            call(given)


def test_structured_dtypes():
    with pytest.raises(TypeError, match=RECORDS):
        cnp.zeros(2, dtype=[("a", int), ("b", float)])
