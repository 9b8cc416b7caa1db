"""Transposed operands, which kernels of devices go through in tiles or strips."""

import numpy as np

import composit
import composit.numpy as cnp


def test_transposed_operands(device):
    for shape in [(256, 128), (257, 131), (3, 160, 113), (700, 33)]:
        x = (np.arange(np.prod(shape)) % 251 - 120).reshape(shape).astype("float32")

        def function(x):
            turned = cnp.swapaxes(x, -1, -2)
            return cnp.ascontiguousarray(turned), turned[..., ::-1] * 3 - turned, cnp.exp(turned)

        expected = composit.compile(function, backend="interpreter")(x)
        found = composit.compile(function, device=device)(cnp.asarray(x, device=device))
        for there, here in zip(found, expected, strict=True):
            assert np.asarray(there).tobytes() == np.asarray(here).tobytes(), shape
