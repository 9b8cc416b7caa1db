"""Random bodies, and exported loops: the bits of the loop in Python."""

import numpy as np
from fuzz import exported
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loop_ways import check_all_ways, same_bits, unrolled

import composit
import composit.numpy as cnp
from composit import nn

DRAW = np.random.default_rng(7)
SHAPES = [(), (4,), (1, 4), (4, 4), (3, 4, 4)]
CAPTURED = [cnp.asarray(DRAW.standard_normal(shape).astype("float32")) for shape in SHAPES]
ONE = [
    cnp.sin, cnp.tanh, cnp.negative, cnp.abs, cnp.floor, lambda x: x * 0.5, lambda x: x[..., ::-1],
    lambda x: cnp.sum(x, axis=-1, keepdims=True) + x, lambda x: nn.softmax(x, axis=-1),
    lambda x: cnp.cumsum(x, axis=-1), lambda x: cnp.swapaxes(x, -1, -2) if x.ndim > 1 else x,
    lambda x: x[cnp.argmax(x) % x.shape[0]] if x.ndim > 1 else x,
]  # fmt: skip
TWO = [cnp.add, cnp.multiply, cnp.maximum, cnp.subtract]

steps = st.lists(st.tuples(*[st.integers(0, 99)] * 3), min_size=1, max_size=8)
bodies = st.tuples(
    st.lists(st.integers(1, len(SHAPES) - 1), min_size=1, max_size=3),
    steps,
    st.tuples(*[st.integers(0, 99)] * 3),
    st.integers(-2, 2),
    st.integers(0, 4),
)


def body_of(shapes, code, results):
    """A body of these state's shapes: each step applies a function to values made before."""

    def body(i, state):
        values = [*state, i.astype("float32"), *CAPTURED]
        for kind, a, b in code:
            x, y = values[a % len(values)], values[b % len(values)]
            if kind % 3 == 0 and x.ndim > 0:
                values.append(ONE[kind % len(ONE)](x))
            elif kind % 3 == 1 and x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0]:
                values.append(cnp.tanh(x @ y))
            else:
                values.append(TWO[kind % len(TWO)](x, y))
        made = []
        for s, r in zip(shapes, results):
            fitting = [
                v for v in values if np.broadcast_shapes(v.shape, SHAPES[s]) == SHAPES[s]
            ]  # fmt: skip
            made.append(cnp.broadcast_to(fitting[-1 - r % len(fitting)], SHAPES[s]))
        return made

    return body


def drawn(drawn_body):
    shapes, code, results, lower, count = drawn_body
    init = [np.linspace(-1, 1, int(np.prod(SHAPES[s]))).reshape(SHAPES[s]) for s in shapes]
    body = body_of(shapes, code, results)
    return body, [x.astype("float32") for x in init], lower, lower + count


@settings(max_examples=150, deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(bodies)
def test_interpreted(drawn_body):
    body, init, lower, upper = drawn(drawn_body)

    def looped(state):
        return composit.fori_loop(lower, upper, body, state)

    expected = unrolled(lower, upper, body, [cnp.asarray(x) for x in init])
    same_bits(looped([cnp.asarray(x) for x in init]), expected, "evaluated")
    for options in ({}, {"fuse": False}, {"bytes_of_part": 64, "threads": 2}):
        compiled = composit.compile(looped, backend="interpreter", **options)
        same_bits(compiled(init), expected, options)


@settings(max_examples=8, deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(bodies)
def test_compiled(drawn_body):
    body, init, lower, upper = drawn(drawn_body)
    expected = unrolled(lower, upper, body, [cnp.asarray(x) for x in init])
    check_all_ways(
        lambda state: composit.fori_loop(lower, upper, body, state), expected, init, more=True
    )


class Training:
    """What exported.run takes for a graph: a training loop whose rows come one after the other,
    one of the state's tensors is written at the counter, and a loop inside."""

    def __init__(self):
        self.inputs = {
            "w": DRAW.standard_normal((4, 4)).astype("float32"),
            "rows": DRAW.standard_normal((5, 4)).astype("float32"),
            "large": DRAW.standard_normal((600, 300)).astype("float32"),
        }

    def function(self):
        def training(w, rows, large):
            def body(i, state):
                w, losses, large = state

                def loss(w):
                    inner = composit.fori_loop(0, 3, lambda j, h: cnp.tanh(h @ w), rows[i])
                    return cnp.sum(inner * inner)

                value, gradient = composit.value_and_grad(loss)(w)
                losses[i] = value
                return w - 0.1 * gradient, losses, cnp.sin(large) * value

            start = w, cnp.zeros(5, "float32"), large
            return composit.fori_loop(0, 5, body, start)

        return training


def test_exported(tmp_path):
    graph = Training()
    arguments = list(graph.inputs.values())
    expected = [np.asarray(x) for x in graph.function()(*map(cnp.asarray, arguments))]
    check_all_ways(graph.function(), tuple(expected), *arguments, more=True)
    results = exported.run([graph], [expected], tmp_path / "project", ["avx512", "baseline"])
    for way, values in results.items():
        for a, b in zip(values[0], expected, strict=True):
            assert a.tobytes() == b.tobytes(), way
