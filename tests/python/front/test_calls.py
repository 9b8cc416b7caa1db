"""Calls of compiled functions: the quick way in, and the one that converts, agree."""

import collections

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import composit
from composit import _core
from composit import numpy as cnp

X = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
Pair = collections.namedtuple("Pair", "left right")


def compiled(function):
    return composit.compile(function, backend="interpreter")


def flat_sum(tree):
    """All arrays of a nest, times the numbers beside them, added; and the nest itself."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    return sum((flat_sum(part) if isinstance(part, (tuple, list, dict)) else part * 2)
               for part in tree if part is not None)  # fmt: skip


leaves = st.sampled_from([X, X + 1, 2, 0.5, True, None])
nests = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.builds(Pair, inner, inner),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
    max_leaves=6,
)  # fmt: skip


@given(nests)
def test_structures_come_back(nest):
    function = compiled(lambda x, nest: (cnp.sum(x), nest))
    first, second = function(X, nest), function(X, nest)
    assert len(function.specialisations) == 1
    assert function._calls(X, nest) is not NotImplemented or nest is None
    for got in (first, second):
        check_same(got[1], nest)


def check_same(got, expected):
    if isinstance(expected, (tuple, list)):
        assert type(got) is type(expected) and len(got) == len(expected)
        for a, b in zip(got, expected):
            check_same(a, b)
    elif isinstance(expected, dict):
        assert list(got) == list(expected)
        for key in expected:
            check_same(got[key], expected[key])
    elif expected is None:
        assert got is None
    else:
        np.testing.assert_array_equal(got, np.asarray(expected))


def test_the_quick_way_takes_what_fits():
    function = compiled(lambda x, n: x * n)
    assert function._calls(X, 2) is NotImplemented
    expected = function(X, 2)
    np.testing.assert_array_equal(function._calls(X, 2), expected)
    for other in (X[:2], X.astype("float64"), X[:, ::-1], X.tolist(), X.T, cnp.asarray(X)):
        assert function._calls(other, 2) is NotImplemented
    for other in (3, 2.0, True, np.int64(2)):
        assert function._calls(X, other) is NotImplemented
    assert function._calls(X) is NotImplemented


@pytest.mark.parametrize(
    "change",
    [lambda x: x[:, ::-1], lambda x: x.astype(x.dtype.newbyteorder()), np.asfortranarray,
     lambda x: np.frombuffer(b"?" + x.tobytes(), "u1")[1:].view("f4").reshape(4, 3)],
)  # fmt: skip
def test_what_does_not_fit_is_converted(change):
    function = compiled(lambda x: x * 2)
    np.testing.assert_array_equal(function(change(X)), np.asarray(change(X)) * 2)


def test_results_are_the_callers():
    function = compiled(lambda x: (x, x * 1))
    x = X.copy()
    for result in (*function(x), *function(x)):
        assert result.flags.writeable and not np.shares_memory(result, x)
        result[:] = 7
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(function(x)[1], X)


def test_attributes_are_those_of_the_latest_call():
    function = compiled(lambda x: x * 2)
    function(X), function(X[0])
    for x, rank in ((X, 2), (X[0], 1), (X[0], 1), (X, 2)):
        function(x)
        assert function.core.outputs[0].ndim == rank


def test_nan_literals_make_no_new_program_each():
    function = compiled(lambda x, n: x * n)
    nan = float("nan")
    assert np.isnan(function(X, nan)).all() and np.isnan(function(X, nan)).all()


def test_lists_of_nonsense_dtypes_are_type_errors():
    row = _core.scalar.all_rows()[0]
    with pytest.raises(TypeError, match="nonsense"):
        row.types(["nonsense"])
