"""Functions of known arrays are computed when they are called: the same bits, graphs and errors."""

import inspect
import pickle
import resource
import warnings

import numpy as np
import pytest

import composit.numpy as cnp
from composit import _core, chain_rule, compile, evaluate, grad, placeholder
from composit.numpy import _at_once

OFTEN = 40  # calls, of which the later ones are computed at once


def arrays(dtype):
    rng = np.random.default_rng(3)
    return [(10 * rng.standard_normal(shape)).astype(dtype) for shape in ((30, 20), (30, 20))]


CALLS = {
    "all": lambda f, x, y: f(x, axis=1), "any": lambda f, x, y: f(x > 2, axis=0, keepdims=True),
    "argmax": lambda f, x, y: f(x, 1), "average": lambda f, x, y: f(x, axis=0, weights=abs(y)),
    "clip": lambda f, x, y: f(x, -1, 2.5), "concatenate": lambda f, x, y: f([x, y], axis=1),
    "concat": lambda f, x, y: f((x, y)), "convolve": lambda f, x, y: f(x[0], y[0]),
    "correlate": lambda f, x, y: f(x[0], y[0], "full"),
    "cross": lambda f, x, y: f(x[:, :3], y[:, :3]),
    "column_stack": lambda f, x, y: f([x, y]), "dot": lambda f, x, y: f(x, y.T.copy()),
    "inner": lambda f, x, y: f(x, y), "interp": lambda f, x, y: f(x[0], np.arange(20.0), y[0]),

    "isclose": lambda f, x, y: f(x, y, atol=3.0), "kron": lambda f, x, y: f(x[:4], y[:4]),
    "append": lambda f, x, y: f(x, y), "digitize": lambda f, x, y: f(x, (0.0, 1.0, 2.5)),
    "lexsort": lambda f, x, y: f((x[0], y[0])), "matmul": lambda f, x, y: f(x, y.T.copy()),
    "outer": lambda f, x, y: f(x[0], y[0]), "pad": lambda f, x, y: f(x, 2, mode="reflect"),
    "partition": lambda f, x, y: f(x, 9, axis=0),
    "percentile": lambda f, x, y: f(x, [5, 50], axis=1),
    "argpartition": lambda f, x, y: f(x[0], 9)[9:10], "quantile": lambda f, x, y: f(x, 0.3),
    "nanpercentile": lambda f, x, y: f(x, 40), "nanquantile": lambda f, x, y: f(x, 0.4, axis=0),
    "polyval": lambda f, x, y: f(x[0], y), "repeat": lambda f, x, y: f(x, 3, axis=1),
    "roll": lambda f, x, y: f(x, (2, 5), (0, 1)), "round": lambda f, x, y: f(x, 1),
    "around": lambda f, x, y: f(x, decimals=1), "searchsorted": lambda f, x, y: f(x[0], y),
    "einsum": lambda f, x, y: f("ij,kj->ik", x, y),
    "stack": lambda f, x, y: f([x, y], -1), "take": lambda f, x, y: f(x, [3, 1, 2], axis=0),
    "take_along_axis": lambda f, x, y: f(x, np.zeros((30, 1), int), 1),
    "tensordot": lambda f, x, y: f(x, y, axes=[[0], [0]]), "tile": lambda f, x, y: f(x, (2, 1)),
    "vander": lambda f, x, y: f(x[0], 4), "vdot": lambda f, x, y: f(x, y),
    "where": lambda f, x, y: f(x > y, x, 0.5), "cov": lambda f, x, y: f(x, y),
    "hstack": lambda f, x, y: f([x, y]), "vstack": lambda f, x, y: f([x, y]),
    "dstack": lambda f, x, y: f([x, y]), "logspace": lambda f, x, y: f(x[0] / 10, y[0] / 10, 5),
    "bincount": lambda f, x, y: f(np.arange(9)), "gradient": lambda f, x, y: f(x, axis=0),
    "corrcoef": lambda f, x, y: f(x), "nan_to_num": lambda f, x, y: f(x, nan=1.0),
}  # fmt: skip
LINALG_CALLS = {
    "solve": lambda f, x, y: f(x[:20], y[:20]), "inv": lambda f, x, y: f(x[:20]),
    "det": lambda f, x, y: f(x[:20]), "matrix_power": lambda f, x, y: f(x[:20] / 10, 3),
    "cond": lambda f, x, y: f(x[:20]), "norm": lambda f, x, y: f(x, axis=1),
}  # fmt: skip


