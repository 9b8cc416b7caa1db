"""Every module with parameters that has an example call, trained for 20 steps beside PyTorch's from
the same weights: losses step by step, and the weights after."""

import re

import numpy as np
import pytest
import torch as peer
from torch_conformance import names
from torch_conformance.arrays import ARRAYS
from torch_conformance.compare import _NAME, _flat, examples

import composit.torch as torch


def parted(text):
    """The text that makes the module, and the text that calls it."""
    depth, end = 1, re.match(r"\w+\(", text).end()
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return text[:end], text[end:]


def trained(t, example, state):
    scope = {name: t.tensor(ARRAYS[name].astype(np.float64) if ARRAYS[name].dtype.kind == "f"
                            else ARRAYS[name])
             for name in set(_NAME.findall(example.text)) & set(ARRAYS)}  # fmt: skip
    scope["t"] = t
    making, call = parted(example.text)
    module = eval(f"t.nn.{making}", scope).double()
    scope["module"] = module
    if example.name.startswith("Lazy"):
        module.eval()
        eval(f"module{call}", scope)
        module.double().train()
    if state:
        module.load_state_dict({name: t.tensor(value) for name, value in state.items()})
    else:
        state.update({name: x.numpy().copy() for name, x in module.state_dict().items()})
    if not list(module.parameters()):
        return None
    optimizer = t.optim.SGD(module.parameters(), 0.01, momentum=0.9)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        results = [x for x in _flat(eval(f"module{call}", scope)) if isinstance(x, t.Tensor)]
        loss = sum((x * x).mean() for x in results if x.requires_grad)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: x.numpy() for name, x in module.state_dict().items()}


CHOSEN = [
    example for example in examples()
    if example.space == "nn" and names.has("nn", example.name) and ".shape" not in example.text
]  # fmt: skip


@pytest.mark.parametrize("options", [{"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {}])
def test_gradients_that_are_equal_are_not_one(options):
    """Of a sum of two parameters, as the two biases of a recurrent layer are."""

    def steps(t):
        a, b = (t.nn.Parameter(t.tensor([value])) for value in (1.0, 2.0))
        optimizer = t.optim.SGD([a, b], 0.125, **options)
        found = []
        for i in range(6):
            optimizer.zero_grad(set_to_none=i % 3 != 0)
            ((a + b) ** 2).sum().backward()
            if i == 2:
                a.grad.add_(1)
            found.append([x.item() for x in (a.grad, b.grad)])
            optimizer.step()
            a.grad.mul_(5)  # the state has memory of its own
            found.append([x.item() for x in (a, b)])
        return found

    np.testing.assert_allclose(steps(torch), steps(peer), rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", CHOSEN, ids=lambda example: example.text)
def test_twenty_steps_are_pytorchs(example):
    state = {}
    theirs = trained(peer, example, state)
    if theirs is None:
        assert trained(torch, example, state) is None
        return
    losses, after = trained(torch, example, state)
    np.testing.assert_allclose(losses, theirs[0], rtol=1e-7, atol=1e-12)
    assert list(after) == list(theirs[1])
    for name, value in theirs[1].items():
        np.testing.assert_allclose(after[name], value, rtol=1e-6, atol=1e-9, err_msg=name)
