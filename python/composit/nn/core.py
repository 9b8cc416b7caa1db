"""composit.nn.core.wrap_as_operation: composit.numpy's, under its older name."""

from composit.operations import create_from_numpy_compute_operation, wrap_as_operation

__all__ = ["create_from_numpy_compute_operation", "wrap_as_operation"]
