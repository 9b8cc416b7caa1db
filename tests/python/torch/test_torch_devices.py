"""torch.device and tensors that lie on one: whole programs, whose bits are the CPU's, and the manners
of PyTorch. The device is examples/backend/apart.cpp, memory that the host cannot reach."""

import copy
import io
import pickle

import numpy as np
import pytest
import torch as peer

import composit
import composit.torch as torch
from composit.torch import nn, optim
from composit.torch.utils.data import DataLoader, TensorDataset

pytestmark = pytest.mark.usefixtures("apart")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 3, bias=False)
        self.dropout = nn.Dropout(0.25)
        self.fc = nn.Linear(4 * 3 * 3, 5)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.norm(self.conv1(x))), 2)
        x = torch.relu(self.conv2(nn.functional.pad(x, (1, 1, 1, 1))))
        return self.fc(self.dropout(torch.flatten(x[:, :, :3, :3], 1)))


def digits():
    draw = np.random.default_rng(1)
    images = draw.normal(size=(24, 1, 8, 8)).astype(np.float32)
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(draw.integers(0, 5, 24)))


def train_of_network(device, make_optimizer, epochs=2):
    torch.manual_seed(5)
    device = torch.device(device)
    model = Net().to(device)
    optimizer = make_optimizer(model.parameters())
    schedule = optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    loader = DataLoader(digits(), batch_size=8, shuffle=True, pin_memory=True)
    losses, right = [], 0
    for _ in range(epochs):
        model.train()
        for data, target in loader:
            data, target = data.to(device, non_blocking=True), target.to(device)
            optimizer.zero_grad()
            output = model(data)
            loss = nn.functional.cross_entropy(output, target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
        model.eval()
        with torch.no_grad():
            for data, target in loader:
                found = model(data.to(device)).argmax(dim=1)
                right += found.eq(target.to(device)).sum().item()
    return losses, right, model, optimizer


def equal_states(one, other):
    assert list(one) == list(other)
    for name, value in one.items():
        found = other[name]
        if isinstance(value, dict):
            equal_states(value, found)
        elif isinstance(value, torch.Tensor):
            np.testing.assert_array_equal(found.cpu().numpy(), value.cpu().numpy(), str(name))
        else:
            assert value == found or isinstance(value, list), name


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01, amsgrad=True),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.02),
    "Adadelta": optim.Adadelta,
    "NAdam": lambda p: optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "Adamax": lambda p: optim.Adamax(p, lr=0.01),
    "Rprop": optim.Rprop,
    "ASGD": optim.ASGD,
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_network_learns_with_the_bits_of_the_cpu(apart, name):
    losses, right, model, optimizer = train_of_network("cpu", OPTIMIZERS[name])
    found, right_there, there, moved = train_of_network("apart", OPTIMIZERS[name])
    assert (found, right_there) == (losses, right)
    equal_states(model.state_dict(), there.state_dict())
    equal_states(optimizer.state_dict()["state"], moved.state_dict()["state"])
    for p in there.parameters():
        assert p.device == torch.device(apart) and p.grad.device == p.device
        for key, value in moved.state[p].items():
            assert key == "step" or not value.ndim or value.device == p.device, key


