"""Modules by the paths that programs import them from: each public module of PyTorch can be
imported, and has its names where it is built."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import types

import pytest

import composit.torch as ours
from composit.torch import parts

torch = pytest.importorskip("torch")

# Parts of PyTorch's own build, and modules that are refused as a whole, name below name.
OWN = (
    "ao", "bin", "csrc", "distributed", "export", "fx", "headeronly", "include", "jit", "lib",
    "monitor", "mtia", "nativert", "nested", "numa", "onnx", "package", "profiler", "quantization",
    "testing", "xpu",
)  # fmt: skip


def module_paths(package, prefix):
    for found in pkgutil.iter_modules(getattr(package, "__path__", [])):
        path = f"{prefix}.{found.name}"
        if found.name.startswith("_") or path.split(".")[1] in OWN:
            continue
        yield path
        if found.ispkg and not path.startswith("torch.utils.data.datapipes"):
            yield from module_paths(importlib.import_module(path), path)


PATHS = sorted(module_paths(torch, "torch"))

# Names that such modules define, and that are not there: parts of PyTorch's own engine, forms that
# PyTorch itself calls old, and these.
MISSING = {
    "torch.amp.autocast_mode": {"autocast_decorator"},
    "torch.amp.grad_scaler": {"OptState"},
    "torch.autograd": {"NestedIOFunction", "enforce_grad_layout_policy"},
    "torch.autograd.function": {"BackwardCFunction", "FunctionMeta", "NestedIOFunction"},
    "torch.autograd.grad_mode": {"enforce_grad_layout_policy"},
    "torch.autograd.gradcheck": {
        "get_analytical_jacobian", "get_numerical_jacobian",
        "get_numerical_jacobian_wrt_specific_input",
    },
    "torch.autograd.variable": {"VariableMeta"},
    "torch.nn.attention.bias": {"CausalBias", "CausalVariant"},
    "torch.nn.functional": {
        "ScalingType", "SwizzleType", "assert_int_or_pair", "grouped_mm", "scaled_grouped_mm",
        "scaled_mm",
    },
    "torch.nn.modules": {"Container"}, "torch.nn.modules.container": {"Container"},
    "torch.nn.modules.lazy": {"LazyModuleMixin"},
    "torch.nn.modules.module": {
        "register_module_buffer_registration_hook", "register_module_module_registration_hook",
        "register_module_parameter_registration_hook",
    },
    "torch.nn.parallel.comm": {
        "broadcast", "broadcast_coalesced", "reduce_add", "reduce_add_coalesced",
    },
    "torch.nn.parallel.parallel_apply": {"get_a_var"},
    "torch.nn.utils.spectral_norm": {
        "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook",
    },
    "torch.optim": {"swap_in_optimizer_params_and_state"}, "torch.optim.sgd": {"sgd"},
}  # fmt: skip


def defined_in(module):
    return set(getattr(module, "__all__", ())) or {
        name for name, value in vars(module).items()
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isroutine(value))
        and getattr(value, "__module__", None) == module.__name__
    }  # fmt: skip


@pytest.mark.parametrize("path", [
    path for path in PATHS
    if path.split(".")[1] in ("amp", "autograd", "distributions", "functional", "nn", "optim")
    and not parts._is_unbuilt(path.removeprefix("torch."))
])  # fmt: skip
def test_modules_have_the_names_that_they_define(path):
    mine = importlib.import_module(f"composit.{path}")
    missing = {n for n in defined_in(importlib.import_module(path)) if not hasattr(mine, n)}
    assert missing == MISSING.get(path, set())


def test_there_are_modules():
    assert len(PATHS) > 250


@pytest.mark.parametrize("path", PATHS)
def test_each_module_can_be_imported(path):
    module = importlib.import_module(f"composit.{path}")
    assert isinstance(module, types.ModuleType)


def test_an_import_leaves_functions_where_they_are():
    program = """
import composit.torch as torch
import composit.torch.nn.utils.weight_norm, composit.torch.nn.utils.spectral_norm
import composit.torch.nn.parallel.data_parallel, composit.torch.nn.parallel.replicate
import composit.torch.multiprocessing.spawn
from composit.torch.nn.utils.weight_norm import WeightNorm
from composit.torch.nn.utils.spectral_norm import SpectralNorm
layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 2))
assert any(isinstance(hook, WeightNorm) for hook in layer._forward_pre_hooks.values())
for function in (torch.nn.utils.spectral_norm, torch.nn.parallel.data_parallel,
                 torch.nn.parallel.replicate, torch.multiprocessing.spawn):
    assert type(function).__name__ == "function", function
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("text", ["1.13", "2.0", "2.4.1", "2.13", "2.13.0", "2.14", "10.0a0"])
def test_versions_are_compared_by_their_numbers(text):
    theirs = torch.torch_version.TorchVersion("2.13.0")
    mine = ours.torch_version.TorchVersion("2.13.0")
    for name in ("__lt__", "__le__", "__gt__", "__ge__"):
        assert getattr(mine, name)(text) == getattr(theirs, name)(text), name
    numbers = tuple(int(part) for part in text.rstrip("a0").split(".") if part) or (10, 0)
    assert (mine >= numbers) == (theirs >= numbers)


