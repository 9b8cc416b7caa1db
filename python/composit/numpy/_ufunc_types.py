"""Which dtypes a ufunc computes in, as NumPy's of its name says, and what it says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, type_error, value_error
from composit.numpy.creation import asarray


def twin(name: str) -> Any:
    """NumPy's ufunc of that name; None where NumPy has none."""
    found = getattr(np, name, None)
    return found if isinstance(found, np.ufunc) else None


def given_dtype(operand: Any) -> Any:
    """What NumPy resolves dtypes from: a dtype, or a Python type, which is weak."""
    if isinstance(operand, LazyTensor):
        return operand.dtype
    if type(operand) in (int, float, complex):
        return type(operand)
    return np.asarray(operand).dtype


def resolved(ufunc: Any, dtypes: tuple[Any, ...], **options: Any) -> tuple[Any, ...]:
    """The dtypes of the loop; NumPy's error, with the user's line."""
    try:
        return ufunc.resolve_dtypes(dtypes, **options)
    except TypeError as error:
        raise type_error(str(error)) from None
    except ValueError as error:
        raise value_error(str(error)) from None


def in_signature(
    name: str, operands: tuple[Any, ...], signature: Any, sig: Any, dtype: Any, casting: Any
) -> tuple[Any, ...]:
    """Operands in the dtypes of the loop that NumPy would take for `signature`, or `sig`."""
    if sig is not None and signature is not None:
        raise type_error("cannot specify both 'sig' and 'signature'")
    if dtype is not None:
        raise type_error("cannot specify both 'signature' and 'dtype'")
    ufunc = twin(name)
    if ufunc is None:
        raise type_error(f"{name}: NumPy has no ufunc of this name.")
    dtypes = (*map(given_dtype, operands), *(None,) * ufunc.nout)
    given = sig if signature is None else signature
    loop = resolved(ufunc, dtypes, signature=given, casting=casting)
    return tuple(asarray(each).astype(to) for each, to in zip(operands, loop))


_core.provide("in_signature", in_signature)


class Facts:
    """What ufuncs say of themselves."""

    __name__: str
    signature = None  # of none of ours: they work on elements

    @property
    def types(self) -> list[str]:
        """The dtypes of NumPy's loops, as "dd->d"."""
        ufunc = twin(self.__name__)
        return [] if ufunc is None else ufunc.types

    @property
    def ntypes(self) -> int:
        """How many loops there are."""
        return len(self.types)

    @property
    def identity(self) -> Any:
        """What reduces to nothing; None where there is no such value."""
        ufunc = twin(self.__name__)
        return None if ufunc is None else ufunc.identity

    def resolve_dtypes(self, dtypes: tuple[Any, ...], **options: Any) -> tuple[Any, ...]:
        """The dtypes that the function computes in, as NumPy's."""
        ufunc = twin(self.__name__)
        if ufunc is None:
            raise type_error(f"{self.__name__}: NumPy has no ufunc of this name.")
        return ufunc.resolve_dtypes(dtypes, **options)
