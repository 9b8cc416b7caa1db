"""Functions and arguments that programs of StableHLO are tested with."""

import numpy as np
from exported_functions import CASES, floats, integers

import composit as ct
import composit.numpy as cnp
from composit import nn

MORE = {
    "complex": (
        lambda z: (z * z + 1, cnp.exp(z), abs(z), cnp.conj(z), z.real, z.imag, cnp.sum(z, 0),
                   cnp.sqrt(z), cnp.arcsin(z), z @ z, cnp.sort(z, axis=0), z.max(), 1 / z, z == z,
                   z.astype(bool), cnp.cumsum(z, axis=1), cnp.argmax(z, axis=0)),
        (floats(3, 3) + 1j * floats(3, 3)).astype("complex64"),
    ),
    "fft": (lambda x: (cnp.fft.fft(x), cnp.fft.rfft(x), cnp.fft.ifft(x)), floats(12)),
    "gcd": (lambda a, b: (cnp.gcd(a, b), cnp.lcm(a, b)), integers(7), integers(7)),
    "gcd of numbers": (cnp.gcd, np.int64(12), np.int64(18)),
    "neighbours": (
        lambda x: (cnp.nextafter(x, np.float32(2)), cnp.nextafter(x, x), cnp.spacing(x)),
        np.array([-1.5, -0.0, 0.0, 1.0, 2.0, 3e38, np.nan, np.inf], "float32"),
    ),
    "bits": (lambda x: (x.view(np.int32), cnp.frexp(x)[0], cnp.ldexp(x, 3)), floats(5)),
    "bfloat16": (
        lambda x: (lambda y: (y * 2 + 1, y.sum(), y @ y, cnp.exp(y), cnp.sort(y, axis=0)))(
            ct.astype(x, "bfloat16")
        ),
        floats(4, 4),
    ),
    "cholesky": (
        lambda x: (
            cnp.linalg.cholesky(x @ x.T + cnp.eye(4)),
            cnp.linalg.cholesky(x @ x.T + cnp.eye(4), upper=True),
        ),
        floats(4, 4, dtype="float64"),
    ),
    "systems of equations": (
        lambda x, b: (
            cnp.linalg.solve(x, b), cnp.linalg.inv(x), cnp.linalg.det(x), *cnp.linalg.slogdet(x),
            ct.grad(lambda x: cnp.linalg.slogdet(x)[1].sum() + cnp.linalg.solve(x, b).sum())(x),
        ),
        floats(2, 4, 4, dtype="float64"), floats(2, 4, 3, dtype="float64"),
    ),
    "systems of complex equations": (
        lambda x: (cnp.linalg.inv(x), cnp.linalg.det(x), cnp.linalg.cholesky(x @ cnp.conj(x.T))),
        floats(3, 3, dtype="float64") + 1j * floats(3, 3, dtype="float64"),
    ),
    "slices that are written": (
        lambda x: (cnp.copy(x), ct.grad(lambda x: (x[::-2, 1:] ** 2).sum())(x)), floats(5, 4),
    ),
    "draws": (
        lambda x: (
            x + ct.random.uniform(ct.random.key(1), (6,)), ct.random.bits(ct.random.key(2), (5,)),
            ct.random.randint(ct.random.key(3), (5,), 0, 10),
        ),
        floats(6),
    ),
    "second derivatives": (ct.grad(lambda x: (ct.grad(lambda x: cnp.tanh(x).sum())(x)).sum()),
                           floats(4)),
    "dilated convolution": (
        lambda x, w: nn.convolution(
            x, w, channels_last=False, padding=2, dilation=2, groups=2
        ), floats(2, 4, 9), floats(6, 2, 3),
    ),
    "transposed convolution": (
        lambda x, w: nn.transposed_convolution(x, w, channels_last=False, strides=2),
        floats(1, 3, 5, 5), floats(3, 2, 3, 3),
    ),
    "padded pool": (
        lambda x: nn.max_pool(x, kernel_size=3, strides=2, padding=1, channels_last=False),
        floats(1, 2, 7, 7),
    ),
    "vmap": (ct.vmap(ct.grad(lambda x: cnp.tanh(x @ x).sum())), floats(3, 4, 4)),
    "gradient of a scan": (
        ct.grad(lambda z, y: ct.scan(lambda s, a: (cnp.tanh(s + a), s), z, y)[1].sum()),
        floats(5), floats(4, 5),
    ),
    "NaN": (
        lambda x: (x.max(), x.argmax(), cnp.sort(x), cnp.argsort(x), cnp.maximum(x, 0),
                   cnp.searchsorted(cnp.sort(x), x)),
        np.array([1.0, np.nan, -0.0, 0.0, -np.inf, np.nan, np.inf], "float32"),
    ),
}  # fmt: skip
ALL = {**CASES, **MORE}