def test_the_version_is_one():
    assert isinstance(ours.__version__, ours.torch_version.TorchVersion)
    assert ours.__version__ > "2.4" and ours.__version__ >= (2, 13)
    assert ours.__version__ == "2.13.0+composit" and hash(ours.__version__) == hash(
        "2.13.0+composit"
    )


@pytest.mark.parametrize("name", ["max", "sort", "topk", "linalg_eigh", "linalg_slogdet", "mode"])
def test_classes_of_named_results(name):
    x = ours.tensor([[2.0, 1.0], [1.0, 3.0]])
    function = getattr(ours.linalg, name[7:]) if name.startswith("linalg_") else getattr(ours, name)
    operands = {"topk": (x, 1), "max": (x, 0)}.get(name, (x,))
    assert isinstance(function(*operands), getattr(ours.return_types, name))


def test_there_is_no_class_of_other_results():
    with pytest.raises(AttributeError, match=r"'torch\.return_types' has no attribute 'nothing'"):
        ours.return_types.nothing


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_gradients_of_convolutions(dimensions):
    sizes = {1: (7,), 2: (7, 6), 3: (5, 6, 4)}[dimensions]
    torch.manual_seed(0)
    x, w = torch.randn(2, 4, *sizes), torch.randn(6, 2, *[3] * dimensions)
    options = {"stride": 2, "padding": 1, "dilation": 1, "groups": 2}
    result = getattr(torch.nn.functional, f"conv{dimensions}d")(x, w, None, **options)
    g = torch.randn_like(result)
    for operand, arguments in {"input": (x.shape, w, g), "weight": (x, w.shape, g)}.items():
        name = f"conv{dimensions}d_{operand}"
        expected = getattr(torch.nn.grad, name)(*arguments, **options)
        got = getattr(importlib.import_module("composit.torch.nn.grad"), name)(
            *[ours.tensor(a.numpy()) if torch.is_tensor(a) else tuple(a) for a in arguments],
            **options,
        )
        torch.testing.assert_close(torch.tensor(got.numpy()), expected)


def test_masks_of_causal_attention():
    from composit.torch.nn.attention.bias import causal_lower_right, causal_upper_left

    q, k, v = (ours.randn(1, 2, n, 4) for n in (3, 5, 5))
    attend = ours.nn.functional.scaled_dot_product_attention
    theirs = torch.nn.functional.scaled_dot_product_attention
    from torch.nn.attention import bias

    for mine, their in (
        (causal_lower_right(3, 5), bias.causal_lower_right(3, 5)),
        (causal_upper_left(3, 5), bias.causal_upper_left(3, 5)),
    ):
        expected = theirs(*[torch.tensor(t.numpy()) for t in (q, k, v)], attn_mask=their)
        torch.testing.assert_close(torch.tensor(attend(q, k, v, attn_mask=mine).numpy()), expected)
    with pytest.raises(RuntimeError, match="causal_lower_right only supports 2D tensors"):
        causal_lower_right(1, 2, 3)


def test_annotations_of_sizes():
    theirs = importlib.import_module("torch.nn.common_types")
    mine = importlib.import_module("composit.torch.nn.common_types")
    names = [name for name in vars(theirs) if name.endswith("_t")]
    assert names and all(hasattr(mine, name) for name in names)


def test_hooks_of_all_modules():
    seen = {"torch": [], "ours": []}
    for side, library in (("torch", torch), ("ours", ours)):
        hooks = importlib.import_module(f"{library.__name__}.nn.modules.module")
        model = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.ReLU())
        log = seen[side].append
        handles = [
            hooks.register_module_forward_pre_hook(lambda m, a, log=log: log(
                ("before", type(m).__name__, len(a)))),
            hooks.register_module_forward_hook(
                lambda m, a, k, r, log=log: log(("after", type(m).__name__, tuple(k), r.ndim)),
                with_kwargs=True),
            hooks.register_module_full_backward_pre_hook(lambda m, g, log=log: log(
                ("back", type(m).__name__, len(g)))),
            hooks.register_module_full_backward_hook(lambda m, i, o, log=log: log(
                ("gone back", type(m).__name__, len(i), len(o)))),
        ]  # fmt: skip
        model(library.ones(4, 2, requires_grad=True)).sum().backward()
        for handle in handles:
            handle.remove()
        model(library.ones(4, 2))
    assert seen["ours"] == seen["torch"] and len(seen["ours"]) == 12


def test_a_prefix_is_taken_from_names():
    for library in (torch, ours):
        model = library.nn.Sequential(library.nn.Linear(2, 3))
        state = library.nn.ModuleDict({"module": model}).state_dict()
        consume = importlib.import_module(f"{library.__name__}.nn.modules.utils")
        consume.consume_prefix_in_state_dict_if_present(state, "module.")
        assert list(state) == ["0.weight", "0.bias"] and "0" in state._metadata
        model.load_state_dict(state)