def usual(function, x, y):
    """A call with the most usual arguments."""
    return function(x)


def cases():
    for name in _at_once.NAMES:
        yield pytest.param(cnp, name, CALLS.get(name, usual), id=name)
    for name in _at_once.FFT_NAMES:
        yield pytest.param(cnp.fft, name, usual, id=f"fft.{name}")
    for name in _at_once.LINALG_NAMES:
        yield pytest.param(cnp.linalg, name, LINALG_CALLS.get(name, usual), id=f"linalg.{name}")


@pytest.mark.parametrize("module, name, call", cases())
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.filterwarnings("ignore")
def test_every_call_gives_the_same_bits_and_the_same_graph(module, name, call, dtype):
    x, y = map(cnp.asarray, arrays(dtype))
    function = getattr(module, name)
    expected = call(function.__wrapped__, x, y)
    found = [call(function, x, y) for _ in range(OFTEN)][-1]
    assert (found.dtype, found.shape, type(found)) == (
        expected.dtype,
        expected.shape,
        type(expected),
    )
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    inputs = [placeholder(each, (30, 20), dtype) for each in "xy"]
    try:
        traced = call(function.__wrapped__, *inputs)
    except (ValueError, TypeError, NotImplementedError):
        traced = expected  # it asks for values
    assert operations(found) == operations(traced)


def operations(tensor):
    """The operations that it is made of, each node's once."""
    seen, waiting = {}, [tensor.node]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node] = str(node.operation)
            waiting += [operand.node for operand in node.operands]
    return sorted(each for each in seen.values() if each not in ("constant", "input"))


def known(count=100):
    return cnp.asarray(np.linspace(-1.0, 1.0, count))


def ready(function, *arguments, **named):
    """The result of a call that is computed at once."""
    for _ in range(OFTEN):
        found = function(*arguments, **named)
    return found


MOST = ["sum", "mean", "std", "argmax", "cumsum", "sort", "median", "clip", "diff"]


@pytest.mark.parametrize("name", MOST)
def test_no_node_is_made(name):
    x = known()
    bounds = (-0.5, 0.5) if name == "clip" else ()
    found = ready(getattr(cnp, name), x, *bounds)
    plans = _core.plan_statistics()
    expected = getattr(np, name)(np.asarray(x), *bounds)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)
    assert not found.has_node and _core.plan_statistics() == plans
    assert found.node.operands and found.has_node


def test_graphs_are_on_the_line_of_their_call():
    x = known()
    for _ in range(OFTEN):
        found = cnp.dot(x, x)
    assert found.location.startswith("test_at_once.py:")
    other = cnp.dot(x, x)
    line = int(found.location.split(":")[1])
    assert int(other.location.split(":")[1]) == line + 2


def test_gradients_go_through():
    x = known()
    loss = ready(cnp.sum, ready(cnp.clip, x, -0.25, 0.75)) * 2.0
    (gradient,) = chain_rule({loss: 1.0}, [x])
    inside = (np.asarray(x) > -0.25) & (np.asarray(x) < 0.75)
    np.testing.assert_array_equal(evaluate(gradient), 2.0 * inside)
    slope = grad(lambda x: cnp.mean(cnp.cumsum(x)))
    for _ in range(OFTEN):
        found = slope(x)
    np.testing.assert_allclose(evaluate(found), np.arange(100, 0, -1) / 100)


def test_operands_are_what_they_were_at_the_call():
    x = known()
    total = ready(cnp.sum, x)
    held = np.asarray(x).copy()
    x[3] = 50.0
    x[10:20] = 7.0
    x *= 2.0
    assert float(total) == pytest.approx(held.sum())
    squares = ready(cnp.dot, x, x)
    now = np.asarray(x).copy()
    x[0] = -9.0
    assert float(squares) == pytest.approx((now**2).sum())
    # As a graph: of values that are in nobody's memory any more.
    np.testing.assert_allclose(evaluate(squares * 1.0), (now**2).sum())


def test_results_are_written_in_their_own_memory():
    x = known()
    for name in ("sort", "copy", "cumsum", "where"):
        arguments = (x > 0, x, 1.0) if name == "where" else (x,)
        one, two = (ready(getattr(cnp, name), *arguments) for _ in range(2))
        before = np.asarray(two).copy()
        one[:] = 5.0
        one[0] = 4.0
        np.testing.assert_array_equal(np.asarray(two), before)
        assert float(one[0]) == 4.0 and float(x[0]) == -1.0


