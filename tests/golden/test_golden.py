"""Texts that users read, compared with the files beside this one. `make golden UPDATE=1` rewrites
them; their difference is reviewed."""

import difflib
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import composit

models = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("models.py"))))
X, W, B, T = models.X, models.W, models.B, models.T


def compiled(name, *examples, backend="interpreter"):
    function = getattr(models, name)
    function.__name__ = name
    return models.compiled(function, *examples, backend=backend)


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("elementwise", (T, B)),
        ("loss", (X, W, B, T)),
        ("gradient", (X, W, B, T)),
        ("wrapped", (T, B)),
    ],
)
def test_graph(golden, name, examples):
    golden.check(f"{name}.graph", str(compiled(name, *examples).graph))


def difference(before, after):
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


@pytest.mark.parametrize(("name", "examples"), [("gradient", (X, W, B, T)), ("wrapped", (T, B))])
def test_passes(golden, name, examples):
    """What each pass changes; lower turns the graph into another kind of text, the kernels."""
    text = ""
    for step in compiled(name, *examples).passes:
        shown = step.after if step.name == "lower" else difference(step.before, step.after)
        text += f"==== {step.name}\n{shown.rstrip()}\n"
    golden.check(f"{name}.passes", text)


def test_kernels(golden):
    golden.check("gradient.kernels", str(compiled("gradient", X, W, B, T).program))


def test_plan(golden):
    golden.check("gradient.plan", compiled("gradient", X, W, B, T).plan)


WIDE = np.ones((300, 400), "float32")


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        ("elementwise", (WIDE, WIDE[0])),
        ("normalised", (WIDE,)),
        ("product", (X, W, B)),
        ("running", (WIDE,)),
        ("looked_up", (WIDE, np.arange(3))),
    ],
)
def test_generated_code(golden, name, examples):
    """The functions of a program's own; what they call is the prelude's."""
    source = compiled(name, *examples, backend="cpp").source
    functions = re.findall(
        r"^// [^\n]* \[models\.py:\d+\]\n.*?^}\n", source, re.DOTALL | re.MULTILINE
    )
    assert functions
    golden.check(f"{name}.cpp", "\n".join(functions))


def test_exported_header(golden, tmp_path):
    step = compiled("gradient", X, W, B, T)
    composit.export(tmp_path, "network", [step, compiled("loss", X, W, B, T)])
    text = (tmp_path / "network.hpp").read_text()
    golden.check("network.hpp", text.replace(composit.__version__, "VERSION"))
