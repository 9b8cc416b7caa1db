"""flashlight: models written in PyTorch become composit's graphs.

with flashlight.tracer.trace():
    output = model(activations)
values = composit.evaluate(output)

traced = flashlight.trace(model, activations)
values = traced(activations)

Functions written with JAX are traced as well: flashlight.trace_jax(f, *examples); and fitted
estimators of scikit-learn: flashlight.trace_sklearn(estimator, example).
"""

from composit import _later

__all__ = ["Tensor", "TracedEstimator", "TracedJax", "TracedModel", "jax_primitives", "trace",
           "trace_jax", "trace_sklearn", "tracer"]  # fmt: skip

# They need torch, jax or skl2onnx; the table of operators does not.
__getattr__ = _later.getter(
    __name__,
    ("tracer",),
    {
        "Tensor": "tensor", "TracedModel": "program", "trace": "program",
        "TracedJax": "jax_programs", "jax_primitives": "jax_programs", "trace_jax": "jax_programs",
        "TracedEstimator": "sklearn_models", "trace_sklearn": "sklearn_models",
    },
)  # fmt: skip
