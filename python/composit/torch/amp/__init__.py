"""torch.amp: lower precision by name, and the scaling of losses."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from composit._core import not_implemented, value_error
from composit.torch import casting, dtypes
from composit.torch.amp.grad_scaler import GradScaler, is_here

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_SHORT = ("bfloat16", "float16")
_usual = {"cpu": "bfloat16", "cuda": "float16"}


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast can be enabled for the device: for the CPU."""
    return device_type == "cpu"


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this thread casts operands on the device."""
    return device_type == "cpu" and casting.state.dtype is not None


def is_autocast_cpu_enabled() -> bool:
    """is_autocast_enabled("cpu")"""
    return is_autocast_enabled("cpu")


def get_autocast_dtype(device_type: str) -> Any:
    """The dtype that operands on the device are cast to."""
    known = casting.state.dtype if device_type == "cpu" else None
    return dtypes.by_name[_usual.get(device_type, "float16")] if known is None else known


def get_autocast_cpu_dtype() -> Any:
    """get_autocast_dtype("cpu")"""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Any:
    """get_autocast_dtype("cuda")"""
    return get_autocast_dtype("cuda")


def is_autocast_cache_enabled() -> bool:
    """Whether a parameter is cast once for all its uses in a block."""
    return casting.state.copies is not None or not casting.state.depth


def clear_autocast_cache() -> None:
    """Casts parameters anew from now on."""
    if casting.state.copies:
        casting.state.copies.clear()


class autocast:
    """A with block, or a decorator, within which functions of matrices compute in bfloat16 (or
    float16), losses and decompositions in float32, as PyTorch's lists for the CPU have them;
    gradients come back in the dtypes of what was cast. Without the device it is disabled, with a
    warning, as in PyTorch. Enabled for another device that is here it is refused."""

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(device_type, str):
            raise value_error(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device, self._enabled = device_type, enabled
        self._cache_enabled = cache_enabled is None or cache_enabled
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._before: list[tuple[Any, Any]] = []
        if enabled and device_type != "cpu" and not is_here(device_type):
            warnings.warn(
                f"User provided device_type of '{device_type}', but CUDA is not available. "
                "Disabling",
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if device_type != "cpu":
            raise not_implemented(
                f"autocast: enabled for the {device_type} it is not built. enabled=False is "
                "required; .to(torch.bfloat16) computes in that dtype."
            )
        if self.fast_dtype not in [dtypes.by_name[name] for name in _SHORT]:
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtype of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            self._enabled = False

    def __enter__(self) -> autocast:
        if self.device != "cpu":
            return self
        state = casting.state
        self._before.append((state.dtype, state.copies))
        if not state.depth or not self._cache_enabled:
            state.copies = {} if self._cache_enabled else None
        state.depth += 1
        casting.set_dtype(self.fast_dtype if self._enabled else None)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.device != "cpu":
            return
        dtype, copies = self._before.pop()
        casting.state.depth -= 1
        casting.state.copies = copies
        casting.set_dtype(dtype)

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return within


def custom_fwd(fwd: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """A Function's forward, which remembers whether autocast is on. With cast_inputs it runs
    without autocast, for operands of that dtype."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            cast = casting.cast
            return fwd(ctx, *cast(args, cast_inputs), **cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd: Any = None, *, device_type: str = "cuda") -> Any:
    """A Function's backward, in the state of autocast that forward was in."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any) -> Any:
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *args)

    return backward
