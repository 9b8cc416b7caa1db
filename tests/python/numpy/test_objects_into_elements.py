"""What is no number, written into arrays of each dtype: values, classes of errors and warnings are
NumPy's, and errors hold NumPy's words and name set_item."""

import warnings

import numpy
import pytest

import composit.numpy as cnp

DTYPES = ["bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64",
          "complex128"]  # fmt: skip
VALUES = ["None", "'a'", "'1'", "b'a'", "[1]", "[1, 2]", "[]", "(1,)", "[None]", "[[1], [2, 3]]",
          "range(1)", "object()", "{}", "{1}", "len", "1j", "2 + 0j", "300", "-1", "10**30",
          "1e300", "float('nan')", "numpy.datetime64('2020-01-01')", "numpy.timedelta64(3, 's')",
          "numpy.array(None)", "numpy.array('a')", "numpy.array('4')", "numpy.array(['4'])",
          "numpy.array(1j)", "numpy.complex64(1)", "numpy.str_('4')"]  # fmt: skip
KEYS = ["0", "slice(0, 1)", "[0]", "...", "numpy.array([True, False, False])"]


def written(library, dtype, key, value):
    array = library.zeros(3, dtype=dtype)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            array[eval(key)] = eval(value)
            made = numpy.asarray(array).tobytes()
        except Exception as error:
            return type(error), str(error)
    return made, [warning.category for warning in caught]


def is_other(dtype, key, value):
    """Where NumPy has two ways: dates become signed integers at indices that are arrays, and are
    refused elsewhere. Here they are refused."""
    is_date = "64(" in value and "complex" not in value
    return is_date and dtype in ("int8", "int64") and key not in ("0", "slice(0, 1)", "...")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", VALUES)
def test_as_numpy_writes(dtype, value):
    for key in KEYS:
        theirs = written(numpy, dtype, key, value)
        mine = written(cnp, dtype, key, value)
        if is_other(dtype, key, value):
            assert isinstance(theirs[0], bytes) and mine[0] is TypeError
            continue
        said = f"{dtype}[{key}] = {value}: {mine} for {theirs}"
        assert mine[0] == theirs[0], said
        is_warned = (dtype, value) != ("complex64", "1e300")  # its overflow makes no warning here
        if isinstance(theirs[0], bytes) and is_warned:
            assert mine[1] == theirs[1], said


def test_errors_say_what_numpy_says():
    x = cnp.arange(3)
    with pytest.raises(
        TypeError,
        match=r"^set_item: int\(\) argument must be a string, a bytes-like object or a real "
        r"number, not 'NoneType'\. A number is required in an array of int64\. \[",
    ):
        x[0] = None
    with pytest.raises(ValueError, match=r"^set_item: invalid literal for int\(\) .*: 'a'\. A num"):
        x[1:] = "a"
    assert x.tolist() == [0, 1, 2]
