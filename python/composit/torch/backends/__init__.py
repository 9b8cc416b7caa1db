"""torch.backends: which libraries there are, and settings that are accepted: kernels are composit's
and give the same results each time."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any


class _Part(types.ModuleType):
    """A part whose settings are attributes; those that it does not have are AttributeErrors."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__ and not name.startswith("__"):
            raise AttributeError(f"{self.__name__} has no setting {name!r}.")
        super().__setattr__(name, value)


def _part(name: str, **content: Any) -> _Part:
    made = _Part(f"{__name__}.{name}")
    made.__dict__.update(content)
    sys.modules[made.__name__] = made  # so that it can be imported
    return made


def _says(value: Any) -> Any:
    return lambda *args, **kwargs: value


@contextlib.contextmanager
def _flags(*args: Any, **kwargs: Any) -> Iterator[None]:
    """A with block whose settings are accepted."""
    yield


def _setting(name: str, value: Any) -> Any:
    """Functions that say and set a value, as PyTorch's NAME_enabled and enable_NAME."""
    held = [value]

    def say() -> Any:
        return held[0]

    def put(enabled: Any) -> None:
        held[0] = enabled

    return {f"{name}_enabled": say, f"enable_{name}": put}


_matmul = _part(
    "cuda.matmul", allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True, allow_fp16_accumulation=False,
    fp32_precision="none",
)  # fmt: skip
cuda = _part(
    "cuda", is_built=_says(False), matmul=_matmul, sdp_kernel=_flags,
    cufft_plan_cache=_part("cuda.cufft_plan_cache", max_size=0, size=0, clear=_says(None)),
    preferred_linalg_library=_says("default"),
    **_setting("flash_sdp", True), **_setting("mem_efficient_sdp", True),
    **_setting("math_sdp", True), **_setting("cudnn_sdp", True),
)  # fmt: skip
cudnn = _part(
    "cudnn", enabled=True, benchmark=False, deterministic=False, allow_tf32=True,
    benchmark_limit=10, is_available=_says(False), version=_says(None), is_acceptable=_says(False),
    flags=_flags, fp32_precision="none",
    rnn=_part("cudnn.rnn", fp32_precision="none"), conv=_part("cudnn.conv", fp32_precision="none"),
)  # fmt: skip
mps = _part("mps", is_built=_says(False), is_available=_says(False),
            is_macos13_or_newer=_says(False), is_macos_or_newer=_says(False))  # fmt: skip
mkl = _part("mkl", is_available=_says(False))
mkldnn = _part("mkldnn", is_available=_says(False), enabled=True, deterministic=False,
               allow_tf32=True, flags=_flags, fp32_precision="none")  # fmt: skip
openmp = _part("openmp", is_available=_says(False))
opt_einsum = _part("opt_einsum", is_available=_says(False), enabled=True, strategy="auto")
cpu = _part("cpu", get_cpu_capability=_says("DEFAULT"))
quantized = _part("quantized", engine="none", supported_engines=["none"])
xnnpack = _part("xnnpack", enabled=False)
nnpack = _part("nnpack", is_available=_says(False), flags=_flags, set_flags=_says(None))
