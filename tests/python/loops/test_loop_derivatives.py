"""Derivatives of loops against differences and against the loop in Python; loops over batches."""

import numpy as np
import pytest
from differences import check_derivatives
from loop_ways import same_bits

import composit
import composit.numpy as cnp
from composit import nn

DRAW = np.random.default_rng(6)


def normal(*shape):
    return DRAW.standard_normal(shape)


def recurrent(x, w, b):
    """A recurrent network: one row of x at each step."""

    def body(i, state):
        h, total = state
        h = cnp.tanh(h @ w + b + x[i])
        return h, total + cnp.sum(h * h)

    return composit.fori_loop(0, 4, body, (cnp.zeros(3, "float64"), cnp.zeros((), "float64")))


def recurrent_in_python(x, w, b):
    h, total = cnp.zeros(3, "float64"), cnp.zeros((), "float64")
    for i in range(4):
        h = cnp.tanh(h @ w + b + x[i])
        total = total + cnp.sum(h * h)
    return h, total


def powers(x, y):
    """Every part of the state depends on the others and on the counter."""

    def body(i, state):
        a, b, n = state
        return cnp.sin(a * b) + i.astype("float64"), a - 0.5 * b, n + 1

    a, b, _ = composit.fori_loop(2, 7, body, (x, y, 0))
    return a, b


def nested(x):
    def outer(i, y):
        return composit.fori_loop(0, 2, lambda j, z: cnp.tanh(z * y) + x, y) * 0.5

    return composit.fori_loop(0, 3, outer, x)


def linear(x, w):
    return composit.fori_loop(0, 3, lambda i, y: y @ w, x)


def of_a_gradient(x):
    """Gradient descent: second derivatives."""

    def step(i, y):
        return y - 0.1 * composit.grad(lambda y: cnp.sum(cnp.cos(y) * y))(y)

    return composit.fori_loop(0, 3, step, x)


