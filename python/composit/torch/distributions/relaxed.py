"""Continuous relaxations of classes: draws near the corners, through which gradients flow."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from composit.torch.distributions import constraints
from composit.torch.distributions.classes import ByClasses, Categorical
from composit.torch.distributions.composed import TransformedDistribution
from composit.torch.distributions.discrete import _ByProbability
from composit.torch.distributions.distribution import Distribution
from composit.torch.distributions.transforms import ExpTransform, SigmoidTransform
from composit.torch.distributions.utils import broadcast_all, clamp_probs, torch
from composit.torch.dtypes import Size


class LogitRelaxedBernoulli(_ByProbability):
    """The logits of a relaxed Bernoulli variable of a `temperature`."""

    support = constraints.real

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self.temperature = temperature
        super().__init__(self._set(probs, logits), validate_args=validate_args)

    def _expand_more(self, new: Any, batch_shape: Size) -> None:
        super()._expand_more(new, batch_shape)
        new.temperature = self.temperature

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=probs.dtype, device=probs.device))
        logistic = u.log() - (-u).log1p()
        return (logistic + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, self._checked(value))
        difference = logits - value.mul(self.temperature)
        log_temperature = (
            math.log(self.temperature)
            if isinstance(self.temperature, (int, float))
            else self.temperature.log()
        )
        return log_temperature + difference - 2 * difference.exp().log1p()


class _Relaxed:
    """The parameters of the distribution that is transformed."""

    has_rsample = True
    base_dist: Any

    @property
    def temperature(self) -> Any:
        """How far draws are from the corners."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logits of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities."""
        return self.base_dist.probs


class RelaxedBernoulli(_Relaxed, TransformedDistribution):
    """A number in (0, 1), near 0 or 1 where the temperature is low."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(RelaxedBernoulli, _instance)
        return super().expand(batch_shape, _instance=new)


class ExpRelaxedCategorical(ByClasses, Distribution):
    """The logarithms of a relaxed one-hot vector."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape, event = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(shape, event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(Size(batch_shape))
        return self._expanded(new, Size(batch_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = torch.rand(shape, dtype=self.logits.dtype, device=self.logits.device)
        gumbel = -((-(clamp_probs(drawn).log())).log())
        scores = (self.logits + gumbel) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        count = self._categorical._num_events
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        temperature = torch.as_tensor(self.temperature, dtype=logits.dtype)
        log_scale = math.lgamma(float(count)) - temperature.log().mul(-(count - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(_Relaxed, TransformedDistribution):
    """Probabilities near a one-hot vector where the temperature is low."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, _instance=new)


__all__ = ["ExpRelaxedCategorical", "LogitRelaxedBernoulli", "RelaxedBernoulli",
           "RelaxedOneHotCategorical"]  # fmt: skip
