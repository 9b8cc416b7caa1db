"""Rows whose derivatives are too long to be written with other rows."""

import numpy as np
import pytest

import composit
from composit import numpy as cnp
from composit.graph import parse, structural_hash


def long_row(name, factor):
    """x + f x^2 (1 - x), thirty times, whose slope has more than 128 expressions."""

    def value(x):
        for _ in range(30):
            x = x + factor * x * x * (1 - x)
        return x

    return composit.register(name, value=value, doc="a polynomial of high degree")


@pytest.fixture(scope="module")
def rows():
    return long_row("slopes_first", 0.125), long_row("slopes_second", 0.0625)


def test_their_kernels_are_their_own(rows):
    first = rows[0]
    slopes = [composit.grad(lambda x, row=row: cnp.sum(row(x))) for row in rows]
    x, y = np.linspace(0.1, 0.9, 9), np.linspace(0.2, 0.8, 9)
    apart = [cnp.evaluate(slope(z)) for slope, z in zip(slopes, (x, y))]
    together = composit.compile(lambda x, y: (slopes[0](x), slopes[1](y)), x, y)(x, y)
    np.testing.assert_array_equal(together, apart)
    step = 1e-6
    differences = (cnp.evaluate(first(x + step)) - cnp.evaluate(first(x - step))) / (2 * step)
    np.testing.assert_allclose(apart[0], differences, rtol=1e-7)


def test_their_graphs_parse_back(rows):
    gradient = composit.grad(lambda x: cnp.sum(rows[0](x)))
    slope = gradient(cnp.asarray([0.25, 0.5]))
    text = str(slope.graph)
    assert 'row("pullback(slopes_first, float64, 0)")' in text
    (copy,) = parse(text)
    assert structural_hash(copy) == structural_hash(slope)
    np.testing.assert_array_equal(cnp.evaluate(copy), cnp.evaluate(slope))
