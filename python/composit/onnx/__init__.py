"""Models in ONNX's format: read, called, differentiated, compiled, exported; functions and tensors
saved as such models."""

from composit.onnx import images
from composit.onnx.model import CompiledModel, Model, ValueInfo, load, operators
from composit.onnx.saving import model_bytes, save

__all__ = ["CompiledModel", "Model", "ValueInfo", "load", "model_bytes", "operators", "save"]
