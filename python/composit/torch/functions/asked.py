"""Methods that say what a tensor is, and methods that draw or write, which are asked for less
often."""

from __future__ import annotations

from typing import Any

import numpy as np

from composit import numpy as cnp
from composit import random as keys
from composit._core import with_location
from composit.torch import calling, writing
from composit.torch.calling import torch_function
from composit.torch.functions import random


@torch_function("sum_to_size", is_function=False)
def _sum_to_size(input: Any, *size: Any) -> Any:
    """The sum over what was broadcast from a size."""
    given = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    to, shape = tuple(int(n) for n in given), tuple(input.shape)
    ahead = len(shape) - len(to)
    if ahead < 0 or any(n not in (1, m) for n, m in zip(to, shape[max(ahead, 0) :])):
        raise ValueError(
            f"size {{{list(shape)}}} is not expandable to size {{{list(to)}}}: a size that "
            "broadcasts to the tensor's is required."
        )
    over = tuple(range(ahead)) + tuple(
        ahead + i for i, (n, m) in enumerate(zip(to, shape[ahead:])) if n == 1 and m != 1
    )
    return cnp.reshape(cnp.sum(input, axis=over), to) if over else input


def _method(function: Any) -> Any:
    calling.methods[function.__name__] = function
    return function


@_method
def bernoulli(self: Any, p: Any = None, *, generator: Any = None) -> Any:
    """Ones with the tensor's probabilities, or with p."""
    return random.bernoulli(self, p, generator=generator)


@_method
def multinomial(
    self: Any, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Any:
    """Places, each with a probability proportional to its weight."""
    return random.multinomial(self, num_samples, replacement, generator=generator)


@_method
def map_(self: Any, tensor: Any, callable: Any) -> Any:
    """Each element becomes callable(element, the other's), by Python."""
    other = tensor.detach().expand_as(self).numpy(force=True)
    made = np.vectorize(callable, otypes=[self.dtype.numpy])(self.detach().numpy(force=True), other)
    return self.copy_(calling.functions["from_numpy"](made))


@_method
def float_power_(self: Any, exponent: Any) -> Any:
    """float_power, written over the tensor. RuntimeError where that is not of double precision."""
    made = calling.functions["float_power"](self, exponent)
    if made.dtype != self.dtype:
        raise RuntimeError(
            with_location(
                f"the base given to float_power_ has dtype {self.dtype} but the operation's result "
                f"requires dtype {made.dtype}"
            )
        )
    return writing.write(self, made, "float_power")


@_method
def polygamma_(self: Any, n: int) -> Any:
    """polygamma, written over the tensor."""
    return writing.write(self, calling.functions["polygamma"](n, self), "polygamma")


@_method
def conj_physical_(self: Any) -> Any:
    """The conjugate, written over the tensor."""
    return writing.write(self, calling.functions["conj_physical"](self), "conj_physical")


@_method
def new_empty_strided(self: Any, size: Any, stride: Any, *, dtype: Any = None, **_: Any) -> Any:
    """new_empty(size): strides are those of a contiguous tensor."""
    return calling.functions["empty_strided"](size, stride, dtype=dtype or self.dtype)


@_method
def get_device(self: Any) -> int:
    """The number of its device; -1: the tensor is on the CPU."""
    return -1 if self.is_cpu else self.device.index


@_method
def dense_dim(self: Any) -> int:
    """The number of dimensions: no tensor is sparse."""
    return self.dim()


@_method
def sparse_dim(self: Any) -> int:
    """0: no tensor is sparse."""
    return 0


@_method
def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool = True) -> Any:
    """The tensor, in a dtype: no tensor is sparse."""
    return self if dtype is None else self.to(dtype)


@_method
def dim_order(self: Any) -> tuple[int, ...]:
    """The dimensions as they are: strides are those of a contiguous tensor."""
    return tuple(range(self.dim()))


@_method
def is_pinned(self: Any, device: Any = None) -> bool:
    """False: no memory is pinned."""
    return False


@_method
def is_shared(self: Any) -> bool:
    """False: no memory is shared with other processes."""
    return False


def _uniform_within(self: Any, key: Any) -> Any:
    """Draws in (0, 1), without 0, of the tensor's shape."""
    wide = self.dtype.numpy if self.dtype.name in ("float32", "float64") else np.dtype("float32")
    return 1 - keys.uniform(key, tuple(self.shape), wide)


def _cauchy(self: Any, median: float = 0.0, sigma: float = 1.0, *, key: Any) -> Any:
    made = median + sigma * cnp.tan(np.pi * (_uniform_within(self, key) - 0.5))
    return cnp.astype(made, self.dtype.numpy)


def _geometric(self: Any, p: float, *, key: Any) -> Any:
    if not 0 < p < 1:
        raise RuntimeError(with_location(f"geometric_ expects p to be in (0, 1), but got p={p}"))
    made = cnp.ceil(cnp.log(_uniform_within(self, key)) / np.log1p(-p))
    return cnp.astype(cnp.maximum(made, 1), self.dtype.numpy)


def _log_normal(self: Any, mean: float = 1.0, std: float = 2.0, *, key: Any) -> Any:
    if std <= 0:
        raise RuntimeError(with_location(f"log_normal_ expects std > 0.0, but found std={std}"))
    wide = self.dtype.numpy if self.dtype.name in ("float32", "float64") else np.dtype("float32")
    made = cnp.exp(keys.normal(key, tuple(self.shape), wide) * std + mean)
    return cnp.astype(made, self.dtype.numpy)


for _name, _draw in (
    ("cauchy_", _cauchy), ("geometric_", _geometric), ("log_normal_", _log_normal),
):  # fmt: skip
    random._draws_in_place(_name, _draw)
