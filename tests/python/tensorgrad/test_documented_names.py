"""The prototypes' letter: every documented name of tensorgrad with its documented arguments."""

import inspect

import numpy as np
import pytest

import composit.tensorgrad as tg
from composit.tensorgrad.const import OP
from composit.tensorgrad.ops import stubs as operations
from composit.tensorgrad.ops.dispatch import OpDispatch
from composit.tensorgrad.storage import StorageDispatch
from composit.tensorgrad.storage.stubs import Storage

OPERATIONS = (
    "add sub mul div invert pow exp log masked_fill_ sum_reduce mean_reduce max_reduce min_reduce "
    "squeeze unsqueeze reshape permute select lookup concat relu sigmoid softmax matmul conv2d "
    "max_pool2d avg_pool2d"
)
MEMBERS = {
    "empty": "dtype device requires_grad", "zeros": "dtype device requires_grad",
    "ones": "dtype device requires_grad", "rand": "dtype device requires_grad",
    "randn": "mu sigma dtype device requires_grad",
    "randint": "low high shape dtype device requires_grad",
    "arange": "n dtype device requires_grad", "bernoulli": "p shape dtype device requires_grad",
    "zeros_like": "", "ones_like": "", "copy": "", "detach": "", "from_data": "data",
    "sqrt": "", "exp": "", "log": "", "relu": "", "sigmoid": "", "softmax": "dim",
    "sum": "dim keepdim", "mean": "dim keepdim", "max": "dim", "min": "dim", "matmul": "other",
    "reshape": "", "permute": "", "transpose": "", "squeeze": "dim", "unsqueeze": "dim",
    "concat": "tensors dim", "cat": "tensors dim", "lookup": "mask", "masked_fill_": "mask value",
    "conv2d": "kernel bias stride padding", "max_pool2d": "kernel_size stride padding",
    "avg_pool2d": "kernel_size stride padding", "float": "inplace", "bool": "inplace",
    "long": "inplace", "to": "device inplace", "cpu": "inplace", "cuda": "inplace", "numpy": "",
    "tolist": "", "item": "", "numel": "", "backward": "upstream destroy_graph", "render": "",
}  # fmt: skip
MODULES = {
    "Identity": {}, "ReLU": {}, "Sigmoid": {}, "Softmax": {"dim": -1},
    "Linear": {"in_features": 2, "out_features": 3, "bias": True},
    "Conv2d": {
        "in_channels": 3, "out_channels": 4, "kernel_size": 3, "stride": 1, "padding": "same",
        "bias": True,
    },
    "MultiheadAttention": {"embed_dim": 8, "num_heads": 2},
    "BatchNorm1d": {
        "num_features": 3, "eps": 1e-5, "momentum": 0.1, "track_running_stats": True,
    },
    "BatchNorm2d": {"num_features": 3, "eps": 1e-5, "momentum": 0.1, "track_running_stats": True},
    "LayerNorm": {"normalized_shape": (3,), "eps": 1e-5},
    "MaxPool2d": {"kernel_size": 2, "stride": None, "padding": 0},
    "AvgPool2d": {"kernel_size": 2, "stride": None, "padding": 0},
    "Embedding": {"num_embeddings": 3, "embedding_dim": 2}, "Dropout": {"p": 0.5}, "Flatten": {},
    "CrossEntropyLoss": {"reduction": "sum"}, "MSELoss": {"reduction": "mean"},
}  # fmt: skip
WEIGHTED = ("Linear", "Conv2d", "MultiheadAttention", "BatchNorm1d", "BatchNorm2d", "LayerNorm",
            "Embedding")  # fmt: skip


