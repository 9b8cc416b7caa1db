"""Derivatives that users say: whether their arguments and results fit."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

import composit._core as _core
from composit.knossos.annotations import all_leaves, annotated

leaves_of = all_leaves
# Derivatives that are known to be linear in what they receive behind so many numbers.
_linear: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def derivative_for(kernel: Any, given: Any, dtype: Any) -> Any:
    """The procedure of `given`, which is to be what `kernel.vjp` is. TypeError, with the line of
    `given`, where it takes or returns something else."""
    taken = [leaf for each in kernel.parameter_structures for leaf in leaves_of(each)]
    results = leaves_of(kernel._result_structure())
    wanted = taken + [leaf for leaf in results if leaf.kind == "float"]
    wanted_back = [leaf for leaf in taken if leaf.kind == "float"]
    found = [leaf for each in given.parameter_structures for leaf in leaves_of(each)]
    made = given.procedure(dtype)
    found_back = leaves_of(given._result_structure())
    fits = (
        annotated.are_alike(found, wanted),
        annotated.have_same_kinds(found_back, wanted_back),  # with_derivative compares extents
    )
    for what, is_fit, has, needs in (
        ("takes", fits[0], found, wanted), ("returns", fits[1], found_back, wanted_back)
    ):  # fmt: skip
        if not is_fit:
            given._source.refuse(
                given._source.tree,
                f"as the derivative of {kernel.__name__} it {what} {_listed_types(has)}",
                f"{_listed_types(needs) or 'Nothing'}: the arguments, then a gradient for "
                "each float result, are taken, and a gradient for each float argument is returned.",
                TypeError,
            )
    return made


def _listed_types(leaves: list[Any]) -> str:
    return ", ".join(map(annotated.annotation_text, leaves))


def check_linear(kernel: Any, given: Any) -> None:
    """TypeError where `given`, as the derivative of a kernel of numbers, is not linear in the
    gradients that it receives, at a few random points: callers' derivatives are products with it,
    which gradients that are cut off, say, have not."""
    random, kept = np.random.default_rng(0), len(kernel._kinds())
    if _linear.get(given) == kept:  # each call in each caller asks
        return
    for _ in range(8):
        numbers = [_any_number(kind, random) for kind in given._kinds()]
        larger = [*numbers[:kept], *(-1000.0 * each for each in numbers[kept:])]
        one, other = (_numbers_of(given, each) for each in (numbers, larger))
        if np.allclose(-1000.0 * one, other, rtol=1e-6, atol=1e-9, equal_nan=True):
            continue
        given._source.refuse(
            given._source.tree,
            f"as the derivative of {kernel.__name__} it is not linear in the gradient: "
            f"{given.__name__}({_listed(numbers)}) is {_listed(one)}, and "
            f"{given.__name__}({_listed(larger)}) is {_listed(other)}",
            f"Kernels that call {kernel.__name__} need one that is.", TypeError,
        )  # fmt: skip
    _linear[given] = kept


def _any_number(kind: str, random: Any) -> Any:
    if kind == "float":
        return float(random.normal()) * 3.0
    return int(random.integers(1, 5)) if kind == "int" else bool(random.integers(2))


def _numbers_of(given: Any, numbers: list[Any]) -> Any:
    arguments = annotated.put_together(given.parameter_structures, numbers, False)
    made = given(*arguments)
    return np.array(_core.knossos.numbers_in(given._result_structure(), made), dtype=float)


def _listed(numbers: Any) -> str:
    return ", ".join(f"{each:.6g}" for each in numbers)
