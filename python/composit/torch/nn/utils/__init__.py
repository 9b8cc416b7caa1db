"""torch.nn.utils: gradients clipped, parameters as one vector, parametrisations,
sequences of different lengths."""

from __future__ import annotations

from typing import Any

from composit.torch import parts
from composit.torch.nn.utils import parametrizations, parametrize, rnn
from composit.torch.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from composit.torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
    "get_total_norm", "parameters_to_vector", "parametrizations", "parametrize",
    "remove_spectral_norm", "remove_weight_norm", "rnn", "skip_init", "spectral_norm",
    "vector_to_parameters", "weight_norm",
]  # fmt: skip

parts.register_namesakes(__name__, "spectral_norm", "weight_norm")

# Names that load when they are first used, and the files that they are in.
_later = {
    "hooked_norms": ("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"),
    "fusion": ("fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval",
               "fuse_linear_bn_weights"),
    "memory_format": ("convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"),
    "init": ("skip_init",),
}  # fmt: skip
_homes = {name: home for home, names in _later.items() for name in names}
_part = parts.getter(__name__, ("fusion", "init", "memory_format", "prune"))


def __getattr__(name: str) -> Any:
    """What loads when it is first used."""
    if name in _homes:
        return getattr(parts.load(f"nn.utils.{_homes[name]}"), name)
    return _part(name)
