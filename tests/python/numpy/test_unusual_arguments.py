"""Arguments at the edges of what functions take: NumPy's classes of errors, and no more."""

import numpy as np
import pytest

import composit.numpy as cnp

REFUSED = {
    "a count without an end": (lambda n: n.r_[::5j], TypeError),
    "a count of columns without an end": (lambda n: n.c_[::3j], TypeError),
    "a step of 0": (lambda n: n.mgrid[0:5:0,], ZeroDivisionError),
    "a step of 0 of an open grid": (lambda n: n.ogrid[0:5:0, 0:2], ZeroDivisionError),
    "infinitely many points": (lambda n: n.mgrid[0 : float("inf"),], OverflowError),
    "too many derivatives": (lambda n: n.polyder([1.0, 2.0], float("inf")), OverflowError),
    "infinite freedom": (lambda n: n.cov([1.0, 2.0], ddof=float("inf")), OverflowError),
    "no joined part": (lambda n: n.c_[()], ValueError),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused(kind):
    call, error = REFUSED[kind]
    with pytest.raises(error):
        call(cnp)


def test_a_list_that_holds_itself_is_no_shift():
    turns = []
    turns.append(turns)
    with pytest.raises((TypeError, ValueError, RecursionError)):
        cnp.roll(cnp.arange(4), turns)


def test_an_order_that_is_no_letter():
    with pytest.raises(ValueError, match="order"):
        cnp.reshape(cnp.arange(4), (2, 2), order="é")


def test_an_order_of_none_says_nothing():
    np.testing.assert_array_equal(cnp.clip(cnp.arange(4), 1, 2, order=None), [1, 1, 2, 2])
    for order in ("", "CF"):
        with pytest.raises(NotImplementedError, match="clip: order="):
            cnp.clip(cnp.arange(4), 1, 2, order=order)


def test_lengths_without_axes():
    with pytest.raises(IndexError), pytest.warns(DeprecationWarning):
        cnp.fft.irfftn(cnp.arange(4), s=(None,), axes=())
