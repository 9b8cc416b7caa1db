"""flashlight: models written in PyTorch become composit's graphs.

with flashlight.tracer.trace():
    output = model(activations)
values = composit.evaluate(output)

traced = flashlight.trace(model, activations)
values = traced(activations)
"""

from composit import _later

__all__ = ["Tensor", "TracedModel", "trace", "tracer"]

# They need torch; the table of operators does not.
__getattr__ = _later.getter(
    __name__, ("tracer",), {"Tensor": "tensor", "TracedModel": "program", "trace": "program"}
)
