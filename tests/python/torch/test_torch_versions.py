"""composit.torch's version counters: writing over what an operation saved is PyTorch's error, and
only that."""

import ast
import re

import pytest
import torch as peer
from torch_conformance import names
from torch_conformance.arrays import ARRAYS
from torch_conformance.compare import _flat, examples

import composit.torch as torch

VIEWS = "AsStrided|Permute|Select"  # PyTorch calls views of what was written another name
MESSAGE = "has been modified by an inplace operation"

_calls = {}
for _example in examples():
    if _example.space in ("nn", "optim", "Tensor") or not names.has(_example.space, _example.name):
        continue
    _node = ast.parse(_example.text.strip(), mode="eval").body
    if isinstance(_node, ast.Call) and isinstance(_node.func, ast.Name):
        _calls.setdefault(_example.path, []).append((_example, _node))


def tensors_of(library, value):
    if isinstance(value, library.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in tensors_of(library, item)]
    return []


def fresh(library, value, is_recorded):
    """Copies that are no leaves, so that they can be written."""
    if isinstance(value, library.Tensor):
        made = value.detach().clone()
        if is_recorded and (made.dtype.is_floating_point or made.dtype.is_complex):
            made = made.requires_grad_() * 1
        return made
    if isinstance(value, (tuple, list)):
        return type(value)(fresh(library, item, is_recorded) for item in value)
    return value


def outcome(library, example, node, recorded, target):
    """Whether backward() complains after the target was written: an argument's number, or
    of a result the number below zero."""
    scope = {name: library.tensor(array) for name, array in ARRAYS.items()
             if name in example.text}  # fmt: skip
    scope["t"] = library

    def value(part):
        return eval(compile(ast.Expression(part), "example", "eval"), dict(scope))

    args = [value(part) for part in node.args if not isinstance(part, ast.Starred)]
    if len(args) != len(node.args):
        return None
    options = {option.arg: value(option.value) for option in node.keywords}
    args = [fresh(library, x, recorded is None or i == recorded) for i, x in enumerate(args)]
    function = library
    for part in [*filter(None, example.space.split(".")), example.name]:
        function = getattr(function, part)
    results = _flat(function(*args, **options))
    total = 0
    for result in results:
        if getattr(result, "requires_grad", False):
            total = total + (library.view_as_real(result) if result.is_complex() else result).sum()
    if isinstance(total, int):
        return None
    if -target > len(results):
        return None
    written = tensors_of(library, results[-1 - target] if target < 0 else args[target])
    with library.no_grad():
        for x in written:
            x.logical_not_() if x.dtype == library.bool else x.add_(0)
    try:
        total.backward()
    except RuntimeError as error:
        if MESSAGE in str(error):
            return True
        raise
    return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", _calls)
def test_what_was_saved_must_not_be_written(path):
    for example, node in _calls[path]:
        places = range(len(node.args))
        for recorded in (None, *places):
            for target in (*places, -1, -2):
                try:
                    theirs = outcome(peer, example, node, recorded, target)
                except (RuntimeError, NotImplementedError, TypeError):
                    continue  # PyTorch has no gradient there
                if theirs is None:
                    continue
                mine = outcome(torch, example, node, recorded, target)
                case = f"{example.text}: recorded {recorded}, written {target}"
                assert theirs or not mine, f"{case}: an error that PyTorch does not raise"
                assert mine or not theirs, f"{case}: no error, which PyTorch raises"


def in_both(function):
    """What the function returns, or the start of what it raises, is the same in both libraries."""
    texts = []
    for library in (torch, peer):
        try:
            texts.append(repr(function(library)))
        except RuntimeError as error:
            said = str(error).split(" Hint: ")[0]
            texts.append(re.sub(f", which is output 0 of ({VIEWS}),", "", said))
    assert texts[0] == texts[1]
    return texts[0]


def test_the_error_says_what_pytorch_says():
    def result(t):
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        y.add_(1)
        y.sum().backward()

    def operand(t):
        x = t.tensor([[1.0], [2.0]], requires_grad=True)
        w = t.tensor([3.0])
        y = x * w
        w += 1
        w[0] = 2
        y.sum().backward()

    assert "Exp, is at version 1; expected version 0 instead" in in_both(result)
    assert "[torch.FloatTensor [1]] is at version 2; expected" in in_both(operand)


@pytest.mark.parametrize("write", [
    lambda x: x.add_(1), lambda x: x[0].mul_(2), lambda x: x.view(-1).zero_(),
    lambda x: x.detach().fill_(3), lambda x: x.data.fill_(3), lambda x: x.T.copy_(x.T.clone()),
    lambda x: x.__setitem__(0, 5), lambda x: x.detach()[0].sub_(1), lambda x: x[0].data.add_(1),
])  # fmt: skip
@pytest.mark.parametrize("saved", [
    lambda x: x * x, lambda x: x.exp(), lambda x: x[0] * x[1], lambda x: x.T.log(),
    lambda x: x + 1, lambda x: x.sum() * 2, lambda x: x.detach() * x, lambda x: x.sigmoid().mul(3),
])  # fmt: skip
def test_writes_are_counted_through_views(saved, write):
    def values(t):
        leaf = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        x = leaf * 2
        y = saved(x)
        with t.no_grad():
            write(x)
        version = x._version
        del x
        y.sum().backward()
        return version, leaf.grad is not None

    in_both(values)


