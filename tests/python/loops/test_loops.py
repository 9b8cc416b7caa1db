"""fori_loop: the bits of the loop in Python, in every way to run it."""

from collections import namedtuple

import numpy as np
import pytest
from loop_ways import check_all_ways, same_bits, unrolled

import composit
import composit.numpy as cnp
from composit import mosaic, nn, random

DRAW = np.random.default_rng(5)


def normal(*shape):
    return DRAW.standard_normal(shape).astype("float32")


def check(body, init, lower=0, upper=7, more=False):
    def looped(state):
        return composit.fori_loop(lower, upper, body, state)

    check_all_ways(looped, unrolled(lower, upper, body, init), init, more=more)


X, W, V = normal(6, 5), normal(5, 5), normal(5)


def test_elementwise():
    check(lambda i, x: cnp.sin(x) * 1.5 + x, X)


def test_counter():
    check(lambda i, x: x * 0.5 + i.astype("float32"), X, 3, 11)


def test_negative_counters():
    check(lambda i, x: x + i.astype("float32"), X, -4, 3)


def test_contraction_with_what_is_captured():
    w, b = cnp.asarray(W), cnp.asarray(V)
    check(lambda i, x: cnp.tanh(x @ w + b), X)


def test_reductions():
    check(lambda i, x: x - nn.softmax(x, axis=-1) * cnp.sum(x, axis=0), X)


def test_state_of_several_kinds():
    Pair = namedtuple("Pair", "first second")

    def body(i, state):
        pair, (count,), named = state["pair"], state["list"], state["named"]
        return {
            "pair": Pair(pair.second + 1, pair.first),
            "list": [count + 2],
            "named": {"flags": ~named["flags"], "nothing": None},
        }

    init = {
        "pair": Pair(X, X * 2),
        "list": [np.arange(3)],
        "named": {"flags": np.array([True, False]), "nothing": None},
    }
    check(body, init, more=True)


def test_exchanged_states():
    check(lambda i, s: (s[1], s[2], s[0]), (V, V + 1, V + 2), more=True)


def test_a_state_that_others_read_after_it_is_made():
    def body(i, s):
        a = s[0] + 1
        return a, s[1] * a + s[0]

    check(body, (V, V + 1))


def test_transposed_state():
    check(lambda i, x: cnp.swapaxes(x, 0, 1), W)
    check(lambda i, x: cnp.swapaxes(x, 0, 1) + x, W)
    check(lambda i, x: x[::-1] * 2, V)


def test_broadcast_state():
    check(lambda i, x: cnp.broadcast_to(x[0], x.shape), W)


def test_unchanged_state():
    check(lambda i, s: (s[0], s[1] + s[0]), (V, V))
    check(lambda i, s: s, V)


def test_state_that_does_not_depend_on_the_one_before():
    check(lambda i, s: cnp.zeros(5, "float32") + i.astype("float32"), V)
    w = cnp.asarray(V)
    check(lambda i, s: w, V + 1)


def test_the_same_result_twice():
    def body(i, s):
        y = cnp.exp(s[0] * 0.1)
        return y, y

    check(body, (V, V))


def test_rows_at_the_counter():
    table, places = cnp.asarray(normal(9, 5)), cnp.asarray(np.array([3, 1, 4, 1, 5, 0, 2]))
    check(lambda i, x: x + table[i], V)
    check(lambda i, x: x + table[places[i]], V)


def test_rows_written_at_the_counter():
    def body(i, s):
        table, x = s
        table[i] = x
        return table, x * 1.5

    check(body, (np.zeros((7, 5), "float32"), V))


def test_an_element_where_values_say():
    check(lambda i, s: cnp.take(s, cnp.argmax(s)) * 0.5 + s, V)


def test_dtypes():
    for dtype in ("bool", "int8", "uint16", "int32", "uint64", "float64"):
        init = np.arange(6).astype(dtype)
        if dtype == "bool":
            check(lambda i, x: x ^ (i % 2 == 0), init)
        else:
            check(lambda i, x: x * x + i.astype(x.dtype), init, 1, 5)


def test_no_elements_and_no_axes():
    check(lambda i, s: (s[0] + 1, s[1] * 2), (np.zeros((0, 3), "float32"), np.float32(3)))


def test_no_iterations():
    for lower, upper in ((0, 0), (5, 5), (5, 2)):
        check(lambda i, s: (s[0] + 1, s[1]), (X, V), lower, upper)
    looped = composit.fori_loop(3, 0, lambda i, x: x + 1, 2.0)
    assert np.asarray(looped) == 2.0 and looped.dtype == np.float64


def test_one_iteration():
    check(lambda i, s: s @ cnp.asarray(W), X, 4, 5)


def test_python_scalars_take_the_dtype_of_the_body():
    def body(i, s):
        total, count = s
        return total + cnp.asarray(V).sum(), count + 1

    total, count = composit.fori_loop(0, 3, body, (0.0, 0))
    assert total.dtype == np.float32 and count.dtype == np.int64
    assert np.asarray(count) == 3
    x = np.float32(0)
    for _ in range(3):
        x = np.float32(x + np.asarray(cnp.asarray(V).sum()))
    assert np.asarray(total) == x


def test_nested_loops():
    w = cnp.asarray(W)

    def body(i, s):
        x, count = s

        def inner(j, y):
            return cnp.tanh(y @ w) + x * 0.1 + (i * j).astype("float32")

        return composit.fori_loop(0, 3, inner, x), count + 1

    check(body, (X, 0), 1, 6, more=True)


