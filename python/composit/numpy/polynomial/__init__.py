"""numpy.polynomial: values, fits, derivatives, antiderivatives and zeros of series of tensors."""

from composit.numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)

_CLASSES = (
    "ABCPolyBase", "Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial",
    "polyutils", "set_default_printstyle",
)  # fmt: skip


def __getattr__(name: str):
    """NumPy's classes of series, whose coefficients are values; called with tensors they make
    nodes."""
    if name in _CLASSES:
        import numpy.polynomial as numpys

        return getattr(numpys, name)
    raise AttributeError(f"module 'composit.numpy.polynomial' has no attribute {name!r}")
