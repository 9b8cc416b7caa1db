"""Gradients of all functions of the table of conformance, against differences: where a function has
a slope it is the right one; where it cannot be traced, that is refused by name and line."""

import warnings

import numpy as np
import pytest
from numpy_agreement import leaves
from numpy_conformance import judge, page

import composit
import composit.numpy as cnp

CALLS = 2  # of a function
# Bits of arrays have no slope; draws are values.
ROWS = [row for row in page.rows() if not row.name.startswith(("random.", "ndarray.byteswap"))]
# They read one triangle, or their vectors' signs and phases are free: test_linalg.py.
FREE = {"linalg.cholesky", "linalg.eig", "linalg.eigh", "linalg.eigvalsh", "linalg.svd"}
# Where all are equal it has a kink, and no slope.
OF_SEVERAL = {"std", "nanstd", "ndarray.std"}
STEP = 1e-6


def is_smooth(value):
    return (
        isinstance(value, np.ndarray)
        and value.dtype in ("float64", "complex128")
        and bool(value.size)
        and bool(np.isfinite(value).all())
    )


def total(made):
    """A number that depends on every element of floating results; None without any, and of
    results whose roundings hide a small difference."""
    result = None
    for i, x in enumerate(leaves(made)):
        if x.dtype.kind not in "fc":
            continue
        if x.dtype not in ("float64", "complex128"):
            return None
        weights = np.random.default_rng(i).standard_normal(x.shape)
        real = cnp.real(x) + 0.5 * cnp.imag(x) if x.dtype.kind == "c" else x
        part = cnp.sum(real * weights)
        result = part if result is None else result + part
    return result


def calls_of(row):
    """Functions of arrays of floats, with such arrays, that do not change them."""
    for arguments, keywords in row.calls:
        places = [i for i, a in enumerate(arguments) if is_smooth(a)]
        if not places or row.changes is not None:
            continue
        if row.name in OF_SEVERAL and arguments[0].size < 2:
            continue

        def call(*given, arguments=arguments, keywords=keywords, places=places):
            all_of = [judge.composits(a) for a in arguments]
            for place, x in zip(places, given, strict=True):
                all_of[place] = x
            return total(row.ours(*all_of, **keywords))

        draw = np.random.default_rng(1)
        yield call, [arguments[i] + 1e-3 * draw.standard_normal(arguments[i].shape) for i in places]


def number(call, values):
    return float(np.asarray(call(*map(cnp.asarray, values))))


def assert_slope(call, values):
    """The slope along a direction; True where the function has one."""
    try:
        before = number(call, values)
    except (TypeError, ValueError, IndexError, NotImplementedError, np.linalg.LinAlgError):
        return False  # wrong calls are among them, and results without floats
    try:
        slopes = composit.grad(call, tuple(range(len(values))))(*values)
    except (NotImplementedError, ValueError) as error:
        assert "the placeholder 'x" in str(error) and "test_every_function.py:" in str(error)
        return False
    draw = np.random.default_rng(2)
    ways = [draw.standard_normal(x.shape) for x in values]
    turned = [w + 1j * w.T.reshape(w.shape) for w in ways]
    ways = [t if x.dtype.kind == "c" else w for w, t, x in zip(ways, turned, values)]
    after, before = (
        number(call, [x + sign * STEP * w for x, w in zip(values, ways)]) for sign in (1, -1)
    )
    expected = (after - before) / (2 * STEP)
    found = sum(np.sum((np.conj(np.asarray(s)) * w).real) for s, w in zip(slopes, ways))
    if np.isfinite(expected):
        assert abs(found - expected) <= 1e-4 * max(1, abs(found), abs(expected))
    return True


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_slopes(row):
    if row.name in FREE or row.name.startswith("operator."):
        return
    found = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for call, values in calls_of(row):
            found += assert_slope(call, values)
            if found == CALLS:
                break


@pytest.mark.parametrize("function, wanted", [(cnp.logaddexp, 0.25), (cnp.logaddexp2, 0.17328679)])
def test_the_second_derivative_where_operands_are_equal(function, wanted):
    second = composit.grad(composit.grad(lambda x: function(x, 1.0)))
    np.testing.assert_allclose(composit.evaluate(second(1.0)), wanted, rtol=1e-7)
    first = composit.grad(lambda x: function(x, -np.inf))
    assert composit.evaluate(first(-np.inf)) == 0.5
