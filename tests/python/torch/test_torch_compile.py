"""torch.compile: captured functions give the bits of functions that run as they are, are captured
anew when what they read changes, and fall back or refuse where they are no graph."""

import functools
import math
import sys
import warnings

import numpy as np
import pytest

import composit.torch as torch
from composit.torch import nn
from composit.torch.compiler import Unsupported


def bits(value):
    if isinstance(value, torch.Tensor):
        return value.detach().numpy().tobytes(), str(value.dtype), tuple(value.shape)
    if isinstance(value, (list, tuple)):
        return [bits(item) for item in value]
    return value


SCALE = 3.0


def scaled(x):
    return x * SCALE


FUNCTIONS = {
    "several": lambda x, y: (x @ y.T, (x + y).softmax(1), {"mean": x.mean()}["mean"]),
    "options": lambda x, y, n=2, mode="sum": (x**n, getattr(y, mode)() if mode else None),
    "views": lambda x, y: (x[:, 1:] * y[:, :-1]).transpose(0, 1).reshape(-1),
    "arguments given back": lambda x, y: (x, y.exp(), 7, None),
    "detached": lambda x, y: ((x * y.detach()).tanh(), y.detach() * 2),
    "without gradients": lambda x, y: without(x, y),
    "closures and globals": lambda x, y: scaled(x) - math.pi * y,
    "of modules": lambda x, y: nn.functional.layer_norm(x, (4,)) + nn.functional.gelu(y),
    "second use": lambda x, y: (lambda h: (h.exp() * h, h.argmax(1)))(x.sin() + y),
    "constants": lambda x, y: x + torch.ones(4) * torch.arange(4),
}


def without(x, y):
    with torch.no_grad():
        h = x * y
    return h * x, h


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("needs", [(False, False), (True, False), (True, True)])
def test_the_bits_are_those_of_the_function(name, needs):
    function = FUNCTIONS[name]
    compiled = torch.compile(function, fullgraph=True)
    generator = np.random.default_rng(0)
    for size in (3, 5, 3):
        for _ in range(3):
            data = [generator.normal(size=(size, 4)).astype("float32") for _ in needs]
            outcomes = []
            for each in (function, compiled):
                x, y = (torch.tensor(a, requires_grad=b) for a, b in zip(data, needs))
                results = each(x, y)
                flat = results if isinstance(results, tuple) else (results,)
                kinds = [getattr(r, "requires_grad", None) for r in flat]
                total = sum(r.sum() for r, kind in zip(flat, kinds) if kind)
                if any(needs) and not isinstance(total, int):
                    total.backward()
                outcomes.append([bits(results), kinds, bits(x.grad), bits(y.grad)])
            assert outcomes[0] == outcomes[1]
    assert len(compiled._compiled.graphs) == 2


def test_the_function_is_called_once_for_each_kind_of_arguments():
    calls = []

    @torch.compile(fullgraph=True)
    def square(x, power=2):
        calls.append(power)
        return x**power

    # A list that grows is watched: the function is no graph.
    with pytest.raises(Unsupported, match="changes what it reads"):
        square(torch.ones(3))
    counted = Counter()
    square = torch.compile(lambda x, power=2: counted.seen(x) ** power)
    layer = Layer()
    captured = torch.compile(layer, fullgraph=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for shape in ((3,), (2, 3)):
            for power in (2, 3):
                for _ in range(4):
                    assert (captured(torch.ones(shape) * 2, power) == 2.0**power).all()
    assert len(said) == 4
    Layer.one = 2
    assert captured(torch.ones(3), 2).tolist() == [2.0] * 3
    Layer.one = 1
    for shape in ((3,), (2, 3)):
        for power in (2, 3):
            for _ in range(4):
                assert (square(torch.ones(shape) * 2, power) == 2.0**power).all()
    assert counted.count == 16  # an object that cannot be watched: it runs as it is


class Layer(nn.Module):
    one = 1

    @property
    def factor(self):
        return self.one

    def forward(self, x, power):
        warnings.warn("called", stacklevel=1)
        return x**power * self.factor


class Counter:
    def __init__(self):
        self.count = 0

    def seen(self, x):
        self.count += 1
        return x


@pytest.mark.parametrize("make", [
    lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)),
    lambda: nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1)),
    lambda: nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1)),
    lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True),
])  # fmt: skip
@pytest.mark.parametrize("wrap", [
    lambda model, step: (torch.compile(model), step),
    lambda model, step: (model, torch.compile(step)),
    lambda model, step: (torch.compile(model, mode="max-autotune", dynamic=True), step),
])  # fmt: skip
def test_training_has_the_same_bits(make, wrap):
    def train(change):
        torch.manual_seed(0)
        model = make()

        def step(model, optimizer, x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.item()

        model, step = change(model, step)
        optimizer = torch.optim.Adam(model.parameters(), 0.05)
        losses = [step(model, optimizer, torch.randn(5, 1, 4).squeeze(1)) for _ in range(6)]
        model.eval()
        return losses, bits(model(torch.ones(2, 4))), [bits(p) for p in model.parameters()]

    assert train(wrap) == train(lambda model, step: (model, step))


def test_what_is_read_is_watched():
    global SCALE
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    factor = torch.tensor(2.0)
    options = {"power": 2}

    def function(x):
        return scaled(model(x)) * factor ** options["power"]

    compiled = torch.compile(function)
    x = torch.ones(3, 2)

    def same():
        torch.manual_seed(1)
        expected = function(x)
        torch.manual_seed(1)
        return bits(compiled(x)) == bits(expected)

    model.eval()
    assert same() and same()
    assert compiled._compiled.graphs
    model[0].weight = nn.Parameter(torch.ones(2, 2))
    assert same()
    with torch.no_grad():
        model[0].bias.fill_(5)
    assert same()
    SCALE = 4.0
    assert same()
    SCALE = 3.0
    options["power"] = 3
    assert same()
    factor = torch.tensor(7.0)
    assert same()
    model.train()
    assert same() and same()
    model.eval()
    model[0].register_forward_hook(lambda m, a, r: r * 2)
    assert same()


REFUSED = {
    "values": (lambda x: x * 2 if x.sum() > 0 else x, "asks for values"),
    "item": (lambda x: x * x.max().item(), "asks for values"),
    "loops": (lambda x: loops(x), "asks for values"),
    "shapes of values": (lambda x: x[x > 0], "needs values"),
    "drawing": (lambda x: x + torch.rand(3), "asks for values|draws random numbers"),
    "writing": (lambda x: (x * 2).add_(1), "writes into tensors"),
    "gradients": (lambda x: torch.autograd.grad((x * x).sum(), x)[0], "takes gradients"),
    "a view of an argument": (lambda x: x[1:], "view of what is given"),
    "errors": (lambda x: x @ torch.ones(7, 7), "RuntimeError"),
    "numpy's draws": (lambda x: x * np.random.rand(1)[0] * 0, "draws by numpy"),
    "other modules": (lambda x: x * sys.maxsize, "reads the module sys"),
    "disabled": (lambda x: disabled(x), "not to be compiled"),
}


def loops(x):
    while x.abs().sum() < 100:
        x = x * 2
    return x


@torch.compiler.disable
def disabled(x):
    return x + 1


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_graph_falls_back_or_refuses(name):
    function, why = REFUSED[name]
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=name == "gradients")

    def outcome(function):
        torch.manual_seed(3)
        try:
            return bits(function(x))
        except RuntimeError as error:
            return str(error).split(" [")[0]

    assert outcome(torch.compile(function)) == outcome(function)
    assert outcome(torch.compile(function)) == outcome(function)
    with pytest.raises(Unsupported, match=why):
        torch.compile(function, fullgraph=True)(x)
    assert bits(x * 2) == bits(x.detach() + x.detach())


