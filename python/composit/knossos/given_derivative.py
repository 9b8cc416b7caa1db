"""Derivatives that users say: whether their arguments and results fit."""

from __future__ import annotations

from typing import Any

from composit.knossos.annotations import Leaf, TensorOf, all_leaves

leaves_of = all_leaves


def derivative_for(kernel: Any, given: Any, dtype: Any) -> Any:
    """The procedure of `given`, which is to be what `kernel.vjp` is. TypeError, with the line of
    `given`, where it takes or returns something else."""
    taken = [leaf for each in kernel.parameter_structures for leaf in leaves_of(each)]
    results = leaves_of(kernel._result_structure())
    wanted = [_outline(leaf) for leaf in taken]
    wanted += [_outline(leaf) for leaf in results if leaf.kind == "float"]
    wanted_back = [_outline(leaf) for leaf in taken if leaf.kind == "float"]
    found = [_outline(leaf) for each in given.parameter_structures for leaf in leaves_of(each)]
    made = given.procedure(dtype)
    found_back = [_outline(leaf) for leaf in leaves_of(given._result_structure())]
    for what, has, needs in (("takes", found, wanted), ("returns", found_back, wanted_back)):
        if has != needs:
            given._source.refuse(
                given._source.tree,
                f"as the derivative of {kernel.__name__} it {what} {', '.join(has)}",
                f"{', '.join(needs) or 'Nothing'}: the arguments, then a gradient for each float "
                "result, are taken, and a gradient for each float argument is returned.",
                TypeError,
            )
    return made


def _outline(leaf: Leaf) -> str:
    if isinstance(leaf, TensorOf):
        return f"Tensor[{leaf.kind}] of {len(leaf.extents)} axes"
    return leaf.kind
