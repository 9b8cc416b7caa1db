"""Products of weights, which are packed, by any number of columns: each column has the bits that it
has alone, whatever tiles it falls into."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp

# Around whole tiles of 16 and 32 columns, half ones, wide ones, and a few columns more.
COLUMNS = (17, 40, 41, 48, 49, 57, 81, 113)


@pytest.mark.parametrize("rows", [17, 32, 155])
def test_columns_have_the_bits_that_they_have_alone(rows):
    draw = np.random.default_rng(rows)
    depth = 300  # two blocks, one of them short
    weights = draw.standard_normal((rows, depth), dtype="float32")
    values = draw.standard_normal((depth, max(COLUMNS)), dtype="float32")
    alone = [composit.evaluate(cnp.asarray(weights) @ column.copy()) for column in values.T]
    some = [values[:, :n].copy() for n in COLUMNS]
    products = composit.compile(lambda *xs: [cnp.asarray(weights) @ x for x in xs], *some)
    for n, product in zip(COLUMNS, products(*some), strict=True):
        np.testing.assert_array_equal(product, np.stack(alone[:n], 1), err_msg=f"{n} columns")
