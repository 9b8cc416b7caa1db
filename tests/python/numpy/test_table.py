"""Every row of the table that NumPy has, against NumPy, by dtype."""

import inspect

import numpy as np
import pytest
from composit._core import scalar

import composit.numpy as cnp
from composit.conformance import DTYPES, _operand_dtype, values

ROWS = [row for row in scalar.all_rows() if isinstance(getattr(np, row.name, None), np.ufunc)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("dtype", DTYPES)
def test_row(row, dtype):
    operands = [values(_operand_dtype(row, i, dtype), (41,), i) for i in range(row.arity)]
    with np.errstate(all="ignore"):
        try:
            expected = getattr(np, row.name)(*operands)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(cnp, row.name)(*operands)
            return
        except ValueError:
            return  # negative integer powers: an error that depends on values
    tensor = getattr(cnp, row.name)(*operands)
    assert tensor.dtype == expected.dtype
    value = cnp.evaluate(tensor)
    assert value.dtype == expected.dtype
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(value, expected)
        return
    with np.errstate(all="ignore"):
        limits = np.finfo(expected.dtype)
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(value, expected, rtol=8 * limits.eps, atol=limits.tiny)
            return
        # Of the whole number; NumPy's complex powers lose digits, and so do sums of parts.
        eps = (256 if "power" in row.name else 8) * limits.eps
        size = np.hypot(*(np.where(np.isfinite(part), part, 0)
                          for part in (expected.real, expected.imag)))  # fmt: skip
        for found, like in ((value.real, expected.real), (value.imag, expected.imag)):
            finite = np.isfinite(like)
            np.testing.assert_array_equal(found[~finite], like[~finite])
            assert (abs(found - like) <= eps * size + limits.tiny)[finite].all()


@pytest.mark.parametrize("row", scalar.all_rows(), ids=lambda row: row.name)
def test_names_and_docs(row):
    function = getattr(cnp, row.name)
    assert function.__name__ == row.name
    assert row.doc
    if not isinstance(function, cnp.Ufunc):
        return  # written by hand, as clip and where, whose arguments may be left out
    assert function.__doc__ == row.doc
    for alias in row.aliases:
        assert getattr(cnp, alias) is function


FUNCTIONS = [
    name
    for name, value in vars(cnp).items()
    if inspect.isfunction(value)
    and inspect.isroutine(getattr(np, name, None))
    and not isinstance(getattr(np, name), np.ufunc)
    and not name.startswith("_")
]
# Names that NumPy's signatures do not have: our own, and `start`, which arange takes all the same.
EXTRA = {"name", "dtype", "order", "casting", "kwargs", "start"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_parameters_are_numpys(name):
    try:
        theirs = list(inspect.signature(getattr(np, name)).parameters)
    except ValueError:
        pytest.skip("NumPy gives no signature")
    ours = list(inspect.signature(getattr(cnp, name)).parameters)
    theirs = [p for p in theirs if p != "kwargs"]
    missing = [p for p in theirs if p not in ours]
    assert not missing
    assert [p for p in ours if p in theirs] == theirs
    assert set(ours) - set(theirs) <= EXTRA
