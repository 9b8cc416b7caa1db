"""flashlight: models written in PyTorch become composit's graphs.

with flashlight.tracer.trace():
    output = model(activations)
values = composit.evaluate(output)
"""

from composit.flashlight import tracer
from composit.flashlight.tensor import Tensor

__all__ = ["Tensor", "tracer"]