@pytest.mark.parametrize("change", [
    lambda x, y: x.mul_(y), lambda x, y: x.exp_(), lambda x, y: x.exp_().add_(1),
    lambda x, y: x.mul_(y).mul_(y), lambda x, y: x.mul_(3).exp(), lambda x, y: x.sigmoid_().mul_(y),
    lambda x, y: x.div_(y).relu_(), lambda x, y: x.relu_().relu_(), lambda x, y: x.exp_().mul(y),
    lambda x, y: x.pow_(2).clamp_(0, 9), lambda x, y: x.copy_(y).tanh_(), lambda x, y: x.zero_(),
    lambda x, y: x.addcmul_(y, y).sqrt_().mul_(y), lambda x, y: (x * y, y.mul_(x))[0],
])  # fmt: skip
def test_in_place_operations_on_what_they_save(change):
    def values(t):
        a = t.tensor([1.0, 2.0], requires_grad=True)
        b = t.tensor([3.0, 0.5], requires_grad=True)
        x, y = a * 2, b * 2
        z = change(x, y)
        versions = x._version, y._version
        z.sum().backward()
        return versions, a.grad, b.grad

    in_both(values)


def _losses(t, x):
    weight = t.ones(4)
    loss = t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2]), weight=weight)
    weight.add_(0)
    return loss


def _with_indices(t, x):
    result, indices = t.nn.functional.max_pool1d(x, 2, return_indices=True)
    indices.add_(0)
    return result


def _along(t, x):
    result, indices = x.max(dim=1)
    indices.add_(0)
    return result


def _written(result, x=None):
    (result if x is None else x).add_(0)
    return result


@pytest.mark.parametrize("change", [
    _losses, _with_indices, _along, lambda t, x: _written(x.min()), lambda t, x: _written(2**x),
    lambda t, x: _written(x**2, x), lambda t, x: _written(x**x, x), lambda t, x: _written(x**2),
    lambda t, x: _written(t.max(x, x + 1), x), lambda t, x: x.clone().max(),
    lambda t, x: _written(t.nn.functional.elu(x, inplace=True)),
    lambda t, x: t.nn.functional.elu(x, inplace=True),
    lambda t, x: _written(t.nn.functional.pad(x, (1, 1), "replicate"), x),
    lambda t, x: _written(t.nn.functional.pad(x, (1, 1)), x),
    lambda t, x: _written(t.linalg.matrix_norm(x, ord="nuc"), x),
    lambda t, x: _written(t.fft.fft(x).real, x), lambda t, x: _written(t.fft.fft(x + 0j).real, x),
])  # fmt: skip
def test_what_is_saved_depends_on_what_is_given(change):
    def values(t):
        leaf = t.ones(3, 4, requires_grad=True)
        result = change(t, leaf * 1).sum()
        try:
            result.backward()
        except RuntimeError as error:
            assert MESSAGE in str(error)
            return "refused"

    in_both(values)


def test_an_optimisers_step_before_backward():
    def values(t):
        w = t.tensor([[1.0, 2.0]], requires_grad=True)
        optimizer = t.optim.SGD([w], 0.1)
        hidden = w @ t.tensor([[1.0], [2.0]])
        loss = (hidden * w).sum()
        loss.backward(retain_graph=True)
        optimizer.step()
        loss.backward()

    assert "modified by an inplace operation" in in_both(values)


def test_only_what_gradients_go_through_counts():
    def values(t):
        x, y = (t.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        e = x.exp()
        z = e.sum() + y.sin().sum()
        with t.no_grad():
            e.add_(1)
        (g,) = t.autograd.grad(z, y, retain_graph=True)
        z.backward(inputs=[y], retain_graph=True)
        z.backward()
        return g

    assert "modified" in in_both(values)


def test_a_functions_saved_tensors():
    def values(t):
        class Square(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x

            @staticmethod
            def backward(ctx, g):
                return 2 * ctx.saved_tensors[0] * g

        leaf = t.tensor([1.0, 2.0], requires_grad=True)
        x = leaf * 1
        y = Square.apply(x)
        x.add_(1)
        y.sum().backward()

    assert "modified by an inplace operation" in in_both(values)


def test_loops_that_write_nothing_saved_go_on_without_nodes():
    """Version counters cost known steps nothing: they make no nodes."""
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.ones(2, 3)
    for i in range(6):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        if i > 3:
            assert "_lazy" not in loss.__dict__
        optimizer.step()
