"""Modules that hold options and call one function with them."""

from __future__ import annotations

import inspect
from typing import Any

import composit._core as _core
from composit._core import type_error
from composit.torch import calling
from composit.torch.nn import functional, pools_and_losses
from composit.torch.nn.module import Module

_options_of, _shown_options = _core.modules.options_of, _core.modules.shown_options
assert functional and pools_and_losses  # they fill the table of functions


def module_of(
    name: str, function: str, signature: str = "", *, in_training: bool = False,
    extra: str = "", doc: str = "", is_named: bool = True, base: Any = Module,
) -> Any:  # fmt: skip
    """A class whose options are named as the function's are: "p=0.5, inplace=False"."""
    names, defaults = [], {}
    for part in filter(None, (part.strip() for part in signature.split(","))):
        option, _, default = part.partition("=")
        names.append(option)
        if default:
            defaults[option] = _constants.get(default, default)
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(n, kinds, default=defaults.get(n, inspect.Parameter.empty)) for n in names
    ]
    described = inspect.Signature(parameters)
    usual = tuple(option for option in names if option != "inplace")
    has_inplace, shows_inplace = "inplace" in names, name.startswith("Dropout")
    shown = extra.split(",") if extra else names

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        try:
            bound = described.bind(*args, **kwargs)
        except TypeError as error:
            raise type_error(f"{name}.__init__(): {error}") from None
        bound.apply_defaults()
        for option, value in bound.arguments.items():
            setattr(self, option, value)

    def forward(self: Any, *tensors: Any) -> Any:
        return over(*tensors, **_options_of(self, usual, has_inplace, in_training))

    over = calling.neural[function]

    def forward_plainly(self: Any, *tensors: Any) -> Any:
        if has_inplace and self.inplace:
            return over(*tensors, inplace=True)
        return over(*tensors)

    if not usual and not in_training:
        forward = forward_plainly

    def extra_repr(self: Any) -> str:
        return _shown_options(self, shown, is_named, shows_inplace)

    made = type(name, (base,), {
        "__init__": __init__, "forward": forward, "extra_repr": extra_repr,
        "__doc__": doc or f"The function {function} as a module.", "__module__":
        "composit.torch.nn", "__signature__": described,
    })  # fmt: skip
    return made


_constants: dict[str, Any] = {"None": None, "True": True, "False": False}


for _number in (0, 1, 2, -1, -100):
    _constants[str(_number)] = _number
for _text in ("0.5", "0.1", "1.0", "0.01", "0.0", "1e-6", "1e-8", "1e-12", "-1.0", "0.125",
              "1e-05", "0.2", "2.0", "20.0", "0.75", "0.0001"):  # fmt: skip
    _constants[_text] = float(_text)
_constants.update({"mean": "mean", "none": "none", "1/3": 1.0 / 3})
