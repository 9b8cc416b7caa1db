"""numpy.strings: NumPy's functions of texts. See composit/numpy/_by_numpy.py."""

from __future__ import annotations

from typing import Any

import numpy.strings as _numpys

from composit.numpy._by_numpy import module_of as _module_of

__all__ = _numpys.__all__
__getattr__ = _module_of(_numpys, globals())


def __dir__() -> list[Any]:
    return dir(_numpys)
