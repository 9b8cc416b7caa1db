"""Models in ONNX's format as functions of tensors: read, called, differentiated, compiled,
exported."""

from composit.onnx.model import CompiledModel, Model, ValueInfo, load, operators

__all__ = ["CompiledModel", "Model", "ValueInfo", "load", "operators"]