def test_a_loop_of_one_body_twice():
    def looped(x):
        def body(i, y):
            return cnp.sin(y) + x

        once = composit.fori_loop(0, 4, body, x)
        return composit.fori_loop(0, 4, body, once) + once

    def expected(x):
        once = unrolled(0, 4, lambda i, y: cnp.sin(y) + x, x)
        return unrolled(0, 4, lambda i, y: cnp.sin(y) + x, once) + once

    check_all_ways(looped, expected(cnp.asarray(X)), X)


def test_work_that_threads_share():
    x, w = normal(256, 300), normal(300, 300) * np.float32(0.05)
    w = cnp.asarray(w)
    check(lambda i, x: nn.softmax(cnp.tanh(x @ w), axis=-1) + x, x, 0, 3, more=True)


def test_weights_are_packed_once_outside():
    w = cnp.asarray(normal(200, 200) * np.float32(0.1))

    def looped(x):
        return composit.fori_loop(0, 3, lambda i, x: x @ w, x)

    x = normal(40, 200)
    compiled = composit.compile(looped, x)
    assert [kernel.kind for kernel in compiled.kernels] == ["Pack", "Map", "Repeat"]
    check_all_ways(looped, unrolled(0, 3, lambda i, x: x @ w, cnp.asarray(x)), x)


def test_what_does_not_change_is_computed_before():
    def looped(x, w):
        return composit.fori_loop(0, 3, lambda i, y: y + cnp.exp(w) @ cnp.sin(w), x)

    program = composit.compile(looped, W, W).program
    *before, repeat = program.kernels
    assert any(kernel.kind == "Contract" for kernel in before)
    assert [kernel.kind for kernel in repeat.fields["kernels"]] == ["Map"]


def test_updates_are_made_in_place():
    def step(i, s):
        w, m = s
        gradient = composit.grad(lambda w: cnp.mean(cnp.tanh(cnp.asarray(X) @ w) ** 2))(w)
        m = 0.9 * m + gradient
        return w - 0.1 * m, m

    def looped(w, m):
        return composit.fori_loop(0, 5, step, (w, m))

    program = composit.compile(looped, W, W * 0).program
    inner = program.kernels[-1].fields["kernels"]
    state = {b for b in range(len(program.buffers)) if program.buffers[b].kind == "output"}
    writers = [kernel for kernel in inner if state & set(kernel.writes)]
    assert all("copy" not in kernel.name for kernel in writers)
    check(step, (W, W * 0), more=True)


def test_random_draws():
    def body(i, x):
        return x + random.normal(random.fold_in(random.key(3), i), x.shape)

    check(body, X)


def test_graph_mosaic_and_text():
    def body(i, x):
        return cnp.tanh(x) + i.astype("float32")

    x = composit.placeholder("x", X.shape)
    looped = composit.fori_loop(0, 4, body, x)
    assert len(looped.graph) == 2
    text = str(looped.graph)
    assert "= loop(%" in text
    again = composit._core.parse_graph(text)[0]
    assert str(again.graph) == text
    expected = unrolled(0, 4, body, cnp.asarray(X))
    for target in ("cpp", "interpreter"):
        for options in ({}, {"whole_model": False}, {"reuse_buffers": False}):
            program = mosaic.compile(looped, target=target, **options)
            same_bits(program(X), expected, (target, options))
    assert [kernel.kind for kernel in program.kernels] == ["Map", "Repeat"]
    assert "for i from 0 to 3, in order:" in str(program.kernels[-1])


def test_a_loop_called_alone():
    w = cnp.asarray(W)

    def body(i, s):
        x, count = s
        return cnp.tanh(nn.softmax(x @ w, axis=-1) + x) + i.astype("float32"), count + 1

    x = composit.placeholder("x", X.shape)
    outputs = composit.fori_loop(0, 4, body, (x, 0))
    expected = unrolled(0, 4, body, (cnp.asarray(X), 0))
    for target in ("cpp", "interpreter"):
        program = mosaic.compile(*outputs, target=target)
        kernel = program.kernels[-1]
        assert kernel.kind == "Repeat"
        assert len(kernel.outputs) == 2
        values = {"x": X, "w": W}
        given = []
        for operand in kernel.inputs:
            shape = tuple(operand.shape)
            given.append(
                np.int64(0) if shape == () else values["w"] if shape == W.shape else values["x"]
            )
        found = kernel(*given)
        same_bits(sorted(found, key=np.ndim), sorted(expected, key=np.ndim), target)


def test_interpreted_values_after_a_change_of_what_is_captured():
    """Plans are found by structure: captured values are not part of them."""

    def looped(w):
        return composit.fori_loop(
            0, 3, lambda i, x: x * w + cnp.asarray(2.0, dtype="float32"), cnp.asarray(V)
        )

    def expected(w):
        two = cnp.asarray(2.0, dtype="float32")
        return unrolled(0, 3, lambda i, x: x * w + two, cnp.asarray(V))

    for scale in (0.5, 2.0):
        w = cnp.asarray(V * np.float32(scale))
        same_bits(looped(w), expected(w), scale)


def test_an_index_out_of_bounds():
    table = cnp.asarray(normal(4, 5))

    def looped(x):
        return composit.fori_loop(0, 6, lambda i, x: x + table[i], x)

    message = r"index 4 is out of bounds for axis 0 with size 4 \(test_loops\.py:\d+\)"
    with pytest.raises(IndexError, match=message):
        np.asarray(looped(cnp.asarray(V)))
    for options in ({}, {"fuse": False}, {"backend": "interpreter"}):
        with pytest.raises(IndexError, match=message):
            composit.compile(looped, **options)(V)
