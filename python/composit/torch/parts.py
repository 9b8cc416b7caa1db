"""The parts of torch that load when they are first used: modules of this package, modules that have
their names from PyTorch and their contents from others here, and modules of which nothing is built,
whose names say so when they are used."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from collections.abc import Callable
from typing import Any

_ROOT = "composit.torch"

# PyTorch's module: the module here that has its names.
_elsewhere = {
    **{f"nn.modules.{name}": "nn.modules" for name in (
        "activation", "adaptive", "batchnorm", "channelshuffle", "container", "conv", "distance",
        "dropout", "flatten", "fold", "instancenorm", "linear", "loss", "normalization", "padding",
        "pixelshuffle", "pooling", "rnn", "sparse", "upsampling",
    )},
    "nn.modules.module": "nn.module",
    "nn.utils.stateless": "func", "masked._ops": "masked",
    "nn.parallel.data_parallel": "nn.parallel", "nn.parallel.scatter_gather": "nn.parallel.pieces",
    "autograd.variable": "autograd",
    "cuda.amp.grad_scaler": "cuda.amp", "cuda.amp.autocast_mode": "cuda.amp",
    "utils.data.dataloader": "utils.data", "utils.data.dataset": "utils.data",
    "utils.data.sampler": "utils.data", "utils.data._utils.collate": "utils.data.collating",
    **{f"distributions.{name}": f"distributions.{part}" for part, names in {
        "location_scale": "cauchy laplace normal studentT uniform von_mises",
        "positive": "beta chi2 dirichlet exponential fishersnedecor gamma generalized_pareto",
        "discrete": "bernoulli binomial continuous_bernoulli geometric negative_binomial poisson",
        "classes": "categorical multinomial one_hot_categorical",
        "composed": "independent mixture_same_family transformed_distribution",
        "transformed": "gumbel half_cauchy half_normal inverse_gamma kumaraswamy log_normal "
                       "logistic_normal pareto weibull",
        "relaxed": "relaxed_bernoulli relaxed_categorical",
        "multivariate": "lkj_cholesky lowrank_multivariate_normal multivariate_normal wishart",
        "distribution": "exp_family",
    }.items() for name in names.split()},
    "utils.data._utils": "utils.data", "optim.adam": "optim", "optim.adamw": "optim",
    "optim.lbfgs": "optim.lbfgs",
}  # fmt: skip

# Modules of which nothing is built. The name of a part stands for all below it.
_unbuilt = (
    "ao", "contrib", "cpp_extension", "distributed", "export", "fx", "library", "mps",
    "monitor", "mtia", "nested", "onnx", "overrides", "package", "profiler", "quantization", "xpu",
    "utils.benchmark", "utils.cpp_extension", "utils.module_tracker", "utils.model_zoo",
    "utils.mobile_optimizer", "utils.flop_counter", "nn.quantized", "nn.qat", "nn.intrinsic",
    "nn.quantizable",
    "autograd.profiler", "autograd.graph",
)  # fmt: skip

# What programs ask to learn that such a module is not there.
_answers: dict[str, Any] = {
    "distributed.is_available": False, "distributed.is_initialized": False,
    "distributed.is_torchelastic_launched": False, "distributed.is_nccl_available": False,
    "distributed.is_gloo_available": False, "distributed.is_mpi_available": False,
    "mps.is_available": False, "mps.device_count": 0, "xpu.is_available": False,
    "xpu.device_count": 0, "mtia.is_available": False, "mtia.device_count": 0,
}  # fmt: skip


class _Unbuilt(type):
    """The class of what is not built: it can be imported and asked about with isinstance."""

    _path: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        cls._refuse()

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _name(f"{cls._path}.{name}")

    def _refuse(cls) -> None:
        from composit._core import not_implemented

        raise not_implemented(f"{cls._path} is not built; docs/torch.md lists what is.")


def _refuse_subclass(cls: Any, **_: Any) -> None:
    cls._refuse()


def _name(path: str) -> Any:
    """What stands for a name that is not built."""
    short = path.removeprefix(f"{_ROOT}.")
    if short in _answers:
        answer = _answers[short]
        return lambda: answer
    made = _Unbuilt(path.rpartition(".")[2], (), {
        "_path": path, "__module__": path.rpartition(".")[0],
        "__doc__": "Not built: what uses it is refused.",
        "__init_subclass__": classmethod(_refuse_subclass),
    })  # fmt: skip
    return made


def _is_unbuilt(short: str) -> bool:
    return any(short == part or short.startswith(f"{part}.") for part in _unbuilt)


class _Parts:
    """Finds the modules that have no file."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """The module's specification, if it is one of these."""
        if not fullname.startswith(f"{_ROOT}."):
            return None
        short = fullname.removeprefix(f"{_ROOT}.")
        if short not in _elsewhere and not _is_unbuilt(short):
            return None
        loader: Any = self
        return importlib.machinery.ModuleSpec(fullname, loader, is_package=True)

    def create_module(self, spec: Any) -> None:
        """None: an ordinary module."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Gives the module its names."""
        short = module.__name__.removeprefix(f"{_ROOT}.")
        if short not in _elsewhere:
            module.__doc__ = "Not built: its names are refused when they are used."
            module.__dict__["__getattr__"] = lambda name: _of_unbuilt(module.__name__, name)
            return
        source = importlib.import_module(f"{_ROOT}.{_elsewhere[short]}")
        module.__doc__ = source.__doc__
        module.__dict__["__getattr__"] = lambda name: getattr(source, name)
        module.__dict__["__all__"] = getattr(source, "__all__", [])


def _of_unbuilt(module: str, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _name(f"{module}.{name}")


sys.meta_path.append(_Parts())  # type: ignore[arg-type]


def load(name: str) -> Any:
    """A module of composit.torch, which loads now if nobody used it yet."""
    return importlib.import_module(f"{_ROOT}.{name}")


def getter(package: str, names: tuple[str, ...] = ()) -> Callable[[str], Any]:
    """The package's __getattr__: loads the parts in `names`, and those without files, when they are
    first asked for. AttributeError for all other names."""
    short = package.removeprefix(_ROOT).lstrip(".")

    def get(name: str) -> Any:
        path = f"{short}.{name}".lstrip(".")
        if name in names or path in _elsewhere or path in _unbuilt:
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"{package}.{name} is not built yet; docs/torch.md lists what is.")

    return get
