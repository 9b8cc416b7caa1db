"""torch.cuda.amp: torch.amp for CUDA, under its older names."""

from __future__ import annotations

from typing import Any

from composit.torch import amp
from composit.torch.amp import custom_bwd, custom_fwd

__path__: list[str] = []  # modules below are found by composit.torch.parts
__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):
    """torch.amp.autocast("cuda")."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cuda")."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval,
                         enabled)  # fmt: skip
