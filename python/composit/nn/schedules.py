"""Learning rates by the number of the step: the curves of torch.optim.lr_scheduler, without state.

Each returns a Schedule, which takes the number of updates made before: of an integer it makes a
number, of a tensor a tensor. Optimisers take one in place of a learning rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import composit._core as _core
from composit._core.nn import Schedule
from composit._mismatch import wrong

__all__ = [
    "chained_schedule",
    "constant_schedule",
    "cosine_restarts_schedule",
    "cosine_schedule",
    "exponential_schedule",
    "linear_schedule",
    "multi_step_schedule",
    "one_cycle_schedule",
    "polynomial_schedule",
    "sequential_schedule",
    "step_schedule",
]


def constant_schedule(learning_rate: float) -> Schedule:
    """learning_rate, always."""
    return _core.nn.constant_schedule(_core.number(learning_rate))


def step_schedule(learning_rate: float, size: int, gamma: float = 0.1) -> Schedule:
    """learning_rate gamma**(step // size): StepLR."""
    return _core.nn.step_schedule(
        _core.number(learning_rate), _core.integer(size), _core.number(gamma)
    )


def multi_step_schedule(
    learning_rate: float, milestones: Sequence[int], gamma: float = 0.1
) -> Schedule:
    """learning_rate gamma**k after k of the milestones, which must not decrease: MultiStepLR."""
    return _core.nn.multi_step_schedule(
        _core.number(learning_rate), _core.integers(milestones), _core.number(gamma)
    )


def exponential_schedule(learning_rate: float, gamma: float) -> Schedule:
    """learning_rate gamma**step: ExponentialLR."""
    return _core.nn.exponential_schedule(_core.number(learning_rate), _core.number(gamma))


def cosine_schedule(learning_rate: float, steps: int, minimum: float = 0) -> Schedule:
    """From learning_rate down to minimum in `steps`, on half a wave of a cosine, and up again in as
    many more: CosineAnnealingLR."""
    return _core.nn.cosine_schedule(
        _core.number(learning_rate), _core.integer(steps), _core.number(minimum)
    )


def cosine_restarts_schedule(
    learning_rate: float, steps: int, multiplier: int = 1, minimum: float = 0
) -> Schedule:
    """Half waves of a cosine, each from learning_rate to minimum: the first takes `steps`, each
    other `multiplier` times the one before: CosineAnnealingWarmRestarts."""
    return _core.nn.cosine_restarts_schedule(
        _core.number(learning_rate),
        _core.integer(steps),
        _core.integer(multiplier),
        _core.number(minimum),
    )


def linear_schedule(
    learning_rate: float, steps: int, start_factor: float = 1 / 3, end_factor: float = 1
) -> Schedule:
    """From learning_rate start_factor to learning_rate end_factor in `steps`, then constant:
    LinearLR, a warm-up by default."""
    return _core.nn.linear_schedule(
        _core.number(learning_rate),
        _core.integer(steps),
        _core.number(start_factor),
        _core.number(end_factor),
    )


def polynomial_schedule(learning_rate: float, steps: int, power: float = 1) -> Schedule:
    """learning_rate (1 - step / steps)**power down to zero, where it stays: PolynomialLR."""
    return _core.nn.polynomial_schedule(
        _core.number(learning_rate), _core.integer(steps), _core.number(power)
    )


def one_cycle_schedule(
    learning_rate: float,
    steps: int,
    *,
    warm_up: float = 0.3,
    linear: bool = False,
    division: float = 25,
    final_division: float = 1e4,
    three_phases: bool = False,
) -> Schedule:
    """Up to learning_rate and down again within `steps`, after which it stays: OneCycleLR.

    The rate rises in a part `warm_up` of the steps, from learning_rate / division, and ends at that
    divided by final_division; on half waves of a cosine, or straight lines. With three phases it
    goes down to the first rate as fast as up, then to the last."""
    return _core.nn.one_cycle_schedule(
        _core.number(learning_rate),
        _core.integer(steps),
        _core.number(warm_up),
        linear,
        _core.number(division),
        _core.number(final_division),
        three_phases,
    )


def chained_schedule(learning_rate: float, factors: Iterable[Schedule]) -> Schedule:
    """learning_rate times the values of all factors, which are schedules of rate 1:
    ChainedScheduler."""
    return _core.nn.chained_schedule(_core.number(learning_rate), _schedules(factors))


def sequential_schedule(schedules: Iterable[Schedule], milestones: Sequence[int]) -> Schedule:
    """Schedule i from milestones[i - 1] to milestones[i], each counting from its own beginning:
    SequentialLR. One milestone fewer than schedules, increasing."""
    return _core.nn.sequential_schedule(_schedules(schedules), _core.integers(milestones))


def _schedules(values: Iterable[Schedule]) -> list[Schedule]:
    found = list(values) if hasattr(values, "__iter__") else []
    if not found or not all(isinstance(value, Schedule) for value in found):
        raise TypeError(wrong(values, "A sequence of schedules"))
    return found
