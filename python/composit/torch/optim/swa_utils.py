"""torch.optim.swa_utils: averages of models over steps, and the learning rate for them."""

from __future__ import annotations

import copy
from typing import Any

import composit._core as _core
from composit._core import value_error, with_location
from composit.torch.calling import functions
from composit.torch.nn.module import Module
from composit.torch.nn.modules.normalisation import _BatchNorm
from composit.torch.optim.schedule import LRScheduler
from composit.torch.tape import no_grad

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip

_groups: Any = _core.optimizers


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise value_error(f"Invalid decay value {decay} provided. Please provide a value in [0,1] "
                          "range.")  # fmt: skip


def get_ema_avg_fn(decay: float = 0.999) -> Any:
    """A function that goes from an average towards a parameter by 1 - decay."""
    _check_decay(decay)

    @no_grad()
    def update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return update


def get_swa_avg_fn() -> Any:
    """A function that takes one more parameter into the mean of all."""

    @no_grad()
    def update(averaged: Any, current: Any, num_averaged: Any) -> Any:
        return averaged + (current - averaged) / (num_averaged + 1)

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Any:
    """As get_ema_avg_fn, of lists, in place."""
    _check_decay(decay)

    @no_grad()
    def update(averages: Any, current: Any, _: Any) -> None:
        for average, x in zip(averages, current):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(x, 1 - decay)
            else:
                average.copy_(average * decay + x * (1 - decay))

    return update


def get_swa_multi_avg_fn() -> Any:
    """As get_swa_avg_fn, of lists, in place."""

    @no_grad()
    def update(averages: Any, current: Any, num_averaged: Any) -> None:
        for average, x in zip(averages, current):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(x, 1 / (float(num_averaged) + 1))
            else:
                average.add_((x - average) // (num_averaged + 1))

    return update


class AveragedModel(Module):
    """A copy of a model, as its attribute `module`, that update_parameters makes the average."""

    def __init__(
        self, model: Any, device: Any = None, avg_fn: Any = None, multi_avg_fn: Any = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError(
                with_location("Only one of avg_fn and multi_avg_fn should be provided")
            )
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", functions["tensor"](0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the average gives."""
        return self.module(*args, **kwargs)

    def _tensors(self, model: Any) -> list[Any]:
        found = list(model.parameters())
        return [*found, *model.buffers()] if self.use_buffers else found

    def update_parameters(self, model: Any) -> None:
        """Takes a model's parameters into the average; the first ones are it."""
        averages, current = self._tensors(self.module), self._tensors(model)
        with no_grad():
            if int(self.n_averaged) == 0:
                for average, x in zip(averages, current):
                    average.copy_(x.detach())
            elif self.avg_fn is None:
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                update([x.detach() for x in averages], [x.detach() for x in current],
                       self.n_averaged)  # fmt: skip
            else:
                for average, x in zip(averages, current):
                    average.copy_(self.avg_fn(average.detach(), x.detach(), self.n_averaged))
            if not self.use_buffers:
                for mine, theirs in zip(self.module.buffers(), model.buffers()):
                    mine.copy_(theirs.detach())
            self.n_averaged.add_(1)


@no_grad()
def update_bn(loader: Any, model: Any, device: Any = None) -> None:
    """Makes the running statistics of batch normalisations those of a loader's batches."""
    found = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not found:
        return
    momenta = [m.momentum for m in found]
    was_training = model.training
    model.train()
    for module in found:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for module, momentum in zip(found, momenta):
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rates there are to one rate, in anneal_epochs steps, and then this one."""

    def __init__(
        self, optimizer: Any, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        is_cosine = _core.aten.is_cosine_of_averages(anneal_strategy)
        groups = optimizer.param_groups
        for group, rate in zip(groups, _groups.as_many(swa_lr, groups, "swa_lr")):
            group["swa_lr"] = rate
        self.anneal_epochs, self._is_cosine = anneal_epochs, is_cosine
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        return _core.aten.annealed_share(step, self.anneal_epochs, self._is_cosine)

    def get_lr(self) -> list[float]:
        """Between the rates before and the last one"""
        before, now = self._share(self.last_epoch - 1), self._share(self.last_epoch)
        return _groups.averaging_rates(self.optimizer.param_groups, before, now)
