"""Training by hand and loops that look, in PyTorch's API: each takes the module that is torch, and
returns what a call of it does."""


def _network(torch):
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    for i, p in enumerate(network.parameters()):
        with torch.no_grad():
            p.copy_(torch.sin(torch.arange(float(p.numel())) + i).reshape(p.shape) * 0.5)
    x = torch.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    return network, x, torch.tensor([[0.0], [1], [1], [0]])


def by_hand(update, looks):
    """Ten steps of gradient descent that `update(torch, parameter)` makes."""

    def prepare(torch):
        network, x, y = _network(torch)

        def call():
            for _ in range(10):
                for p in network.parameters():
                    p.grad = None
                loss = ((network(x) - y) ** 2).mean()
                loss.backward()
                for p in network.parameters():
                    update(torch, p)
                if looks:
                    loss.item()
            return loss.detach().numpy()

        return call

    return prepare


def _by_data(torch, p):
    p.data.add_(p.grad, alpha=-0.001)


def _by_no_grad(torch, p):
    with torch.no_grad():
        p -= 0.001 * p.grad


def _by_copy(torch, p):
    with torch.no_grad():
        p.copy_(p - 0.001 * p.grad)


def _by_detach(torch, p):
    p.detach().sub_(0.001 * p.grad)


def recurrent(torch):
    w = torch.sin(torch.arange(64.0)).reshape(8, 8) * 0.3

    def call():
        h, total = torch.zeros(1, 8), 0.0
        for _ in range(20):
            h = torch.tanh(h @ w + 0.1)
            total += h.sum().item()
        return total

    return call


def adaptive(torch):
    """Heun's steps, whose length a look decides."""
    a = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])

    def call():
        y, time, step = torch.tensor([1.0, 0.0]), 0.0, 0.1
        while time < 2:
            k = a @ y
            more = a @ (y + step * k)
            error = step * (more - k).abs().max().item()
            if error < 0.1:
                y, time = y + step * (k + more) / 2, time + step
            step = min(0.2, step * min(2.0, max(0.5, 0.9 * (0.1 / (error + 1e-9)) ** 0.5)))
        return y.numpy()

    return call


def by_batches(batches):
    """An epoch of Adam over what `batches(torch, x, y)` gives."""

    def prepare(torch):
        network = torch.nn.Sequential(
            torch.nn.Linear(20, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
        )
        for i, p in enumerate(network.parameters()):
            p.data = torch.sin(torch.arange(p.numel()) + i).reshape(p.shape) * 0.1
        optimizer = torch.optim.Adam(network.parameters(), 1e-3)
        x = torch.sin(torch.arange(10_000.0)).reshape(500, 20)
        y = (torch.arange(500) * 7) % 10

        def call():
            total = 0.0
            for a, b in batches(torch, x, y):
                loss = torch.nn.functional.cross_entropy(network(a), b)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
            return total

        return call

    return prepare


def _slices(torch, x, y):
    return ((x[i : i + 10], y[i : i + 10]) for i in range(0, 500, 10))


def _order(torch, x, y):
    order = (torch.arange(500) * 7) % 500
    return ((x[order[i : i + 10]], y[order[i : i + 10]]) for i in range(0, 500, 10))


def _loader(torch, x, y):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=10)


PROGRAMS = {
    f"a step by hand, {how}{', with a look' if looks else ''}": by_hand(update, looks)
    for how, update in {
        "data": _by_data, "no_grad": _by_no_grad, "copy_": _by_copy, "detach": _by_detach,
    }.items()
    for looks in (False, True)
}  # fmt: skip
PROGRAMS |= {
    f"an epoch of batches, {how}": by_batches(batches)
    for how, batches in {"slices": _slices, "in order": _order, "loader": _loader}.items()
}
PROGRAMS |= {"a recurrent loop with a look a step": recurrent, "adaptive steps": adaptive}
