"""Products of loops whose operands stay the same are packed before the loop, with the same bits."""

import numpy as np
import pytest
from fuzz import exported
from loop_ways import arrays, check_all_ways, same_bits, unrolled

import composit
import composit.numpy as cnp
from composit import nn

DRAW = np.random.default_rng(11)


def normal(*shape, dtype="float32"):
    return (DRAW.standard_normal(shape) * 0.1).astype(dtype)


def packs(compiled):
    (made,) = compiled.specialisations.values()
    return made.passes[-1].after.count(": Pack")


# Rows and columns beside whole tiles; depths beside whole blocks; parts for several threads.
SIZES = [
    (5, 70, 130, "float64"),
    *(
        pytest.param(*sizes, marks=pytest.mark.long_tail)
        for sizes in [
            (1, 64, 64, "float32"),
            (40, 33, 300, "float32"),
            (3, 600, 97, "float32"),
        ]
    ),
]


@pytest.mark.parametrize("rows, columns, depth, dtype", SIZES)
def test_right_operands(rows, columns, depth, dtype):
    x, there, back = (
        normal(*shape, dtype=dtype) for shape in [(rows, depth), (depth, columns), (depth, columns)]
    )

    def body(i, state):
        y, there, back = state
        return [cnp.tanh(y @ there) @ back.T, there, back]

    def looped(x, there, back):
        return composit.fori_loop(
            0, 3, lambda i, x: cnp.tanh(x @ there) @ back.T, x
        )  # both are captured

    expected = unrolled(0, 3, body, [cnp.asarray(value) for value in (x, there, back)])[0]
    check_all_ways(looped, expected, x, there, back, more=True)
    compiled = composit.compile(looped)
    compiled(x, there, back)
    assert packs(compiled) == 2


@pytest.mark.parametrize("rows, columns", [(70, 48), (300, 40)])
def test_left_operands(rows, columns):
    w, x = normal(rows, rows), normal(rows, columns)

    def looped(w, x):
        return composit.fori_loop(0, 4, lambda i, x: cnp.sin(w @ x) + x, x)

    expected = unrolled(0, 4, lambda i, x: cnp.sin(cnp.asarray(w) @ x) + x, x)
    check_all_ways(looped, expected, w, x, more=True)
    compiled = composit.compile(looped)
    compiled(w, x)
    assert packs(compiled) == 1


def test_what_the_outer_loop_changes():
    w, x = normal(64, 64), normal(8, 64)

    def inner(i, state):
        y, v = state
        return [composit.fori_loop(0, 3, lambda j, z: cnp.tanh(z @ v), y), v * 0.5]

    def looped(x, w):
        return composit.fori_loop(0, 3, inner, [x, w])

    check_all_ways(looped, unrolled(0, 3, inner, [cnp.asarray(x), cnp.asarray(w)]), x, w, more=True)


class Recurrent:
    """An LSTM with its gradients, whose weights are arguments."""

    def __init__(self):
        self.inputs = {
            "x": normal(5, 16, 24),
            "weight_ih_l0": normal(4 * 64, 24),
            "weight_hh_l0": normal(4 * 64, 64),
        }

    def function(self):
        def step(x, weight_ih, weight_hh):
            weights = {"weight_ih_l0": weight_ih, "weight_hh_l0": weight_hh}
            loss = cnp.sum(nn.lstm(x, weights)[0] ** 2)
            return (loss, *nn.chain_rule({loss: loss}, [x, weight_ih, weight_hh]))

        return step


def test_an_lstm_in_training(tmp_path):
    graph = Recurrent()
    arguments = list(graph.inputs.values())
    compiled = composit.compile(graph.function(), fuse=False, backend="interpreter")
    expected = arrays(compiled(*arguments))
    check_all_ways(graph.function(), tuple(expected), *arguments, more=True)
    compiled = composit.compile(graph.function())
    same_bits(compiled(*arguments), tuple(expected), "compiled")
    assert packs(compiled) >= 2
    results = exported.run([graph], [expected], tmp_path / "project", ["avx512", "baseline"])
    for way, values in results.items():
        for a, b in zip(values[0], expected, strict=True):
            assert a.tobytes() == b.tobytes(), way
