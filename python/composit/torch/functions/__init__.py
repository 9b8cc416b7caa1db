"""torch's functions, by subject: each is a pure function over LazyTensors."""

from composit.torch.functions import (
    creation,
    indexing,
    linear,
    pointwise,
    random,
    reductions,
    shapes,
    sorting,
)

__all__ = [
    "creation", "indexing", "linear", "pointwise", "random", "reductions", "shapes", "sorting",
]  # fmt: skip
