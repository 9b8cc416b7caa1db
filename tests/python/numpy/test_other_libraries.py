"""Other libraries' functions of tensors, outside of traces: what they answer for ndarrays."""

import warnings

import numpy as np
import pytest

import composit
import composit.numpy as cnp
from composit.errors import NotSupported

scipy = pytest.importorskip("scipy")

MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
VECTOR = np.array([0.5, 1.5, 2.5])


def plain(value):
    """The same of ndarrays and numbers."""
    if isinstance(value, cnp.LazyTensor):
        return value.evaluated()
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return value


def agrees(function, *arguments):
    """A library answers of tensors what it answers of ndarrays."""
    expected = function(*arguments)
    lazy = [cnp.asarray(each) if isinstance(each, np.ndarray) else each for each in arguments]
    got = function(*lazy)
    np.testing.assert_equal(plain(got), plain(expected))


def special_ufuncs():
    import scipy.special

    names = [n for n in dir(scipy.special) if isinstance(getattr(scipy.special, n), np.ufunc)]
    return sorted(names)


@pytest.mark.parametrize("name", special_ufuncs())
def test_special_functions(name):
    import scipy.special

    ufunc = getattr(scipy.special, name)
    kinds = next((t for t in ufunc.types if set(t.split("->")[0]) <= set("d")), ufunc.types[-1])
    x = np.array([1.0, 2.0, 3.0])
    operands = [x.astype(kind) for kind in kinds.split("->")[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ufunc(*operands)
        got = ufunc(cnp.asarray(operands[0]), *operands[1:])
    pairs = zip(got, expected) if isinstance(expected, tuple) else [(got, expected)]
    for ours, theirs in pairs:
        assert isinstance(ours, cnp.LazyTensor) and ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_outputs_and_methods_of_other_ufuncs():
    import scipy.special

    x, out = cnp.asarray(VECTOR), cnp.zeros(3)
    assert scipy.special.gammainc(x, 2.0, out=out) is out
    np.testing.assert_array_equal(out, scipy.special.gammainc(VECTOR, 2.0))
    smaller = np.frompyfunc(min, 2, 1)
    assert smaller.reduce(x) == 0.5 and smaller.outer(x, x).shape == (3, 3)
    assert smaller.accumulate(cnp.asarray([3, 1, 2])).tolist() == [3, 1, 1]


def test_a_ufunc_of_the_same_name_is_another_function():
    def add(a, b):
        return a - b

    minus = np.frompyfunc(add, 2, 1)
    assert minus(cnp.arange(3), 1).tolist() == [-1, 0, 1]


def test_linear_algebra_and_the_rest_of_scipy():
    import scipy.integrate
    import scipy.linalg
    import scipy.ndimage
    import scipy.optimize
    import scipy.signal
    import scipy.sparse
    import scipy.spatial
    import scipy.stats

    for name in ("expm", "inv", "det", "lu_factor", "cholesky", "eigh", "svdvals", "sqrtm", "pinv"):
        agrees(getattr(scipy.linalg, name), MATRIX)
    agrees(scipy.linalg.solve, MATRIX, VECTOR)
    agrees(scipy.linalg.toeplitz, VECTOR)
    agrees(scipy.linalg.block_diag, MATRIX, VECTOR)
    agrees(scipy.integrate.simpson, VECTOR)
    agrees(scipy.integrate.cumulative_trapezoid, VECTOR)
    agrees(scipy.ndimage.gaussian_filter, MATRIX, 1.0)
    agrees(scipy.ndimage.rotate, MATRIX, 30)
    agrees(scipy.ndimage.label, MATRIX > 1)
    agrees(scipy.signal.convolve2d, MATRIX, MATRIX)
    agrees(scipy.signal.fftconvolve, VECTOR, VECTOR)
    agrees(scipy.signal.find_peaks, np.sin(np.arange(30.0)))
    agrees(scipy.signal.lfilter, VECTOR, VECTOR, np.arange(9.0))
    agrees(scipy.spatial.distance.pdist, MATRIX)
    agrees(lambda x: scipy.sparse.csr_matrix(x).toarray(), MATRIX)
    agrees(
        lambda x: scipy.sparse.coo_matrix((x[0], (np.arange(3), np.arange(3)))).todense(), MATRIX
    )
    agrees(lambda x: scipy.sparse.csr_matrix(MATRIX) @ x, VECTOR)
    agrees(lambda x: tuple(scipy.stats.ttest_1samp(x, 0.0)), VECTOR)
    agrees(scipy.stats.norm.cdf, VECTOR)


def test_optimisation_and_integration_of_lazy_functions():
    import scipy.integrate
    import scipy.optimize

    target = cnp.asarray(VECTOR)
    found = scipy.optimize.minimize(
        lambda x: float(((cnp.asarray(x) - target) ** 2).sum()), target * 0
    )
    np.testing.assert_allclose(found.x, VECTOR, atol=1e-5)
    lazily = scipy.optimize.minimize(lambda x: ((x - target) ** 2).sum(), cnp.zeros(3))
    np.testing.assert_allclose(lazily.x, VECTOR, atol=1e-5)
    fit, _ = scipy.optimize.curve_fit(lambda x, a: cnp.exp(x * a), target, cnp.exp(target * 0.5))
    np.testing.assert_allclose(fit, [0.5], rtol=1e-8)
    root = scipy.optimize.brentq(lambda x: cnp.cos(x) - x, 0, 1)
    assert abs(root - 0.7390851332151607) < 1e-9
    area, _ = scipy.integrate.quad(lambda x: cnp.sin(x), 0, np.pi)
    assert abs(area - 2) < 1e-12
    path = scipy.integrate.solve_ivp(lambda t, y: -cnp.asarray(y), (0, 1), cnp.asarray([1.0, 2.0]))
    np.testing.assert_allclose(path.y[:, -1], np.exp(-1) * np.array([1, 2]), rtol=1e-3)


def test_numpys_functions_of_what_tensors_do_not_hold():
    x = cnp.arange(3)
    shapes = [np.shape(each) for each in np.broadcast_arrays(x, [1, 2, 3], 0.8, None)]
    assert shapes == [(3,)] * 4
    assert np.array_equal(np.append(x, "a"), np.append(np.arange(3), "a"))
    assert np.array2string(x) == "[0 1 2]" and np.array_repr(x) == "array([0, 1, 2])"


def test_errors_name_numpys_function():
    with pytest.raises(TypeError, match=r"^concatenate: axis is 'q'\. .* \[test_other_libraries"):
        np.concatenate([cnp.arange(3), [1]], axis="q")


def test_under_placeholders_they_are_refused():
    import scipy.special

    for call in (lambda x: scipy.special.gammainc(x, 2.0), lambda x: np.append(x, "a")):
        with pytest.raises((NotSupported, TypeError)):
            composit.compile(call, np.ones(3))


def test_plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data = np.random.default_rng(0).standard_normal((20, 5))
    lazy = cnp.asarray(data)
    _, (ours, theirs) = plt.subplots(2)
    agrees(lambda x: plt.subplots()[1].hist(x)[0], data)
    assert len(ours.boxplot(lazy)["boxes"]) == 5 and len(ours.violinplot(lazy)["bodies"]) == 5
    bars = ours.bar(cnp.arange(3), cnp.array([1, 2, 3]))
    expected = theirs.bar(np.arange(3), np.array([1, 2, 3]))
    assert [bar.get_bbox().bounds for bar in bars] == [bar.get_bbox().bounds for bar in expected]
    image = plt.figure().add_subplot().imshow(lazy)
    np.testing.assert_array_equal(image.get_array(), data)
    for draw in ("plot", "scatter", "fill_between", "errorbar", "step", "stem"):
        getattr(plt.subplots()[1], draw)(lazy[:, 0], lazy[:, 1])
    plt.subplots()[1].contourf(lazy)
    plt.subplots()[1].pcolormesh(lazy)
    plt.close("all")


def test_pictures():
    pytest.importorskip("PIL")
    from PIL import Image

    pixels = (np.arange(48) * 5).reshape(4, 4, 3).astype("u1")
    image = Image.fromarray(cnp.asarray(pixels))
    np.testing.assert_array_equal(np.asarray(image), pixels)
    np.testing.assert_array_equal(cnp.asarray(image), pixels)


def test_models_of_scikit_learn():
    pytest.importorskip("sklearn")
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.metrics import accuracy_score, mean_squared_error
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 3))
    y = x @ VECTOR
    agrees(lambda x, y: LinearRegression().fit(x, y).predict(x), x, y)
    agrees(lambda x, y: LogisticRegression().fit(x, y).predict(x), x, (y > 0).astype(int))
    agrees(lambda x: StandardScaler().fit_transform(x), x)
    agrees(lambda x: KMeans(2, n_init=1, random_state=0).fit(x).labels_, x)
    agrees(mean_squared_error, y, y + 1)
    agrees(accuracy_score, (y > 0).astype(int), (y > 1).astype(int))
    agrees(lambda x, y: train_test_split(x, y, random_state=0), x, y)


def test_tables():
    import pandas

    agrees(lambda x: pandas.Series(x).rolling(2).sum().to_numpy(), VECTOR)
    # As masks and keys of groups pandas takes only its own classes and ndarrays.
    agrees(lambda x: pandas.Series(VECTOR)[np.asarray(x)].to_numpy(), VECTOR > 1)
    agrees(
        lambda x: pandas.Series(VECTOR).groupby(np.asarray(x)).sum().to_numpy(), np.array([0, 1, 0])
    )
    agrees(lambda x: pandas.DataFrame({"a": x}).isin(x[:1]).to_numpy(), VECTOR)
