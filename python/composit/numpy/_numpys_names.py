"""NumPy's names that composit.numpy has beside those of its own modules."""

from __future__ import annotations

from typing import Any

from composit import _later
from composit.numpy._by_numpy import of_values
from composit.numpy._iterating import nditer

# NumPy's functions that are called so, by their names in composit.numpy.
FUNCTIONS = frozenset(
    (
        "array2string", "array_repr", "array_str", "asmatrix", "bmat", "busday_count",
        "busday_offset", "datetime_as_string", "datetime_data", "frombuffer", "fromfile",
        "fromregex", "fromstring", "genfromtxt", "info", "is_busday", "isnat", "load", "loadtxt",
        "nested_iters", "save", "savetxt", "savez", "savez_compressed",
    )
)  # fmt: skip

# What is NumPy's own: it takes no tensors, or takes them as any object with values.
OWN = frozenset(
    (
        "__version__", "busdaycalendar", "ctypeslib", "dtype", "dtypes", "errstate", "exceptions",
        "f2py", "False_", "finfo", "flatiter", "frompyfunc", "get_include", "get_printoptions",
        "getbufsize", "geterr", "geterrcall", "iinfo", "index_exp", "little_endian", "matrix",
        "memmap", "ndenumerate", "ndindex", "poly1d", "printoptions", "recarray", "record", "s_",
        "ScalarType", "sctypeDict", "set_printoptions", "setbufsize", "seterr", "seterrcall",
        "show_config", "show_runtime", "test", "True_", "typecodes",
    )
)  # fmt: skip

# Modules of composit.numpy that are loaded when they are first used.
MODULES = frozenset(("char", "core", "ma", "rec", "strings", "testing", "typing"))
module = _later.getter("composit.numpy", MODULES)


def found(name: str) -> Any:
    """What composit.numpy has of NumPy under this name; None where it has nothing."""
    import numpy as np

    if name in OWN:
        return getattr(np, name, None)
    if name == "nditer":
        return nditer
    if name in FUNCTIONS and hasattr(np, name):
        return of_values(name, getattr(np, name))
    return None


def names() -> frozenset[str]:
    """What composit.numpy has beside the names of its own modules."""
    return FUNCTIONS | OWN | MODULES | {"nditer"}
