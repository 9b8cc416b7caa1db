"""torch's functions, by subject: each is a pure function over LazyTensors."""

from composit.torch.functions import (
    copying,
    creation,
    drawing_methods,
    factored,
    indexing,
    layout_methods,
    linear,
    linear_algebra,
    memory_methods,
    methods_in_place,
    pointwise,
    random,
    reductions,
    settings,
    shapes,
    signals,
    sorting,
    special_by_name,
    statistics,
)

__all__ = [
    "copying", "creation", "drawing_methods", "factored", "indexing", "layout_methods", "linear",
    "linear_algebra", "memory_methods",
    "methods_in_place", "pointwise", "random", "reductions", "settings",
    "shapes", "signals", "sorting", "special_by_name", "statistics",
]  # fmt: skip
