"""Series of Chebyshev's polynomials: numpy.polynomial.chebyshev."""

from composit._core.polynomial import Basis as _Basis
from composit.numpy.polynomial._series import functions as _functions

_f = _functions(_Basis.chebyshev, "cheb")
chebcompanion = _f["chebcompanion"]
chebder = _f["chebder"]
chebfit = _f["chebfit"]
chebgrid2d = _f["chebgrid2d"]
chebgrid3d = _f["chebgrid3d"]
chebint = _f["chebint"]
chebroots = _f["chebroots"]
chebval = _f["chebval"]
chebval2d = _f["chebval2d"]
chebval3d = _f["chebval3d"]
chebvander = _f["chebvander"]
