"""Products of integers and truths at the edges of tiles: NumPy's."""

import numpy as np
import pytest

import composit

LENGTHS = [1, 2, 3, 5, 16, 17, 63, 64, 65, 100, 257, 300]
DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]


def product(is_left_turned, is_right_turned):
    def f(x, y):
        x = x.swapaxes(-1, -2) if is_left_turned else x
        return x @ (y.swapaxes(-1, -2) if is_right_turned else y)

    return f


@pytest.mark.parametrize("dtype", DTYPES)
def test_as_numpys(dtype, tmp_path):
    draw = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(4):
        m, k, n = draw.choice(LENGTHS, 3)
        batch = [(), (1,), (3,)][draw.integers(3)]
        left = draw.integers(-200, 200, (*batch, m, k)).astype(dtype)
        right = draw.integers(-200, 200, (*batch, k, n)).astype(dtype)
        turned = draw.integers(0, 2, 2).astype(bool)
        if turned[0]:
            left = np.ascontiguousarray(left.swapaxes(-1, -2))
        if turned[1]:
            right = np.ascontiguousarray(right.swapaxes(-1, -2))
        f = product(*turned)
        expected = f(left, right)
        for options in (
            {"backend": "interpreter"},
            {"cache_folder": str(tmp_path), "threads": 1},
            {"cache_folder": str(tmp_path), "threads": 2},
        ):
            found = np.asarray(composit.compile(f, left, right, **options)(left, right))
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected, err_msg=f"{m} {k} {n} {options}")
