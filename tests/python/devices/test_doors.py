"""Models of other doors on a device: flashlight's, composit.nn's training, composit.cg's."""

import numpy as np
import pytest
import torch

import composit
import composit.numpy as cnp
from composit import cg, flashlight, nn
from composit.cg import op


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.GELU(),
        torch.nn.Flatten(), torch.nn.Linear(100, 3),
    ).eval()  # fmt: skip


def test_a_traced_model(device):
    model, images = network(), torch.randn(2, 1, 5, 5)
    traced = flashlight.trace(model, images)
    there = traced.to(device)
    assert traced.device == "cpu" and there.device == device
    assert all(leaf.device == device for leaf in there.parameters.values())
    expected = traced(images)
    found = there(images)
    assert isinstance(found, np.ndarray) and found.tobytes() == expected.tobytes()
    lazy = there(cnp.asarray(images.numpy(), device=device))
    assert lazy.device == device and np.asarray(lazy).tobytes() == expected.tobytes()
    compiled = there.compile()
    (result,) = compiled(images.numpy())
    assert result.device == device and np.asarray(result).tobytes() == expected.tobytes()
    with torch.no_grad():
        model[4].weight *= 2
    assert there(images).tobytes() == traced(images).tobytes() != expected.tobytes()
    with pytest.raises(ValueError, match="device: there is no 'tpu'"):
        traced.to("tpu")


def test_training_with_nn(device):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(16, 5)).astype("float32"), rng.integers(0, 3, 16)
    first = [rng.normal(size=s).astype("float32") for s in ((5, 8), (8,), (8, 3))]
    weights = []
    for where in ("cpu", device):
        with composit.device(where):
            images, labels = cnp.asarray(x), cnp.asarray(y)
            w = [cnp.asarray(value) for value in first]
            optimizer = nn.sgd_optimizer(0.01)
            for _ in range(3):
                hidden = nn.gelu(images @ w[0] + w[1])
                loss = nn.cross_entropy(hidden @ w[2], labels)
                w = nn.optimize(w, nn.chain_rule({loss: loss}, w), optimizer)
            assert all(value.device == where for value in w)
        weights.append([np.asarray(value).tobytes() for value in w])
    assert weights[0] == weights[1]


def test_a_module_of_cg(device):
    class Model(cg.Module):
        def __init__(self):
            super().__init__(inputs=(cg.Variable("x"),), params=(cg.Parameter("w", 1.5),))

        def call(self, x):
            return op.mult(op.add(x, self.param("w")), op.square(x))

    model, values = Model(), np.linspace(-1, 1, 6)
    results = []
    for where in ("cpu", device):
        result = model(cnp.asarray(values, device=where))
        result.back()
        slopes = result.grad(model.input("x")), result.grad(model.param("w"))
        results.append([np.asarray(v).tobytes() for v in (result.value, *slopes)])
    assert results[0] == results[1]
