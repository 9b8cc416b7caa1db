"""NumPy's assertions, of tensors too: what is compared is evaluated first.

Each of `numpy.testing`'s functions that compares values is here under its name; the rest
(`assert_raises`, `suppress_warnings`, …) are NumPy's own. See numpy.org, "Test support".
"""

from __future__ import annotations

import functools
from typing import Any

import numpy.testing as _testing

from composit._core import LazyTensor
from composit.structure import changed

_compared = (
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_compare", "assert_array_equal",
    "assert_array_less", "assert_array_max_ulp", "assert_equal", "assert_string_equal",
)  # fmt: skip


def _evaluated(value: Any) -> Any:
    """The same with ndarrays for tensors (NumPy's scalars for those of no dimension), inside of
    lists, tuples and dictionaries, too."""
    return changed(
        value, lambda leaf: leaf.evaluated()[()] if isinstance(leaf, LazyTensor) else leaf
    )


def _of_tensors(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        return function(*_evaluated(args), **_evaluated(options))

    return call


for _name in _compared:
    if hasattr(_testing, _name):
        globals()[_name] = _of_tensors(getattr(_testing, _name))


def _made_of(function: Any) -> Any:
    """The function, but what it returns, and the tensors that it may have written, are evaluated:
    some errors come then."""

    @functools.wraps(function, updated=())
    def call(*args: Any, **options: Any) -> Any:
        result = _evaluated(function(*args, **options))
        _evaluated((getattr(function, "__self__", None), args, options))
        return result

    return call


def assert_raises(exception_class: Any, *args: Any, **options: Any) -> Any:
    """numpy.testing.assert_raises; what a function returns or writes is evaluated."""
    __tracebackhide__ = True
    called = [_made_of(function) for function in args[:1] if callable(function)]
    return _testing.assert_raises(exception_class, *called, *args[len(called) :], **options)


def assert_raises_regex(exception_class: Any, expected: Any, *args: Any, **options: Any) -> Any:
    """numpy.testing.assert_raises_regex; what a function returns or writes is evaluated."""
    __tracebackhide__ = True
    called = [_made_of(function) for function in args[:1] if callable(function)]
    rest = (*called, *args[len(called) :])
    return _testing.assert_raises_regex(exception_class, expected, *rest, **options)


def __getattr__(name: str) -> Any:
    return getattr(_testing, name)
