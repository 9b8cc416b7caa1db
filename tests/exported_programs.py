"""Programs whose exports are compiled and run, in every style and on every processor."""

import numpy as np

import composit
import composit.numpy as cnp
from composit import nn


def attention(q, k, v):
    scores = q @ cnp.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]).astype("float32")
    return nn.softmax(scores, axis=-1) @ v


def recurrent(x, h, w):
    def body(h, row):
        h = cnp.tanh(row + h @ w)
        return h, cnp.sum(h)

    return composit.scan(body, h, x)


def moved(x, places):
    return (cnp.sort(x, axis=1), cnp.argsort(x, axis=0), x[places], cnp.cumsum(x, axis=1),
            cnp.searchsorted(cnp.sort(x[0]), x[1]), cnp.argmax(x, axis=1))  # fmt: skip


def integers(i, u):
    return i // 7, i % 5, i << 3, i & 12, u * u, ~u, cnp.cumprod(i), i @ i, cnp.sqrt(u)
