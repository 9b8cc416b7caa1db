"""Series of Laguerre's polynomials: numpy.polynomial.laguerre."""

from composit._core.polynomial import Basis as _Basis
from composit.numpy.polynomial._series import functions as _functions

_f = _functions(_Basis.laguerre, "lag")
lagcompanion = _f["lagcompanion"]
lagder = _f["lagder"]
lagfit = _f["lagfit"]
laggrid2d = _f["laggrid2d"]
laggrid3d = _f["laggrid3d"]
lagint = _f["lagint"]
lagroots = _f["lagroots"]
lagval = _f["lagval"]
lagval2d = _f["lagval2d"]
lagval3d = _f["lagval3d"]
lagvander = _f["lagvander"]
