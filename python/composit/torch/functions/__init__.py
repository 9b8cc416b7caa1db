"""torch's functions, by subject: each is a pure function over LazyTensors."""

from composit.torch.functions import (
    asked,
    copying,
    creation,
    factored,
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
    "asked", "copying", "creation", "factored",
    "further", "indexing", "linear", "pointwise", "random", "reductions",
    "settings", "shapes", "sorting",
]  # fmt: skip
