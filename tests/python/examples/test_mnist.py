"""The trainings on digits of 28 x 28: losses beside PyTorch's, options, data, and the picture."""

import argparse
import re
from functools import partial

import numpy as np
import pytest
import torch

import composit.torch as front
from composit.examples import graph
from composit.examples.mnist import training
from composit.examples.mnist.cnn import train as cnn
from composit.examples.mnist.cnn.model import network as convolutional
from composit.examples.mnist.vit import train as vit
from composit.examples.mnist.vit.model import network as transformer

FEW = ["--epochs", "1", "--truncate_train", "64", "--truncate_test", "40"]


@pytest.mark.parametrize(
    "program, more",
    [(cnn, []), (vit, ["--patch_size", "7", "--embed", "16", "--num_layers", "2"])],
)
def test_a_short_run(program, more, capsys):
    assert program.main([*FEW, *more]) == 0
    said = capsys.readouterr().out
    assert "1797 scans of 8 x 8, scaled to 28 x 28; 64 to train, 40 to test" in said
    assert 0 <= float(said.split("test accuracy: ")[1].split(" %")[0]) <= 100


@pytest.mark.parametrize(
    "program, more",
    [(cnn, []), (vit, ["--patch_size", "7", "--embed", "16", "--num_layers", "2"])],
)
def test_a_device_says_what_the_cpu_says(program, more, apart, capsys):
    said = []
    for device in ("cpu", apart):
        assert program.main([*FEW, *more, "--device", device]) == 0
        said.append(re.sub(r"in [\d.]+ s", "", capsys.readouterr().out))
    assert said[0] == said[1]


@pytest.mark.parametrize("program, words, least", [(cnn, ["--epochs", "10"], 98), (vit, [], 95)])
def test_it_learns(program, words, least, capsys):
    assert program.main(words) == 0
    accuracy = float(capsys.readouterr().out.split("test accuracy: ")[1].split(" %")[0])
    assert accuracy > least


@pytest.mark.parametrize(
    "make", [convolutional, partial(transformer, patch_size=7, embed=16, num_layers=2)]
)
def test_losses_are_pytorchs_step_by_step(make):
    options = argparse.Namespace(data=None, seed=1, truncate_train=96, truncate_test=8)
    digits = training.digits_of_28(options)
    torch.manual_seed(0)
    theirs, ours = make(torch), make(front)
    ours.load_state_dict({name: front.from_numpy(value.numpy())
                          for name, value in theirs.state_dict().items()})  # fmt: skip
    for model in (theirs, ours):
        for layer in model.modules():
            if type(layer).__name__ == "Dropout":
                layer.p = 0.0  # which numbers are dropped is a matter of the random stream
    optimizers = [
        n.optim.Adam(m.parameters(), lr=1e-3) for n, m in ((torch, theirs), (front, ours))
    ]
    for step in range(20):
        chosen = np.arange(32) + 32 * (step % 3)
        losses = []
        for n, model, optimizer in zip((torch, front), (theirs, ours), optimizers):
            optimizer.zero_grad()
            images = n.from_numpy(digits.train_images[chosen])
            loss = n.nn.CrossEntropyLoss()(model(images), n.from_numpy(digits.train_labels[chosen]))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[1] == pytest.approx(losses[0], rel=2e-4), step


@pytest.mark.parametrize(
    "program, words, message",
    [
        (cnn, ["--epochs", "0"], "--epochs is 0; it must be at least 1"),
        (cnn, ["--seed", "-1"], "--seed is -1; it must be at least 0"),
        (vit, ["--patch_size", "5"], "--patch_size is 5; it must divide 28"),
        (vit, ["--num_heads", "3"], "--embed is 128, --num_heads 3, --num_layers 1;"),
    ],
)
def test_wrong_options_are_refused(program, words, message, capsys):
    with pytest.raises(SystemExit):
        program.main(words)
    assert message in capsys.readouterr().err


def test_what_is_missing_is_said(tmp_path, capsys):
    assert cnn.main(["--data", str(tmp_path)]) == 1
    assert "MNIST's four IDX files are required." in capsys.readouterr().err
    assert cnn.main(["--device", "cuda"]) == 1
    assert "cuda" in capsys.readouterr().err


def test_a_picture_is_written(tmp_path, capsys):
    file = tmp_path / "graph.png"
    assert graph.main([str(file)]) == 0
    assert file.read_bytes().startswith(b"\x89PNG") and "wrote" in capsys.readouterr().out
    assert graph.main([str(tmp_path / "missing" / "graph.png")]) == 1
    assert "graph.png" in capsys.readouterr().err