def test_nothing_happens_while_it_is_captured():
    state = torch.zeros(3)

    @torch.compile
    def counts(x):
        state.add_(x)
        return state * 2

    assert [counts(torch.ones(3)).tolist() for _ in range(3)] == [[2.0] * 3, [4.0] * 3, [6.0] * 3]


def test_captured_ones_within_captured_ones_and_within_func():
    inner = torch.compile(lambda x: x.sin() * 2)
    outer = torch.compile(lambda x: inner(x).sum(), fullgraph=True)
    x = torch.tensor([1.0, 2.0])
    assert bits(outer(x)) == bits((x.sin() * 2).sum())
    expected = (x.cos() * 2).numpy()
    np.testing.assert_allclose(torch.func.grad(outer)(x).numpy(), expected, rtol=1e-6)


def test_modules_are_found_through_the_captured_one():
    model = nn.Sequential(nn.Linear(2, 3))
    compiled = torch.compile(model)
    assert [name for name, _ in compiled.named_parameters()] == [
        "_orig_mod.0.weight", "_orig_mod.0.bias"]  # fmt: skip
    assert not compiled.eval().training and not model.training
    torch.compiler.reset()
    assert torch.compile(model, disable=True) is model
    assert not torch.compiler.is_compiling()
    with pytest.raises(TypeError, match="is no function"):
        torch.compile(3)


class Scaling:
    scale = 2.0

    def __init__(self, x):
        self.y = x * Scaling.scale


def test_classes_within_partial_are_watched_too():
    made = functools.partial(Scaling)
    x = torch.ones(2)
    compiled = torch.compile(lambda x: made(x).y)
    for scale in (2.0, 3.0):
        Scaling.scale = scale
        assert compiled(x).tolist() == [scale, scale]


def test_each_thing_that_is_watched_is_noticed():
    module, numbers, table = nn.Linear(2, 2), [1.0, 2.0], {"a": 1.0}
    factor = 1.0

    def function(x):
        return module(x) * numbers[0] + sum(numbers) * table["a"] * factor * SCALE

    x, compiled = torch.ones(2), torch.compile(function)

    def check():
        assert bits(compiled(x)) == bits(function(x))
        assert bits(compiled(x)) == bits(function(x))

    check()
    numbers.append(4.0)
    check()
    numbers[1] = 7.0
    check()
    table["a"] = 5.0
    check()
    table["b"] = 5.0
    check()
    factor = 3.0
    check()
    module.weight = nn.Parameter(torch.zeros(2, 2))
    check()
    module.bias.requires_grad_(False)
    check()


def test_arguments_and_results_nested_without_end_are_refused():
    named, listed, deep = {}, [], ()
    named["a"] = named
    listed.append(listed)
    for _ in range(200_000):
        deep = (deep,)
    same = torch.compile(lambda x: x)
    for value in (named, listed, deep):
        with pytest.raises(RecursionError):
            same(value)


def test_results_nested_without_end_are_no_graph():
    def function(x):
        made = [x * 2]
        made.append(made)
        return made

    first, itself = torch.compile(function)(torch.ones(2))  # runs as it is
    assert first.tolist() == [2.0, 2.0] and itself[1] is itself
    with pytest.raises(Unsupported, match="RecursionError"):
        torch.compile(function, fullgraph=True)(torch.ones(2))
