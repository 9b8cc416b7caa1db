"""max_unpool: elements back where max_pool found them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from composit import numpy as cnp
from composit.torch import calling
from composit.torch.calling import torch_function
from composit.torch.nn import functional, pools_and_losses

assert functional and pools_and_losses  # they fill the table that is read here
_neural: dict[str, Any] = {"is_function": False, "is_method": False, "is_neural": True}


def _each(value: Any, count: int) -> tuple[int, ...]:
    return (value,) * count if isinstance(value, int) else tuple(value)


def _max_unpool(count: int) -> None:
    @torch_function(f"max_unpool{count}d", **_neural)
    def _(
        input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
        output_size: Any = None,
    ) -> Any:  # fmt: skip
        """Elements back where max_pool's indices say, zeros elsewhere."""
        kernel = _each(kernel_size, count)
        steps = kernel if not stride and stride != 0 else _each(stride, count)
        pads = _each(padding, count)
        lengths = input.shape[-count:]
        size = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(lengths, steps, pads, kernel))
        if output_size is not None:
            size = tuple(output_size)[-count:]
        before = tuple(input.shape[:-count])
        rows = math.prod(before)
        total = cnp.zeros((rows, math.prod(size)), input.dtype)
        places = cnp.reshape(indices, (rows, -1))
        total[np.arange(rows)[:, None], places] = cnp.reshape(input, (rows, -1))
        return cnp.reshape(total, (*before, *size))

    def with_indices(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = True,
    ) -> Any:  # fmt: skip
        pool = calling.neural[f"max_pool{count}d"]
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    with_indices.__doc__ = "The largest element of each window, and where it is."
    with_indices.__name__ = f"max_pool{count}d_with_indices"
    calling.neural[with_indices.__name__] = with_indices


for _count in (1, 2, 3):
    _max_unpool(_count)
