"""Errors of values come where `try` expects them, and what failed stays usable."""

import warnings

import numpy as np
import pytest
from numpy_programs import same

import composit
import composit.numpy as cnp
from composit import _core


def computed(values):
    """Not a constant: a value of the graph."""
    return cnp.asarray(np.asarray(values)) + 0


FAILING = {
    "cholesky": lambda: cnp.linalg.cholesky(computed([[1.0, 2.0], [2.0, 1.0]])),
    "inv": lambda: cnp.linalg.inv(computed(np.ones((2, 2)))),
    "solve": lambda: cnp.linalg.solve(computed(np.ones((2, 2))), cnp.ones(2)),
    "eig of nan": lambda: cnp.linalg.eig(computed([[np.nan, 1.0], [0.0, 1.0]])),
    "svd of nan": lambda: cnp.linalg.svd(computed([[np.nan, 1.0], [0.0, 1.0]])),
    "element": lambda: cnp.arange(3)[cnp.argmax(computed([0, 0, 0, 9]))],
    "rows": lambda: cnp.zeros((3, 2))[computed([0, 5])],
    "take": lambda: cnp.take(cnp.arange(3), computed([0, -4])),
    "take_along_axis": lambda: cnp.take_along_axis(cnp.arange(3), computed([7]), 0),
    "choose": lambda: cnp.choose(computed([0, 3]), [cnp.arange(2), cnp.arange(2)]),
    "power": lambda: computed([2, 2]) ** computed([1, -1]),
    "power of a scalar": lambda: computed([2])[0] ** computed([-1])[0],
}
ERRORS = (np.linalg.LinAlgError, IndexError, ValueError)


@pytest.mark.parametrize("name", FAILING)
def test_the_call_raises_with_its_line(name):
    with pytest.raises(ERRORS, match=r"test_errors\.py:\d+"):
        FAILING[name]()
    assert float(cnp.ones(3).sum()) == 3  # nothing that failed lives on


def test_a_retry():
    a = computed([[1.0, 3.0], [3.0, 1.0]])
    factor = None
    while factor is None:
        try:
            factor = cnp.linalg.cholesky(a)
        except np.linalg.LinAlgError:
            a = a + 1.5 * cnp.eye(2)
    assert a[0, 0] == 4
    assert np.allclose(np.asarray(factor @ factor.T), np.asarray(a))


@pytest.mark.parametrize("index", [[9], [0, 3], [-4]])
def test_what_failed_stays_usable(index):
    t = cnp.arange(3)
    view = t[1:]
    before = t
    for write in ("t[i] = 7", "t[i] += 1", "np.add.at(t, i, 1)", "np.put(t, i, 5)"):
        with pytest.raises(IndexError, match="out of bounds"):
            exec(write, {"t": t, "i": computed(index), "np": cnp})
        assert t is before and t.tolist() == [0, 1, 2] and view.tolist() == [1, 2]
    t[computed([1])] = 8
    assert t.tolist() == [0, 8, 2] and view.tolist() == [8, 2]


def test_a_scalar_that_is_no_integer_is_refused():
    t = cnp.arange(3)
    for value, error, text in [
        (float("nan"), ValueError, "cannot convert float NaN to integer"),
        (float("inf"), OverflowError, "cannot convert float infinity to integer"),
        (1e30, OverflowError, "out of bounds for int64"),
    ]:
        for given in (value, cnp.array([value])[0], cnp.array([value, 0.0]).max()):
            for key in (0, slice(None), [0, 1])[: 3 if given is value else 2]:
                with pytest.raises(error, match=text):
                    t[key] = given
    assert t.tolist() == [0, 1, 2]
    same("""
        t = np.arange(3)
        t[[0, 1]] = np.array([np.nan, 0.0]).max()
        print(t)
    """)  # cast with a warning, as elements of arrays are
    t[0] = 2.7
    t[1] = computed([-1.2])[0]
    assert t.tolist() == [2, -1, 2]


def test_warnings_that_are_errors():
    x = computed([-1.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in (
            lambda: cnp.log(x), lambda: cnp.sqrt(x), lambda: 1 / x, lambda: x[0] ** 0.5,
            lambda: (x * np.nan).astype(int), lambda: cnp.mean(computed(np.zeros(0))),
        ):  # fmt: skip
            with pytest.raises(RuntimeWarning):
                make()
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            x /= 0
        assert x.tolist() == [-1, 0]
        assert cnp.sqrt(x[1:]).tolist() == [0]
    with pytest.warns(RuntimeWarning):
        cnp.log(x).tolist()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning)
        with pytest.raises(RuntimeWarning):
            cnp.log(x)
        warnings.simplefilter("ignore")
        assert np.isnan(np.asarray(cnp.log(x))[0])


def test_floating_errors_that_raise():
    x = computed([1.0, 0.0])
    with np.errstate(divide="raise"):
        with pytest.raises(FloatingPointError, match=r"divide by zero.*test_errors\.py:\d+"):
            cnp.log(x)
        with pytest.raises(FloatingPointError):
            (1 / x).astype(int)
    assert x.tolist() == [1, 0]


def test_what_cannot_fail_is_not_computed():
    x = computed(np.arange(6.0))
    before = _core.plan_statistics()
    y = cnp.exp(x[cnp.array([0, 1])]) + cnp.take(x, [5])
    assert _core.plan_statistics() == before
    assert np.allclose(np.asarray(y), np.exp([0, 1]) + 5)


def test_nothing_is_checked_in_traces():
    def f(x, i):
        return x[i] * 2

    x, i = np.arange(3.0), np.array([1, 2])
    compiled = composit.compile(f)
    assert compiled(x, i).tolist() == [2, 4]
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        compiled(x, i + 3)
