"""torch's functions, by subject: each is a pure function over LazyTensors."""

from composit.torch.functions import (
    copying,
    creation,
    further,
    indexing,
    linear,
    pointwise,
    random,
    reductions,
    settings,
    shapes,
    sorting,
)

__all__ = [
    "copying", "creation", "further", "indexing", "linear", "pointwise", "random", "reductions",
    "settings", "shapes", "sorting",
]  # fmt: skip
