"""Functions and arguments that exports to other programs are tested with."""

import numpy as np

import composit as ct
import composit.numpy as cnp
from composit import nn

draw = np.random.default_rng(0)


def floats(*shape, dtype="float32"):
    return draw.standard_normal(shape).astype(dtype)


def integers(*shape, dtype="int64"):
    return draw.integers(-9, 9, shape).astype(dtype)


UNARY = [
    "absolute", "ceil", "floor", "rint", "trunc", "exp", "exp2", "expm1", "sin", "cos", "tan",
    "arctan", "sinh", "cosh", "tanh", "arcsinh", "cbrt", "square", "negative", "sign", "isnan",
    "isinf", "isfinite", "signbit", "deg2rad", "rad2deg", "positive", "reciprocal", "fabs",
    "modf",
]  # fmt: skip
POSITIVE = ["sqrt", "log", "log2", "log10", "log1p"]
WITHIN_ONE = ["arcsin", "arccos", "arctanh"]
BINARY = [
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "arctan2",
    "hypot", "logaddexp", "logaddexp2", "copysign", "fmod", "remainder", "floor_divide",
    "heaviside", "greater", "less", "equal", "not_equal", "less_equal", "greater_equal",
    "logical_and", "logical_or", "logical_xor", "power", "float_power",
]  # fmt: skip
OF_INTEGERS = [
    "add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum",
    "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "power", "equal",
    "less",
]  # fmt: skip


def write(x):
    y = cnp.copy(x)
    y[1:, 0] = 5
    y[0, 1] = y[0, 0] * 2
    y[::2] += 1
    return y


def step(w, x, y):
    return w - 0.1 * ct.grad(lambda w: ((nn.sigmoid(x @ w) - y) ** 2).mean())(w)


def convolve(x, w):
    return nn.convolution(x, w, channels_last=False, strides=2)


def pool(x):
    return nn.max_pool(x, kernel_size=2, strides=2, channels_last=False)


def reductions(x):
    return (
        x.sum(), x.sum(0), x.mean(1), x.max(axis=(0, 1)), x.min(), x.prod(2),
        cnp.any(x > 0, axis=1), cnp.all(x > 0), x.argmax(), x.argmin(1), x.var(0), x.std(),
        cnp.median(x, axis=1),
    )  # fmt: skip


def running(x):
    return cnp.cumsum(x, axis=1), cnp.cumprod(x, axis=0), cnp.maximum.accumulate(x, axis=1)


def layouts(x):
    return (
        x.reshape(4, 6), x.T, x[1:, ::-1, ::2], cnp.broadcast_to(x[:, :1], (2, 3, 4)),
        cnp.concatenate([x, x], 1), cnp.stack([x, x]), cnp.split(x, 2, axis=2)[1], cnp.flip(x, 0),
        cnp.roll(x, 1, axis=1), cnp.pad(x, ((1, 2), (0, 0), (0, 1))),
    )  # fmt: skip


def indexed(x, k):
    return (
        x[k], x[:, k], x[k, k], cnp.take(x, k, axis=1),
        cnp.take_along_axis(x, cnp.argsort(x, axis=1), axis=1),
    )  # fmt: skip


def activations(x):
    return tuple(
        f(x) for f in (nn.gelu, nn.silu, nn.relu, nn.sigmoid, nn.softplus, nn.elu, nn.mish,
                       nn.hardswish, nn.leaky_relu)
    )  # fmt: skip


