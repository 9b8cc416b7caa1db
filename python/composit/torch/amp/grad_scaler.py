"""GradScaler: losses are scaled up so that gradients of float16 do not vanish, gradients are scaled
down before a step, and a step with infinite ones is left out."""

from __future__ import annotations

import warnings
from typing import Any

from composit._core import runtime_error, value_error, with_location
from composit.torch import places
from composit.torch.calling import TensorBase, functions
from composit.torch.tape import no_grad


def is_here(device_type: str) -> bool:
    """Whether there is a CUDA device, if it is asked about that kind."""
    return device_type == "cuda" and bool(places.cuda_names())


class GradScaler:
    """scale(loss).backward(), step(optimizer), update(). Without the device it is disabled and
    gives on what it gets."""

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        self._device, self._enabled = device, enabled
        if enabled and device != "cpu" and not is_here(device):
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError(with_location("The growth factor must be > 1.0."))
            if backoff_factor >= 1.0:
                raise AssertionError(with_location("The backoff factor must be < 1.0."))
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        # Of each optimiser since the last update: whether all its gradients are finite.
        self._finite: dict[int, bool] = {}
        self._stepped: set[int] = set()

    def scale(self, outputs: Any) -> Any:
        """The outputs times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, TensorBase):
            return outputs * self._scale  # type: ignore[operator]
        if isinstance(outputs, (list, tuple)):
            return type(outputs)([self.scale(x) for x in outputs])
        raise value_error("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divides an optimiser's gradients by the scale. RuntimeError for a second time before
        update()."""
        if not self._enabled:
            return
        if id(optimizer) in self._stepped:
            raise runtime_error("unscale_() is being called after step().")
        if id(optimizer) in self._finite:
            raise runtime_error(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        gradients = [
            p.grad for group in optimizer.param_groups for p in group["params"]
            if p.grad is not None
        ]  # fmt: skip
        finite = None
        with no_grad():
            for gradient in gradients:
                gradient.mul_(1.0 / self._scale)
                found = gradient.isfinite().all()
                finite = found if finite is None else functions["logical_and"](finite, found)
        self._finite[id(optimizer)] = True if finite is None else bool(finite)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimiser's step, unless a gradient is infinite or NaN; None then."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise runtime_error("Closure use is not currently supported if GradScaler is enabled.")
        if id(optimizer) in self._stepped:
            raise runtime_error("step() has already been called since the last update().")
        if id(optimizer) not in self._finite:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        return optimizer.step(*args, **kwargs) if self._finite[id(optimizer)] else None

    def update(self, new_scale: Any = None) -> None:
        """After the steps: a smaller scale if a gradient was infinite, a larger one if none was for
        growth_interval steps."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not self._finite:
                raise AssertionError(with_location("No inf checks were recorded prior to update."))
            if not all(self._finite.values()):
                self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    self._scale, self._growth_tracker = self._scale * self._growth_factor, 0
        self._finite.clear()
        self._stepped.clear()

    def get_scale(self) -> float:
        """The scale; 1.0 where disabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the scale shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets after how many steps the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether it scales."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale and how it changes; nothing where disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        if not self._enabled:
            return
        if not state_dict:
            raise runtime_error(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._scale, self._growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
