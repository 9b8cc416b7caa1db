"""composit.nn.core.wrap_as_operation, where the seed's users look for it."""

from composit.operations import create_from_numpy_compute_operation, wrap_as_operation

__all__ = ["create_from_numpy_compute_operation", "wrap_as_operation"]
