"""Max pools of windows at places that are drawn (fractional pools), adaptive pools with indices,
and functions that PyTorch has under names of its library's inside."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit.torch import calling
from composit.torch.calling import define, torch_function
from composit.torch.nn import functional, pools_and_losses, unpooling

assert functional and pools_and_losses and unpooling  # they fill the table that is read here
_neural: dict[str, Any] = {"is_function": False, "is_method": False, "is_neural": True}


def _pooled(input: Any, kernel: Any, sizes: Any, samples: Any) -> tuple[Any, Any]:
    return _core.aten.fractional_max_pool(input, kernel, sizes, samples)


def _fractional(count: int) -> None:
    name = f"fractional_max_pool{count}d"
    pool = define(_pooled, name, is_function=False, is_method=False)

    def with_indices(
        input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Any = None,
    ) -> Any:  # fmt: skip
        """The largest elements of windows at drawn places, and where they are."""
        kernel, sizes, samples = _core.aten.fractional_windows(
            name, input._seen, count, kernel_size, output_size, output_ratio
        )
        if _random_samples is None:
            _random_samples = calling.functions["rand"](*samples, dtype=input.dtype)
        return pool(input, kernel, sizes, _random_samples)

    def values(*args: Any, **kwargs: Any) -> Any:
        names = ("input", "kernel_size", "output_size", "output_ratio", "return_indices",
                 "_random_samples")  # fmt: skip
        given = {**dict(zip(names, args)), **kwargs}
        made = with_indices(**given)
        return made if given.get("return_indices") else made[0]

    values.__doc__ = "The largest elements of windows at drawn places; return_indices: and where."
    values.__name__ = values.__qualname__ = name
    values.__wrapped__ = with_indices  # type: ignore[attr-defined]  # its arguments
    with_indices.__name__ = with_indices.__qualname__ = f"{name}_with_indices"
    calling.neural.update({name: values, with_indices.__name__: with_indices})


for _count in (2, 3):
    _fractional(_count)


def _adaptive_with_indices(count: int) -> None:
    name = f"adaptive_max_pool{count}d_with_indices"

    def with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        return calling.neural[f"adaptive_max_pool{count}d"](input, output_size, True)

    with_indices.__doc__ = "The largest elements of as many windows as are wanted, and where."
    with_indices.__name__ = with_indices.__qualname__ = name
    calling.neural[name] = with_indices


for _count in (1, 2, 3):
    _adaptive_with_indices(_count)


@torch_function("native_channel_shuffle", is_method=False, is_neural=True)
def _native_channel_shuffle(input: Any, groups: int) -> Any:
    """Channels of groups, one of each in turn."""
    return nn.channel_shuffle(input, groups)


@torch_function("conv_tbc", is_method=False, is_neural=True)
def _conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """A convolution over (time, batch, channels), of filters (width, in, out)."""
    x, filters = cnp.transpose(input, (1, 2, 0)), cnp.transpose(weight, (2, 1, 0))
    found = nn.convolution(x, filters, channels_last=False, padding=(pad,))
    return cnp.transpose(found, (2, 0, 1)) + bias


def rrelu_(
    input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
    generator: Any = None,
) -> Any:  # fmt: skip
    """rrelu, written over the tensor."""
    return calling.neural["rrelu"](input, lower, upper, training, True)


calling.neural["rrelu_"] = calling.functions["rrelu_"] = rrelu_
