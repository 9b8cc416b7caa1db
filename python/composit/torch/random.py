"""torch.random: seeds and states of the generator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from composit.torch.functions.random import default_generator
from composit.torch.functions.random import get_rng_state as get_rng_state
from composit.torch.functions.random import initial_seed as initial_seed
from composit.torch.functions.random import manual_seed as manual_seed
from composit.torch.functions.random import seed as seed
from composit.torch.functions.random import set_rng_state as set_rng_state

__all__ = ["default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
           "set_rng_state"]  # fmt: skip


@contextlib.contextmanager
def fork_rng(
    devices: Any = None, enabled: bool = True, _caller: str = "fork_rng",
    _devices_kw: str = "devices", device_type: str = "cuda",
) -> Iterator[None]:  # fmt: skip
    """A with block after which the generator is as it was before."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
