"""numpy.polynomial: values, fits, derivatives, antiderivatives and zeros of series of tensors."""

from composit._core import LazyTensor
from composit.numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)

_VALUES = {
    "Polynomial": polynomial.polyval, "Chebyshev": chebyshev.chebval, "Hermite": hermite.hermval,
    "HermiteE": hermite_e.hermeval, "Laguerre": laguerre.lagval, "Legendre": legendre.legval,
}  # fmt: skip


def _class(name: str):
    """NumPy's class of series. Its coefficients are values; called with tensors it makes nodes."""
    import numpy.polynomial as numpys

    base, values = getattr(numpys, name), _VALUES[name]

    def call(self, arg):
        if not isinstance(arg, LazyTensor):
            return base.__call__(self, arg)
        offset, scale = self.mapparms()
        return values(offset + scale * arg, self.coef)

    names = {"__call__": call, "__module__": __name__, "__doc__": base.__doc__}
    return type(name, (base,), names)


def __getattr__(name: str):
    """NumPy's classes of series."""
    if name in _VALUES:
        globals()[name] = _class(name)
        return globals()[name]
    if name in ("polyutils", "set_default_printstyle"):
        import numpy.polynomial as numpys

        return getattr(numpys, name)
    raise AttributeError(f"module 'composit.numpy.polynomial' has no attribute {name!r}")