FUNCTIONS = {
    "recurrent": (recurrent, normal(4, 3), normal(3, 3), normal(3)),
    "powers": (powers, normal(3), normal(3)),
    "nested": (nested, normal(3) * 0.5),
    "linear": (linear, normal(2, 3), normal(3, 3)),
    "of a gradient": (of_a_gradient, normal(4)),
    "no iterations": (lambda x: composit.fori_loop(2, 2, lambda i, y: y * y, x), normal(3)),
    "one iteration": (lambda x: composit.fori_loop(2, 3, lambda i, y: y * y, x), normal(3)),
    "softmax": (
        lambda x: composit.fori_loop(0, 3, lambda i, y: nn.softmax(y, axis=-1) + x, x),
        normal(2, 3),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_differences(name):
    function, *arguments = FUNCTIONS[name]
    check_derivatives(function, *arguments, tolerance=3e-6)


def test_against_the_loop_in_python():
    arguments = [cnp.asarray(a) for a in FUNCTIONS["recurrent"][1:]]
    for argnum in range(3):
        slopes = [
            np.asarray(composit.grad(lambda *a, f=f: f(*a)[1], argnum)(*arguments))
            for f in (recurrent, recurrent_in_python)
        ]
        np.testing.assert_allclose(*slopes, rtol=1e-12)


def test_values_and_gradients_in_every_way():
    arguments = [np.float32(a) for a in FUNCTIONS["recurrent"][1:]]

    def loss(x, w, b):
        def body(i, h):
            return cnp.tanh(h @ w + b + x[i])

        return cnp.sum(composit.fori_loop(0, 4, body, cnp.zeros(3, "float32")))

    both = composit.value_and_grad(loss, (0, 1, 2))
    expected = both(*[cnp.asarray(a) for a in arguments])
    for options in ({"threads": 1}, {"threads": 2}, {"backend": "interpreter"}, {"fuse": False}):
        same_bits(composit.compile(both, **options)(*arguments), expected, options)


def test_forward_mode_is_one_loop():
    x = composit.placeholder("x", (3,), "float64")
    _, tangent = composit.jvp(lambda x: powers(x, x * 2)[0], (x,), (x,))
    loops = [text for text in str(tangent.graph).splitlines() if "= loop(" in text]
    assert len(loops) == 1
    assert "stacked" not in str(tangent.graph) and "scatter" not in str(tangent.graph)


def loops_of(function, *arguments):
    """How many loops the compiled program has."""
    compiled = composit.compile(function, *arguments, backend="interpreter")
    return [kernel.kind for kernel in compiled.kernels].count("Repeat")


@pytest.mark.parametrize("name", ["recurrent", "powers", "nested", "of a gradient", "softmax"])
def test_a_value_and_its_derivative_go_through_one_loop(name):
    function, *arguments = FUNCTIONS[name]

    def loss(*x):
        results = function(*x)
        return sum(map(cnp.sum, results if isinstance(results, tuple) else [results]))

    both = composit.value_and_grad(loss)
    assert loops_of(loss, *arguments) == 1
    assert loops_of(both, *arguments) == 2  # there, with states saved, and back
    assert loops_of(lambda *x: composit.jvp(loss, x, x), *arguments) == 1
    tensors = [cnp.asarray(a) for a in arguments]
    value, slope = both(*tensors)
    np.testing.assert_array_equal(value, loss(*tensors))
    np.testing.assert_array_equal(slope, composit.grad(loss)(*tensors))


def test_loops_of_other_values_are_not_shared():
    """Constants are bound at each evaluation: equal ones may differ the next time."""

    def f(x, scale):
        return composit.fori_loop(0, 3, lambda i, y: y * cnp.asarray(scale), x)

    x = cnp.asarray(normal(3))
    for scale, other_scale in ((2.0, 2.0), (2.0, 3.0)):
        one = f(x, scale)
        _, other = composit.jvp(lambda x, scale=other_scale: f(x, scale), (x,), (x,))
        found = composit.evaluate(one, other)
        np.testing.assert_allclose(found[0], np.asarray(x) * scale**3)
        np.testing.assert_allclose(found[1], np.asarray(x) * other_scale**3)


def test_gradients_of_states_that_are_not_smooth():
    def counted(x):
        def body(i, state):
            y, n, flags = state
            return y * cnp.where(flags, 2.0, 0.5), n + 1, ~flags

        return cnp.sum(composit.fori_loop(0, 3, body, (x, 0, x > 0))[0])

    x = np.array([1.0, -1.0])
    np.testing.assert_array_equal(composit.grad(counted)(x), [2.0, 0.5])


def test_no_gradient_flows_through_integers():
    def f(x):
        n = composit.fori_loop(0, 3, lambda i, n: n + 1, 0)
        return cnp.sum(x) * n.astype("float64")

    np.testing.assert_array_equal(composit.grad(f)(normal(2)), [3.0, 3.0])


# ----- vmap


def check_batches(function, in_axes, *arguments, out_axes=0):
    """vmap gives what calls for one slice after the other give."""
    mapped = composit.vmap(function, in_axes, out_axes)(*map(cnp.asarray, arguments))
    size = next(a.shape[axis] for a, axis in zip(arguments, in_axes) if axis is not None)
    rows = []
    for k in range(size):
        slices = [a if axis is None else np.take(a, k, axis) for a, axis in zip(arguments, in_axes)]
        rows.append(np.asarray(function(*map(cnp.asarray, slices))))
    np.testing.assert_allclose(np.asarray(mapped), np.stack(rows, out_axes), rtol=1e-12)


def test_batched_state():
    check_batches(lambda x: composit.fori_loop(0, 4, lambda i, y: cnp.sin(y) + i, x), [1],
                  normal(3, 5))  # fmt: skip


def test_batched_capture_makes_the_state_batched():
    def f(w, x):
        return composit.fori_loop(0, 4, lambda i, y: cnp.tanh(y @ w), x)

    check_batches(f, [0, None], normal(5, 3, 3), normal(2, 3))
    check_batches(f, [None, 0], normal(3, 3), normal(5, 2, 3))
    check_batches(f, [2, 1], normal(3, 3, 5), normal(2, 5, 3))


def test_states_become_batched_one_after_the_other():
    def f(x):
        def body(i, state):
            a, b, c, d = state
            return a, b + a, c + b, d * 2

        return sum(composit.fori_loop(0, 5, body, (x, 1.0, 2.0, 3.0)))

    check_batches(f, [0], normal(6))


def test_batched_rows_at_the_counter():
    check_batches(
        lambda x: composit.fori_loop(0, 3, lambda i, y: y * 2 + x[i], cnp.zeros(2, "float64")),
        [0], normal(4, 3, 2),
    )  # fmt: skip


def test_batched_gradients():
    check_batches(composit.grad(lambda x: cnp.sum(nested(x))), [0], normal(4, 3))


def test_batched_loops_that_do_not_depend_on_the_batch():
    def f(x):
        return x + composit.fori_loop(0, 3, lambda i, y: y * 2, 1.0)

    check_batches(f, [0], normal(4))


def test_tangents_where_an_operand_depends_on_another():
    """The tangent of one operand says already what it owes to the other."""

    def function(x):
        first = composit.fori_loop(0, 3, lambda i, h: cnp.tanh(h * 1.5), x)
        return first * composit.fori_loop(0, 2, lambda i, h: cnp.sin(h) + x * 0, first)

    check_derivatives(function, np.array(0.7))


def recurrent_loss(x, h, w, iterations):
    def body(i, h):
        return cnp.tanh(h @ w + x)

    return cnp.sum(cnp.sin(composit.fori_loop(0, iterations, body, h)))


def test_gradients_of_weights_are_one_product_after_the_loop():
    """The loop that goes back keeps what the products are made of, and adds to no matrix."""
    draw = np.random.default_rng(5)
    x, h, w = (draw.standard_normal(s) for s in ((3, 24), (3, 24), (24, 24)))
    w *= 0.2
    check_derivatives(lambda *a: recurrent_loss(*a, 6), x, h, w)
    gradient = composit.compile(composit.grad(lambda *a: recurrent_loss(*a, 6), argnums=2))
    gradient(x, h, w)
    back = str(gradient.program).split("_back")[-1]
    assert "k0 < 6, k1 < 3" in back, back


def test_gradients_of_weights_equal_those_of_the_unrolled_loop():
    draw = np.random.default_rng(6)
    x, h, w = (draw.standard_normal(s) for s in ((2, 16), (2, 16), (16, 16)))

    def unrolled(x, h, w):
        for _ in range(9):
            h = cnp.tanh(h @ w + x)
        return cnp.sum(cnp.sin(h))

    for k in range(3):
        expected = composit.grad(unrolled, argnums=k)(x, h, w)
        found = composit.grad(lambda *a: recurrent_loss(*a, 9), argnums=k)(x, h, w)
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-9)


def saved_by(function, *arguments):
    """The stacks that the loop of a gradient fills for the one that goes back."""
    compiled = composit.compile(composit.grad(function))
    compiled(*arguments)
    (made,) = compiled.specialisations.values()
    text = made.passes[-1].after.split("\nkernel ")[0]
    return sorted(line.split()[1][:-1] for line in text.splitlines() if "_saved:" in line)


def test_products_are_saved_instead_of_computed_again():
    x, w = (DRAW.standard_normal(shape).astype("float32") * 0.1 for shape in [(8, 64), (64, 64)])

    def loss(w):
        return cnp.sum(composit.fori_loop(0, 5, lambda i, y: cnp.tanh(y @ w), cnp.asarray(x)))

    assert saved_by(loss, w) == ["contract_saved", "x0_saved"]
    expected = composit.grad(lambda w: _unrolled_loss(x, w))(w)
    np.testing.assert_allclose(composit.grad(loss)(w), expected, rtol=1e-5, atol=1e-6)


def _unrolled_loss(x, w):
    y = cnp.asarray(x)
    for _ in range(5):
        y = cnp.tanh(y @ w)
    return cnp.sum(y)


def test_what_takes_much_more_memory_than_the_state_is_computed_again():
    x, w = DRAW.standard_normal((2, 64)) * 0.1, DRAW.standard_normal((64, 640)) * 0.1

    def loss(w):
        def body(i, y):
            return cnp.tanh(y @ w) @ w.T * 0.1

        return cnp.sum(composit.fori_loop(0, 5, body, cnp.asarray(x)))

    assert saved_by(loss, w) == ["x0_saved"]


def test_short_products_are_computed_again():
    x, w = DRAW.standard_normal((8, 16)), DRAW.standard_normal((16, 16))

    def loss(w):
        return cnp.sum(composit.fori_loop(0, 5, lambda i, y: cnp.tanh(y @ w), cnp.asarray(x)))

    assert saved_by(loss, w) == ["x0_saved"]
