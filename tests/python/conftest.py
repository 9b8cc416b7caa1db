"""A file of tests begins with nothing left to compute."""

import warnings

import pytest


@pytest.fixture(scope="module", autouse=True)
def nothing_pending():
    """A look computes what other live arrays wait for, and gives its warnings: those of another
    file's arrays would be counted by the first test that counts warnings."""
    import composit.numpy as cnp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (cnp.zeros((17, 31)) + 1).sum().tolist()
