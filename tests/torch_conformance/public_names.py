"""Public names of PyTorch's documented modules, and those that composit.torch does not have."""

import importlib
import inspect
import re
from pathlib import Path

import torch

import composit.torch as ours

PAGE = Path(__file__).resolve().parents[2] / "docs/torch-missing-names.md"

# Documented modules. Those of parts that are refused whole (docs/torch.md) are left out.
MODULES = [
    "special",
    "linalg",
    "fft",
    "signal.windows",
    "nn.functional",
    "nn",
    "nn.init",
    "nn.modules",
    "nn.parameter",
    "nn.parallel",
    "nn.attention",
    "nn.attention.flex_attention",
    "nn.utils",
    "nn.utils.rnn",
    "nn.utils.parametrize",
    "nn.utils.parametrizations",
    "nn.utils.prune",
    "nn.utils.stateless",
    "optim",
    "optim.lr_scheduler",
    "optim.optimizer",
    "optim.swa_utils",
    "distributions",
    "distributions.transforms",
    "distributions.constraints",
    "autograd",
    "autograd.functional",
    "autograd.forward_ad",
    "autograd.gradcheck",
    "func",
    "masked",
    "sparse",
    "random",
    "testing",
    "utils",
    "utils.data",
    "utils.checkpoint",
    "utils.dlpack",
    "utils.hooks",
    "utils.tensorboard",
    "cuda",
    "cuda.nvtx",
    "cpu",
    "accelerator",
    "amp",
    "jit",
    "futures",
    "compiler",
    "hub",
    "serialization",
    "storage",
    "types",
    "backends",
    "multiprocessing",
]


def _documented(module, name):
    value = getattr(module, name, None)
    doc = getattr(value, "__doc__", None)
    return bool(doc) and not inspect.ismodule(value) and type(value).__name__ != "dtype"


def _names(module):
    found = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
    ]
    return [name for name in found if not name.startswith("_") and _documented(module, name)]


def _top_level():
    """Those of torch itself, without what is C++'s own (TorchScript's types)."""
    return [
        name for name in dir(torch)
        if not name.startswith("_") and _documented(torch, name)
        and not type(getattr(torch, name)).__name__.startswith("pybind11")
        and getattr(getattr(torch, name), "__module__", "") != "torch._C"
    ]  # fmt: skip


def _has(owner, name):
    try:
        getattr(owner, name)
    except AttributeError:
        return False
    except (ImportError, NotImplementedError):
        return True
    return True


def missing():
    """{module: names that PyTorch documents there and composit.torch does not have}"""
    found = {"torch": [n for n in _top_level() if not _has(ours, n)]}
    tensor = [n for n in dir(torch.Tensor) if not n.startswith("_")]
    found["Tensor"] = [
        n for n in tensor if _documented(torch.Tensor, n) and not _has(ours.Tensor, n)
    ]
    for path in MODULES:
        theirs = importlib.import_module(f"torch.{path}")
        try:
            mine = importlib.import_module(f"composit.torch.{path}")
        except ModuleNotFoundError:
            found[path] = ["the module"]
            continue
        found[path] = [name for name in _names(theirs) if not _has(mine, name)]
    return {path: sorted(names) for path, names in found.items() if names}


def listed():
    """{module: names that the page lists}, each with a reason."""
    found = {}
    for module, names, reason in re.findall(
        r"^\| `([\w.]+)` \| (.+?) \| (.+?) \|$", PAGE.read_text(), re.MULTILINE
    ):
        assert reason.strip()
        found.setdefault(module, []).extend(re.findall(r"`(\w+)`", names))
    return {path: sorted(names) for path, names in found.items()}
