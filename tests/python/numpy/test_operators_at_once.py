"""Operators, ufuncs and masks of known arrays are computed when they are called: NumPy's values and
warnings, and the graphs that there would be."""

import operator
import warnings

import numpy as np
import pytest

import composit.numpy as cnp
from composit import _core, chain_rule, compile, evaluate, grad, placeholder

OFTEN = 40  # operations, of which the later ones are computed at once
SIZES = [0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1000, 1024, 1025]
DTYPES = ["float32", "float64", "int64", "uint8"]
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "ge", "eq", "ne"]
OTHERS = ["array", "integer", "fraction", "scalar", "one"]


def numbers(size, dtype, seed=0):
    """No zeros, so that dividing is no error."""
    drawn = np.random.default_rng(seed).integers(1, 100, size)
    return (drawn / 4 if dtype.startswith("float") else drawn).astype(dtype)


def other(xp, kind, size, dtype):
    if kind in ("integer", "fraction"):
        return {"integer": 3, "fraction": 0.75}[kind]
    y = xp.asarray(numbers(size, dtype, 1))
    return {"array": y, "scalar": y[:1].sum() + y.dtype.type(1), "one": xp.asarray([3], dtype)}[
        kind
    ]


def operations(tensor):
    """The operations that it is made of, each node's once."""
    seen, waiting = {}, [tensor.node]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node] = str(node.operation)
            waiting += [operand.node for operand in node.operands]
    return sorted(each for each in seen.values() if each not in ("constant", "input"))


def is_same(found, expected):
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.asarray(found).tobytes() == expected.tobytes()


def ready(function, *arguments):
    """The result of an operation that is computed at once."""
    for _ in range(OFTEN):
        found = function(*arguments)
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_numpys(name, dtype):
    function = getattr(operator, name)
    for size in SIZES:
        x = numbers(size, dtype)
        for kind in OTHERS:
            if kind == "one" and size == 0:
                continue
            ours, theirs = other(cnp, kind, size, dtype), other(np, kind, size, dtype)
            is_same(ready(function, cnp.asarray(x), ours), function(x, theirs))
            is_same(ready(function, ours, cnp.asarray(x)), np.asarray(function(theirs, x)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "sqrt", "negative", "maximum", "arctan2", "logical_not"])
def test_ufuncs_have_the_bits_of_plans(name, dtype):
    operands = [numbers(300, dtype), numbers(300, dtype, 1)][: getattr(np, name).nin]
    ours = [cnp.asarray(each) for each in operands]
    kept = _core.set_calls_before_at_once(1 << 30)
    try:
        expected = np.asarray(getattr(cnp, name)(*ours))
    finally:
        _core.set_calls_before_at_once(kept)
    found = ready(getattr(cnp, name), *ours)
    assert found.has_node == (found.dtype == np.float16)
    is_same(found, expected)
    inputs = [placeholder(each, (300,), dtype) for each in "xy"[: len(ours)]]
    assert operations(found) == operations(getattr(cnp, name)(*inputs))


def test_no_node_and_no_plan_is_made():
    x = cnp.asarray(numbers(1000, "float64"))
    for _ in range(4):  # each operator's result is known once its own kernel is there
        ready(lambda: (x * 2.0 + x) / (x + 1) > 3)
    plans = _core.plan_statistics()
    found = (x * 2.0 + x) / (x + 1) > 3
    np.asarray(found)
    assert not found.has_node and _core.plan_statistics() == plans
    assert found.location.startswith("test_operators_at_once.py:")
    assert operations(found) == sorted(["map"] * 5)


def test_operands_are_what_they_were():
    values = numbers(200, "float64")
    x = cnp.asarray(values)
    sums = ready(lambda: x + 1.0)
    x[3] = 50.0
    x[10:20] = 7.0
    x *= 2.0
    np.testing.assert_array_equal(np.asarray(sums), values + 1.0)
    np.testing.assert_array_equal(evaluate(sums * 1.0), values + 1.0)
    assert operations(sums) == ["map"]