CASES = {
    **{name: (getattr(cnp, name), floats(3, 4)) for name in UNARY},
    **{name: (getattr(cnp, name), np.abs(floats(3, 4)) + 0.1) for name in POSITIVE},
    **{name: (getattr(cnp, name), np.tanh(floats(3, 4))) for name in WITHIN_ONE},
    **{name: (getattr(cnp, name), np.abs(floats(3, 4)), floats(4)) for name in BINARY},
    **{
        f"{name} of integers": (getattr(cnp, name), integers(3, 4), np.abs(integers(4)) + 1)
        for name in OF_INTEGERS
    },
    "special": (
        lambda x: (ct.erf(x), ct.erfc(x), ct.lgamma(x * x + 1), ct.digamma(x)),
        floats(3, 4),
    ),
    "bools": (
        lambda x, y: (x & y, x | y, x ^ y, ~x, x + y, x * y, cnp.maximum(x, y)),
        floats(3, 4) > 0, floats(3, 4) > 0,
    ),
    "matrices": (lambda x, y: x @ y, floats(3, 4), floats(4, 5)),
    "many matrices": (lambda x, y: x @ y, floats(2, 3, 4), floats(2, 4, 5)),
    "einsum": (lambda x, y: cnp.einsum("bij,bkj->bik", x, y), floats(2, 3, 4), floats(2, 5, 4)),
    "tensordot": (
        lambda x, y: cnp.tensordot(x, y, axes=([0, 2], [1, 0])), floats(2, 3, 4), floats(4, 2, 5),
    ),
    "matrices of integers": (lambda x, y: x @ y, integers(3, 4), integers(4, 5)),
    "reductions": (reductions, floats(2, 3, 4)),
    "running": (running, floats(3, 4)),
    "layouts": (layouts, floats(2, 3, 4)),
    "indexed": (indexed, floats(4, 4), np.array([1, 0, -1])),
    "orders": (
        lambda x: (cnp.sort(x, axis=0), cnp.argsort(x, axis=1),
                   cnp.searchsorted(cnp.sort(x[0]), x[1])),
        floats(4, 5),
    ),
    "writes": (write, floats(4, 5)),
    "softmax": (lambda x: (nn.softmax(x, axis=-1), nn.log_softmax(x, axis=1)), floats(4, 5)),
    "activations": (activations, floats(4, 5)),
    "layer_norm": (
        lambda x, w, b: (nn.layer_norm(x), nn.layer_norm(x, w), nn.layer_norm(x, w, b)),
        floats(4, 5), floats(5), floats(5),
    ),
    "convolution": (convolve, floats(2, 3, 8, 8), floats(4, 3, 3, 3)),
    "gradients of a convolution": (
        ct.grad(lambda x, w: (convolve(x, w) ** 2).sum(), argnums=(0, 1)),
        floats(2, 3, 8, 8), floats(4, 3, 3, 3),
    ),
    "pool": (pool, floats(2, 3, 8, 8)),
    "gradient of a pool": (ct.grad(lambda x: (pool(x) ** 2).sum()), floats(1, 2, 6, 6)),
    "pool of integers": (pool, integers(1, 1, 4, 4)),
    "loop": (
        lambda y: ct.fori_loop(1, 5, lambda k, s: s * 2 + cnp.astype(k, np.float32), y),
        floats(4, 5),
    ),
    "scan": (lambda z, y: ct.scan(lambda s, a: (s + a, s * a), z, y), floats(5), floats(4, 5)),
    "training step": (step, floats(4, 1), floats(8, 4), floats(8, 1)),
    "choices": (
        lambda x: (cnp.where(x > 0, x, 0), cnp.clip(x, -0.5, 0.5), cnp.nan_to_num(x),
                   cnp.isclose(x, x)),
        floats(4, 5),
    ),
    "float16": (lambda x: (x * 2 + 1, cnp.exp(x)), floats(4, 5, dtype="float16")),
    "int8": (lambda x: (x + x, x * 3, x // 2, -x, x.sum()), integers(3, 4, dtype="int8")),
    "uint32": (
        lambda x: (x + x, x >> 1, x << 2, -x, ~x),
        np.abs(integers(3, 4)).astype("uint32"),
    ),
    "interp": (
        lambda x: cnp.interp(x, np.array([-1.0, 0, 1]), np.array([0.0, 1, 5])),
        floats(7, dtype="float64"),
    ),
    "overlapping windows": (
        ct.grad(lambda x: (cnp.lib.stride_tricks.sliding_window_view(x, 3) ** 2).sum()), floats(7),
    ),
    "random numbers": (lambda x: x + ct.random.normal(ct.random.key(3), (3,)), floats(3)),
    "empty": (lambda x: (x[:0], x[:0].sum(0), cnp.concatenate([x[:0], x])), floats(3, 4)),
}  # fmt: skip
