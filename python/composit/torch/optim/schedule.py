"""The base of learning rates that change from step to step."""

from __future__ import annotations

from typing import Any

from composit._core import with_location
from composit._floating_point import in_default_state


class LRScheduler:
    """The base: get_lr says the groups' next rates."""

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    with_location("param 'initial_lr' is not specified when resuming an optimizer")
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def get_lr(self) -> list[float]:
        """The rates of step last_epoch."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rates that are in force."""
        return self._last_lr

    @in_default_state
    def step(self, epoch: int | None = None) -> None:
        """Goes one step on."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _now(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimiser."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on from a state."""
        self.__dict__.update(state_dict)