def test_results_are_written_in_their_own_memory():
    x = cnp.asarray(numbers(200, "float64"))
    one, two = ready(lambda: x + 1.0), ready(lambda: x + 1.0)
    view, before = one[::2], np.asarray(two).copy()
    for _ in range(OFTEN):
        one += 1.0
    one[0] = 4.0
    np.testing.assert_array_equal(np.asarray(two), before)
    np.testing.assert_array_equal(np.asarray(one)[1:], before[1:] + OFTEN)
    np.testing.assert_array_equal(np.asarray(view), np.asarray(one)[::2])


def test_views_and_other_orders():
    values = np.arange(1.0, 121.0).reshape(10, 12)
    x = cnp.asarray(values)
    for _ in range(OFTEN):
        for seen in (lambda a: a.T, lambda a: a[::2], lambda a: a[:, 1:], lambda a: a[::-1, 3]):
            ours, theirs = seen(x) * 2.0 + seen(x), seen(values) * 2.0 + seen(values)
            is_same(ours, theirs)
            assert ours.strides == theirs.strides
        is_same(x[:, :1] + x[:1], values[:, :1] + values[:1])
        is_same(x.reshape(-1)[1:] - x.reshape(-1)[:-1], np.diff(values.reshape(-1)))


def test_gradients_go_through():
    values = numbers(200, "float64")
    x = cnp.asarray(values)

    def loss(x):
        return cnp.sum((x * 2.0 + 1.0) * x)

    for _ in range(OFTEN):
        (gradient,) = chain_rule({loss(x): 1.0}, [x])
        np.testing.assert_array_equal(evaluate(gradient), 4.0 * values + 1.0)
        np.testing.assert_array_equal(evaluate(grad(loss)(x)), 4.0 * values + 1.0)


def test_traces_see_nodes():
    x = cnp.asarray(numbers(200, "float64"))
    ready(lambda: x * 2.0)
    doubled = compile(lambda y: y * 2.0 + x * 2.0)
    np.testing.assert_array_equal(doubled(np.ones(200)), 2.0 + 2.0 * np.asarray(x))
    y = placeholder("y", (200,), "float64")
    assert operations(y * 2.0 + x) == ["map", "map"]


