"""torch.special: special functions under torch's names."""

from __future__ import annotations

from typing import Any

from composit.torch import calling
from composit.torch.calling import define
from composit.torch.functions import special_functions as rows

_here: dict[str, Any] = {"is_function": False, "is_method": False}


def _add(name: str, function: Any) -> None:
    made = define(function, f"special_{name}", **_here)
    made.__name__ = made.__qualname__ = name
    globals()[name] = made


for _name, _function in {
    "digamma": "digamma", "erf": "erf", "erfc": "erfc", "exp2": "exp2", "expit": "sigmoid",
    "expm1": "expm1", "gammaln": "lgamma", "log1p": "log1p", "log_softmax": "log_softmax",
    "logit": "logit", "logsumexp": "logsumexp", "psi": "digamma", "round": "round", "sinc": "sinc",
    "softmax": "softmax", "xlogy": "xlogy",
}.items():  # fmt: skip
    globals()[_name] = calling.functions[_function]

for _name in ("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_k0",
              "modified_bessel_k1",
              "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0",
              "entr", "erfcx", "erfinv", "gammainc", "gammaincc", "i0", "i0e", "i1", "i1e",
              "log_ndtr", "multigammaln", "ndtr", "ndtri", "polygamma", "xlog1py",
              "zeta"):  # fmt: skip
    _add(_name, getattr(rows, _name))
for _name, _row in rows.polynomials.items():
    _add(_name, _row)
_add("modified_bessel_i0", rows.i0)
_add("modified_bessel_i1", rows.i1)


def __getattr__(name: str) -> Any:
    """What is not built says so."""
    raise AttributeError(
        f"composit.torch.special.{name} is not built yet; docs/torch.md lists what is."
    )
