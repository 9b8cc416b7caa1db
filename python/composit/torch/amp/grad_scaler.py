"""GradScaler: losses are scaled up so that gradients of float16 do not vanish, gradients are scaled
down before a step, and a step with infinite ones is left out."""

from __future__ import annotations

import warnings
from typing import Any

import composit._core as _core
from composit import structure
from composit._core import runtime_error, value_error
from composit.torch import places
from composit.torch.calling import TensorBase


def is_here(device_type: str) -> bool:
    """Whether there is a CUDA device, if it is asked about that kind."""
    return device_type == "cuda" and bool(places.cuda_names())


class _Disabled:
    """What stands for the scale where nothing is scaled."""

    value = 1.0

    def __init__(
        self, initial: float, growth_factor: float, backoff_factor: float, growth_interval: int
    ) -> None:
        self.growth_factor, self.backoff_factor = growth_factor, backoff_factor
        self.growth_interval = growth_interval

    def set(self, value: float) -> None:
        """Nothing."""

    def note(self, are_finite: bool) -> None:
        """Nothing."""

    def update(self) -> None:
        """Nothing."""

    def state(self) -> dict[str, Any]:
        """Nothing is kept."""
        return {}

    def load(self, state: dict[str, Any]) -> None:
        """Nothing."""


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
        make = _core.aten.LossScale if self._enabled else _Disabled
        self._scaler = make(init_scale, growth_factor, backoff_factor, growth_interval)
        # Of each optimiser since the last update: whether all its gradients are finite.
        self._finite: dict[int, bool] = {}
        self._stepped: set[int] = set()

    def scale(self, outputs: Any) -> Any:
        """The outputs times the scale."""
        if not self._enabled:
            return outputs
        return structure.mapped(outputs, self._scaled)

    def _scaled(self, output: Any) -> Any:
        if not isinstance(output, TensorBase):
            raise value_error("outputs must be a Tensor or an iterable of Tensors")
        return output * self._scaler.value  # type: ignore[operator]

    def unscale_(self, optimizer: Any) -> None:
        """Divides an optimiser's gradients by the scale. RuntimeError for a second time before
        update()."""
        if self._enabled:
            self._check_not_yet(optimizer)
            finite = _core.optimizers.scale_gradients(
                _core.optimizers.all_parameters(optimizer.param_groups), 1.0 / self._scaler.value
            )
            self._scaler.note(finite)
            self._finite[id(optimizer)] = finite

    def _check_not_yet(self, optimizer: Any) -> None:
        if id(optimizer) in self._stepped:
            raise runtime_error("unscale_() is being called after step().")
        if id(optimizer) in self._finite:
            raise runtime_error(
                "unscale_() has already been called on this optimizer since the last update()."
            )

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
        if new_scale is None:
            self._scaler.update()
        else:
            self._scaler.set(float(new_scale))
        self._finite.clear()
        self._stepped.clear()

    def get_scale(self) -> float:
        """The scale; 1.0 where disabled."""
        return self._scaler.value

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._scaler.growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets what the scale grows by."""
        self._scaler.growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale shrinks by."""
        return self._scaler.backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets what the scale shrinks by."""
        self._scaler.backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps the scale grows."""
        return self._scaler.growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets after how many steps the scale grows."""
        self._scaler.growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether it scales."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale and how it changes; nothing where disabled."""
        return self._scaler.state()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        self._scaler.load(state_dict)
