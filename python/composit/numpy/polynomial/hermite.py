"""Series of Hermite's polynomials, physicists' way: numpy.polynomial.hermite."""

from composit._core.polynomial import Basis as _Basis
from composit.numpy.polynomial._series import functions as _functions

_f = _functions(_Basis.hermite, "herm")
hermcompanion = _f["hermcompanion"]
hermder = _f["hermder"]
hermfit = _f["hermfit"]
hermgrid2d = _f["hermgrid2d"]
hermgrid3d = _f["hermgrid3d"]
hermint = _f["hermint"]
hermroots = _f["hermroots"]
hermval = _f["hermval"]
hermval2d = _f["hermval2d"]
hermval3d = _f["hermval3d"]
hermvander = _f["hermvander"]
