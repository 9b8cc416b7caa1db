"""Runs a loop of composit.torch with and without steps by structure (decisions/0020), and compares
bits and errors."""

import contextlib

import numpy as np

from composit.torch import steps


@contextlib.contextmanager
def nodes_at_once():
    """Within, nothing is recorded."""
    owner = steps.record_in(0)
    try:
        yield
    finally:
        steps.record_in(owner)


def outcome(function):
    """Bits of what the function returns, or its error."""
    try:
        values = function()
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return [None if x is None else (x.dtype, x.shape, x.tobytes()) for x in values]


def check(function):
    """The function's outcome with and without steps by structure."""
    with nodes_at_once():
        expected = outcome(function)
    assert outcome(function) == expected
    return expected


def check_values(function):
    """As check, of a function that does not fail."""
    assert isinstance(check(function), list)


def array(x):
    return None if x is None else np.array(x.detach().numpy())
