"""Names of extents that mean something where a kernel or a record is defined: integers are the
extents, and errors say so; what else they mean does not matter."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch

import composit
from composit import knossos
from composit.knossos import Tensor


def k():
    """A function that is called as an extent."""


m = 2.5
n = 5


class Pair(NamedTuple):
    c: "Tensor[float, k]"
    d: "Tensor[float, k, 2]"


@dataclass
class Nested:
    c: "Tensor[float, m]"
    pair: Pair
    e: "tuple[float, Tensor[float, m]]"


class Known(NamedTuple):
    c: "Tensor[float, n]"


class Evaluated(NamedTuple):
    c: Tensor[float, k]


class Number(NamedTuple):
    c: Tensor[float, m]


class Computed(NamedTuple):
    c: "Tensor[float, k + 1]"


@knossos.register
def of_pair(p: Pair) -> float:
    return np.sum(p.c) + np.sum(p.d)


@knossos.register
def of_nested(p: Nested, x: "Tensor[float, m]") -> float:
    return np.sum(p.c) + np.sum(p.e[1]) + np.sum(x * p.c)


@knossos.register
def of_known(p: Known) -> float:
    return np.sum(p.c)


@knossos.register
def of_arrays(x: "Tensor[float, n]", y: "Tensor[float, 3]") -> float:
    return np.sum(x) + np.sum(y)


@knossos.register
def of_evaluated(p: Evaluated) -> float:
    return np.sum(p.c)


def of_number(p: Number) -> float:
    return np.sum(p.c)


def of_computed(p: Computed) -> float:
    return np.sum(p.c)


ones = np.ones


def test_names_of_functions_and_floats():
    assert of_pair(Pair(ones(3), ones((3, 2)))) == 9.0
    with pytest.raises(ValueError, match=r"p_d has the shape \[3, 2\]\. \[4, 2\] is required"):
        of_pair(Pair(ones(4), ones((3, 2))))
    pair = Pair(ones(2), ones((2, 2)))
    assert of_nested(Nested(ones(3), pair, (1.0, ones(3))), ones(3)) == 9.0
    with pytest.raises(ValueError, match="p_e_1 has the shape"):
        of_nested(Nested(ones(3), pair, (1.0, ones(4))), ones(3))
    assert of_evaluated(Evaluated(ones(4))) == 4.0


CALLS = [
    lambda: of_known(Known(ones(4))),
    lambda: of_arrays(ones(4), ones(3)),
    lambda: of_arrays(composit.asarray(ones(4)), ones(3)),
    lambda: of_arrays(torch.ones(4), ones(3)),
    lambda: of_arrays.vjp(ones(4), ones(3), 1.0),
    lambda: of_arrays.grad(ones(4), ones(3)),
    lambda: knossos.vmap(of_arrays)(ones((2, 4)), ones((2, 3))),
]


@pytest.mark.parametrize("call", CALLS)
def test_integers_are_the_extents(call):
    for _ in range(2):
        assert of_known(Known(ones(5))) == 5.0 and of_arrays(ones(5), ones(3)) == 8.0
        with pytest.raises(ValueError, match="and n is 5 where the kernel is defined"):
            call()


def test_what_no_extent_is():
    with pytest.raises(TypeError, match=r"of_number: the extent 2\.5 of an array in `Number`"):
        knossos.register(of_number)(Number(ones(4)))
    with pytest.raises(TypeError, match=r"of_computed: the extent `k \+ 1`"):
        knossos.register(of_computed)(Computed(ones(4)))
