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

# PyTorch's module: the modules here that have its names.
_elsewhere = {
    **{f"nn.modules.{name}": "nn.modules" for name in (
        "activation", "adaptive", "batchnorm", "channelshuffle", "container", "conv", "distance",
        "dropout", "flatten", "fold", "instancenorm", "linear", "loss", "normalization", "padding",
        "pixelshuffle", "pooling", "rnn", "sparse", "upsampling",
    )},
    "nn.modules.module": "nn.module nn.module_hooks",
    "nn.modules.linear_cross_entropy": "nn.modules",
    "nn.utils.stateless": "func", "masked._ops": "masked",
    "nn.utils.spectral_norm": "nn.utils.hooked_norms",
    "nn.utils.weight_norm": "nn.utils.hooked_norms",
    **{f"nn.parallel.{name}": "nn.parallel" for name in (
        "data_parallel", "parallel_apply", "replicate",
    )},
    "nn.parallel.scatter_gather": "nn.parallel.pieces", "nn.parallel.comm": "nn.parallel.pieces",
    **{f"autograd.{name}": "autograd" for name in (
        "anomaly_mode", "grad_mode", "variable",
    )},
    "autograd.function": "function", "functional": "", "return_types": "named_results",
    "torch_version": "version",
    "accelerator.memory": "accelerator",
    "amp.autocast_mode": "amp", "cpu.amp": "amp.of_cpu",
    **{f"{place}.amp.{name}": source
       for place, source in (("cpu", "amp.of_cpu"), ("cuda", "cuda.amp"))
       for name in ("autocast_mode", "common", "grad_scaler")},
    "cuda.graphs": "cuda", "cuda.random": "cuda", "cuda.streams": "cuda",
    **{f"multiprocessing.{name}": "multiprocessing" for name in (
        "pool", "queue", "reductions", "spawn",
    )},
    "signal.windows.windows": "signal.windows",
    "utils.tensorboard.writer": "utils.tensorboard",
    "utils.tensorboard.summary": "utils.tensorboard",
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
    "utils.data._utils": "utils.data",
    **{f"optim.{name}": "optim" for name in (
        "adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam", "rmsprop",
        "rprop", "sparse_adam",
    )},
}  # fmt: skip

# Modules of which nothing is built. The name of a part stands for all below it.
_unbuilt = (
    "ao", "contrib", "cpp_extension", "distributed", "export", "fx", "library", "mps",
    "monitor", "mtia", "nested", "onnx", "overrides", "package", "profiler", "quantization", "xpu",
    "utils.benchmark", "utils.cpp_extension", "utils.module_tracker", "utils.model_zoo",
    "utils.mobile_optimizer", "utils.flop_counter", "nn.quantized", "nn.qat", "nn.intrinsic",
    "nn.quantizable",
    "autograd.profiler", "autograd.profiler_legacy", "autograd.profiler_util", "autograd.graph",
    "accelerator.graphs", "compiler.config", "masked.maskedtensor", "nativert",
    "nn.attention.experimental", "nn.attention.varlen", "nn.backends", "nn.cpp",
    "nn.modules.linear_cross_entropy_options", "nn.parallel.distributed", "numa", "quasirandom",
    "sparse.semi_structured",
    *(f"backends.{name}" for name in (
        "cusparselt", "kleidiai", "mha", "miopen", "python_native", "xeon",
    )),
    *(f"cuda.{name}" for name in (
        "comm", "gds", "green_contexts", "jiterator", "nccl", "profiler", "sparse", "tunable",
    )),
    *(f"utils.{name}" for name in (
        "backcompat", "backend_registration", "bundled_inputs", "collect_env", "cpp_backtrace",
        "data.backward_compatibility", "data.datapipes", "data.graph", "data.graph_settings",
        "debug_log", "deterministic", "file_baton", "hipify", "jit", "mkldnn", "model_dump",
        "serialization", "show_pickle", "throughput_benchmark", "viz", "weak",
    )),
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
        sources = [importlib.import_module(f"{_ROOT}.{source}".rstrip("."))
                   for source in _elsewhere[short].split() or [""]]  # fmt: skip
        module.__doc__ = sources[0].__doc__
        module.__dict__["__getattr__"] = lambda name: _of_sources(sources, name)
        module.__dict__["__all__"] = getattr(sources[0], "__all__", [])


def _of_sources(sources: list[types.ModuleType], name: str) -> Any:
    """A name of the first of the modules that has it; AttributeError of the last."""
    for source in sources[:-1]:
        if hasattr(source, name):
            return getattr(source, name)
    return getattr(sources[-1], name)


def _of_unbuilt(module: str, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _name(f"{module}.{name}")


sys.meta_path.append(_Parts())  # type: ignore[arg-type]


def register_namesakes(parent: str, *names: str) -> None:
    """Modules below a parent that has functions of their names. An import would put the module in
    the function's place, so the modules are there before; each gets its names when it is asked."""
    for name in names:
        module = types.ModuleType(f"{parent}.{name}")
        module.__path__ = []
        source = f"{_ROOT}.{_elsewhere[module.__name__.removeprefix(f'{_ROOT}.')]}"
        module.__dict__["__getattr__"] = lambda asked, source=source: getattr(
            importlib.import_module(source), asked
        )
        sys.modules[module.__name__] = module


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
