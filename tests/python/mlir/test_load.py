"""Programs of StableHLO as functions: composit's own with the same bits, JAX's with JAX's values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exported_functions import floats
from jax_programs import (
    PROGRAMS, counting, draws, euler, integers, many_functions, more_special, shaped_draws,
    transforms,
)  # fmt: skip
from stablehlo_functions import ALL

import composit as ct
import composit.numpy as cnp
from composit import mlir
from composit.structure import flatten


def arrays(values):
    return [np.asarray(x) for x in flatten(values)[0]]


# Written as formulas of operations that StableHLO has: exact to some units in the last place.
FORMULAS = {}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore")
def test_own_programs_give_the_same_bits(name):
    function, *arguments = ALL[name]
    module = mlir.load(mlir.text(function, *arguments))
    expected = arrays(function(*map(cnp.asarray, arguments)))
    for found, y in zip(arrays(module(*arguments)), expected, strict=True):
        assert (found.dtype, found.shape) == (y.dtype, y.shape)
        if name in FORMULAS:
            np.testing.assert_allclose(found, y, rtol=FORMULAS[name], atol=FORMULAS[name])
        else:
            assert found.tobytes() == y.tobytes()


def lowered(function, *arguments):
    return jax.jit(function, keep_unused=True).lower(*arguments).as_text()


def close(found, expected, tolerance=1e-5):
    for x, y in zip(arrays(found), jax.tree.leaves(expected), strict=True):
        y = np.asarray(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * max(1, np.abs(y).max()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax_give_its_values(name):
    function, arguments, numbers = PROGRAMS[name]
    module = mlir.load(lowered(function, *arguments))
    leaves = jax.tree.leaves(arguments)
    value, gradients = jax.value_and_grad(function, numbers)(*arguments)
    close(module(*leaves), value)
    of_jax = mlir.load(lowered(jax.grad(function, numbers), *arguments))
    close(of_jax(*leaves), gradients, 2e-5)


@pytest.mark.parametrize("function", [integers, more_special, transforms, many_functions])
def test_functions_of_jax_give_its_values(function):
    x = floats(9)
    close(mlir.load(lowered(function, x))(x), function(x))
