"""tools/compare_scripts.py runs a script under PyTorch and composit.torch, and compares losses."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import compare_scripts
import swapped_imports

pytest.importorskip("torch")
TOOL = Path(compare_scripts.__file__)
# Draws of weights, dropouts (also between the layers of an LSTM), orders and noise; a module of its
# own beside the script, whose imports are swapped as well.
SCRIPT = """
import sys

import torch
import torch.nn.functional
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

from words import Words

assert sys.argv[1:] == ["--rate", "0.1"] and __name__ == "__main__"
torch.manual_seed(3)
data = TensorDataset(torch.randint(0, 7, (12, 5)), torch.randint(0, 3, (12,)))
model = Words()
nn.init.trunc_normal_(model.head.weight, std=0.5)
optimizer = optim.Adam(model.parameters(), lr=float(sys.argv[2]))
for epoch in range(9):
    for words, labels in DataLoader(data, 4, shuffle=True):
        optimizer.zero_grad()
        noise = torch.randn(4, 1) * torch.rand(1)
        loss = nn.functional.cross_entropy(model(words) + noise, labels)
        loss.backward()
        optimizer.step()
"""
MODULE = """
import torch as t
import torch.nn as nn


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 6)
        self.lstm = nn.LSTM(6, 8, 3, batch_first=True, dropout=0.4, bidirectional=True)
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        y, _ = self.lstm(self.drop(self.embedding(x)))
        return self.head(t.relu(y[:, -1]))
"""


def compared(folder, script, *arguments):
    folder.joinpath("train.py").write_text(script)
    command = [sys.executable, TOOL, "--seconds", "900", "--losses", "20", "train.py", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_both_libraries_have_the_same_draws(tmp_path):
    tmp_path.joinpath("words.py").write_text(MODULE)
    code, said = compared(tmp_path, SCRIPT, "--rate", "0.1")
    assert code == 0 and said.startswith("train.py: 20 and 20 losses, "), said


def test_what_differs_or_stops_is_said(tmp_path):
    script = """
import torch

x = torch.ones(1, requires_grad=True)
for i in range(3):
    (x * (i + ("composit" in torch.Tensor.__module__) / 10)).sum().backward()
raise ValueError("the end")
"""
    code, said = compared(tmp_path, script)
    assert code == 1 and "difference 1e+00" in said and said.count("ValueError: the end") == 2
    assert "pytorch stopped after 3 losses" in said and "composit stopped after 3 losses" in said


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import torch", "import composit.torch as torch"),
        ("import torch.nn as nn, os", "import composit.torch.nn as nn\nimport os"),
        ("import torch.nn.functional",
         "import composit.torch.nn.functional as _part_of_torch\nimport composit.torch as torch"),
        ("from torch.optim import Adam as A", "from composit.torch.optim import Adam as A"),
        ("from .torch import x\nimport torchvision", "from .torch import x\nimport torchvision"),
    ],
)  # fmt: skip
def test_imports_are_swapped(source, expected):
    assert ast.unparse(swapped_imports.Swapped().visit(ast.parse(source))) == expected


def test_differences_are_relative():
    infinity, nan = float("inf"), float("nan")
    assert compare_scripts.largest_difference([1.0, 2.0], [1.0, 2.5]) == 0.2
    assert compare_scripts.largest_difference([nan, 1.0], [nan, 1.0]) == 0
    assert compare_scripts.largest_difference([nan], [1.0]) == infinity
    assert compare_scripts.largest_difference([infinity], [1.0]) == infinity
