"""composit.torch: PyTorch's API over composit's graphs; import composit.torch as torch."""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import Any as _Any

from composit.torch import autograd, compiler, fft, func, linalg, nn, optim, special, utils
from composit.torch import calling as _calling
from composit.torch import dtypes as _dtypes
from composit.torch import methods as _methods
from composit.torch.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from composit.torch.compiling import compile
from composit.torch.dtypes import (
    Size,
    channels_last,
    contiguous_format,
    device,
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    memory_format,
    preserve_format,
    set_default_dtype,
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

_settings.attach()
globals().update(_calling.functions)
globals().update(_dtypes.by_name)
globals().update({name: _dtypes.by_name[real] for name, real in _dtypes.aliases.items()})
newaxis = None
strided = "torch.strided"
__version__ = "2.13.0+composit"


def is_cuda_available() -> bool:
    """False: CUDA is not built."""
    return False


def __getattr__(name: str) -> _Any:
    """What is not built says so."""
    raise AttributeError(f"composit.torch.{name} is not built yet; docs/torch.md lists what is.")


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
