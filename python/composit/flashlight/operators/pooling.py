"""torch's pooling, by composit::aten's: images with channels first."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.flashlight.operators.table import operator

_aten = _core.aten


def _rows(count: int) -> dict[str, Any]:
    """The rows of images with so many spatial axes."""

    def max_pool(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return _aten.max_pool(self, count, kernel_size, stride or (), padding, dilation, ceil_mode)

    def with_indices(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return _aten.max_pool_with_indices(
            self, count, kernel_size, stride or (), padding, dilation, ceil_mode
        )

    def avg_pool(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True,
                 divisor_override=None):  # fmt: skip
        return _aten.average_pool(
            self, count, kernel_size, stride or (), padding, ceil_mode, count_include_pad,
            divisor_override,
        )  # fmt: skip

    def adaptive_avg_pool(self, output_size):
        return _aten.adaptive_average_pool(self, count, output_size)

    def adaptive_max_pool(self, output_size):
        return _aten.adaptive_max_pool(self, count, output_size)

    return {
        f"max_pool{count}d": max_pool, f"max_pool{count}d_with_indices": with_indices,
        f"avg_pool{count}d": avg_pool, f"adaptive_avg_pool{count}d": adaptive_avg_pool,
        f"_adaptive_avg_pool{count}d": adaptive_avg_pool,
        f"adaptive_max_pool{count}d": adaptive_max_pool,
    }  # fmt: skip


for _count in (1, 2, 3):
    for _name, _row in _rows(_count).items():
        operator(_name)(_row)
