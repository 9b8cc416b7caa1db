"""flashlight: models written in PyTorch become composit's graphs.

with flashlight.tracer.trace():
    output = model(activations)
values = composit.evaluate(output)

traced = flashlight.trace(model, activations)
values = traced(activations)
"""

from composit.flashlight import tracer
from composit.flashlight.program import TracedModel, trace
from composit.flashlight.tensor import Tensor

__all__ = ["Tensor", "TracedModel", "trace", "tracer"]
