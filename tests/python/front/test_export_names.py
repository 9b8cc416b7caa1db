"""Names in programs and exports come from parameters, keys, fields and places."""

import dataclasses
import re
from collections import namedtuple

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn
from composit.structure import names_of

Layer = namedtuple("Layer", "weight bias")


@dataclasses.dataclass
class State:
    step: object
    momentum: object


def signature(tmp_path, function, *examples):
    """The names and types in the exported header."""
    compiled = composit.compile(function, *examples)
    compiled.export(tmp_path / "made")
    header = next((tmp_path / "made").glob("*.hpp")).read_text()
    return re.findall(r"^.*?((?:const )?\w+\* \w+)", header.split("threads` changes")[1], re.M)


W, B, X = np.ones((3, 2), "float32"), np.ones(2, "float32"), np.ones((4, 3), "float32")


def step(x, weights, state):
    w, b = weights
    logits = x @ w + b
    return {
        "loss": cnp.mean(logits**2),
        "probabilities": nn.softmax(logits, axis=-1),
        "state": state + 1,
    }


def test_lists_and_dictionaries(tmp_path):
    assert signature(tmp_path, step, X, [W, B], np.int64(0)) == [
        "const float* x", "const float* weights_0", "const float* weights_1",
        "const int64_t* state", "float* loss", "float* probabilities", "int64_t* new_state",
    ]  # fmt: skip


def test_fields(tmp_path):
    def train(layers, state):
        gradients = [Layer(each.weight * 2, each.bias * 3) for each in layers]
        return gradients, State(state.step + 1, {"of w": state.momentum["of w"] * 0.5})

    names = signature(tmp_path, train, (Layer(W, B), Layer(W, B)), State(B, {"of w": W}))
    assert names == [
        "const float* layers_0_weight", "const float* layers_0_bias",
        "const float* layers_1_weight", "const float* layers_1_bias",
        "const float* state_step", "const float* state_momentum_of_w",
        "float* weight_0", "float* bias_0", "float* weight_1", "float* bias_1",
        "float* step", "float* momentum_of_w",
    ]  # fmt: skip


def test_words_of_cpp_and_equal_names(tmp_path):
    def f(**_):
        return None

    def g(x, *rest):
        return {"class": x + rest[0], "x": x * 2, "new x": x * 3, "": x * 4, 7: x * 5, "ä\n*/": x}

    names = signature(tmp_path, g, B, B)
    assert names[:2] == ["const float* x", "const float* rest_0"]
    results = [name.removeprefix("float* ") for name in names[2:]]
    assert len(set(results)) == 6 and "class" not in results and "x" not in results


def test_results_without_words_are_called_after_their_nodes(tmp_path):
    names = signature(tmp_path, lambda a, b: (cnp.exp(a), [a + b]), B, B)
    assert names == ["const float* a", "const float* b", "float* exp", "float* add"]


def test_names_that_the_user_gave_stay(tmp_path):
    def f(x):
        return cnp.exp(x)

    named = cnp.asarray(B, name="given")
    assert signature(tmp_path, f, named)[0] == "const float* given"


def test_the_program_says_them(tmp_path):
    compiled = composit.compile(step, X, [W, B], np.int64(0))
    text = str(compiled.program)
    assert "output loss: float32[]" in text and "input weights_1: float32[2]" in text


@pytest.mark.parametrize("value, names", [
    (1, [""]), ([1, 2], ["", ""]), ({"a": [1, {"b": 2}], "c": None}, ["a_0", "a_1_b"]),
    ((Layer(1, 2), 3), ["weight", "bias", ""]), (State(1, [2, 3]), ["step", "momentum_0",
     "momentum_1"]),
])  # fmt: skip
def test_names_of(value, names):
    assert names_of(value) == names
    assert names_of({"root": value}) == names_of(value, "root")