def train_of_perceptron(device):
    torch.manual_seed(2)
    with torch.device(device):
        model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.LayerNorm(16), nn.Linear(16, 1))
        x, noise = torch.randn(32, 6), torch.rand(32, 1)
        y = x.sum(1, keepdim=True).sin() + 0.1 * noise
    assert x.device == model[0].weight.device == torch.device(composit.devices.full_name(device))
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for i in range(12):
        order = torch.randperm(32, device=device)[:16]
        loss = ((model(x[order]) - y[order]) ** 2).mean() * torch.tensor(0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        if i == 5:
            losses.append(model.state_dict()["0.weight"].abs().max().item())
    return losses, [p.detach().cpu().numpy() for p in model.parameters()]


def test_a_perceptron_made_in_a_with_block_has_the_bits_of_the_cpu():
    losses, weights = train_of_perceptron("cpu")
    found, there = train_of_perceptron("apart")
    assert found == losses
    for one, other in zip(weights, there):
        np.testing.assert_array_equal(other, one)


def test_steps_there_make_no_nodes_once_they_are_known():
    x = torch.ones(4, 3, device="apart")
    model = nn.Linear(3, 1, device="apart")
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    was_lazy = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        was_lazy.append(loss._has_lazy)
        optimizer.step()
    assert not was_lazy[-1] and was_lazy[0]
    assert model.weight.device == loss.device == x.device


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
    assert str(ours.value).startswith(first) and "test_torch_devices.py" in str(ours.value)


def test_a_device_that_is_not_here_is_refused_where_it_is_used():
    there = torch.device("apart", 3)
    for use in (lambda: torch.zeros(2, device=there), lambda: torch.ones(2).to(there),
                lambda: nn.Linear(2, 2, device=there), lambda: torch.set_default_device(there),
                lambda: torch.tensor([1], device=there), lambda: torch.Generator(there)):  # fmt: skip
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
    "rand": lambda **o: torch.rand(2, 3, **o), "randn": lambda **o: torch.randn(4, **o),
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


# ----- manners of tensors that lie there


def test_tensors_say_where_they_lie(apart):
    x = torch.tensor([[1.0, 2.0]], device="apart")
    assert (x.is_cpu, x.is_cuda, x.get_device(), str(x.device)) == (False, False, 0, apart)
    assert torch.zeros(1).get_device() == -1
    assert repr(x) == "tensor([[1., 2.]], device='apart:0')"
    assert repr(x.double()) == "tensor([[1., 2.]], device='apart:0', dtype=torch.float64)"
    assert repr(torch.zeros(2, 0, device="apart")) == "tensor([], device='apart:0', size=(2, 0))"
    assert "device='apart:0', requires_grad=True)" in repr(nn.Parameter(x))
    assert x.tolist() == [[1, 2]] and x.sum().item() == 3 and bool(x.any()) and len(x) == 1
    assert x.is_contiguous() and x.T.stride() == (1, 2) and float(x.max()) == 2


def test_numpy_is_refused_as_by_pytorch():
    x = torch.ones(2, device="apart")
    for look in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(
            TypeError, match=r"can't convert apart:0 device type tensor to numpy\. Use Tensor\.cpu"
        ):
            look()
    assert x.numpy(force=True).tolist() == [1, 1] and x.cpu().numpy().tolist() == [1, 1]


def test_to(apart):
    x = torch.arange(3, dtype=torch.float32)
    y = x.to("apart")
    there = torch.device(apart)
    assert y is not x and y.device == there and y.tolist() == [0, 1, 2] and x.is_cpu
    assert y.to("apart:0") is y and y.to(there) is y and x.to("cpu") is x and x.cpu() is x
    assert y.to(there, copy=True) is not y and y.to("apart", torch.float32, False, True) is not y
    for z in (x.to("apart", torch.int64), x.to(device=there, dtype=torch.int64),
              x.to(torch.zeros(1, dtype=torch.int64, device="apart")),
              x.to("apart", non_blocking=True).long()):  # fmt: skip
        assert z.device == there and z.dtype is torch.int64
    assert y.double().device == there and y.cpu().is_cpu and y.pin_memory() is y
    assert y[1:].to("cpu").tolist() == [1, 2] and (y * 2).cpu().tolist() == [0, 2, 4]
    with pytest.raises((RuntimeError, AssertionError)):
        x.to("cuda:77")


def test_operations_stay_there_and_writes_too(apart):
    x = torch.arange(6, device="apart", dtype=torch.float32).reshape(2, 3)
    x += 1
    x[0, 0] = 10
    x[:, 1] = torch.tensor([7.0, 8.0])  # copies
    x[x > 9.5] = 0
    x.mul_(2).clamp_(max=12)
    x[1].zero_()
    assert x.device == torch.device(apart) and x.tolist() == [[0, 12, 6], [0, 0, 0]]
    x.copy_(torch.ones(3))
    host = torch.zeros(2, 3)
    host.copy_(x)
    host[0] = x[0] * 2
    assert host.is_cpu and host.tolist() == [[2, 2, 2], [1, 1, 1]]
    x.uniform_()
    torch.manual_seed(0)
    x.normal_()
    torch.manual_seed(0)
    np.testing.assert_array_equal(x.cpu().numpy(), torch.zeros(2, 3).normal_().numpy())
    x.fill_(3).add_(torch.tensor(1))
    x.data = torch.full((2, 3), 5.0, device="apart")
    assert x.device == torch.device(apart) and x.sum().item() == 30
    values, places = torch.tensor([3.0, 1.0, 2.0], device="apart").sort()
    assert values.device == places.device == torch.device(apart) and places.tolist() == [1, 2, 0]
    assert torch.unique(values).device == torch.nonzero(values).device == torch.device(apart)


def test_indices_of_the_cpu(apart):
    x = torch.arange(6, device="apart", dtype=torch.float32).reshape(2, 3)
    at = torch.tensor([2, 0])
    assert x[:, at].tolist() == [[2, 0], [5, 3]] and x[at > 1].tolist() == [[0, 1, 2]]
    assert x[torch.tensor(1)].tolist() == [3, 4, 5]
    assert x[:, at].device == torch.device(apart)
    x[:, at] = 9
    x[torch.tensor([True, False])] += 1
    assert x.tolist() == [[10, 2, 10], [9, 4, 9]]
    leaf = torch.ones(3, device="apart", requires_grad=True)
    leaf[at].sum().backward()
    assert leaf.grad.tolist() == [1, 0, 1]
    with pytest.raises(
        RuntimeError, match=r"indices should be either on cpu or on the same device as the indexed "
        r"tensor \(cpu\)"
    ):  # fmt: skip
        torch.ones(3)[at.to("apart")]


MIXED = {
    "add": lambda x, y: x + y, "swapped": lambda x, y: y + x, "matmul": lambda x, y: x @ y,
    "cat": lambda x, y: torch.cat([x, y]), "where": lambda x, y: torch.where(x > 0, x, y),
    "in place": lambda x, y: x.mul_(y), "linear": lambda x, y: nn.functional.linear(x, y),
    "loss": nn.functional.mse_loss, "module": lambda x, y: nn.Linear(2, 2, device="apart")(y),
    "stack": lambda x, y: torch.stack([y, x]),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED)
def test_operands_of_two_devices_are_refused(name):
    x, y = torch.ones(2, 2, device="apart"), torch.ones(2, 2)
    for _ in range(2):
        with pytest.raises(RuntimeError) as caught:
            MIXED[name](x, y)
        assert str(caught.value).startswith(
            "Expected all tensors to be on the same device, but found at least two devices, "
            "apart:0 and cpu!"
        )
        assert "test_torch_devices.py" in str(caught.value)
    assert (x.sum() + x.mean()).item() == 5


def test_numbers_and_tensors_without_dimensions_mix(apart):
    x = torch.ones(2, device="apart")
    for number in (2, 2.0, torch.tensor(2.0), torch.tensor([1.0, 1.0]).sum()):
        for made in (x * number, number * x, x.add(number), torch.where(x > 0, number, x)):
            assert made.device == torch.device(apart), number
        assert (x * number).tolist() == [2, 2]
    assert torch.tensor(1.0).add(torch.ones((), device="apart")).device == torch.device(apart)
    scale = torch.tensor(3.0, requires_grad=True)
    (x * scale).sum().backward()
    assert scale.grad.is_cpu and scale.grad.item() == 2


# ----- gradients


def test_gradients_come_back_to_where_the_leaf_lies(apart):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.to("apart")
    assert y.requires_grad and not y.is_leaf and y.device == torch.device(apart)
    (y * y).sum().backward()
    assert x.grad.is_cpu and x.grad.tolist() == [2, 4]
    w = torch.ones(2, device="apart", requires_grad=True)
    (w.cpu() * x.detach()).sum().backward()
    assert w.grad.device == torch.device(apart) and w.grad.tolist() == [1, 2]
    (found,) = torch.autograd.grad((w * 3).sum(), w)
    assert found.device == torch.device(apart) and found.tolist() == [3, 3]
    z = w.sum()
    z.backward(torch.tensor(2.0, device="apart"))
    assert w.grad.tolist() == [3, 4]


def test_a_model_over_two_devices(apart):
    first, second = nn.Linear(2, 3, device="apart"), nn.Linear(3, 1)
    optimizer = optim.SGD([*first.parameters(), *second.parameters()], lr=0.1, momentum=0.9)
    alone = copy.deepcopy(first).cpu(), copy.deepcopy(second)
    reference = optim.SGD([p for m in alone for p in m.parameters()], lr=0.1, momentum=0.9)
    x = torch.ones(4, 2)
    for _ in range(3):
        for used, chain in (
            (optimizer, lambda: second(first(x.to("apart")).relu().cpu())),
            (reference, lambda: alone[1](alone[0](x).relu())),
        ):
            used.zero_grad()
            chain().square().mean().backward()
            used.step()
    assert first.weight.device == torch.device(apart) and second.weight.is_cpu
    for p, q in zip([*first.parameters(), *second.parameters()],
                    [p for m in alone for p in m.parameters()]):  # fmt: skip
        np.testing.assert_array_equal(p.detach().cpu().numpy(), q.detach().numpy())


def test_second_gradients_and_transforms(apart):
    x = torch.tensor([1.0, 2.0], device="apart", requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    g.sum().backward()
    assert x.grad.device == torch.device(apart) and x.grad.tolist() == [6, 12]
    y = x.detach()
    assert torch.func.grad(lambda a: (a**2).sum())(y).tolist() == [2, 4]
    assert torch.func.vmap(lambda a: a * 2)(y).device == torch.device(apart)
    compiled = torch.compile(lambda a: (a * 2 + 1).relu())
    for _ in range(3):
        assert compiled(y).tolist() == [3, 5] and compiled(y).device == torch.device(apart)
    assert compiled(y.cpu()).is_cpu


# ----- modules and optimisers


def test_modules_move_and_stay_themselves(apart):
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    kept = dict(model.named_parameters())
    model(torch.ones(3, 2)).sum().backward()
    assert model.to("apart") is model
    for name, p in model.named_parameters():
        assert p is kept[name] and p.is_leaf and p.requires_grad
        assert p.device == p.grad.device == torch.device(apart)
    assert all(b.device == torch.device(apart) for b in model.buffers())
    assert model[1].num_batches_tracked.dtype is torch.int64
    assert model.double()[0].weight.device == torch.device(apart)
    model.cpu()
    assert all(x.is_cpu for x in (*model.parameters(), *model.buffers()))
    model.to(device="apart", dtype=torch.float32)
    assert model[0].weight.dtype is torch.float32 and model[0].weight.grad.device.type == "apart"
    other = nn.Linear(2, 2, device="apart")
    other.load_state_dict(model[0].cpu().state_dict())
    assert other.weight.device == torch.device(apart)
    with pytest.raises(TypeError, match="nn.Module.to only accepts floating point"):
        model.to(torch.int64)


def test_optimiser_states_follow_their_parameters(apart):
    model = nn.Linear(2, 1)
    optimizer = optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    there = nn.Linear(2, 1, device="apart")
    moved = optim.Adam(there.parameters())
    moved.load_state_dict(optimizer.state_dict())
    state = moved.state[there.weight]
    assert state["exp_avg"].device == torch.device(apart) and state["step"].is_cpu
    there(torch.ones(1, 2, device="apart")).sum().backward()
    moved.step()
    assert state["exp_avg"].device == torch.device(apart) and state["step"].item() == 2


def test_copies_and_pickles_lie_there(apart):
    x = nn.Parameter(torch.ones(2, device="apart"))
    for made in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert made.device == torch.device(apart) and made.requires_grad
        assert made.tolist() == [1, 1] and made is not x
    assert x.clone().device == x.detach().device == x.data.device == torch.device(apart)


# ----- files


class Kept:
    """No structure of tensors alone: it is saved as an archive."""

    def __init__(self, weight):
        self.weight = weight


@pytest.mark.parametrize("kind", ["state", "object"])
def test_files_remember_where_tensors_lay(apart, tmp_path, kind):
    model = nn.Linear(2, 1, device="apart")
    value = {"model": model.state_dict(), "place": torch.device(apart), "n": torch.arange(3)}
    options = {}
    if kind == "object":
        value, options = {**value, "more": Kept(model.weight)}, {"weights_only": False}
    path = tmp_path / "model.pt"
    torch.save(value, path)
    stream = io.BytesIO()
    torch.save(value, stream)
    stream.seek(0)
    for source in (path, stream):
        found = torch.load(source, **options)
        assert found["model"]["weight"].device == torch.device(apart) == found["place"]
        assert found["n"].is_cpu
    for location in ("cpu", torch.device("cpu"), {apart: "cpu"}, lambda storage, place: storage.cpu()):
        found = torch.load(path, map_location=location, **options)
        assert all(x.is_cpu for x in found["model"].values()), location
        np.testing.assert_array_equal(
            found["model"]["weight"].numpy(), model.weight.detach().cpu().numpy()
        )
    assert torch.load(path, map_location=apart, **options)["n"].device == torch.device(apart)
    with pytest.raises(RuntimeError, match="device 'apart:9' is not here"):
        torch.load(path, map_location="apart:9", **options)


def test_files_of_devices_that_are_not_here_say_so(apart, tmp_path, monkeypatch):
    from composit.torch import places

    torch.save({"w": torch.ones(2, device="apart")}, tmp_path / "w.pt")
    content = (tmp_path / "w.pt").read_bytes()
    assert content.count(b"apart:0") == 1
    (tmp_path / "v.pt").write_bytes(content.replace(b"apart:0", b"apart:7"))
    with pytest.raises(RuntimeError, match="deserialize object on 'apart:7', but device 'apart:7'"):
        torch.load(tmp_path / "v.pt")
    assert torch.load(tmp_path / "v.pt", map_location="cpu")["w"].tolist() == [1, 1]
    assert places.full_name("apart") == apart


def test_pytorchs_files_of_cuda(tmp_path):
    """As PyTorch writes them on a machine with CUDA."""
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    peer.save({"w": peer.ones(2)}, tmp_path / "w.pt")
    content = (tmp_path / "w.pt").read_bytes()
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(
        tmp_path / "cuda.pt", "w", zipfile.ZIP_STORED
    ) as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("data.pkl"):
                assert data.count(b"X\x03\x00\x00\x00cpu") == 1
                data = data.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
            target.writestr(name, data)
    with pytest.raises(RuntimeError, match="on a CUDA device but torch.cuda.is_available"):
        torch.load(tmp_path / "cuda.pt")
    found = torch.load(tmp_path / "cuda.pt", map_location={"cuda:0": "apart"})
    assert found["w"].device.type == "apart" and found["w"].tolist() == [1, 1]


# ----- torch.cuda, of this device in place of CUDA's


@pytest.fixture
def cuda(apart, monkeypatch):
    monkeypatch.setattr(torch.cuda, "_KIND", "apart")
    torch.cuda._names.cache_clear()
    yield torch.cuda
    torch.cuda._names.cache_clear()


def test_questions_about_the_device(cuda):
    assert cuda.is_available() and cuda.device_count() == 1 and cuda.current_device() == 0
    assert cuda.get_device_name() == cuda.get_device_name(0) == "memory behind a fence"
    properties = cuda.get_device_properties("apart")
    assert (properties.name, properties.total_memory) == ("memory behind a fence", 2**30)
    assert "total_memory=1024MB" in repr(properties)
    assert cuda.is_initialized()
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        cuda.set_device(3)
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.get_device_name("cpu")
    with cuda.device(0):
        assert cuda.current_device() == 0
    with cuda.device(None), cuda.device(-1), cuda.device_of(torch.ones(1, device="apart")):
        pass


def test_memory_is_counted(cuda):
    cuda.empty_cache()
    before, (free, total) = cuda.memory_allocated(), cuda.mem_get_info()
    assert total == 2**30 and 0 < free <= total
    cuda.reset_peak_memory_stats()
    x = torch.ones(1 << 20, device="apart")
    assert cuda.memory_allocated() - before == 4 << 20
    assert cuda.mem_get_info()[0] == free - (4 << 20)
    del x
    assert cuda.memory_allocated() == before
    assert cuda.max_memory_allocated() - before == 4 << 20
    assert cuda.memory_reserved() - before == 4 << 20
    stats = cuda.memory_stats()
    assert stats["allocated_bytes.all.peak"] == cuda.max_memory_allocated()
    assert "reserved_bytes.all.current" in cuda.memory_summary()
    cuda.empty_cache()
    assert cuda.memory_reserved() == before and cuda.mem_get_info()[0] == free
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == before


def test_events_and_streams(cuda):
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    assert start.query()
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    x = torch.ones(64, 64, device="apart")
    y = x @ x
    end.record()
    assert y._lazy.is_known  # the work before an event is asked for
    end.synchronize()
    cuda.synchronize()
    assert end.query() and 0 < start.elapsed_time(end) < 60_000
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(cuda.Event())
    stream = cuda.Stream()
    with cuda.stream(stream):
        z = y + 1
    stream.wait_stream(cuda.current_stream())
    assert stream == cuda.current_stream() and stream.query() and z[0, 0].item() == 65
    assert stream.record_event().query() and str(stream.device) == "apart:0"


def test_one_generator_for_all(cuda):
    cuda.manual_seed_all(3)
    there = torch.rand(3, device="apart")
    torch.manual_seed(3)
    assert torch.rand(3).tolist() == there.tolist() and cuda.initial_seed() == 3
    state = cuda.get_rng_state()
    first = torch.rand(2).tolist()
    cuda.set_rng_state(state)
    assert torch.rand(2, device="apart").tolist() == first
    assert len(cuda.get_rng_state_all()) == 1


def test_what_asks_for_cuda_before_it_is_used(cuda):
    assert torch.accelerator.is_available() and torch.accelerator.current_device_index() == 0
    assert torch.cuda.FloatTensor([1, 2]).device == torch.device("apart:0")
    assert torch.amp.GradScaler("cuda").is_enabled()
    with pytest.raises(NotImplementedError, match="enabled for the cuda it is not built"):
        torch.autocast("cuda")


def test_cudas_library_is_not_opened_before_it_is_asked_for():
    import subprocess
    import sys

    program = (
        "import composit.torch as torch, sys\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "x.sum().backward()\n"
        "torch.device('cuda'), torch.cuda.manual_seed\n"
        "import composit._core as core\n"
        "opened = open('/proc/self/maps').read()\n"
        "assert 'libcuda' not in opened and 'libOpenCL' not in opened\n"
        "torch.cuda.is_available()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