def raised(function, *arguments):
    """The warnings of a call whose result is looked at, or its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            np.asarray(function(*arguments))
        except (ArithmeticError, ValueError) as error:
            return [(type(error), str(error).split(" [")[0])]
    return [(each.category, str(each.message).split(" [")[0]) for each in caught]


@pytest.mark.parametrize("errors", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("name", ["truediv", "floordiv", "mod", "mul", "sub"])
def test_warnings_and_errors_come_as_they_did(name, errors):
    function = getattr(operator, name)
    zeros, large = np.zeros(100), np.full(100, 1e300)
    cases = [(numbers(100, "float64"), zeros), (large, large), (zeros, zeros), (large * np.inf, 2)]
    cases += [(numbers(100, "int64"), np.zeros(100, int)), (numbers(100, "int64"), 0)]
    cases += [(numbers(100, "float32"), 1e300), (numbers(100, "uint8"), np.zeros(100, "uint8"))]
    for x, y in cases:
        ours = [cnp.asarray(each) if isinstance(each, np.ndarray) else each for each in (x, y)]
        with np.errstate(all=errors):
            expected = raised(function, *ours)
            for _ in range(OFTEN):
                assert raised(function, *ours) == expected
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(ready(function, *ours), function(x, y))


def test_what_does_not_fit_is_refused_as_ever():
    x, y = cnp.asarray(numbers(100, "uint8")), cnp.asarray(numbers(99, "uint8"))
    for _ in range(OFTEN):
        with pytest.raises(ValueError, match="broadcast"):
            x + y
        with pytest.raises(OverflowError):
            x + 300
        assert np.asarray(x < 300).all()


def test_long_loops_stay_in_bounds():
    x, expected = cnp.asarray(np.ones(1024)), np.ones(1024)
    for _ in range(5000):  # 32 MiB are met on the way
        x, expected = x * 0.5 + 1.0, expected * 0.5 + 1.0
    np.testing.assert_array_equal(np.asarray(x), expected)


# ----- Masks.


def mask_of(shape, kind):
    drawn = np.random.default_rng(2).random(shape) < 0.5
    return {"half": drawn, "all": drawn | True, "none": drawn & False}[kind]


@pytest.mark.parametrize("kind", ["half", "all", "none"])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "complex128", "int8"])
def test_what_masks_choose_is_numpys(dtype, kind):
    for size in [each for each in SIZES if each > 0]:
        x, mask = numbers(size, dtype), mask_of(size, kind)
        is_same(cnp.asarray(x)[cnp.asarray(mask)], x[mask])
    for shape, masked in (((6, 5), (6, 5)), ((6, 5), 6), ((6, 5, 4), (6, 5)), ((30, 1), 30)):
        x, mask = numbers(shape, dtype), mask_of(masked, kind)
        is_same(cnp.asarray(x)[cnp.asarray(mask)], x[mask])


@pytest.mark.parametrize("value", [3, 2.5, -1, 300, True, 1e300, float("nan")])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "int8", "float16"])
@pytest.mark.filterwarnings("ignore")
def test_stores_through_masks_are_numpys(dtype, value):
    for shape, masked in ((1, 1), (100, 100), (1000, 1000), ((6, 5), (6, 5)), ((6, 5), 6)):
        for kind in ("half", "all", "none"):
            x, mask = numbers(shape, dtype), mask_of(masked, kind)
            ours = cnp.asarray(x)
            view = ours[1:]
            try:
                x[mask] = value
            except (OverflowError, ValueError) as error:
                with pytest.raises(type(error)):
                    ours[cnp.asarray(mask)] = value
            else:
                try:
                    ours[cnp.asarray(mask)] = value
                except ValueError:  # a fraction in integers, which NumPy cuts off
                    assert not float(value).is_integer() and not dtype.startswith("float")
                    continue
            is_same(ours, x)
            is_same(view, x[1:])


def test_masks_of_other_shapes_are_refused_as_ever():
    x = cnp.asarray(np.ones((6, 5)))
    for shape in (5, (6, 4), (6, 5, 1), 7):
        with pytest.raises(IndexError):
            x[cnp.asarray(np.ones(shape, bool))]
        with pytest.raises(IndexError):
            x[cnp.asarray(np.ones(shape, bool))] = 1.0


def test_graphs_and_gradients_of_masks():
    values, chosen = numbers((20, 3), "float64"), mask_of(20, "half")
    x, mask = cnp.asarray(values), cnp.asarray(chosen)
    rows = x[mask]
    assert not rows.has_node
    assert operations(rows) == operations(placeholder("x", (20, 3), "float64")[mask])
    (gradient,) = chain_rule({cnp.sum(rows * rows): 1.0}, [x])
    np.testing.assert_array_equal(evaluate(gradient), 2 * values * chosen[:, None])
    start = cnp.asarray(values)
    written = start.copy()
    written[mask] = 2.0
    (gradient,) = chain_rule({cnp.sum(written * written): 1.0}, [start])
    np.testing.assert_array_equal(evaluate(gradient), 2 * values * ~chosen[:, None])
    slope = grad(lambda x: cnp.sum(x[mask] * 3.0))
    np.testing.assert_array_equal(evaluate(slope(x)), values * 0 + 3.0 * chosen[:, None])
    taken = compile(lambda x: x[mask] + 1.0)
    np.testing.assert_array_equal(taken(values), values[chosen] + 1.0)


def test_what_a_mask_chose_stays():
    values, chosen = numbers(100, "float64"), mask_of(100, "half")
    x, mask = cnp.asarray(values), cnp.asarray(chosen)
    taken = x[mask]
    x[mask] = -1.0
    mask[:] = True
    x[0] = 7.0
    np.testing.assert_array_equal(np.asarray(taken), values[chosen])
    np.testing.assert_array_equal(evaluate(taken * 1.0), values[chosen])
