"""torch.amp: lower precision by name, and the scaling of losses."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from composit._core import with_location
from composit.torch import dtypes
from composit.torch.amp.grad_scaler import GradScaler, is_here

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """False: operations compute in the dtypes of their arguments."""
    return False


class autocast:
    """A with block, or a decorator, within which PyTorch computes some operations in a lower
    precision. Without the device it is disabled, with a warning, as in PyTorch. Enabled for one
    that is here it is refused: tensors and modules are converted by .to(torch.bfloat16)."""

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(device_type, str):
            raise ValueError(
                with_location(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
            )
        self.device, self._enabled, self._cache_enabled = device_type, enabled, cache_enabled
        self.fast_dtype = dtypes.by_name["bfloat16"] if dtype is None else dtype
        if enabled and device_type != "cpu" and not is_here(device_type):
            warnings.warn(
                f"User provided device_type of '{device_type}', but CUDA is not available. "
                "Disabling",
                stacklevel=2,
            )
            self._enabled = False
        if self._enabled and self.fast_dtype is not dtypes.by_name["float32"]:
            raise NotImplementedError(
                with_location(
                    f"autocast: enabled for the {'CPU' if device_type == 'cpu' else device_type} "
                    "it is not built. enabled=False is required; "
                    ".to(torch.bfloat16) computes in that dtype."
                )
            )

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return within


def custom_fwd(fwd: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """A Function's forward as it is."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    return fwd


def custom_bwd(bwd: Any = None, *, device_type: str = "cuda") -> Any:
    """A Function's backward as it is."""
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd
