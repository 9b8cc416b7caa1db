"""flashlight: models written in PyTorch become composit's graphs.

with flashlight.tracer.trace():
    output = model(activations)
values = composit.evaluate(output)

traced = flashlight.trace(model, activations)
values = traced(activations)
"""

import importlib as _importlib

__all__ = ["Tensor", "TracedModel", "trace", "tracer"]

_homes = {"Tensor": "tensor", "TracedModel": "program", "trace": "program"}


def __getattr__(name: str):
    """Imported when asked for, as they need torch; the table of operators does not."""
    if name == "tracer":
        return _importlib.import_module("composit.flashlight.tracer")
    if name in _homes:
        home = _importlib.import_module(f"composit.flashlight.{_homes[name]}")
        return getattr(home, name)
    raise AttributeError(f"module 'composit.flashlight' has no attribute {name!r}")
