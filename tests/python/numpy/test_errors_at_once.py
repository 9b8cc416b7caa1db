"""Under np.errstate(…="raise") errors of floating point come at the call, as NumPy's do."""

import operator

import numpy as np
import pytest

import composit
import composit.numpy as cnp

# A call, its operands, and a kind of error that NumPy raises for it.
CALLS = [
    (operator.truediv, ([1.0, 2.0], [0.0, 1.0]), "divide"),
    (np.true_divide, ([1.0, 2.0], 0.0), "divide"),
    (operator.mul, ([1e300], [1e300]), "over"),
    (operator.mul, ([1e-300], [1e-300]), "under"),
    (operator.floordiv, (np.array([3, 4]), 0), "divide"),
    (np.floor_divide, (np.array([-128], "int8"), np.int8(-1)), "over"),
    (operator.mod, (np.array([3, 4]), 0), "divide"),
    (divmod, ([4.0], [0.0]), "invalid"),
    (np.exp, ([1e4],), "over"),
    (np.log, ([0.0],), "divide"),
    (np.sqrt, ([-1.0],), "invalid"),
    (np.add.reduce, ([1e308] * 20,), "over"),
    (np.floor_divide.reduce, ([4, 1, 0],), "divide"),
    (np.cumprod, ([1e200] * 3,), "over"),
    (np.subtract, ([np.inf], [np.inf]), "invalid"),
]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("function", "operands", "kind"), CALLS)
def test_raises_where_numpy_does(function, operands, kind, lazy):
    made = [cnp.asarray(x) if lazy else np.asarray(x) for x in operands]
    with np.errstate(all="ignore", **{kind: "raise"}), pytest.raises(FloatingPointError):
        function(*made)
    with np.errstate(all="ignore"):
        function(*made)


@pytest.mark.parametrize("operator_name", ["itruediv", "imul", "ifloordiv", "ipow"])
def test_what_is_written_in_place_stays_as_it_was(operator_name):
    x = cnp.array([0.0, 1e300])
    operand = {"imul": 1e300, "ipow": -2.0}.get(operator_name, 0.0)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        getattr(operator, operator_name)(x, operand)
    np.testing.assert_array_equal(x.evaluated(), [0.0, 1e300])


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_items_and_out_are_seen():
    x, out = cnp.array([1.0, 2.0]), cnp.zeros(2)
    nothing = x - x
    quotient = cnp.ones(2) / nothing
    with np.errstate(all="raise"):
        x[0] = quotient[0]  # warns: the quotient was made before
        with pytest.raises(FloatingPointError):
            cnp.divide(1.0, nothing, out=out)
        view = out[:1]
        with pytest.raises(FloatingPointError):
            view /= 0.0
    np.testing.assert_array_equal(out.evaluated(), [0.0, 0.0])


def test_nothing_is_evaluated_without_a_wish():
    before = composit._core.plan_statistics()
    x = cnp.array([1.0, 0.0])
    for settings in ({}, {"all": "warn"}, {"all": "ignore"}, {"all": "print"}):
        with np.errstate(**settings):
            y = 1.0 / x
            y += 1.0
            y[0] = cnp.log(x)[1]
    assert composit._core.plan_statistics() == before


def test_placeholders_wait():
    with np.errstate(all="raise"):
        inverse = composit.compile(lambda x: 1.0 / x, cnp.ones(2))
        gradient = composit.grad(lambda x: (1.0 / x).sum())(cnp.array([1.0, 2.0]))
        batched = composit.vmap(lambda x: 1.0 / x)(cnp.ones((2, 3)))
        with pytest.raises(FloatingPointError, match="divide by zero"):
            inverse(np.zeros(2))
    np.testing.assert_array_equal(gradient.evaluated(), [-1.0, -0.25])
    np.testing.assert_array_equal(batched.evaluated(), np.ones((2, 3)))


def test_the_graph_stays_a_graph():
    x = cnp.array([1.0, 2.0])
    with np.errstate(all="raise"):
        y = (x * x + 1.0).sum()
    assert y.node.operation.name == "reduce"
    assert y.node.operands[0].node.operation.name == "map"


def test_chains_are_evaluated_link_by_link():
    # Each call evaluates its own nodes: those before are known, also where they were written over.
    x, in_place = cnp.ones(3), cnp.ones(3)
    with np.errstate(all="raise"):
        for _ in range(2000):
            x = x * 0.5 + 1.0
            in_place *= 0.5
            in_place += 1.0
    np.testing.assert_allclose(x.evaluated(), 2.0)
    np.testing.assert_allclose(in_place.evaluated(), 2.0)


def test_values_die_with_their_tensors():
    import weakref

    with np.errstate(all="raise"):
        x = cnp.ones(3) + 1.0
        y = x + 1.0
        died = weakref.ref(x)
        del x
        assert died() is None
        z = y + 1.0
        y += 1.0
    np.testing.assert_array_equal(z.evaluated(), [4.0] * 3)
    np.testing.assert_array_equal((y + z).evaluated(), [8.0] * 3)
