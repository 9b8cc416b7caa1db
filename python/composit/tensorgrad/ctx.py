"""Whether operations are recorded."""

from composit.torch import is_grad_enabled, no_grad

__all__ = ["is_grad_enabled", "no_grad"]
