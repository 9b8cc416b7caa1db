"""numpy.polynomial: values, fits, derivatives, antiderivatives and zeros of series of tensors."""

from composit.numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)
