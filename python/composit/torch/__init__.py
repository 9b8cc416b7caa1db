"""composit.torch: PyTorch's API over composit's graphs; import composit.torch as torch."""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import Any as _Any

from composit.torch import autograd, compiler, fft, func, linalg, nn, optim, special, utils
from composit.torch import calling as _calling
from composit.torch import dtypes as _dtypes
from composit.torch import einops_backend as _einops_backend
from composit.torch import kernels as _kernels
from composit.torch import methods as _methods
from composit.torch import moving as _moving
from composit.torch import parts as _parts
from composit.torch import recording as _recording
from composit.torch.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from composit.torch.compiling import compile
from composit.torch.dtypes import (
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    layout,
    memory_format,
    preserve_format,
    set_default_dtype,
    sparse_coo,
    strided,
)
from composit.torch.func import vmap
from composit.torch.functions import settings as _settings
from composit.torch.functions.random import Generator, default_generator
from composit.torch.printing import set_printoptions
from composit.torch.saving import load, save
from composit.torch.tape import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from composit.torch.tensor import Tensor
from composit.torch.version import __version__ as __version__

_settings.attach()
_einops_backend.attach()
globals().update(_calling.functions)
globals().update(_dtypes.by_name)
globals().update({name: _dtypes.by_name[real] for name, real in _dtypes.aliases.items()})
newaxis = None


def is_cuda_available() -> bool:
    """Whether there is a CUDA device."""
    from composit.torch import cuda

    return cuda.is_available()


_types = frozenset(traits.scalar_type for traits in _dtypes.table if traits.has_tensor_class)
_rare = frozenset((
    "AcceleratorError", "Event", "OutOfMemoryError", "Stream", "SymBool", "SymFloat", "SymInt",
    "fork", "get_device_module", "has_lapack", "has_mkl", "has_openmp", "has_spectral",
    "set_default_tensor_type", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not",
    "sym_sum", "wait", "detach_", "fill_", "zero_", "get_device",
))  # fmt: skip
_part = _parts.getter(__name__, (
    "accelerator", "amp", "backends", "cpu", "cuda", "distributions", "futures", "hub", "jit",
    "masked", "multiprocessing", "random", "serialization", "signal", "sparse", "storage",
    "testing", "types", "version",
))  # fmt: skip


def __getattr__(name: str) -> _Any:
    """What loads when it is first used; what is not built says so."""
    if name.endswith("Tensor") and name[:-6] in _types:
        from composit.torch import typed_tensors

        return typed_tensors.of(name)
    if name in ("sparse_coo_tensor", "spmm"):
        return getattr(_parts.load("sparse"), "mm" if name == "spmm" else name)
    if name in ("autocast", "GradScaler") or "_autocast_" in name or name == "is_autocast_enabled":
        from composit.torch import amp

        return getattr(amp, name)
    if name in _rare:
        return getattr(_parts.load("rare_names"), name)
    return _part(name)


__all__ = [
    "e", "inf", "nan", "pi", "Generator", "Size", "Tensor", "autograd", "compile", "compiler",
    "default_generator",
    "device", "dtype", "enable_grad", "finfo", "fft", "func", "get_default_dtype", "iinfo",
    "inference_mode",

    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled",
    "is_inference_mode_enabled", "linalg", "nn", "no_grad", "optim",
    "set_default_dtype", "set_grad_enabled",
    "set_printoptions", "load", "save", "special", "utils", "vmap", *_calling.functions,
]  # fmt: skip
