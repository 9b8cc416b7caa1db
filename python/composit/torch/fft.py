"""torch.fft: Fourier transforms, by composit.numpy.fft in the precision of their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import numpy as cnp
from composit.flashlight.operators.promotion import floating
from composit.torch import calling, dtypes, places
from composit.torch.calling import define
from composit.torch.given import constant


def _in_precision(input: Any, result: Any) -> Any:
    """NumPy's results are of the argument's precision here, as torch's."""
    is_double = floating(input).dtype in (np.dtype("float64"), np.dtype("complex128"))
    kind = {True: ("float64", "complex128"), False: ("float32", "complex64")}[is_double]
    to = np.dtype(kind[result.dtype.kind == "c"])
    return result if result.dtype == to else cnp.astype(result, to)


def _add(name: str, function: Any) -> None:
    made = define(function, f"fft_{name}", is_function=False, is_method=False,
                  doc=f"NumPy's {name}, with torch's names of arguments.")  # fmt: skip
    made.__name__ = made.__qualname__ = name
    globals()[name] = made


def _of_one(name: str) -> None:
    row = getattr(cnp.fft, name)

    def function(input: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
        return _in_precision(input, row(floating(input), n, dim, norm))

    _add(name, function)


def _of_two(name: str) -> None:
    row = getattr(cnp.fft, name)

    def function(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
        return _in_precision(input, row(floating(input), s, _axes(input, s, dim), norm))

    _add(name, function)


def _axes(input: Any, s: Any, dim: Any) -> Any:
    """torch's dimensions: the last len(s) where only lengths are given."""
    if dim is None:
        count = input.ndim if s is None else len(s)
        return tuple(range(-count, 0))
    return (dim,) if isinstance(dim, int) else tuple(dim)


def _of_all(name: str) -> None:
    row = getattr(cnp.fft, name)

    def function(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
        return _in_precision(input, row(floating(input), s, _axes(input, s, dim), norm))

    _add(name, function)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _of_one(_name)
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    _of_two(_name)
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    _of_all(_name)

_OTHER_WAY = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _hfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    """Of half a Hermitian signal: irfftn of the conjugate, scaled the other way."""
    found = cnp.fft.irfftn(cnp.conj(input), s, _axes(input, s, dim), _OTHER_WAY[norm])
    return _in_precision(input, found)


def _ihfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    """hfftn's inverse."""
    x = floating(input)
    return _in_precision(x, cnp.conj(cnp.fft.rfftn(x, s, _axes(x, s, dim), _OTHER_WAY[norm])))


_add("hfftn", _hfftn)
_add("ihfftn", _ihfftn)
_add("hfft2", lambda input, s=None, dim=(-2, -1), norm=None: _hfftn(input, s, dim, norm))
_add("ihfft2", lambda input, s=None, dim=(-2, -1), norm=None: _ihfftn(input, s, dim, norm))
_add("fftshift", lambda input, dim=None: cnp.fft.fftshift(input, dim))
_add("ifftshift", lambda input, dim=None: cnp.fft.ifftshift(input, dim))


def _frequencies(name: str) -> None:
    row = getattr(np.fft, name)

    def function(
        n: int, d: float = 1.0, *, out: Any = None, dtype: Any = None, layout: Any = None,
        device: Any = None, requires_grad: bool = False,
    ) -> Any:  # fmt: skip
        to = (dtype or dtypes.default()).numpy
        made = calling.wrapped(constant(row(n, d).astype(to)))
        return made.requires_grad_() if requires_grad else made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"NumPy's {name}."
    globals()[name] = places.making(function)


_frequencies("fftfreq")
_frequencies("rfftfreq")


def __getattr__(name: str) -> Any:
    """What is not built says so."""
    raise AttributeError(
        f"composit.torch.fft.{name} is not built yet; docs/torch.md lists what is."
    )
