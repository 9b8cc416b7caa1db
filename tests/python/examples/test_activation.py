"""The activation example: training with both fronts, its plots and its C++."""

from pathlib import Path

import numpy as np
import pytest

from composit.examples.activation import __main__ as activation
from composit.examples.activation import plots, relu3

IMAGES = Path(__file__).resolve().parents[3] / "docs/images"


@pytest.mark.parametrize("front", ["composit", "torch"])
def test_digits_are_learnt_with_either_front(front, tmp_path, capsys):
    assert activation.main(["--front", front, "--epochs", "4", "--output", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "scikit-learn's load_digits: 1797 scans of 8 x 8; 1438 to train, 359 to test" in said
    assert float(said.split("test accuracy: ")[1].split(" %")[0]) > 95
    written = {file.name for file in tmp_path.iterdir()}
    assert written == {"relu3.cpp", "relu3.hpp", "relu3.svg", "relu3_derivative.svg",
                       "training.svg"}  # fmt: skip


@pytest.mark.parametrize("name", ["relu3", "relu3_derivative"])
def test_the_page_shows_the_plots_that_the_example_makes(name, tmp_path):
    file = tmp_path / "plot.svg"
    plots.of_function(relu3.relu3, file, with_derivative=name.endswith("derivative"))
    assert file.read_text() == (IMAGES / f"{name}.svg").read_text()


def test_a_model_of_either_front_computes_the_same_from_the_same_weights():
    import torch

    import composit.torch

    theirs = relu3.network(torch, 64).double().eval()
    ours = relu3.network(composit.torch, 64).double()
    ours.load_state_dict({name: composit.torch.from_numpy(value.numpy())
                          for name, value in theirs.state_dict().items()})  # fmt: skip
    ours.eval()
    x = np.random.RandomState(0).rand(5, 64)
    want = theirs(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(ours(composit.torch.from_numpy(x)).detach().numpy(), want, rtol=1e-9)


@pytest.mark.parametrize("words", [["--epochs", "0"], ["--batch-size", "1"], ["--seed", "-1"]])
def test_wrong_options_are_refused(words, capsys):
    with pytest.raises(SystemExit):
        activation.main(words)
    assert "must be at least" in capsys.readouterr().err


def test_data_that_is_missing_is_said(tmp_path, capsys):
    assert activation.main(["--data", str(tmp_path)]) == 1
    assert "MNIST's four IDX files are required." in capsys.readouterr().err
