"""torch.device, and where new tensors are made."""

import pickle

import numpy as np
import pytest
import torch as peer

import composit.torch as torch
from composit.torch import nn

pytestmark = [pytest.mark.usefixtures("apart"), pytest.mark.on_cpu]


# ----- torch.device


@pytest.mark.parametrize(
    "given", [("cuda",), ("cuda", 1), ("cuda:1",), ("cpu",), ("cpu", 0), (1,), ("opencl",)]
)
def test_devices_are_written_as_pytorchs(given):
    ours, theirs = torch.device(*given), peer.device(*given) if given != (1,) else None
    if theirs is None:
        theirs = peer.device("cuda", 1)
    assert (repr(ours), str(ours)) == (repr(theirs), str(theirs))
    assert (ours.type, ours.index) == (theirs.type, theirs.index)
    assert torch.device(ours) == ours and hash(torch.device(ours)) == hash(ours)
    assert pickle.loads(pickle.dumps(ours)) == ours


def test_devices_are_equal_where_type_and_number_are():
    assert torch.device("cuda:1") == torch.device("cuda", 1) != torch.device("cuda:0")
    assert torch.device("cuda") != torch.device("cuda:0")
    assert len({torch.device("cuda:1"), torch.device("cuda", 1), torch.device("cuda")}) == 2
    with pytest.raises(AttributeError, match="not writable"):
        torch.device("cpu").index = 1


@pytest.mark.parametrize("given", [("cuda:x",), ("nothing",), ("cuda:1", 1), ("cuda", -1), ("",)])
def test_what_is_no_device_is_refused_as_by_pytorch(given):
    with pytest.raises(RuntimeError) as theirs:
        peer.device(*given)
    with pytest.raises(RuntimeError) as ours:
        torch.device(*given)
    first = str(theirs.value).split("\n")[0][:20]
    assert str(ours.value).startswith(first) and "test_torch_device_names.py" in str(ours.value)


def test_a_device_that_is_not_here_is_refused_where_it_is_used():
    there = torch.device("apart", 3)
    for use in (
        lambda: torch.zeros(2, device=there), lambda: torch.ones(2).to(there),
        lambda: nn.Linear(2, 2, device=there), lambda: torch.set_default_device(there),
        lambda: torch.tensor([1], device=there), lambda: torch.Generator(there),
    ):  # fmt: skip
        with pytest.raises(
            RuntimeError, match=r"device 'apart:3' is not here.*; available: cpu, .*apart:0"
        ):
            use()


def test_default_devices(apart):
    assert torch.get_default_device() == torch.device("cpu")
    torch.set_default_device("apart")
    try:
        assert torch.get_default_device() == torch.device(apart)
        assert torch.zeros(2).device == torch.tensor([1]).device == torch.device(apart)
        assert torch.zeros(2, device="cpu").is_cpu
        with torch.device("cpu"):
            assert torch.ones(1).is_cpu and nn.Linear(1, 1).weight.is_cpu
        assert torch.from_numpy(np.zeros(1)).is_cpu
    finally:
        torch.set_default_device(None)
    assert torch.zeros(2).is_cpu


# ----- where tensors are made

MAKERS = {
    "zeros": lambda t, **o: t.zeros(2, 3, **o), "ones": lambda t, **o: t.ones((2,), **o),
    "empty": lambda t, **o: t.empty(2, **o) * 0, "full": lambda t, **o: t.full((2,), 7, **o),
    "arange": lambda t, **o: t.arange(5, **o), "arange2": lambda t, **o: t.arange(0, 1, 0.25, **o),
    "linspace": lambda t, **o: t.linspace(0, 1, 4, **o), "eye": lambda t, **o: t.eye(2, **o),
    "logspace": lambda t, **o: t.logspace(0, 2, 3, **o),
    "tensor": lambda t, **o: t.tensor([1.0, 2.0], **o),
    "as_tensor": lambda t, **o: t.as_tensor([1, 2], **o),
    "asarray": lambda t, **o: t.asarray([1, 2], **o),
    "scalar_tensor": lambda t, **o: t.scalar_tensor(2, **o),
    "tril": lambda t, **o: t.tril_indices(3, 3, **o),
    "hann": lambda t, **o: t.hann_window(4, **o),
    "fftfreq": lambda t, **o: t.fft.fftfreq(4, **o),
}  # fmt: skip
DRAWS = {
    "rand": lambda **o: torch.rand(2, 3, **o),
    "randn": lambda **o: torch.randn(4, **o),
    "randint": lambda **o: torch.randint(0, 9, (5,), **o),
    "randperm": lambda **o: torch.randperm(6, **o),
    "normal": lambda **o: torch.normal(0.0, 1.0, (3,), **o),
}


@pytest.mark.parametrize("name", MAKERS)
def test_factories_make_tensors_there(apart, name):
    make = MAKERS[name]
    wanted = make(peer)
    made = make(torch, device="apart")
    with torch.device("apart"):
        again = make(torch)
    assert made.device == again.device == torch.device(apart)
    assert make(torch).is_cpu and str(made.dtype) == str(wanted.dtype)
    for one in (made, again):
        np.testing.assert_allclose(one.cpu().numpy(), wanted.numpy(), rtol=1e-6)
    if made.is_floating_point() and name not in ("empty", "as_tensor", "asarray", "scalar_tensor"):
        leaf = make(torch, device="apart", requires_grad=True)
        assert leaf.is_leaf and leaf.requires_grad and leaf.device == torch.device(apart)


@pytest.mark.parametrize("name", DRAWS)
def test_draws_are_the_cpus(apart, name):
    torch.manual_seed(4)
    wanted = DRAWS[name]()
    torch.manual_seed(4)
    made = DRAWS[name](device="apart")
    there = DRAWS[name](device="apart", generator=torch.Generator("apart").manual_seed(4))
    assert made.device == there.device == torch.device(apart)
    np.testing.assert_array_equal(made.cpu().numpy(), wanted.numpy())
    np.testing.assert_array_equal(there.cpu().numpy(), wanted.numpy())


def test_generators_know_their_device(apart):
    assert torch.Generator(device="apart").device == torch.device(apart)
    assert torch.Generator().device == torch.device("cpu")


LIKE = {
    "zeros_like": torch.zeros_like, "ones_like": torch.ones_like, "empty_like": torch.empty_like,
    "full_like": lambda x, **o: torch.full_like(x, 2, **o), "rand_like": torch.rand_like,
    "randn_like": torch.randn_like, "randint_like": lambda x, **o: torch.randint_like(x, 5, **o),
    "new_zeros": lambda x, **o: x.new_zeros(2, **o), "new_ones": lambda x, **o: x.new_ones(2, **o),
    "new_full": lambda x, **o: x.new_full((2,), 3, **o),
    "new_empty": lambda x, **o: x.new_empty(2, **o),
    "new_tensor": lambda x, **o: x.new_tensor([1, 2], **o),
}  # fmt: skip


@pytest.mark.parametrize("name", LIKE)
def test_what_is_made_like_another_lies_there(apart, name):
    make = LIKE[name]
    x = torch.ones(3, device="apart")
    assert make(x).device == torch.device(apart) and make(x, device="cpu").is_cpu
    assert make(x + 1).device == torch.device(apart)
    assert make(torch.ones(3)).is_cpu
    assert make(torch.ones(3), device="apart").device == torch.device(apart)
    with torch.device("apart"):
        assert make(torch.ones(3, device="cpu")).is_cpu