def test_warnings_and_errors_come_as_they_did():
    x, zeros = known(), cnp.zeros(100)
    ready(cnp.average, x, weights=known() + 2.0)
    with pytest.raises(ZeroDivisionError):
        cnp.average(x, weights=zeros)
    ready(cnp.std, x)
    large = cnp.asarray(np.array([1e300, -1e300] * 50))
    with pytest.warns(RuntimeWarning, match="overflow encountered"):
        np.asarray(ready(cnp.var, large))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
        cnp.var(large)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(float(ready(cnp.var, large)))
    matrix = cnp.asarray(np.eye(5))
    ready(cnp.linalg.inv, matrix)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        np.asarray(cnp.linalg.inv(cnp.asarray(np.zeros((5, 5)))))
    places = cnp.asarray(np.arange(5))
    ready(cnp.take, x, places)
    with pytest.raises(IndexError, match="out of bounds"):
        np.asarray(cnp.take(x, cnp.asarray(np.full(5, 100))))
    for _ in range(OFTEN):
        with pytest.raises(ValueError, match="axis 3 is out of bounds"):
            cnp.sum(x, axis=3)


def test_arguments_are_told_apart():
    x = known(12).reshape(3, 4).copy()
    values = np.asarray(x)
    for _ in range(OFTEN):
        for axis in (0, 1, None, (0, 1)):
            for keepdims in (True, False):
                found = np.asarray(cnp.sum(x, axis=axis, keepdims=keepdims))
                expected = values.sum(axis=axis, keepdims=keepdims)
                np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
        for low in (0, 0.0, False, -0.0):
            found, expected = cnp.clip(x, low, 1), np.clip(values, low, 1)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(np.asarray(found), expected)
        for dtype in (np.float32, np.float64, float, "float32", None):
            assert cnp.sum(x, dtype=dtype).dtype == values.sum(dtype=dtype).dtype
        out = cnp.zeros(4)
        assert cnp.sum(x, axis=0, out=out) is out
        np.testing.assert_allclose(np.asarray(out), values.sum(axis=0), atol=1e-13)


def test_in_other_memory_orders():
    x = cnp.asarray(np.arange(12.0).reshape(3, 4))
    ready(cnp.sum, x, axis=0)
    for seen in (x.T, x[::2], x[:, 1:], x[::-1]):
        for _ in range(OFTEN):
            found = cnp.sum(seen, axis=0)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(seen).sum(axis=0))


def test_traces_see_nodes():
    x = known(8)
    ready(cnp.sum, x)
    double = compile(lambda y: cnp.sum(y) * cnp.sum(x + 2.0))
    assert double(np.ones(8)) == pytest.approx(8 * 16.0)
    assert compile(lambda y: cnp.sum(y))(np.arange(8.0)) == 28.0


def test_functions_look_like_functions():
    assert pickle.loads(pickle.dumps(cnp.dot)) is cnp.dot
    assert pickle.loads(pickle.dumps(cnp.linalg.norm)) is cnp.linalg.norm
    assert str(inspect.signature(cnp.dot)).startswith("(a: ")
    assert cnp.dot.__name__ == "dot" and "Sum over the last axis" in cnp.dot.__doc__
    x = known()
    assert float(x.sum()) == float(cnp.sum(x)) and x.sum.__self__ is x


