"""composit.numpy.core: operations of one's own and inputs, under their older names, and
`records`, NumPy's older path of `rec`."""

from composit.numpy import rec as records
from composit.numpy.creation import create_input
from composit.operations import (
    create_from_numpy_compute_operation,
    create_numpy_binary_compute_function,
    create_numpy_compute_function,
    create_numpy_concatenate_function,
    get_operands,
    wrap_as_operation,
)

__all__ = [
    "create_from_numpy_compute_operation", "create_input", "create_numpy_binary_compute_function",
    "create_numpy_compute_function", "create_numpy_concatenate_function", "get_operands",
    "records", "wrap_as_operation",
]  # fmt: skip
