"""Series of Legendre's polynomials: numpy.polynomial.legendre."""

from composit._core.polynomial import Basis as _Basis
from composit.numpy.polynomial._series import functions as _functions

_f = _functions(_Basis.legendre, "leg")
legcompanion = _f["legcompanion"]
legder = _f["legder"]
legfit = _f["legfit"]
leggrid2d = _f["leggrid2d"]
leggrid3d = _f["leggrid3d"]
legint = _f["legint"]
legroots = _f["legroots"]
legval = _f["legval"]
legval2d = _f["legval2d"]
legval3d = _f["legval3d"]
legvander = _f["legvander"]
