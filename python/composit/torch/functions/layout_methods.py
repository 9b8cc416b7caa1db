"""Methods that say how a tensor lies in memory, or bring it into another shape or layout."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import calling, dtypes, parts
from composit.torch.calling import torch_function
from composit.torch.functions.arguments import integers


@torch_function("sum_to_size", is_function=False)
def _sum_to_size(input: Any, *size: Any) -> Any:
    """The sum over what was broadcast from a size."""
    return _core.aten.sum_to_size(input, integers(size))


@calling.method
def new_empty_strided(self: Any, size: Any, stride: Any, *, dtype: Any = None, **_: Any) -> Any:
    """new_empty(size): strides are those of a contiguous tensor."""
    return calling.functions["empty_strided"](size, stride, dtype=dtype or self.dtype)


@calling.method
def get_device(self: Any) -> int:
    """The number of its device; -1: the tensor is on the CPU."""
    return -1 if self.is_cpu else self.device.index


@calling.method
def dense_dim(self: Any) -> int:
    """The number of dimensions: no tensor is sparse."""
    return self.dim()


@calling.method
def sparse_dim(self: Any) -> int:
    """0: no tensor is sparse."""
    return 0


@calling.method
def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool = True) -> Any:
    """The tensor, in a dtype: no tensor is sparse."""
    return self if dtype is None else self.to(dtype)


@calling.method
def to_sparse(
    self: Any, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None,
    dense_dim: int | None = None,
) -> Any:  # fmt: skip
    """The elements that are not 0, as a sparse tensor; or what is not 0 of the last dense_dim
    dimensions, at places of the first sparse_dim ones."""
    return parts.load("sparse").to_sparse(self, sparse_dim, layout, blocksize, dense_dim)


@calling.method
def to_sparse_coo(self: Any) -> Any:
    """to_sparse()"""
    return self.to_sparse()


@calling.method
def dim_order(self: Any, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions as they are: strides are those of a contiguous tensor. With ambiguity_check
    RuntimeError where a length is 1: its place among the others is nowhere to be seen then."""
    is_list = isinstance(ambiguity_check, list)
    is_allowed = is_list and dtypes.contiguous_format in ambiguity_check
    if (ambiguity_check is True or (is_list and ambiguity_check)) and not is_allowed:
        _core.aten.check_order_is_unique(self.shape)
    return tuple(range(self.dim()))


@calling.method
def is_pinned(self: Any, device: Any = None) -> bool:
    """False: no memory is pinned."""
    return False


@calling.method
def is_shared(self: Any) -> bool:
    """False: no memory is shared with other processes."""
    return False
