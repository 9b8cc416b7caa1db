"""Programs that run under NumPy and under composit.numpy: what they print is compared."""

import contextlib
import io
import textwrap
import warnings

import numpy

import composit.numpy


def printed(module, program):
    """What a program prints with a module as `np`, its warnings' classes and, last, the class of
    the error that ends it."""
    out, error = io.StringIO(), ""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            exec(textwrap.dedent(program), {"np": module})
        except Exception as failed:
            known = (OverflowError, TypeError, ValueError, IndexError, AttributeError)
            error = next((c.__name__ for c in known if isinstance(failed, c)), repr(failed))
    return out.getvalue(), [each.category.__name__ for each in caught], error


def same(program):
    """Fails where the two differ."""
    ours, theirs = printed(composit.numpy, program), printed(numpy, program)
    assert ours == theirs, f"{ours}\nis not\n{theirs}"
