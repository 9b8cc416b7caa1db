"""Functions whose results have shapes that values decide: their values are known at the call, and
are those that their graphs have."""

import numpy as np
import pytest

import composit.numpy as cnp
from composit import chain_rule, compile, evaluate
from composit.numpy import LazyTensor

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64"]
SIZES = (1, 7, 100, 3000)


def drawn(dtype, size, seed=0):
    """Some values several times, and of floats both zeros, infinities and NaN."""
    draw = np.random.default_rng(seed)
    values = draw.integers(0, max(size // 2, 2), size)
    if np.dtype(dtype).kind == "f":
        values = values - size / 4
        for special in (0.0, -0.0, np.inf, -np.inf, np.nan):
            values = np.where(draw.random(size) < 0.04, special, values)
    return values.astype(dtype)


def of_graph(*found):
    """The values that graphs have, whatever is known of them."""
    return compile(lambda zero: (*found, zero), backend="interpreter")(0.0)[:-1]


def checked(found, expected, is_known=True):
    """NumPy's values, which are there; and the graph has them, too, bit for bit."""
    assert found.is_known or not is_known
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.asarray(of_graph(found)[0]).tobytes() == np.asarray(found).tobytes()
    np.testing.assert_array_equal(np.asarray(found), expected)


SETS = {
    "unique": lambda xp, x, y: (xp.unique(x),),
    "unique, all": lambda xp, x, y: xp.unique(x, True, True, True),
    "unique, counts": lambda xp, x, y: xp.unique(x, return_counts=True),
    "union1d": lambda xp, x, y: (xp.union1d(x, y),),
    "setdiff1d": lambda xp, x, y: (xp.setdiff1d(x, y),),
    "setxor1d": lambda xp, x, y: (xp.setxor1d(x, y),),
    "intersect1d": lambda xp, x, y: (xp.intersect1d(x, y),),
    "intersect1d, places": lambda xp, x, y: xp.intersect1d(x, y, return_indices=True),
    "setdiff1d of what differs": lambda xp, x, y: (
        xp.setdiff1d(xp.unique(x)[::-1], xp.unique(y), assume_unique=True),
    ),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sets(name, dtype):
    for size in SIZES:
        x, y = drawn(dtype, size), drawn(dtype, size // 2 + 1, seed=1)
        found = SETS[name](cnp, cnp.asarray(x), cnp.asarray(y))
        for ours, theirs in zip(found, SETS[name](np, x, y), strict=True):
            checked(ours, theirs, is_known=theirs.size > 0)


@pytest.mark.parametrize("dtypes", [("int64", "float32"), ("uint8", "int8"), ("float32", "bool")])
@pytest.mark.parametrize("name", ["setdiff1d", "setxor1d", "intersect1d", "union1d"])
def test_sets_of_two_dtypes(name, dtypes):
    x, y = drawn(dtypes[0], 90), drawn(dtypes[1], 60, seed=1)
    found, expected = (getattr(xp, name)(x, y) for xp in (cnp, np))
    checked(found, expected, is_known=False)


def test_pairs_in_any_order_that_differ():
    x, y = np.array([5.0, 1.0, 3.0]), np.array([3.0, 9.0, 5.0])
    for name in ("setdiff1d", "setxor1d", "intersect1d"):
        found, expected = (getattr(xp, name)(x, y, assume_unique=True) for xp in (cnp, np))
        checked(found, expected)


MASKED = {
    "x[mask]": lambda xp, x, mask: x[mask],
    "x[mask] of rows": lambda xp, x, mask: x[mask[:, 0]],
    "extract": lambda xp, x, mask: xp.extract(mask, x),
    "compress": lambda xp, x, mask: xp.compress(mask[:, 0], x, axis=0),
}


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "float16"])
def test_masks(name, dtype):
    for shape in ((1, 1), (50, 2), (30, 40)):
        x = drawn("float32", shape[0] * shape[1]).reshape(shape)
        x = np.nan_to_num(x, posinf=3, neginf=2).astype(dtype)
        mask = np.random.default_rng(1).random(shape) < 0.6
        found = MASKED[name](cnp, cnp.asarray(x), cnp.asarray(mask))
        expected = MASKED[name](np, x, mask)
        checked(found, expected, is_known=name == "x[mask]" and expected.size > 0)
        for mine, theirs in zip(cnp.nonzero(cnp.asarray(x)), np.nonzero(x), strict=True):
            checked(mine, theirs)


@pytest.mark.parametrize("value", [3, True, 2.5, 1e-50, 1e300, np.nan, -np.inf, "array", "number"])
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "float16"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_what_is_written_where_a_mask_is_true(value, dtype):
    mask = np.random.default_rng(1).random((30, 20)) < 0.5
    x = np.arange(600).reshape(30, 20).astype(dtype)
    if value == "array":
        value = np.arange(mask.sum()).astype(dtype)
    elif value == "number":
        value = x[1, 2]
    elif isinstance(value, float) and x.dtype.kind not in "fc":
        return  # integers refuse fractions
    for key in (mask, mask[:, 1]):
        if isinstance(value, np.ndarray) and value.ndim and key is not mask:
            continue
        ours, theirs = cnp.array(x), x.copy()
        ours[cnp.asarray(key)] = value if np.ndim(value) == 0 else cnp.asarray(value)
        theirs[key] = value
        checked(ours, theirs, is_known=False)


def test_what_was_there_before_is_seen_by_who_read_it():
    x = cnp.asarray(np.arange(5.0))
    mask = x > 2
    chosen, negative = x[mask], -x
    x[mask] = 0
    assert evaluate(chosen).tolist() == [3, 4]
    assert evaluate(negative).tolist() == [0, -1, -2, -3, -4]
    assert evaluate(x).tolist() == [0, 1, 2, 0, 0]


def test_numbers_that_overflow_are_reported():
    x = cnp.asarray(np.arange(5, dtype="float32"))
    with pytest.warns(RuntimeWarning, match="overflow"):
        x[x > 2] = 1e300
        evaluate(x)


def test_gradients_go_through_what_is_known():
    weights = np.random.default_rng(2).random(100).astype("float32")
    mask = weights < 0.5
    x = cnp.asarray(np.arange(100, 0, -1).astype("float32"))
    found = x[cnp.asarray(mask)]
    (gradient,) = chain_rule({found: weights[mask]}, [x])
    np.testing.assert_array_equal(gradient, np.where(mask, weights, 0))
    (gradient,) = chain_rule({cnp.intersect1d(x, x[:50]): weights[:50]}, [x])
    assert np.count_nonzero(gradient) == 50


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bins", [1, 7, 30, [0, 3, 4, 4, 90], "edges"])
def test_histograms(dtype, weighted, bins):
    for size in (2, 100, 3000):
        x = np.nan_to_num(drawn(dtype, size), nan=1, posinf=2, neginf=3).astype(dtype)
        edges = np.sort(drawn(dtype, 20, seed=1)) if bins == "edges" else bins
        if bins == "edges":
            edges = np.nan_to_num(edges, nan=80, posinf=90, neginf=-90).astype(dtype)
            edges.sort()
        weights = np.linspace(0, 2, size) if weighted else None
        with np.errstate(all="ignore"):
            expected = np.histogram(x, edges, weights=weights)
            ours = cnp.asarray(edges) if isinstance(edges, np.ndarray) else edges
            found = cnp.histogram(cnp.asarray(x), ours, weights=weights)
        assert found[0].dtype == expected[0].dtype
        for mine, theirs in zip(found, expected, strict=True):
            again = of_graph(mine)[0]
            assert np.asarray(again).tobytes() == np.asarray(mine).tobytes()
            np.testing.assert_allclose(np.asarray(mine), theirs, rtol=1e-6, atol=1e-6)


def test_bins_of_what_is_far_apart_and_close_together():
    for low, high in ((1e-300, 3e-300), (-1e300, 1e308), (1, 1 + 1e-12), (0.0, -0.0), (-3, 3)):
        x = np.linspace(low, high, 500)
        with np.errstate(all="ignore"):
            found, expected = cnp.histogram(cnp.asarray(x), 9), np.histogram(x, 9)
        np.testing.assert_array_equal(np.asarray(found[0]), expected[0])
        np.testing.assert_array_equal(np.asarray(of_graph(found[0])[0]), np.asarray(found[0]))


def test_edges_that_do_not_rise_are_refused_as_ever():
    x = cnp.asarray(np.arange(9.0))
    with pytest.raises(ValueError, match="must increase monotonically"):
        cnp.histogram(x, [0.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="Too many bins"):
        cnp.histogram(cnp.asarray([1.0, 1.0 + 1e-15]), 100)
    with pytest.raises(ValueError, match="not finite"):
        cnp.histogram(cnp.asarray([1.0, np.inf]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "float16"])
def test_weights_of_bins(dtype):
    positions = np.random.default_rng(0).integers(0, 20, 300)
    weights = (100 * np.random.default_rng(1).standard_normal(300)).astype(dtype)
    for given in (positions, positions.astype("uint8")):
        found = cnp.bincount(cnp.asarray(given), cnp.asarray(weights), 30)
        checked(found, np.bincount(given, weights, 30), is_known=dtype != "float16")


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_sums_at_indices(dtype):
    draw = np.random.default_rng(4)
    ours, theirs = cnp.zeros(200, dtype), np.zeros(200, dtype)
    kept = []
    for step in range(40):
        indices = draw.integers(-200, 200, 50)
        value = (9 * draw.standard_normal(50)).astype(dtype) if step % 2 else 2
        cnp.add.at(ours, cnp.asarray(indices), value if step % 2 == 0 else cnp.asarray(value))
        np.add.at(theirs, indices, value)
        assert ours.is_known or step < 34
        kept.append((ours.copy(), theirs.copy()))
        evaluate(ours)
    for mine, other in kept:
        assert np.asarray(mine).tobytes() == other.tobytes()
    assert np.asarray(of_graph(ours)[0]).tobytes() == theirs.tobytes()
    for _ in range(40):
        with pytest.raises(IndexError, match="out of bounds"):
            cnp.add.at(ours, cnp.asarray([200]), cnp.asarray(np.ones(1, dtype)))
            evaluate(ours)
        ours = cnp.asarray(theirs)


def test_sums_of_parts_of_the_same_memory():
    ours, theirs = cnp.asarray(np.arange(9)), np.arange(9)
    for _ in range(40):
        cnp.add.at(ours, ours[:4] % 9, 1)
        np.add.at(theirs, theirs[:4] % 9, 1)
    assert evaluate(ours).tolist() == theirs.tolist()


METHODS = {
    "outer": lambda f, x, y: f.outer(x, y),
    "reduce": lambda f, x, y: f.reduce(x),
    "reduce, rows": lambda f, x, y: f.reduce(x.reshape(5, -1), axis=1, keepdims=True),
    "accumulate": lambda f, x, y: f.accumulate(x),
    "reduceat": lambda f, x, y: f.reduceat(x, [0, 4, 2]),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "subtract", "less"])
def test_methods_of_ufuncs(name, method):
    x, y = np.linspace(-1, 2, 30), np.linspace(0.5, 1.5, 20)
    call = METHODS[method]
    if name == "less" and method != "outer":
        x = x > 0
    expected = call(getattr(np, name), x, y)
    function = getattr(cnp, name)
    results = [call(function, cnp.asarray(x), cnp.asarray(y)) for _ in range(40)]
    first, last = results[0], results[-1]
    assert np.asarray(first).tobytes() == np.asarray(last).tobytes()
    assert (last.dtype, last.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(np.asarray(last), expected, rtol=1e-12)
    if method == "outer":
        assert isinstance(last, LazyTensor) and not last.has_node and last.is_known


def test_a_method_that_asks_for_values_refuses_them_as_ever():
    x = cnp.asarray(np.arange(1, 40))
    for _ in range(40):
        assert cnp.power.outer(x, cnp.asarray([1, 2])).shape == (39, 2)
    with pytest.raises(ValueError, match="negative integer powers"):
        cnp.power.outer(x, cnp.asarray([1, -2]))


def test_methods_look_like_methods():
    assert cnp.add.outer.__name__ == "outer"
    assert "pairs" in cnp.add.outer.__doc__
    with pytest.raises(ValueError, match="only supported for binary"):
        cnp.sin.outer(cnp.ones(3), cnp.ones(3))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64", "complex128"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "fft2", "fftshift"])
def test_complex_results_are_known(dtype, name):
    x = cnp.asarray((9 * np.random.default_rng(5).standard_normal((6, 25))).astype(dtype))
    function = getattr(cnp.fft, name)
    if name == "rfft" and dtype[0] == "c":
        return
    expected = function.__wrapped__(x)
    results = [function(x) for _ in range(40)]
    assert not results[-1].has_node and results[-1].is_known
    checked(results[-1], np.asarray(expected))
    assert not results[-2].has_node
    half, row = results[-2] / 2, results[-3][2]
    np.testing.assert_array_equal(np.asarray(half), np.asarray(expected) / 2)
    np.testing.assert_array_equal(np.asarray(row), np.asarray(expected)[2])


def test_elements_of_known_complex_arrays():
    x = np.random.default_rng(6).standard_normal(40)
    for _ in range(40):
        found = cnp.fft.fft(cnp.asarray(x))
    expected = np.asarray(cnp.fft.fft.__wrapped__(cnp.asarray(x)))
    assert complex(found[3]) == expected[3]
    assert [complex(each) for each in found] == expected.tolist()
    np.testing.assert_array_equal(np.asarray(found.real), expected.real)
    found[2] = 5j
    found[4:6] += 1
    expected[2] = 5j
    expected[4:6] += 1
    np.testing.assert_array_equal(np.asarray(found), expected)
    small = cnp.asarray(expected[:8])
    np.testing.assert_array_equal(np.asarray(small * small[1]), expected[:8] * expected[1])
    np.testing.assert_array_equal(np.asarray(small + 1), expected[:8] + 1)
