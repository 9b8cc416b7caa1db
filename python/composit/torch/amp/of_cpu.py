"""torch.cpu.amp: torch.amp for the CPU, under its older names."""

from __future__ import annotations

from typing import Any

from composit.torch import amp

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):
    """torch.amp.autocast("cpu")."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cpu")."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval,
                         enabled)  # fmt: skip
