"""Devices that are registered from outside: the example's, and what is missing on it."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import composit.tensorgrad as tg
from composit.tensorgrad.const import OP
from composit.tensorgrad.ops import OpDispatch, UnaryOp
from composit.tensorgrad.storage import Storage, StorageDispatch

FILE = Path(__file__).resolve().parents[3] / "examples/tensorgrad/device.py"


@pytest.fixture(scope="module")
def device():
    spec = importlib.util.spec_from_file_location("device", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for op in (OP.ADD, OP.MATMUL, OP.RELU):
        del OpDispatch._DISPATCH[op, "fixed"]
    del StorageDispatch._DISPATCH["fixed"]
    OpDispatch._strict.discard("fixed")


def test_the_example_learns_xor_in_less_than_100_lines(device, capsys):
    assert len(FILE.read_text().splitlines()) < 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        device.main()
    assert capsys.readouterr().out.endswith("predictions [1 0 0 1]\n")


def test_operations_run_there_and_round_as_it_does(device):
    x = tg.tensor([[1.0, -2.0]], device="fixed")
    assert isinstance(x.data, device.Fixed) and x.device == "fixed" and x.shape == (1, 2)
    assert repr(x) == "Tensor(shape=(1, 2), dtype=DTYPE.FLOAT32, device='fixed')"
    y = (x + x).relu()
    assert isinstance(y.data, device.Fixed) and y.tolist() == [[2, 0]]
    y.backward()
    assert device.FixedStorage.numpy(x.grad).tolist() == [[2, 0]]
    assert tg.tensor([1e-9], device="fixed").tolist() == [0]


def test_what_is_missing_runs_on_the_cpu_and_says_so_once(device):
    OpDispatch._said.discard((OP.SIGMOID, "fixed"))
    x = tg.tensor([0.0, 1.0], device="fixed")
    with pytest.warns(
        RuntimeWarning, match="^sigmoid: device 'fixed' has no such operation; it ru"
    ):
        y = x.sigmoid()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = x.sigmoid()
    np.testing.assert_allclose(y.numpy(), [0.5, 1 / (1 + np.exp(-1))], atol=1e-4)
    y.backward()
    s = y.numpy()
    np.testing.assert_allclose(device.FixedStorage.numpy(x.grad), s * (1 - s), atol=1e-4)


def test_it_can_be_forbidden(device):
    OpDispatch.allow_fallback("fixed", False)
    try:
        with pytest.raises(
            NotImplementedError, match="exp: device 'fixed' has no such operation, and"
        ):
            tg.tensor([1.0], device="fixed").exp()
    finally:
        OpDispatch.allow_fallback("fixed")


def test_tensors_move_with_their_gradients(device):
    x = tg.tensor([1.0, 2.0])
    (x * x).sum().backward()
    assert x.to("fixed") is x and isinstance(x.data, device.Fixed)
    assert device.FixedStorage.numpy(x.grad).tolist() == [2, 4]
    x.cpu()
    assert x.data.tolist() == [1, 2] and x.grad.tolist() == [2, 4]
    with pytest.raises(
        RuntimeError, match=r"add: operands lie on DEVICE\.CPU, fixed\. One device is req"
    ):
        x + tg.tensor([1.0], device="fixed")


def test_what_is_registered_twice_is_refused(device):
    class Again(Storage):
        DEVICE = "fixed"

    with pytest.raises(KeyError, match="device fixed has the storage FixedStorage"):
        StorageDispatch.register(Again)
    for op, where in ((OP.ADD, "fixed"), (OP.EXP, "cpu")):
        with pytest.raises(KeyError, match=f"OpDispatch.register: {op.value} is there on device"):
            OpDispatch.register(op, where)(UnaryOp)
    with pytest.raises(NotImplementedError, match="device 'mine' is not built or registered"):
        tg.Tensor.zeros(2, device="mine")


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_optimisers_do_there_what_they_do_on_the_cpu(device, name):
    options = {"lr": 0.05, **({"momentum": 0.9} if name == "SGD" else {})}
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for where in ("cpu", "fixed"):
            p = tg.nn.Parameter(tg.tensor([1.0, -2.0], device=where))
            optimizer = getattr(tg.optim, name)([p], **options)
            for _ in range(10):
                optimizer.zero_grad()
                (p * p).sum().backward()
                optimizer.step()
            found.append(p.numpy())
    np.testing.assert_allclose(*found, atol=5e-3)


def test_random_tensors_and_modules_lie_there(device):
    np.random.seed(0)
    for made in (tg.Tensor.rand(3, device="fixed"), tg.Tensor.randn(3, device="fixed"),
                 tg.Tensor.arange(3, device="fixed"), tg.Tensor.ones(3, device="fixed"),
                 tg.Tensor.bernoulli(0.5, (3,), device="fixed"),
                 tg.Tensor.randint(0, 5, (3,), device="fixed")):  # fmt: skip
        assert isinstance(made.data, device.Fixed) and made.shape == (3,)
    model = tg.nn.Sequential(tg.nn.Linear(2, 2), tg.nn.BatchNorm1d(2))
    model.to("fixed")
    assert {each.device for each in [*model.parameters(), *model.buffers()]} == {"fixed"}


def test_modules_have_the_names_of_tensorgrads():
    from composit.tensorgrad import ops, storage
    from composit.tensorgrad.ops import dispatch, stubs
    from composit.tensorgrad.storage.stubs import Storage as Stub

    assert Stub is storage.Storage and dispatch.OpDispatch is ops.OpDispatch
    assert issubclass(stubs.ReduceOp, stubs.BaseOp) and issubclass(ops.UnaryOp, ops.BaseOp)
