"""compile_within: as few layers are computed again as a budget of memory asks for."""

import sys

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit import nn
from composit.nn import budget

RANDOM = np.random.RandomState(0)
WIDTH, ROWS, LAYERS = 16, 256, 8


def layer(hidden, weights):
    """Keeps a multiple of its input, which depends on the weights."""
    return hidden + cnp.tanh(nn.gelu(hidden @ weights[0])) @ weights[1]


def step_of(one_layer):
    def step(x, weights):
        hidden = x
        for w in weights:
            hidden = one_layer(hidden, w)
        loss = cnp.mean(hidden**2)
        return loss, nn.chain_rule({loss: loss}, [each for w in weights for each in w])

    return step


def arguments(widths=(64,) * LAYERS):
    x = RANDOM.standard_normal((ROWS, WIDTH)).astype("float32")
    return x, [
        [
            (RANDOM.standard_normal((WIDTH, width)) / 4).astype("float32"),
            (RANDOM.standard_normal((width, WIDTH)) / 8).astype("float32"),
        ]
        for width in widths
    ]


class Counted:
    """A layer, whose calls computed again are counted by their widths."""

    def __init__(self, monkeypatch):
        self.found = []
        inside = budget.bytes_within

        def seen(tensor):
            body = tensor.node.attributes["body"]
            self.found.append(max(p.shape[-1] for p in body.parameters))
            return inside(tensor)

        monkeypatch.setattr(sys.modules["composit.nn.remat"], "bytes_within", seen)

    def of(self, compiled, *args):
        self.found.clear()
        compiled._function(*[composit.numpy.asarray(args[0]), args[1]])
        return list(self.found)


def extremes(args):
    planned = [
        budget.planned_bytes(composit.compile(step_of(f), *args, backend="interpreter"))
        for f in (layer, nn.remat(layer))
    ]
    assert planned[1] < 0.9 * planned[0]
    return planned


@pytest.mark.parametrize("backend", ["interpreter", "cpp"])
def test_the_plan_stays_below_with_the_same_bits(backend, monkeypatch):
    args, counted = arguments(), Counted(monkeypatch)
    most, least = extremes(args)
    expected = composit.compile(step_of(layer), *args, backend=backend)(*args)
    chosen = []
    for part in (1.0, 0.7, 0.4, 0.0):
        memory = least + int(part * (most - least))
        step = step_of(nn.remat(layer, when_needed=True))
        compiled = nn.compile_within(memory, step, *args, backend=backend)
        assert budget.planned_bytes(compiled) <= memory
        chosen.append(len(counted.of(compiled, *args)))
        for a, b in zip(expected[1], compiled(*args)[1]):
            assert a.tobytes() == b.tobytes()
    assert chosen[0] == 0 and chosen == sorted(chosen) and chosen[-1] > chosen[1] > 0


def test_one_layer_less_would_not_do():
    args = arguments()
    most, least = extremes(args)
    memory = (most + least) // 2
    step = step_of(nn.remat(layer, when_needed=True))
    compiled = nn.compile_within(memory, step, *args, backend="interpreter")
    count = budget.planned_bytes(compiled)

    def with_first(number):
        calls = iter(range(LAYERS))
        return step_of(lambda *a: (nn.remat(layer) if next(calls) < number else layer)(*a))

    planned = [
        budget.planned_bytes(composit.compile(with_first(k), *args, backend="interpreter"))
        for k in range(LAYERS + 1)
    ]
    chosen = planned.index(count)
    assert chosen == next(k for k, bytes_ in enumerate(planned) if bytes_ <= memory) > 0


def test_layers_that_keep_most_come_first(monkeypatch):
    args, counted = arguments([32, 32, 256, 32, 32, 128, 32, 32]), Counted(monkeypatch)
    most, _ = extremes(args)
    step = step_of(nn.remat(layer, when_needed=True))
    compiled = nn.compile_within(most - 1, step, *args, backend="interpreter")
    assert counted.of(compiled, *args) == [32, 256, 128]  # of the others the first


def test_elsewhere_a_layer_is_as_it_was():
    x, weights = arguments()
    plain, marked = layer(x, weights[0]), nn.remat(layer, when_needed=True)(x, weights[0])
    assert len(plain.graph) == len(marked.graph)
    assert budget.current_choice() is None


def test_it_is_compiled_anew_with_the_same_choice():
    args = arguments()
    _, least = extremes(args)
    step = step_of(nn.remat(layer, when_needed=True))
    compiled = nn.compile_within(least, step, *args, backend="interpreter")
    again = compiled.specialise(args[0][:128], args[1])
    assert again.program.arena_bytes < 0.7 * least


def test_what_cannot_be_is_said():
    args = arguments()
    most, least = extremes(args)
    step = step_of(nn.remat(layer, when_needed=True))
    said = rf"{least - 1} bytes are allowed; {least} are planned at least, {most} without .* for 8"
    with pytest.raises(MemoryError, match=said):
        nn.compile_within(least - 1, step, *args, backend="interpreter")
    with pytest.raises(MemoryError, match="for 0 calls of remat"):
        nn.compile_within(1000, step_of(layer), *args)
    with pytest.raises(ValueError, match="memory is -1"):
        nn.compile_within(-1, step, *args)
    with pytest.raises(ValueError, match=r"memory is 1\.5"):
        nn.compile_within(1.5, step, *args)
    with pytest.raises(TypeError, match="compile_within: 3 is not a function"):
        nn.compile_within(10**9, 3, *args)
    with pytest.raises(ValueError, match="no examples are given"):
        nn.compile_within(10**9, step)
    with pytest.raises(ZeroDivisionError):
        nn.compile_within(10**9, lambda x: 1 // 0, args[0])
    assert budget.current_choice() is None
