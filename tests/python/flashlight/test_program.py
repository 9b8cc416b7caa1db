"""flashlight.trace: models as functions of arrays, compiled, exported and differentiated."""

import subprocess

import numpy as np
import pytest
import torch

import composit
from composit import flashlight


class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)

    def forward(self, x, scale=1.0, more=None):
        hidden = torch.relu(self.first(x)) * scale
        if more is not None:
            hidden = hidden + more["bias"]
        return {"hidden": hidden, "outputs": (self.second(hidden), None)}


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Two()


def close(value, right):
    np.testing.assert_allclose(value, right.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_a_call_has_the_models_structure(model):
    traced = flashlight.trace(model, torch.rand(2, 4), more={"bias": torch.rand(8)})
    x, bias = torch.rand(2, 4), torch.rand(8)
    expected = model(x, more={"bias": bias})
    for give in (lambda t: t, lambda t: t.numpy()):
        result = traced(give(x), more={"bias": give(bias)})
        assert list(result) == ["hidden", "outputs"]
        assert isinstance(result["outputs"], tuple) and result["outputs"][1] is None
        close(result["hidden"], expected["hidden"])
        close(result["outputs"][0], expected["outputs"][0])


def test_lazy_arguments_make_lazy_results(model):
    traced = flashlight.trace(model, torch.rand(2, 4))
    x = composit.numpy.ones((2, 4), dtype="float32")
    result = traced(x * 2)["hidden"]
    assert isinstance(result, composit.LazyTensor)
    close(composit.evaluate(result), model(torch.full((2, 4), 2.0))["hidden"])


def test_weights_that_torch_writes_are_seen(model):
    x = torch.rand(2, 4)
    traced = flashlight.trace(model, x)
    close(traced(x)["hidden"], model(x)["hidden"])
    with torch.no_grad():
        model.first.weight.mul_(-2)
    close(traced(x)["hidden"], model(x)["hidden"])
    close(traced(x)["outputs"][0], model(x)["outputs"][0])


def test_names_graph_and_outputs(model):
    traced = flashlight.trace(model, torch.rand(2, 4))
    assert sorted(traced.parameters) == [
        "first.bias", "first.weight", "second.bias", "second.weight",
    ]  # fmt: skip
    assert [tuple(x.shape) for x in traced.outputs] == [(2, 8), (2, 3)]
    assert {"input_0", "first.weight"} <= {node.name for node in traced.graph}
    assert "TracedModel(Two" in repr(traced)


def test_compiled_and_exported(model, tmp_path):
    x = torch.rand(2, 4)
    traced = flashlight.trace(model, x)
    compiled = traced.compile()
    hidden, logits = compiled(x.numpy())
    close(hidden, model(x)["hidden"])
    close(logits, model(x)["outputs"][0])
    assert np.array_equal(hidden, traced(x)["hidden"])  # to the bit
    files = traced.export(tmp_path / "two")
    assert "Two.cpp" in files
    sources = [str(tmp_path / "two" / name) for name in files if name.endswith(".cpp")]
    text = (tmp_path / "two" / "Two.cpp").read_text()
    assert "// first\n" in text and "// second\n" in text  # kernels stand below their modules
    command = ["c++", "-std=c++17", "-fsyntax-only", "-I", str(tmp_path / "two"), *sources]
    assert subprocess.run(command).returncode == 0


def test_a_pure_function_of_weights(model):
    x = torch.rand(2, 4)
    traced = flashlight.trace(model, x)

    def loss(weight):
        return composit.sum(traced.apply({"first.weight": weight}, x)["outputs"][0] ** 2)

    weight = model.first.weight.detach().numpy()
    gradient = composit.evaluate(composit.grad(loss)(weight))
    (model(x)["outputs"][0] ** 2).sum().backward()
    close(gradient, model.first.weight.grad)


def test_mistakes(model):
    traced = flashlight.trace(model, torch.rand(2, 4))
    with pytest.raises(
        ValueError, match=r"input_0 is float32\[3, 4\].*traced with float32\[2, 4\]"
    ):
        traced(torch.rand(3, 4))
    with pytest.raises(TypeError, match="2 arrays"):
        traced(torch.rand(2, 4), torch.rand(2))
    with pytest.raises(KeyError, match="third"):
        traced.apply({"third": np.ones(3)}, torch.rand(2, 4))


def test_functions_are_traced_too_and_may_write_their_inputs():
    def function(x, y):
        x += y
        return x, [y]

    traced = flashlight.trace(function, torch.zeros(3), torch.ones(3))
    a, b = torch.rand(3), torch.rand(3)
    total, (same,) = traced(a, b)
    close(total, a + b)
    close(same, b)


def test_outputs_of_transformers_keep_their_class():
    from transformers import BertConfig, BertModel
    from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

    config = BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        vocab_size=50,
    )  # fmt: skip
    model = BertModel(config).eval()
    ids = torch.randint(0, 50, (2, 5))
    traced = flashlight.trace(model, ids)
    output = traced(torch.flip(ids, (1,)))
    assert isinstance(output, BaseModelOutputWithPoolingAndCrossAttentions)
    close(output.pooler_output, model(torch.flip(ids, (1,))).pooler_output)
    assert "encoder.layer.0.attention.self.query.weight" in traced.parameters
