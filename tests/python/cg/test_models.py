"""Modules to start from, beside torch; training; and the examples on real digits."""

import re

import numpy as np
import pytest

import composit
from composit import cg, nn
from composit.cg import models
from composit.cg.models.fcn import Linear
from composit.examples.cg import __main__ as examples
from composit.examples.cg.tasks import TASKS
from composit.examples.digits import data


def test_linear():
    random = np.random.RandomState(0)
    x, w, b = random.standard_normal((4, 3)), random.standard_normal((3, 2)), np.ones(2)
    layer = Linear(w, b)
    assert (layer.input_dim, layer.output_dim) == (3, 2)
    result = layer(x)
    assert np.allclose(result.value, x @ w + b)
    result.back()
    assert result.grad(layer.param("W")).shape == (4, 2, 3, 2)
    assert np.array_equal(result.grad(layer.param("b")), np.broadcast_to(np.eye(2), (4, 2, 2)))
    assert np.array_equal(result.grad(layer.param("W")), np.einsum("in,pq->ipnq", x, np.eye(2)))
    with pytest.raises(ValueError, match=r"Linear: weights of shape \(3, 2\) and a bias of shape"):
        Linear(w, np.ones(3))
    with pytest.raises(ValueError, match=r"Linear: input 'X' has shape \(2,\)"):
        layer(np.ones(2))


