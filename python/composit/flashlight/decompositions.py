"""Operators without a row of their own, as the operators that torch says they are made of."""

from __future__ import annotations

from typing import Any

from torch._decomp import decomposition_table

from composit.flashlight.refusals import refuse


def decomposed(tracer: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """What the operator gives, traced as others: by torch's own definition of it."""
    if func in tracer.decomposing:  # defined by itself
        refuse(tracer, str(func), "this operator is not traced yet.")
    tracer.decomposing.append(func)
    try:
        return _parts(tracer, func, args, kwargs)
    finally:
        tracer.decomposing.pop()


def _parts(tracer: Any, func: Any, args: Any, kwargs: Any) -> Any:
    with tracer.mode:
        if func._can_decompose():
            return func.decompose(*args, **kwargs)
        found = decomposition_table.get(func)
        if found is not None:
            return found(*args, **kwargs)
        primitive = getattr(func.overloadpacket, "impl_aten", None)
        if primitive is not None:
            return primitive(*args, **kwargs)
    refuse(tracer, str(func), "this operator is not traced yet.")
