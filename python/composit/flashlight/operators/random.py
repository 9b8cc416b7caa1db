"""torch's random operators, drawn by keys of composit.random."""

from __future__ import annotations

import composit._core as _core
from composit import nn, random
from composit import numpy as cnp
from composit.flashlight.operators.promotion import cast
from composit.flashlight.operators.table import operator


@operator("dropout", key=True)
def _dropout(input, p, train, *, key):
    return nn.dropout(input, p, key) if train and p else input


@operator("native_dropout", key=True)
def _native_dropout(input, p, train, *, key):
    kept = random.bernoulli(key, 1 - p, input.shape)
    return cnp.where(kept, input / (1 - p), 0 * input), kept


@operator("feature_dropout", key=True)
def _feature_dropout(input, p, train, *, key):
    if not train or not p:
        return input
    shape = input.shape[:2] + (1,) * (input.ndim - 2)
    return input * nn.dropout(cnp.ones(shape, input.dtype), p, key)


def _drawn(draw, key, shape, dtype):
    """A draw in the dtype; floats of half width are rounded from single ones."""
    name = dtype if dtype.name in ("float32", "float64") else "float32"
    return cast(draw(key, shape, name), dtype)


@operator("rand", "rand_like", shape=True, dtype=True, key=True)
def _rand(*_, shape, dtype, key, **__):
    return _drawn(random.uniform, key, shape, dtype)


@operator("randn", "randn_like", shape=True, dtype=True, key=True)
def _randn(*_, shape, dtype, key, **__):
    return _drawn(random.normal, key, shape, dtype)


@operator("randint", shape=True, dtype=True, key=True)
def _randint(high, size, *, shape, dtype, key, **_):
    return cast(random.randint(key, shape, 0, high), dtype)


@operator("randint.low", shape=True, dtype=True, key=True)
def _randint_low(low, high, size, *, shape, dtype, key, **_):
    return cast(random.randint(key, shape, low, high), dtype)


@operator("randint_like", key=True)
def _randint_like(self, high, *, key, **_):
    return cast(random.randint(key, self.shape, 0, high), self.dtype)


@operator("randint_like.low_dtype", key=True)
def _randint_like_low(self, low, high, *, key, **_):
    return cast(random.randint(key, self.shape, low, high), self.dtype)


@operator("bernoulli", key=True)
def _bernoulli(self, *, generator=None, key):
    return cast(random.bernoulli(key, self), self.dtype)


@operator("bernoulli.p", "bernoulli.float", key=True)
def _bernoulli_p(self, p=0.5, *, generator=None, key):
    return cast(random.bernoulli(key, p, self.shape), self.dtype)


@operator("uniform", key=True)
def _uniform(self, from_=0, to=1, *, generator=None, key):
    drawn = _drawn(random.uniform, key, self.shape, self.dtype)
    return drawn * (to - from_) + from_


@operator("normal_functional", "normal", key=True)
def _normal(self, mean=0, std=1, *, generator=None, key):
    return _drawn(random.normal, key, self.shape, self.dtype) * std + mean


@operator("normal.float_float", shape=True, dtype=True, key=True)
def _normal_of_floats(mean, std, size, *, shape, dtype, key, **_):
    return _drawn(random.normal, key, shape, dtype) * std + mean


@operator("exponential", key=True)
def _exponential(self, lambd=1, *, generator=None, key):
    return _drawn(random.exponential, key, self.shape, self.dtype) / lambd


@operator("multinomial", key=True)
def _multinomial(self, num_samples, replacement=False, *, generator=None, key):
    return _core.aten.multinomial(key, self, num_samples, replacement)