def test_lstm_beside_torch():
    import torch

    model = models.Recurrent(inputs=5, width=6, classes=3, seed=2)
    x = np.random.RandomState(1).standard_normal((4, 7, 5)).astype(np.float32)
    theirs = torch.nn.LSTM(5, 6, batch_first=True)
    w, u, b = (torch.tensor(one.value.T.copy()) for one in model.cell.params)
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(w)
        theirs.weight_hh_l0.copy_(u)
        theirs.bias_ih_l0.copy_(b)
        theirs.bias_hh_l0.zero_()
    weights, bias = (torch.tensor(one.value) for one in model.last.params)
    scores = theirs(torch.tensor(x))[0][:, -1] @ weights + bias
    assert np.allclose(model(x).value, scores.detach().numpy(), atol=1e-6)
    scores.sum().backward()
    values = [one.value for one in model.parameters()]
    gradients = composit.grad(lambda values: model.apply(values, x).sum())(values)
    by_parameter = dict(zip((id(one) for one in model.parameters()), composit.evaluate(*gradients)))
    made = by_parameter[id(model.cell.param("U"))]
    assert np.allclose(made.T, theirs.weight_hh_l0.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_attention_beside_torch():
    import torch

    from composit.cg.models.transformer import Attention

    random = np.random.RandomState(3)
    ours = Attention(random, 8, 2)
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        parts = [one.param("W").value.T for one in (ours.query, ours.key, ours.value)]
        theirs.in_proj_weight.copy_(torch.tensor(np.concatenate(parts)))
        theirs.in_proj_bias.zero_()
        theirs.out_proj.weight.copy_(torch.tensor(ours.output.param("W").value.T.copy()))
        theirs.out_proj.bias.zero_()
        x = random.standard_normal((3, 5, 8)).astype(np.float32)
        expected = theirs(*[torch.tensor(x)] * 3, need_weights=False)[0].numpy()
    assert np.allclose(ours(x).value, expected, atol=1e-6)


@pytest.mark.parametrize("name", TASKS)
def test_a_call_is_one_graph(name):
    task = TASKS[name]
    model = task.build(8, 8, 0)
    given, _ = task.batch(np.random.RandomState(0).rand(2, 1, 8, 8).astype(np.float32), None)
    result = model(given)
    parameters = model.parameters()
    assert {id(one) for one in parameters} == {
        id(node.ref) for node in cg.get_input_nodes(result.root) if node.ref in parameters
    }
    assert len({id(one) for one in parameters}) == len(parameters)
    assert np.array_equal(result.compile()(given), result.value)
    assert np.array_equal(result.value, composit.evaluate(result.tensor))
    assert np.array_equal(model.apply([p.value for p in parameters], given), result.value)
    cut = cg.Module.build("first", lambda self, x: cg.op.get_item(model(x), index=(0, 0)),
                          cg.Variable("x"))  # fmt: skip
    first = cut(given)
    first.back()
    values = [one.value for one in parameters]
    expected = composit.grad(lambda v: model.apply(v, given)[0, 0])(values)
    for parameter, value in zip(parameters, composit.evaluate(*expected)):
        assert np.allclose(first.grad(parameter), value, rtol=1e-4, atol=1e-6)


def test_training_has_the_same_bits_on_every_back_end():
    x = np.random.RandomState(0).standard_normal((16, 5)).astype(np.float32)
    y = np.arange(16) % 3
    weights = []
    for backend in ("cpp", "interpreter"):
        model = models.FeedForward((5, 7, 3), seed=4)
        training = cg.Training(model, nn.cross_entropy, nn.adam(0.01), backend=backend)
        losses = [training.step(x, y) for _ in range(5)]
        assert losses[-1] < losses[0]
        weights.append([one.value for one in model.parameters()])
    assert all(np.array_equal(a, b) for a, b in zip(*weights))


def test_training_by_hand_is_the_same():
    """back() and assign, step by step, beside Training, by gradient descent."""
    x = np.array([[1.0, 2.0], [3.0, -1.0]])
    y = np.array([[1.0], [-2.0]])
    by_hand, trained = (Linear(np.array([[0.5], [-0.25]]), np.array([0.125])) for _ in range(2))
    mse = cg.Module.build(
        "loss", lambda self, x, y: cg.op.mse(by_hand(x), y), (cg.Variable("x"), cg.Variable("y"))
    )
    training = cg.Training(trained, nn.mse, nn.sgd(0.0625))
    for _ in range(20):
        result = mse(x, y)
        result.back()
        assert training.step(x, y) == pytest.approx(result.value, rel=1e-12)
        for parameter in by_hand.params:
            parameter.assign(parameter.value - 0.0625 * result.grad(parameter))
    for a, b in zip(by_hand.params, trained.params):
        assert np.allclose(a.value, b.value, rtol=1e-12)


def test_bad_training():
    with pytest.raises(TypeError, match=r"Training: 3, of type int, is given. A module is req"):
        cg.Training(3, nn.mse, nn.sgd(0.1))
    empty = cg.Module.build("f", lambda self, x: cg.op.exp(x), cg.Variable("x"))
    with pytest.raises(ValueError, match=r"Training: f has no parameters. At least one is"):
        cg.Training(empty, nn.mse, nn.sgd(0.1)).step(np.ones(2), np.ones(2))
    training = cg.Training(Linear(np.ones((2, 1)), np.ones(1)), nn.mse, nn.sgd(0.1))
    with pytest.raises(ValueError, match=r"Training: 0 arrays are given to .*Linear, which has 1"):
        training.step()
    with pytest.raises(ValueError, match="Transformer: a width of 10 in 4 heads"):
        models.Transformer(width=10)
    with pytest.raises(ValueError, match="FeedForward: widths is "):
        models.FeedForward((3,))


@pytest.mark.parametrize("name, epochs, least", [
    ("feed-forward", 10, 95), ("convolutional", 7, 95), ("recurrent", 12, 93),
    ("autoencoder", 15, 75), ("transformer", 6, 90),
])  # fmt: skip
def test_examples_learn_the_digits(name, epochs, least, tmp_path, capsys):
    words = [name, "--epochs", str(epochs), "--output", str(tmp_path)]
    assert examples.main(words) == 0
    said = capsys.readouterr()
    score = re.search(r"test (accuracy|explained): (\d+\.\d\d) %", said.out)
    assert float(score[2]) >= least
    assert f"{name}: 100%" in said.err and f"epoch={epochs}" in said.err
    files = {path.name for path in tmp_path.iterdir()}
    stem = name.replace("-", "_")
    expected = {f"{stem}.svg"} | (
        {f"{stem}_reconstructions.svg"} if name == "autoencoder" else set()
    )
    assert files == expected
    if name == "autoencoder":
        text = (tmp_path / f"{stem}_reconstructions.svg").read_text()
        assert text.count("<g ") == 20 and text.count("<rect ") == 20 * 64 + 1


def test_the_command_line(capsys, tmp_path):
    with pytest.raises(SystemExit) as caught:
        examples.main(["perceptron"])
    assert caught.value.code == 2
    with pytest.raises(SystemExit):
        examples.main(["recurrent", "--epochs", "0"])
    assert "--epochs and --batch-size must be at least 1" in capsys.readouterr().err
    assert examples.main(["recurrent", "--data", str(tmp_path), "--output", str(tmp_path)]) == 1
    assert "neither train-images-idx3-ubyte nor" in capsys.readouterr().err


def test_data_are_scikit_learns():
    assert data.load(None, 1).source.startswith("scikit-learn's load_digits: 1797 scans")
