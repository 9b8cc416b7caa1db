"""Derivatives that users say: whether their arguments and results fit."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

import composit._core as _core
from composit.knossos.annotations import Leaf, Parts, TensorOf, all_leaves

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
        _are_alike(found, wanted),
        [_outline(one) for one in found_back] == [_outline(one) for one in wanted_back],
    )  # whose extents with_derivative compares
    for what, is_fit, has, needs in (
        ("takes", fits[0], found, wanted), ("returns", fits[1], found_back, wanted_back)
    ):  # fmt: skip
        if not is_fit:
            given._source.refuse(
                given._source.tree,
                f"as the derivative of {kernel.__name__} it {what} {', '.join(map(_shown, has))}",
                f"{', '.join(map(_shown, needs)) or 'Nothing'}: the arguments, then a gradient for "
                "each float result, are taken, and a gradient for each float argument is returned.",
                TypeError,
            )
    return made


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
    left = iter(numbers)
    arguments = [_given_as(each, left) for each in given.parameter_structures]
    made = given(*arguments)
    return np.array(_core.knossos.numbers_in(given._result_structure(), made), dtype=float)


def _given_as(structure: Leaf, left: Iterator[Any]) -> Any:
    """A value of a structure, of the next numbers."""
    if not isinstance(structure, Parts):
        return next(left)
    parts = [_given_as(part, left) for part in structure.parts.values()]
    return tuple(parts) if structure.made_by is tuple else structure.made_by(*parts)


def _listed(numbers: Any) -> str:
    return ", ".join(f"{each:.6g}" for each in numbers)


def _are_alike(found: list[Leaf], wanted: list[Leaf]) -> bool:
    """Whether kinds and extents are the same, but for how extents are called."""
    if [_outline(leaf) for leaf in found] != [_outline(leaf) for leaf in wanted]:
        return False
    names: dict[Any, Any] = {}
    for one, other in zip(found, wanted):
        if not isinstance(one, TensorOf) or not isinstance(other, TensorOf):
            continue
        for own, meant in zip(one.extents, other.extents):
            if not isinstance(meant, (str, int)):
                continue  # the extent of a result, which is computed
            if isinstance(own, str) and own not in names and meant not in names.values():
                names[own] = meant
            if names.get(own, own) != meant:
                return False
    return True


def _outline(leaf: Leaf) -> str:
    if isinstance(leaf, TensorOf):
        return f"Tensor[{leaf.kind}] of {len(leaf.extents)} axes"
    return leaf.kind


def _shown(leaf: Leaf) -> str:
    if isinstance(leaf, TensorOf) and all(isinstance(each, (str, int)) for each in leaf.extents):
        return f"Tensor[{', '.join(map(str, (leaf.kind, *leaf.extents)))}]"
    return _outline(leaf)
