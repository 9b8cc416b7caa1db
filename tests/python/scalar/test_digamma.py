"""digamma, which NumPy has not: against SciPy's, in every floating dtype that has kernels."""

import numpy as np
import pytest
from scipy import special

import composit
from composit import numpy as cnp


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values(dtype):
    """Within a few units in the last place of the result, or of x: SciPy's error near poles."""
    draw = np.random.default_rng(0)
    grids = [np.linspace(-9.97, 20, 5000), np.logspace(-30, 30, 1000), -np.logspace(-30, -1, 500)]
    x = np.concatenate([*grids, draw.uniform(-50, 50, 5000)]).astype(dtype)
    ours = composit.evaluate(cnp.digamma(x))
    assert ours.dtype == dtype
    wide = x.astype("float64")
    expected, slope = special.digamma(wide), steepness(wide)
    unit = np.spacing(np.maximum(np.abs(expected), 1).astype(dtype))
    error = np.abs(ours - expected)
    assert (error <= 4 * (unit + slope * np.spacing(np.abs(wide)))).all()


def steepness(x):
    """|d digamma / dx|; below 1 by reflection: pi^2 / sin(pi x)^2 - trigamma(1 - x)."""
    reflected = np.where(x < 0.5, 1 - x, x)
    trigamma = special.polygamma(1, reflected)
    from_pole = np.where(x < 0.5, x - np.rint(x), 0.5)
    return np.where(x < 0.5, (np.pi / np.sin(np.pi * from_pole)) ** 2 - trigamma, trigamma)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values(dtype):
    x = np.array([0.0, -0.0, -1, -2, -1e10, np.inf, -np.inf, np.nan, 5e-324], dtype)
    np.testing.assert_array_equal(composit.evaluate(cnp.digamma(x)), special.digamma(x))
