"""The table: what each of torch's operators is over LazyTensors. Its functions are pure and know
nothing of traces or of torch; their parameters are those of torch's schemas."""

from composit.flashlight.operators import (
    attention,
    convolutions,
    fourier,
    groups,
    indexing,
    linalg,
    losses,
    normalisation,
    pointwise,
    pooling,
    products,
    random,
    recurrent,
    reductions,
    resizing,
    shapes,
    sorting,
)
from composit.flashlight.operators.table import Row, Written, find, find_functional, names

__all__ = ["Row", "Written", "find", "find_functional", "names"]
