"""scan: the bits of the loop in Python, JAX's results, derivatives, and one row touched a step."""

import re

import jax
import numpy as np
import pytest
from differences import check_derivatives
from loop_ways import check_all_ways, same_bits

import composit
import composit.numpy as cnp
from composit import mosaic
from composit.structure import flatten

DRAW = np.random.default_rng(11)


def normal(*shape):
    return DRAW.standard_normal(shape).astype("float32")


def in_python(f, init, xs, length=None, reverse=False):
    """What scan means, each step evaluated on its own."""
    rows, rebuild = flatten(xs)
    length = np.shape(rows[0])[0] if rows else length
    carry, ys = init, [None] * length
    for i in reversed(range(length)) if reverse else range(length):
        carry, y = f(carry, rebuild([cnp.asarray(np.asarray(row)[i]) for row in rows]))
        leaves, build = flatten((carry, y))
        carry, ys[i] = build([cnp.asarray(np.asarray(leaf)) for leaf in leaves])
    parts = [flatten(y)[0] for y in ys]
    build = flatten(ys[0])[1]
    stacked = [np.stack([np.asarray(p[k]) for p in parts]) for k in range(len(parts[0]))]
    return carry, build(stacked)


def check(f, init, xs, length=None, more=False):
    for reverse in (False, True):
        check_all_ways(
            lambda carry, rows, back=reverse: composit.scan(f, carry, rows, length, back),
            in_python(f, init, xs, length, reverse),
            init,
            xs,
            more=more,
        )


def recurrent(weights):
    def f(h, x):
        h = cnp.tanh(h @ weights + x)
        return h, h * 2

    return f


def test_recurrence():
    check(recurrent(cnp.asarray(normal(5, 5))), normal(3, 5), normal(7, 3, 5), more=True)


def test_cumulative_sums():
    def f(total, x):
        return total + x, total + x

    last, sums = composit.scan(f, np.float32(0), x := normal(100))
    expected = np.add.accumulate(x)
    assert np.asarray(sums).tobytes() == expected.tobytes()
    assert np.asarray(last) == expected[-1]


def test_several_sequences_and_results():
    def f(carry, x):
        a, count = carry["a"] * x["u"] + x["v"][0], carry["count"] + 1
        return {"a": a, "count": count}, (a, [count, None], x["v"][1])

    init = {"a": normal(2), "count": np.int64(3)}
    check(f, init, {"u": normal(6, 2), "v": [normal(6, 2), normal(6, 3)]}, more=True)


def test_without_sequences():
    check(lambda c, x: (c * 0.5, c), normal(4), None, length=5)
    check(lambda c, x: (c * 0.5, None), normal(4), None, length=5)


def test_without_a_carry():
    check(lambda c, x: (None, x * x), None, normal(5, 2))


def test_results_that_are_the_same_in_all_steps():
    w = cnp.asarray(normal(3))
    check(lambda c, x: (c + x, (w, cnp.exp(w))), normal(3), normal(4, 3))


def test_dtypes():
    for dtype in ("bool", "int8", "uint16", "int32", "uint64", "float64", "complex64"):
        x = DRAW.integers(0, 5, (6, 3)).astype(dtype)
        check(lambda c, x: (c ^ x if x.dtype == "bool" else c * x + c, c), x[0], x)


def test_python_scalars_take_the_dtype_of_the_body():
    last, ys = composit.scan(lambda c, x: (c + x, c), 0, normal(4))
    assert last.dtype == ys.dtype == np.float32


def test_no_steps():
    rows = np.zeros((0, 3), "float32")
    last, ys = composit.scan(lambda c, x: (c + x, c * x), x := normal(3), rows)
    np.testing.assert_array_equal(last, x)
    assert ys.shape == (0, 3) and ys.dtype == np.float32 and np.asarray(ys).shape == (0, 3)
    compiled = composit.compile(lambda c: composit.scan(lambda c, x: (c, c), c, None, 0))
    assert np.asarray(compiled(x)[1]).shape == (0, 3)
    gradient = composit.grad(lambda c: composit.scan(lambda c, _: (c, c), c, None, 0)[0].sum())
    np.testing.assert_array_equal(gradient(x), np.ones(3, "float32"))


def test_nested():
    def outer(carry, row):
        carry, inner = composit.scan(lambda c, x: (cnp.sin(c + x), c * x), carry, row)
        return carry, inner

    check(outer, normal(2), normal(4, 3, 2), more=True)


def of_everything(x, h, w, reverse=False):
    def f(carry, row):
        carry = cnp.tanh(carry @ w + row)
        return carry, (carry * carry, row * 2)

    last, (squares, rows) = composit.scan(f, h, x, reverse=reverse)
    return last, squares, rows


@pytest.mark.parametrize("reverse", [False, True])
def test_derivatives(reverse):
    draw = np.random.default_rng(3)
    x, h, w = (draw.standard_normal(s) for s in ((5, 2, 3), (2, 3), (3, 3)))
    check_derivatives(lambda *a: of_everything(*a, reverse=reverse), x, h, w)


def jax_twin(x, h, w, reverse):
    def f(carry, row):
        carry = jax.numpy.tanh(carry @ w + row)
        return carry, (carry * carry, row * 2)

    last, (squares, rows) = jax.lax.scan(f, h, x, reverse=reverse)
    return last, squares, rows


