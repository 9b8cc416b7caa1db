"""Compiled kernels go through transposed operands in strips: the ends of rows, of strips, of parts
for threads."""

import numpy as np
import pytest

import composit
import composit.numpy as cnp

FUNCTIONS = {
    "copy": lambda n, x: n.ascontiguousarray(n.swapaxes(x, -1, -2)),
    "sum": lambda n, x: n.swapaxes(x, -1, -2) + n.reshape(x, n.swapaxes(x, -1, -2).shape),
    "both": lambda n, x: n.swapaxes(x, -1, -2)[..., ::-1] * 3 - n.swapaxes(x, -1, -2),
    "long": lambda n, x: n.exp(n.swapaxes(x, -1, -2) / 7),
    "first": lambda n, x: n.ascontiguousarray(n.moveaxis(x, -1, 0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "shape", [(256, 128), (257, 131), (3, 160, 113), (700, 33), (33, 700), (3000, 40)]
)
def test_bits(name, shape):
    for dtype in ("float32", "float64", "int8", "complex64"):
        x = (np.arange(np.prod(shape)) % 251 - 120).reshape(shape).astype(dtype)
        function = lambda x: FUNCTIONS[name](cnp, x)
        expected = np.asarray(composit.compile(function, backend="interpreter")(x))
        for threads in (1, 2):
            found = np.asarray(composit.compile(function, threads=threads)(x))
            assert found.tobytes() == expected.tobytes(), (dtype, threads)
        if name != "long":
            np.testing.assert_array_equal(expected, FUNCTIONS[name](np, x))


def test_the_text_has_strips():
    x = np.ones((256, 128), "float32")
    copy = lambda x: FUNCTIONS["copy"](cnp, x)
    assert "first < 256; first += 8" in composit.compile(copy, x).source
    assert "first" not in composit.compile(copy, x[:16, :16]).source