def test_long_loops_stay_in_bounds():
    """Values that only the graph holds take 32 MiB; the rest are nodes'."""
    x = cnp.asarray(np.full(10_000, 1.0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(5_000):
        x = cnp.clip(x, -2.0, 2.0)
    np.testing.assert_array_equal(np.asarray(x), 1.0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 320, grown


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128", "bool"])
def test_items_at_indices(dtype):
    """x[indices] of known arrays: values, the graph, writes that follow, errors of the call."""
    x = np.arange(24).reshape(6, 4).astype(dtype)
    indices = np.array([[0, -1, 3], [5, 2, 2]])
    lazy, places = cnp.asarray(x.copy()), cnp.asarray(indices)
    for _ in range(OFTEN):
        found = lazy[places]
        assert evaluate(found).tobytes() == x[indices].tobytes()
    assert found.shape == (2, 3, 4)
    assert found.node.operation.name == lazy[cnp.asarray(indices)].node.operation.name
    found[0] = 1
    lazy[1] = 0
    np.testing.assert_array_equal(evaluate(lazy), np.where(np.arange(6)[:, None] == 1, 0, x))
    for _ in range(OFTEN):
        with pytest.raises(IndexError, match=r"index 6 is out of bounds .*test_at_once\.py:"):
            evaluate(lazy[cnp.asarray([6, 0])])


def test_gradients_go_through_items_at_indices():
    x, places = cnp.asarray(np.arange(5.0)), cnp.asarray([1, 3, 3])
    for _ in range(OFTEN):
        loss = (x[places] ** 2).sum()
    np.testing.assert_array_equal(evaluate(chain_rule({loss: 1.0}, [x])[0]), [0, 2, 0, 12, 0])


def test_copies_of_views_are_made_at_once():
    """Of few elements; the graph is there when somebody asks."""
    x = cnp.asarray(np.arange(12.0).reshape(3, 4))
    for view in (x.T, x[::-1], cnp.flip(x, 1), x[:, 1:3]):
        before, made = np.array(evaluate(view)), cnp.ascontiguousarray(view)
        x += 1
        np.testing.assert_array_equal(evaluate(made), before)
    loss = cnp.ascontiguousarray(x.T).sum() * 2
    np.testing.assert_array_equal(evaluate(chain_rule({loss: 1.0}, [x])[0]), np.full((3, 4), 2.0))


INDICES = np.array([3, 1, 29, 3, -2])
STORES = {
    "slice": (np.s_[::2], 3), "rows": (np.s_[2:5], 1.5), "columns": (np.s_[:, -3:], -1),
    "one row": (4, 2.5), "ellipsis": (np.s_[..., 0], 7), "new axis": (np.s_[None, 2:4], 0.25),
    "indices": (INDICES, 9), "two of indices": ((INDICES, INDICES % 20), 9),
    "mask": ("mask", -4), "nothing": (np.s_[5:5], 3), "other rows": (np.s_[1:3], "rows"),
    "row for rows": (np.s_[10:20], "row"), "scalar": (np.s_[3:], "scalar"),
    "backwards": (np.s_[::-1], "itself"), "boolean": (np.s_[3:], True),
}  # fmt: skip


def stores(xp, name, dtype, calls):
    """An array, of which a part was overwritten by the last of several calls, and a view of it."""
    x, y = map(xp.asarray, arrays(dtype))
    key, value = STORES[name]
    if xp is cnp:
        key = tuple(map(in_cnp, key)) if isinstance(key, tuple) else in_cnp(key)
    if isinstance(key, str):
        key = y > 0
    if isinstance(value, str):
        value = {"rows": y[5:7], "row": y[3], "scalar": y[0, 0], "itself": x}[value]
    for _ in range(calls):
        changed = x.copy()
        view = changed[1:3]
        changed[key] = value
    return x, changed, view


def in_cnp(key):
    return cnp.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("name", STORES)
def test_stores_are_those_of_numpy(name, dtype):
    before, expected, expected_view = stores(np, name, dtype, 1)
    x, found, view = stores(cnp, name, dtype, OFTEN)
    for got, want in ((found, expected), (view, expected_view), (x, before)):
        assert got.dtype == want.dtype and np.asarray(got).tobytes() == want.tobytes()
    kept = _core.set_calls_before_at_once(1 << 30)
    try:
        assert operations(found) == operations(stores(cnp, name, dtype, 1)[1])
    finally:
        _core.set_calls_before_at_once(kept)


def test_bounds_that_are_numbers_of_an_array():
    places = cnp.asarray(np.arange(0, 200, 5))
    x, expected = cnp.asarray(np.zeros(200)), np.zeros(200)
    for i, place in enumerate(places):
        x[place : place + 3] = 1
        expected[5 * i : 5 * i + 3] = 1
    np.testing.assert_array_equal(x, expected)
    found = [cnp.asarray(np.arange(9.0))[place : place + 2].sum() for place in cnp.arange(7)] * 9
    np.testing.assert_array_equal(cnp.asarray(found), list(range(1, 14, 2)) * 9)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_fractions_that_do_not_fit_integers(dtype):
    numbers = cnp.asarray(np.array([1.0, 1e20]))
    for _ in range(OFTEN):
        x = cnp.asarray(np.zeros(10, dtype))
        x[2:4] = numbers[0]
    with pytest.raises(OverflowError):
        x[2:4] = numbers[1]
    np.testing.assert_array_equal(x, [0, 0, 1, 1, 0, 0, 0, 0, 0, 0])


def test_more_keys_than_are_known():
    x, expected = known(), np.linspace(-1.0, 1.0, 100)
    for i in range(2000):
        for each in (x, expected):
            each[2:7] = 3
            each[i % 90 : i % 90 + 10] = i
    np.testing.assert_array_equal(x, expected)


def test_what_is_added_to_a_part_is_written_once():
    for _ in range(OFTEN):
        x = known()
        x[10:20] += 1
    kept = _core.set_calls_before_at_once(1 << 30)
    try:
        y = known()
        y[10:20] += 1
        assert operations(x) == operations(y)
    finally:
        _core.set_calls_before_at_once(kept)
    np.testing.assert_array_equal(x, y)


def test_errors_and_warnings_of_stores():
    x, far = known(), cnp.asarray([3, 100])
    small = cnp.asarray(np.zeros(100, np.int8))
    read_only = cnp.asarray(np.zeros(100))
    read_only.flags.writeable = False
    mixed = cnp.asarray(np.ones(100) + 1j)
    for _ in range(OFTEN):
        with pytest.raises(IndexError, match="index 100 is out of bounds"):
            x[far] = 3
            evaluate(x)
        x = known()
        with pytest.raises(OverflowError):
            small[2:9] = 300
        with pytest.raises(ValueError, match="read-only"):
            read_only[2:9] = 3
        with pytest.warns(np.exceptions.ComplexWarning):
            x[:] = mixed
        with pytest.raises(ValueError, match="could not broadcast"):
            x[:] = known(7)


def test_a_store_into_a_placeholder_and_in_gradients_makes_nodes():
    x = known()

    def stored(y):
        z = y.copy()
        z[::2] = 3
        return (z * z).sum()

    for _ in range(OFTEN):
        np.testing.assert_array_equal(grad(stored)(x)[::2], 0)
        np.testing.assert_array_equal(grad(stored)(x)[1::2], 2 * x[1::2])
    np.testing.assert_array_equal(compile(stored)(x), stored(x))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_products_of_matrices_in_any_order(dtype):
    """The operator: of small arrays from the first call on, however they lie in memory."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-3, 4, (4, 6)).astype(dtype) for _ in range(2))
    x, y = cnp.asarray(a), cnp.asarray(b)
    pairs = [
        (lambda p, q: p @ q.T), (lambda p, q: p.T @ q), (lambda p, q: p[:, 1:4] @ q[1:, ::2].T[:3]),
        (lambda p, q: p[0] @ q[1]), (lambda p, q: p[::-1] @ q[2]), (lambda p, q: q[:, 0] @ p),
    ]  # fmt: skip
    for product in pairs:
        compiled = compile(product, a, b, backend="interpreter")(a, b)
        for _ in range(3):
            made = product(x, y)
            assert made.is_known
            np.testing.assert_array_equal(np.asarray(made), product(a, b))
            np.testing.assert_array_equal(np.asarray(made), compiled)
    kept = x @ y.T
    x[0] = 1
    np.testing.assert_array_equal(np.asarray(kept), a @ b.T)
    assert "contract" in str(kept.graph)


def test_products_are_differentiated_as_ever():
    a = np.arange(6.0).reshape(2, 3)
    x = cnp.asarray(a)
    y = x @ x.T
    (slope,) = chain_rule({cnp.sum(y * y): 1.0}, [x])
    np.testing.assert_allclose(np.asarray(slope), 4 * a @ a.T @ a)


def test_a_loop_of_small_arrays_is_known_at_each_step():
    """One result that is not known would leave all that comes behind it to nodes."""
    x, step = cnp.asarray([1.0, 0.0]), cnp.asarray([[0.9, 0.1], [-0.1, 0.9]])
    for _ in range(5):
        x = cnp.concatenate([step @ x, cnp.asarray([0.0])])[:2] + cnp.sum(x)
        assert x.is_known


def test_a_product_that_does_not_fit_is_refused_as_ever():
    x, y = cnp.ones((2, 3)), cnp.ones((2, 3))
    for _ in range(3):
        with pytest.raises(ValueError, match="matmul"):
            x @ y
