"""NumPy, lazily: functions of the same names and arguments that make nodes of a graph."""

import typing as _typing

from composit import _public_names
from composit._core import LazyTensor
from composit.evaluation import evaluate
from composit.numpy import (
    _at_once,
    _evaluating_libraries,
    _numpys_names,
    emath,
    fft,
    lib,
    linalg,
    manipulation,
    polynomial,
    random,
    scalar_kinds,
)
from composit.numpy._array_class import ndarray
from composit.numpy._ufunc import PairUfunc, Ufunc, ufuncs
from composit.numpy.array_api import __array_api_version__, __array_namespace_info__
from composit.numpy.assembling import *
from composit.numpy.broadcasting import *
from composit.numpy.comparisons import *
from composit.numpy.complex_parts import *
from composit.numpy.correlation import *
from composit.numpy.creation import *
from composit.numpy.creation import array, asarray, copy
from composit.numpy.differences import *
from composit.numpy.formatting import *
from composit.numpy.index_arrays import *
from composit.numpy.index_tricks import *
from composit.numpy.kinds import *
from composit.numpy.linear import *
from composit.numpy.manipulation import *
from composit.numpy.memory import *
from composit.numpy.nan_reductions import *
from composit.numpy.padding import *
from composit.numpy.polynomials import *
from composit.numpy.reductions import *
from composit.numpy.reductions import all, amax, amin, any, argmax, argmin, average
from composit.numpy.selecting import *
from composit.numpy.sets import *
from composit.numpy.sorting import *
from composit.numpy.special import *
from composit.numpy.statistics import *
from composit.numpy.vectorizing import *
from composit.numpy.windows import *
from composit.numpy.writing import *

_table = ufuncs()
globals().update(_table)
if _typing.TYPE_CHECKING:
    from composit._core.elementwise import *


from composit.numpy.clipping import clip  # noqa: E402 (over the rows of these names)
from composit.numpy.complex_parts import imag, real  # noqa: E402
from composit.numpy.rounding import around, round  # noqa: E402
from composit.numpy.selecting import where  # noqa: E402
from composit.operations import (  # noqa: E402
    create_from_numpy_compute_operation,
    create_numpy_binary_compute_function,
    create_numpy_compute_function,
    create_numpy_concatenate_function,
    get_operands,
    wrap_as_operation,
)

pi = 3.141592653589793
e = 2.718281828459045
inf = float("inf")
nan = float("nan")
euler_gamma = 0.5772156649015329
newaxis = None
ufunc = Ufunc

_hidden = {
    "Any",
    "annotations",
    "index_error",
    "inspect",
    "Iterator",
    "math",
    "operator",
    "refuse",
    "type_error",
    "value_error",
    "with_location",
    "write_out",
    "ufuncs",
    "warnings",
}
_at_once.replace(globals())
_at_once.replace(vars(linalg), _at_once.LINALG_NAMES)
_at_once.replace(vars(fft), _at_once.FFT_NAMES)

__all__ = [name for name in dir() if not name.startswith("_") and name not in _hidden]


def __getattr__(name):
    """Names that are NumPy's own, dtypes, and modules that are loaded when they are first used."""
    if name in _numpys_names.MODULES:
        return _numpys_names.module(name)
    value = scalar_kinds.kind(name)
    if value is None:
        value = _numpys_names.found(name)
    if value is None:
        raise AttributeError(f"module 'composit.numpy' has no attribute {name!r}")
    globals()[name] = value  # found at once the next time
    return value


def __dir__():
    return sorted({*globals(), *scalar_kinds.NAMES, *_numpys_names.names()})


_evaluating_libraries.attach()
_public_names.publish("composit.numpy", globals())
