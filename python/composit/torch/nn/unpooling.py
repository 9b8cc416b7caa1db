"""max_unpool: elements back where max_pool found them."""

from __future__ import annotations

from typing import Any

import composit._core as _core
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
        size = () if output_size is None else tuple(output_size)[-count:]
        return _core.aten.max_unpool(
            input, indices, count, kernel_size, () if stride is None else stride, padding, size
        )

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