@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_equal_those_of_jax(reverse):
    draw = np.random.default_rng(11)  # of its own: what others draw first must not matter
    x, h, w = (draw.standard_normal(s).astype("float32") for s in ((20, 4, 3), (4, 3), (3, 3)))

    def ours(x, h, w):
        last, squares, rows = of_everything(x, h, w, reverse)
        return last.sum() + (squares * squares).sum() + (rows * x).sum()

    def theirs(x, h, w):
        last, squares, rows = jax_twin(x, h, w, reverse)
        return last.sum() + (squares * squares).sum() + (rows * x).sum()

    for k in range(3):
        expected = jax.grad(theirs, k)(x, h, w)
        found = composit.compile(composit.grad(ours, k))(x, h, w)
        np.testing.assert_allclose(found, expected, rtol=3e-5, atol=3e-5)


def test_second_derivatives():
    x = normal(6)

    def ours(x):
        return composit.scan(lambda c, row: (cnp.sin(c * row) + row, c), np.float32(1), x)[0]

    def theirs(x):
        return jax.lax.scan(lambda c, r: (jax.numpy.sin(c * r) + r, c), np.float32(1), x)[0]

    ours_second = composit.grad(lambda x: (composit.grad(ours)(x) * x).sum())(x)
    theirs_second = jax.grad(lambda x: (jax.grad(theirs)(x) * x).sum())(x)
    np.testing.assert_allclose(ours_second, theirs_second, rtol=1e-4, atol=1e-5)


def test_vmap():
    w = cnp.asarray(normal(3, 3))

    def one(h, x):
        return composit.scan(recurrent(w), h, x, reverse=True)

    h, x = normal(4, 2, 3), normal(4, 5, 2, 3)
    last, ys = composit.vmap(one)(h, x)
    for k in range(4):
        expected = one(h[k], x[k])
        np.testing.assert_allclose(last[k], expected[0], rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(ys[k], expected[1], rtol=2e-5, atol=1e-6)


def repeats(program):
    """What stands in the loops of a printed program."""
    text = str(program)
    return re.findall(r"(?ms)^kernel [^\n]*: Repeat.*?(?=^kernel |\Z)", text)


def test_a_step_touches_one_row():
    """No kernel of a loop goes through a whole sequence: neither the value's nor the gradient's."""
    x, h, w = normal(301, 4, 3), normal(4, 3), normal(3, 3)

    def loss(x, h, w):
        last, squares, rows = of_everything(x, h, w)
        return (last.sum() + squares.sum() + rows.sum()) / 7

    def everything(x, h, w):
        value, pull_back = composit.vjp(loss, x, h, w)
        return value, *pull_back(np.float32(1))

    compiled = composit.compile(everything, x, h, w)
    assert [kernel.kind for kernel in compiled.kernels].count("Repeat") == 2
    for loop in repeats(compiled.program):
        assert re.search(r"< [34]\b", loop) and not re.search(r"< (301|3612|1204|903)\b", loop), (
            loop
        )


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [
        (TypeError, lambda: composit.scan(None, 0, normal(2)),
         "scan: None is not a function, which is required."),
        (ValueError, lambda: composit.scan(lambda c, x: (c, x), 0, None),
         "scan: neither xs nor length is given. One of them is required."),
        (ValueError, lambda: composit.scan(lambda c, x: (c, x), 0, None, -1),
         "scan: length is -1. It must not be negative."),
        (ValueError, lambda: composit.scan(lambda c, x: (c, x), 0, normal(3), 4),
         "scan: length is 4, and a part of xs has shape (3,). They must be equal."),
        (ValueError, lambda: composit.scan(lambda c, x: (c, x), 0, (normal(3), normal(2))),
         "scan: parts of xs have shapes (3,) and (2,). Leading axes of one length are required."),
        (ValueError, lambda: composit.scan(lambda c, x: (c, x), 0, 3.0),
         "scan: a part of xs is 0-d. A leading axis, which the scan goes along, is required."),
        (TypeError, lambda: composit.scan(lambda c, x: c, normal(1), normal(3)),
         "scan: f returned *. A pair (carry, y) is required."),
        (TypeError, lambda: composit.scan(lambda c, x: (x, x), normal(2), normal(3)),
         "scan: the body takes part 0 of the carry as float32[2] and returns it as float32[]. "
         "Equal types are required."),
        (TypeError, lambda: composit.scan(lambda c, x: ((c, c), x), normal(2), normal(3)),
         "scan: f takes a carry of the structure * and returns (*, *). They must be equal."),
        (TypeError, lambda: composit.scan(lambda c, x: (c, x), 0, normal(3), 3.5),
         "scan: length is 3.5. An integer is required."),
    ],
)  # fmt: skip
def test_errors(error, call, message):
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_kernels_give_the_same_bits():
    w = cnp.asarray(normal(5, 5))
    h, x = normal(3, 5), normal(7, 3, 5)
    compiled = composit.compile(lambda h, x: composit.scan(recurrent(w), h, x), h, x)
    targets = compiled(h, x)
    same_bits(targets, composit.scan(recurrent(w), h, x), "compiled")
    places = [composit.placeholder("h", (3, 5)), composit.placeholder("x", (7, 3, 5))]
    leaves = flatten(composit.scan(recurrent(w), *places))[0]
    program = mosaic.compile(*leaves, inputs=places, target="interpreter", whole_model=False)
    same_bits(list(program(h, x)), flatten(targets)[0], "by kernels")
