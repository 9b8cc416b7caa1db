"""Tensors that lie on a device: whole programs, whose bits are the CPU's, and PyTorch's manners.
The device is examples/backend/apart.cpp, memory that the host cannot reach."""

import copy
import pickle

import numpy as np
import pytest

import composit
import composit.torch as torch
from composit.torch import nn, optim
from composit.torch.utils.data import DataLoader, TensorDataset

pytestmark = [pytest.mark.usefixtures("apart"), pytest.mark.on_cpu]


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


def test_gradients_of_another_device_are_refused():
    x = torch.ones(2, device="apart", requires_grad=True)
    with pytest.raises(
        RuntimeError, match=r"grad_output\[0\] lies on cpu and output\[0\] on apart:0"
    ):
        (x * 2).backward(torch.ones(2))
    (given,) = torch.autograd.grad((x * 2).sum(), x, torch.tensor(3.0))  # no dimension: goes along
    assert given.device == x.device and given.tolist() == [6, 6]
    with pytest.raises(RuntimeError, match="assigned grad has data located on a different device"):
        x.grad = torch.ones(2)
    x.grad = torch.ones(2, device="apart")
    x.grad = None


def test_names_of_types_say_where_a_tensor_lies(apart):
    x = torch.ones(2, device="apart")
    assert x.type() == "torch.apart.FloatTensor" and x.cpu().type() == "torch.FloatTensor"
    assert x.type(x.type()).device == torch.device(apart)
    assert x.cpu().type("torch.apart.LongTensor").type() == "torch.apart.LongTensor"
    assert x.type("torch.HalfTensor").is_cpu and x.type(torch.int64).device == x.device
    for name in ("torch.none.FloatTensor", "torch.Float", "FloatTensor.torch", "numpy.FloatTensor"):
        with pytest.raises(ValueError, match=f"invalid type: '{name}'"):
            x.type(name)


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
    whole = torch.func.grad(lambda a: a.sum())(y)
    assert whole.device == torch.device(apart) and whole.tolist() == [1, 1]

    def placed(a):
        assert a.device == torch.device(apart)
        more = torch.ones(2, device=a.device) + torch.zeros_like(a)
        return torch.where(a > 1.5, a, more * 0)

    for result in (
        torch.func.vmap(placed)(torch.stack([y, y]))[0], torch.func.jacrev(placed)(y).sum(0) * 2,
        torch.func.grad(lambda a: (placed(a) ** 2).sum())(y) / 2,
        torch.func.jvp(placed, (y,), (y,))[1],
    ):  # fmt: skip
        assert result.device == torch.device(apart) and result.tolist() == [0, 2]
    checked = y.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda a: (a.sin(), a.sum()), (checked,))
    compiled = torch.compile(lambda a: (a * 2 + 1).relu())
    for _ in range(3):
        assert compiled(y).tolist() == [3, 5] and compiled(y).device == torch.device(apart)
    assert compiled(y.cpu()).is_cpu
    model = nn.Linear(2, 3, device="apart")
    quick = torch.compile(model)
    for _ in range(3):
        (quick(y) - model(y)).abs().max().backward()
        assert quick(y).device == torch.device(apart) and quick(y).tolist() == model(y).tolist()


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
    with pytest.raises(TypeError, match=r"nn\.Module\.to only accepts floating point"):
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


def test_numbers_that_numpy_draws_lie_where_their_parameters_do():
    rates = torch.full((3,), 4.0, device="apart")
    for drawn in (torch.poisson(rates), torch.binomial(rates, rates / 8)):
        assert drawn.device == rates.device and drawn.dtype == rates.dtype
        assert bool(((drawn >= 0) & (drawn == drawn.round())).all())
    binomial = torch.distributions.Binomial(5, rates / 8)
    assert bool(binomial.support.check(binomial.sample((4,))).all())
