"""The types of the C++ functions, for checkers and editors: complete, right where users look."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from composit import _core

STUBS = Path(_core.__file__).parent / "_core"
SNIPPET = """
import numpy as np
import composit
import composit.numpy as cnp
from composit import nn

x = cnp.ones((2, 3))
reveal_type(x)
reveal_type(2 * x + 1)
reveal_type((x @ x.T)[0].sum(axis=0))
reveal_type(cnp.exp(x).reshape(6))
reveal_type(nn.relu(x))
reveal_type(x.shape)
x.no_such_method()
cnp.reshape()
"""
EXPECTED = ["LazyTensor"] * 5 + ["tuple"]


def names_in(file):
    """The classes, functions and constants that a stub defines at its top."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    made = {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    return made | {node.target.id for node in body if isinstance(node, ast.AnnAssign)}


@pytest.mark.parametrize(
    "name", ["", "numpy", "random", "nn", "ops", "scalar", "transforms", "backends"]
)
def test_every_name_is_described(name):
    module = getattr(_core, name) if name else _core
    public = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and not isinstance(value, type(sys))
    }
    assert names_in(STUBS / f"{name or '__init__'}.pyi") >= public


def test_a_type_checker_understands_tensors(tmp_path):
    packages = Path(_core.__file__).parents[1]
    (tmp_path / "snippet.py").write_text(SNIPPET)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "snippet.py",
         "--cache-dir", str(packages.parent / "mypy_cache")],
        cwd=tmp_path, env={"MYPYPATH": str(packages)}, capture_output=True, text=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    revealed = [line.partition("Revealed type is ")[2] for line in lines if "Revealed" in line]
    assert len(revealed) == len(EXPECTED), done.stdout + done.stderr
    for found, expected in zip(revealed, EXPECTED):
        assert expected in found
    errors = [line for line in lines if line.startswith("snippet.py") and "error:" in line]
    assert len(errors) == 2, done.stdout
    assert '"LazyTensor" has no attribute "no_such_method"' in errors[0]
    assert 'Too few arguments for "reshape"' in errors[1]
