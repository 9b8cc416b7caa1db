"""Series of Hermite's polynomials, probabilists' way: numpy.polynomial.hermite_e."""

from composit._core.polynomial import Basis as _Basis
from composit.numpy.polynomial._series import functions as _functions

_f = _functions(_Basis.hermite_e, "herme")
hermecompanion = _f["hermecompanion"]
hermeder = _f["hermeder"]
hermefit = _f["hermefit"]
hermegrid2d = _f["hermegrid2d"]
hermegrid3d = _f["hermegrid3d"]
hermeint = _f["hermeint"]
hermeroots = _f["hermeroots"]
hermeval = _f["hermeval"]
hermeval2d = _f["hermeval2d"]
hermeval3d = _f["hermeval3d"]
hermevander = _f["hermevander"]
