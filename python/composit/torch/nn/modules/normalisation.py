"""Normalisations as modules."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit.torch import calling, dtypes
from composit.torch.nn import self_normalising
from composit.torch.nn.module import Module
from composit.torch.nn.modules.of_function import module_of
from composit.torch.nn.parameter import Parameter

assert self_normalising  # it fills the table that is read here
_int64 = dtypes.by_name["int64"]
_tensors_of = _core.modules.tensors_of
_NORM_TENSORS = ("running_mean", "running_var", "weight", "bias")
_batch_norm = calling.neural["batch_norm"]

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "CrossMapLRN2d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
    "SyncBatchNorm",
]  # fmt: skip


def _fill(module: Any, rows: Any, dtype: Any) -> None:
    """Registers parameters and buffers: (name, shape or None, value, is it learnt, is it a count)
    of composit::aten::FilledTensor."""
    full = calling.functions["full"]  # as it is now: within a block of a device, of that
    for name, shape, value, is_learnt, is_count in rows:
        made = shape if shape is None else full(shape, value, dtype=_int64 if is_count else dtype)
        if is_learnt:
            module.register_parameter(name, made if made is None else Parameter(made))
        else:
            module.register_buffer(name, made)


def _chosen(given: Any, usual: bool) -> Any:
    return usual if given is None else given


class _ByChannel:
    """What normalisations of channels do alike."""

    training: bool
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any
    register_parameter: Any
    register_buffer: Any
    _parameters: Any
    _buffers: Any
    _version = 2
    _ndims: tuple[int, ...] = ()
    _is_affine, _tracks = True, True

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool | None = None, track_running_stats: bool | None = None, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine = _chosen(affine, self._is_affine)
        self.track_running_stats = tracks = _chosen(track_running_stats, self._tracks)
        rows = _core.aten.channel_norm_tensors(num_features, self.affine, bias, tracks)
        _fill(self, rows, dtype)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *lists: Any
    ) -> None:
        # States of version 1 have no number of batches.
        key = prefix + "num_batches_tracked"
        is_old = (local_metadata.get("version") or 0) < 2
        if is_old and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(  # type: ignore[misc]
            state_dict, prefix, local_metadata, *lists
        )

    def reset_running_stats(self) -> None:
        """Begins the running statistics anew."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def _check(self, input: Any) -> None:
        if input._seen.ndim not in self._ndims:
            _core.aten.check_norm_rank(input.dim(), self._ndims)

    def extra_repr(self) -> str:
        """Its options, as torch writes them."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_ByChannel, Module):
    """Channels normalised over the batch, in training; by running statistics otherwise."""

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        self._check(input)
        momentum = self.momentum
        if self.training and self.track_running_stats:
            momentum = self._counted()
        mean, var, weight, bias = _tensors_of(self, _NORM_TENSORS)
        uses_batch = self.training or mean is None
        return _batch_norm(input, mean, var, weight, bias, uses_batch, momentum, self.eps)

    def _counted(self) -> Any:
        """Counts the batch; the share of its statistics in the running ones."""
        count = self.num_batches_tracked
        count.add_(1)
        return 1.0 / count.item() if self.momentum is None else self.momentum


class BatchNorm1d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__
    _ndims = (2, 3)


class BatchNorm2d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__
    _ndims = (4,)


class BatchNorm3d(_BatchNorm):
    __doc__ = _BatchNorm.__doc__
    _ndims = (5,)


class SyncBatchNorm(_BatchNorm):
    """BatchNorm of any number of dimensions from 2 on. PyTorch's shares the batch's statistics
    between processes; here one process has the whole batch."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, process_group: Any = None,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)  # fmt: skip
        self.process_group = process_group

    def _check(self, input: Any) -> None:
        _core.aten.check_norm_rank(input.dim(), ())

    @classmethod
    def _of(cls, module: Any, process_group: Any) -> Any:
        made = cls(module.num_features, module.eps, module.momentum, module.affine,
                   module.track_running_stats, process_group)  # fmt: skip
        made._parameters.update(module._parameters)
        made._buffers.update(module._buffers)
        made.training = module.training
        return made

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The module with SyncBatchNorm, of the same parameters and statistics, in place of each
        BatchNorm within."""
        made = cls._of(module, process_group) if isinstance(module, _BatchNorm) else module
        for name, child in module.named_children():
            made._modules[name] = cls.convert_sync_batchnorm(child, process_group)
        return made


class _InstanceNorm(_ByChannel, Module):
    """Each channel of each sample normalised."""

    _is_affine, _tracks = False, False

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        self._check(input)
        is_single = input.dim() == self._ndims[0]
        made = calling.neural["instance_norm"](
            input.unsqueeze(0) if is_single else input, self.running_mean, self.running_var,
            self.weight, self.bias, self.training or not self.track_running_stats, self.momentum,
            self.eps,
        )  # fmt: skip
        return made.squeeze(0) if is_single else made


class InstanceNorm1d(_InstanceNorm):
    __doc__ = _InstanceNorm.__doc__
    _ndims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    __doc__ = _InstanceNorm.__doc__
    _ndims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    __doc__ = _InstanceNorm.__doc__
    _ndims = (4, 5)


class GroupNorm(Module):
    """Each group of channels normalised."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        _core.aten.check_channel_groups(num_groups, num_channels)
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine = affine
        _fill(self, _core.aten.norm_tensors((num_channels,), affine, bias), dtype)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return calling.neural["group_norm"](
            input, self.num_groups, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class _OfLast(Module):
    def _hold(self, normalized_shape: Any, dtype: Any, rows: int, *which: Any) -> None:
        super().__init__()
        is_number = isinstance(normalized_shape, int)
        self.normalized_shape = (normalized_shape,) if is_number else tuple(normalized_shape)
        self.elementwise_affine = which[0]
        _fill(self, _core.aten.norm_tensors(self.normalized_shape, *which)[:rows], dtype)

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class LayerNorm(_OfLast):
    """Normalised over the last dimensions."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._hold(normalized_shape, dtype, 2, elementwise_affine, bias)
        self.eps = eps

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return calling.neural["layer_norm"](
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Its options."""
        return f"{super().extra_repr()}, bias={self.bias is not None}"


class RMSNorm(_OfLast):
    """Divided by the root of the mean square over the last dimensions."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._hold(normalized_shape, dtype, 1, elementwise_affine, False)
        self.eps = eps

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return calling.neural["rms_norm"](input, self.normalized_shape, self.weight, self.eps)


LocalResponseNorm = module_of(
    "LocalResponseNorm", "local_response_norm", "size, alpha=0.0001, beta=0.75, k=1.0",
    doc="Divided by a power of the mean square of neighbouring channels.",
)  # fmt: skip


def _cross_map_lrn(input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    return _core.aten.cross_map_lrn(input, size, alpha, beta, k)


_over_channels = calling.define(
    _cross_map_lrn, "cross_map_lrn2d", is_function=False, is_method=False
)


class CrossMapLRN2d(Module):
    """Divided by a power of the mean square of neighbouring channels, as the first library of
    PyTorch's name had it: the first channel stays among the neighbours of all behind it."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        """The normalised images."""
        return _over_channels(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """The options."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
