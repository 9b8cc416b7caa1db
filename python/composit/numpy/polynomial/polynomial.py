"""Series in powers: numpy.polynomial.polynomial."""

from composit._core.polynomial import Basis as _Basis
from composit.numpy.polynomial._series import functions as _functions

_f = _functions(_Basis.power, "poly")
polycompanion = _f["polycompanion"]
polyder = _f["polyder"]
polyfit = _f["polyfit"]
polygrid2d = _f["polygrid2d"]
polygrid3d = _f["polygrid3d"]
polyint = _f["polyint"]
polyroots = _f["polyroots"]
polyval = _f["polyval"]
polyval2d = _f["polyval2d"]
polyval3d = _f["polyval3d"]
polyvander = _f["polyvander"]