def test_names():
    names = "DEVICE DTYPE Tensor is_cuda_available is_grad_enabled nn no_grad optim tensor"
    assert not [name for name in names.split() if not hasattr(tg, name)]
    assert tg.tensor is tg.Tensor and tg.DEVICE.CPU == "cpu" and tg.DTYPE.BOOL == "bool"
    assert {one.value for one in OP} == set(OPERATIONS.split())
    assert not [n for n in ("zeros", "ones", "uniform_fan_in") if not hasattr(tg.nn.init, n)]
    kinds = ("BaseOp", "UnaryOp", "BinaryOp", "ReduceOp")
    assert not [name for name in kinds if not hasattr(operations, name)]
    assert callable(OpDispatch.register) and callable(OpDispatch.execute)
    assert StorageDispatch.get("cpu").DEVICE == "cpu"
    names = (
        "arange bernoulli cast empty get_device get_dtype get_shape numpy ones random_normal "
        "random_randint random_uniform tensor zeros"
    )
    assert not [name for name in names.split() if not hasattr(Storage, name)]


@pytest.mark.parametrize("name", MEMBERS)
def test_members_take_their_arguments(name):
    parameters = inspect.signature(getattr(tg.Tensor, name)).parameters
    assert not set(MEMBERS[name].split()) - set(parameters)


def test_tensors_are_made_as_documented():
    x = tg.Tensor([1, 2], dtype="float32", device="cpu", requires_grad=True, name="x")
    assert x.name == "x" and x._children == () and x._op is None and x.grad.tolist() == [0, 0]
    for make in (tg.Tensor.empty, tg.Tensor.zeros, tg.Tensor.ones, tg.Tensor.rand):
        made = make(2, 3, dtype=None, device=None, requires_grad=False)
        assert made.shape == make((2, 3)).shape == (2, 3) and made.dtype == "float32"
    assert tg.Tensor.randint(0, 5, (2,), dtype=None).dtype == "int64"
    assert tg.Tensor.arange(5, None, None).dtype == "int64"
    assert x.cpu(inplace=True) is x and x.cpu(inplace=False) is not x


@pytest.mark.parametrize("name", MODULES)
def test_modules_take_their_arguments(name):
    options = dict(MODULES[name])
    if name in WEIGHTED:
        options |= {"dtype": None, "device": None}
    module = getattr(tg.nn, name)(**options)
    assert hasattr(module, "init_from_torch") == (name in WEIGHTED)
    for change in ("cpu", "train", "eval"):
        assert getattr(module, change)() is None
    assert module.to("cpu") is None and module.training is False
    for kind in ("modules", "parameters", "buffers"):
        assert isinstance(getattr(module, kind)(), list)
        assert isinstance(getattr(module, f"named_{kind}")(), dict)


def test_parameters_and_buffers_are_made_as_tensors_are():
    weight = tg.nn.Parameter(np.ones(2), dtype="float64", device="cpu", name="w")
    assert (weight.dtype, weight.requires_grad, weight.name) == ("float64", True, "w")
    buffer = tg.nn.Buffer([1, 2], dtype=tg.DTYPE.INT64)
    assert (buffer.dtype, buffer.requires_grad) == ("int64", False)
    taken = tg.nn.Parameter(tg.Tensor([1, 2], dtype="int32", requires_grad=False))
    assert taken.dtype == "int32" and taken.requires_grad
    assert isinstance(tg.nn.Parameter.ones(2, 3), tg.nn.Parameter)
    assert isinstance(tg.nn.Buffer.zeros((2, 3)), tg.nn.Buffer)


def test_statistics_of_norms_stay_buffers():
    norm = tg.nn.BatchNorm1d(3)
    norm.train()
    norm(tg.Tensor.rand(4, 3))
    assert set(norm.named_buffers()) == {"running_mean", "running_var"}
    assert norm.named_buffers()["running_mean"] is norm.running_mean
    assert isinstance(norm.running_mean, tg.nn.Buffer) and norm.running_mean.numpy().any()
    assert tg.nn.BatchNorm1d(3, track_running_stats=False).named_buffers() == {}


def test_optimisers_take_their_arguments():
    weights = [tg.nn.Parameter(np.ones(2))]
    for optimizer in (
        tg.optim.SGD(parameters=weights, lr=0.1, momentum=None),
        tg.optim.Adam(parameters=weights, lr=0.001, betas=(0.9, 0.999), eps=1e-8),
    ):
        assert isinstance(optimizer, tg.optim.Optimizer)
        (weights[0] * weights[0]).sum().backward(upstream=None, destroy_graph=True)
        optimizer.step()
        optimizer.zero_grad()
