"""Programs with SciPy, pandas, xarray, scikit-learn, Matplotlib and Pillow: with composit.numpy in
NumPy's place each gives what it gives with NumPy."""

import importlib
import io
import subprocess
import sys

import numpy as np
import pytest

import composit.numpy as cnp


def plain(value):
    """What two programs are compared by."""
    if isinstance(value, cnp.LazyTensor):
        value = value.evaluated()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if hasattr(value, "toarray"):
        return value.toarray()
    return value.values if hasattr(value, "dims") else value


def same(program, rtol=1e-13):
    expected, got = (plain(program(np)), plain(program(cnp)))
    if hasattr(expected, "to_string"):
        assert type(got) is type(expected) and got.to_string() == expected.to_string()
        return
    compare(got, expected, rtol)


def compare(got, expected, rtol):
    if isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
        for mine, theirs in zip(got, expected):
            compare(mine, theirs, rtol)
    elif hasattr(expected, "to_string"):
        assert got.to_string() == expected.to_string()
    elif isinstance(expected, (str, bytes, dict)) or expected is None:
        assert got == expected
    else:
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-14)


def matrix(np):
    return np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])


def wave(np):
    return np.sin(np.arange(64.0) / 5) + 0.5 * np.cos(np.arange(64.0))


def linalg(name, *more, **options):
    def program(np):
        import scipy.linalg

        given = [each(np) if callable(each) else each for each in more]
        return getattr(scipy.linalg, name)(matrix(np), *given, **options)

    return program


def of_scipy(path, *given, **options):
    def program(np):
        part, name = path.split(".")
        function = getattr(importlib.import_module(f"scipy.{part}"), name)
        return function(*(each(np) if callable(each) else each for each in given), **options)

    return program


def vector(np):
    return np.array([0.5, 1.5, 2.5])


SCIPY = {
    **{f"linalg {name}": linalg(name) for name in (
        "expm", "inv", "det", "lu", "lu_factor", "cholesky", "cho_factor", "eigh", "eigvalsh",
        "svdvals", "sqrtm", "logm", "pinv", "qr", "schur", "hessenberg", "null_space", "orth",
        "norm", "sinm", "cosm", "tanm", "polar", "ldl", "eigvals",
    )},
    "linalg solve": linalg("solve", vector), "linalg lstsq": linalg("lstsq", vector),
    "linalg solve_triangular": linalg("solve_triangular", vector, lower=True),
    "linalg solve_sylvester": linalg("solve_sylvester", matrix, matrix),
    "linalg block_diag": linalg("block_diag", vector),
    "linalg banded": of_scipy("linalg.solveh_banded", lambda np: np.array([[0.0, 1], [4, 3]]),
                              lambda np: np.ones(2)),
    "linalg hankel": of_scipy("linalg.hankel", vector, vector),
    "linalg toeplitz": of_scipy("linalg.toeplitz", vector),
    "linalg circulant": of_scipy("linalg.circulant", vector),
    "integrate simpson": of_scipy("integrate.simpson", vector),
    "integrate trapezoid": of_scipy("integrate.trapezoid", vector, vector),
    "integrate cumulative": of_scipy("integrate.cumulative_trapezoid", vector, initial=0),
    "integrate romb": of_scipy("integrate.romb", lambda np: np.arange(5.0)),
    "integrate quad_vec": of_scipy(
        "integrate.quad_vec", lambda np: lambda t: np.asarray(np.sin(t * vector(np))), 0, 1),
    "ndimage gaussian": of_scipy("ndimage.gaussian_filter", matrix, 1.0),
    "ndimage median": of_scipy("ndimage.median_filter", matrix, 3),
    "ndimage sobel": of_scipy("ndimage.sobel", matrix),
    "ndimage convolve": of_scipy("ndimage.convolve", matrix, matrix),
    "ndimage label": of_scipy("ndimage.label", lambda np: matrix(np) > 1),
    "ndimage zoom": of_scipy("ndimage.zoom", matrix, 2), "ndimage shift": of_scipy(
        "ndimage.shift", matrix, 0.5),
    "ndimage rotate": of_scipy("ndimage.rotate", matrix, 30),
    "ndimage map": of_scipy("ndimage.map_coordinates", matrix, lambda np: np.array([[0.5], [1.5]])),
    "ndimage distance": of_scipy("ndimage.distance_transform_edt", lambda np: matrix(np) > 0.3),
    "ndimage centre": of_scipy("ndimage.center_of_mass", matrix),
    "ndimage dilation": of_scipy("ndimage.binary_dilation", lambda np: matrix(np) > 2),
    "signal convolve": of_scipy("signal.convolve", vector, vector),
    "signal convolve2d": of_scipy("signal.convolve2d", matrix, matrix),
    "signal fftconvolve": of_scipy("signal.fftconvolve", vector, vector),
    "signal correlate": of_scipy("signal.correlate", vector, vector),
    "signal lfilter": of_scipy("signal.lfilter", vector, vector, wave),
    "signal filtfilt": of_scipy("signal.filtfilt", lambda np: np.ones(3) / 3, 1.0, wave),
    "signal peaks": of_scipy("signal.find_peaks", wave), "signal welch": of_scipy(
        "signal.welch", wave, nperseg=16),
    "signal spectrogram": of_scipy("signal.spectrogram", wave, nperseg=16),
    "signal hilbert": of_scipy("signal.hilbert", wave),
    "signal resample": of_scipy("signal.resample", wave, 32),
    "signal savgol": of_scipy("signal.savgol_filter", wave, 7, 2),
    "signal medfilt": of_scipy("signal.medfilt", wave, 3),
    "signal detrend": of_scipy("signal.detrend", wave),
    **{f"sparse {kind}": of_scipy(f"sparse.{kind}", matrix) for kind in (
        "csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "dok_matrix", "bsr_matrix",
        "csr_array", "csc_array", "coo_array",
    )},
    "sparse of triples": of_scipy("sparse.coo_matrix", lambda np: (
        vector(np), (np.arange(3), np.array([0, 2, 1])))),
    "sparse of parts": of_scipy("sparse.csr_matrix", lambda np: (
        vector(np), np.array([0, 1, 2]), np.array([0, 1, 2, 3]))),
    "sparse diagonals": of_scipy("sparse.diags", lambda np: [vector(np)], [0]),
    "spatial pdist": lambda np: importlib.import_module("scipy.spatial.distance").pdist(matrix(np)),
    "spatial tree": lambda np: importlib.import_module("scipy.spatial").cKDTree(matrix(np)).query(
        vector(np)),
    "interpolate linear": lambda np: importlib.import_module("scipy.interpolate").interp1d(
        vector(np), vector(np) ** 2)(np.array([1.0, 2.0])),
    "interpolate spline": lambda np: importlib.import_module("scipy.interpolate").CubicSpline(
        vector(np), vector(np) ** 2)(np.array([1.0, 2.0])),
    "fft": of_scipy("fft.rfft", wave), "dct": of_scipy("fft.dct", wave),
    "stats describe": of_scipy("stats.describe", wave), "stats zscore": of_scipy(
        "stats.zscore", wave),
    "stats pearsonr": lambda np: tuple(importlib.import_module("scipy.stats").pearsonr(
        wave(np), np.arange(64.0))),
    "stats norm": lambda np: importlib.import_module("scipy.stats").norm.pdf(vector(np), 1.0, 2.0),
    "cluster": lambda np: importlib.import_module("scipy.cluster.hierarchy").linkage(matrix(np)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCIPY)
def test_scipy(name):
    same(SCIPY[name])


def bowl(np):
    return lambda x: float(((np.asarray(x) - vector(np)) ** 2).sum())


OPTIMIZE = {
    **{method: lambda np, method=method: importlib.import_module("scipy.optimize").minimize(
        bowl(np), np.zeros(3), method=method).x
       for method in ("BFGS", "CG", "Nelder-Mead", "Powell", "L-BFGS-B", "SLSQP")},
    "with a gradient": lambda np: importlib.import_module("scipy.optimize").minimize(
        bowl(np), np.zeros(3), jac=lambda x: 2 * (np.asarray(x) - vector(np))).x,
    "least_squares": lambda np: importlib.import_module("scipy.optimize").least_squares(
        lambda x: np.asarray(x) ** 2 - vector(np), np.ones(3)).x,
    "fsolve": lambda np: importlib.import_module("scipy.optimize").fsolve(
        lambda x: np.cos(x) - x, np.array([0.5])),
    "root": lambda np: importlib.import_module("scipy.optimize").root(
        lambda x: np.asarray(x) ** 3 - vector(np), np.ones(3)).x,
    "brentq": lambda np: importlib.import_module("scipy.optimize").brentq(
        lambda x: np.cos(x) - x, 0, 1),
    "minimize_scalar": lambda np: importlib.import_module("scipy.optimize").minimize_scalar(
        lambda x: float((np.asarray(x) - 2.0) ** 2)).x,
    "curve_fit": lambda np: importlib.import_module("scipy.optimize").curve_fit(
        lambda x, a, b: a * np.exp(-b * x), vector(np), 2 * np.exp(-0.5 * vector(np)))[0],
    "linprog": lambda np: importlib.import_module("scipy.optimize").linprog(
        -vector(np), A_ub=matrix(np), b_ub=np.ones(3)).x,
    "assignment": lambda np: importlib.import_module("scipy.optimize").linear_sum_assignment(
        matrix(np)),
    "solve_ivp": lambda np: importlib.import_module("scipy.integrate").solve_ivp(
        lambda t, y: -np.asarray(y), (0, 1), np.array([1.0, 2.0])).y,
    "odeint": lambda np: importlib.import_module("scipy.integrate").odeint(
        lambda y, t: -np.asarray(y), np.array([1.0, 2.0]), np.linspace(0, 1, 5)),
    "quad": lambda np: importlib.import_module("scipy.integrate").quad(
        lambda x: np.sin(x), 0, np.pi)[0],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPTIMIZE)
def test_optimisers_and_integrators(name):
    # Elementwise functions are composit's own: an ulp of a value moves the steps of a solver.
    same(OPTIMIZE[name], 1e-6)


def table(np):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"a": np.arange(5.0), "b": np.arange(5) % 2})


def above(np):
    return np.arange(5) > 2


def written(frame, key, value):
    frame[key] = value
    return frame


def written_at(frame, key, value):
    frame.loc[key] = value
    return frame


def keys(np):
    return np.array([0, 1, 0, 1, 0])


def series(np):
    return pytest.importorskip("pandas").Series(np.arange(5.0))


def pandas(name):
    return getattr(pytest.importorskip("pandas"), name)


PANDAS = {
    "series": series, "index": lambda np: pandas("Series")(np.arange(3.0), index=np.arange(3) * 2),
    "isin": lambda np: series(np).isin(np.array([1.0, 3.0])), "frame": table,
    "frame isin": lambda np: table(np).isin(np.array([1.0])),
    "rows of a series": lambda np: series(np)[above(np)],
    "loc of a series": lambda np: series(np).loc[above(np)],
    "iloc of a series": lambda np: series(np).iloc[above(np)],
    "rows": lambda np: table(np)[above(np)], "loc": lambda np: table(np).loc[above(np)],
    "loc and column": lambda np: table(np).loc[above(np), "a"],
    "iloc": lambda np: table(np).iloc[above(np)],
    "columns": lambda np: table(np).loc[:, np.array([True, False])],
    "places": lambda np: table(np).iloc[np.array([0, 2])],
    "labels": lambda np: table(np).loc[np.array([0, 2])],
    "both places": lambda np: table(np).iloc[np.array([0, 2]), np.array([1])],
    "column by place": lambda np: table(np).iloc[:, np.array([1])],
    "written": lambda np: written(table(np), above(np), 0.0),
    "written series": lambda np: written(series(np), above(np), 0.0),
    "written at": lambda np: written_at(table(np), (above(np), "a"), 0.0),
    "written values": lambda np: written_at(table(np), (above(np), "a"), np.array([7.0, 8.0])),
    "new column": lambda np: written(table(np), "c", np.arange(5) * 2.0),
    "assign": lambda np: table(np).assign(c=np.arange(5) ** 2),
    "where": lambda np: series(np).where(above(np)),
    "mask": lambda np: series(np).mask(above(np), np.arange(5) * 10.0),
    "groups": lambda np: table(np).groupby(keys(np)).sum(),
    "groups by name": lambda np: table(np).groupby(by=keys(np)).mean(),
    "groups of a series": lambda np: series(np).groupby(keys(np)).mean(),
    "groups of two": lambda np: table(np).groupby([keys(np), np.array([0, 0, 0, 1, 1])]).sum(),
    "groups of a column": lambda np: table(np).groupby(["b", keys(np)])["a"].max(),
    "crosstab": lambda np: pandas("crosstab")(keys(np), np.array([1, 1, 0, 0, 1])),
    "cut": lambda np: pandas("Series")(pandas("cut")(np.arange(5.0), np.array([-1.0, 2, 5]))),
    "quantiles": lambda np: pandas("Series")(pandas("qcut")(np.arange(8.0), 4)),
    "unique": lambda np: pandas("unique")(np.array([3, 1, 3])),
    "factorize": lambda np: pandas("factorize")(np.array([5, 1, 5])),
    "concat": lambda np: pandas("concat")([series(np), series(np)]),
    "sum": lambda np: series(np) + np.arange(5.0),
    "of a series": lambda np: np.arange(5.0) * series(np),
    "compared": lambda np: series(np) > np.array([2.0, 0, 5, 1, 3]),
    "reindex": lambda np: series(np).reindex(np.array([2, 0, 7])),
    "take": lambda np: series(np).take(np.array([2, 0])),
    "dates": lambda np: pandas("Series")(
        np.arange(6.0), index=pandas("date_range")("2020", periods=6)).resample("2D").sum(),
    "merge": lambda np: table(np).merge(pandas("DataFrame")({"a": np.array([1.0, 3.0])}), on="a"),
    "rolling": lambda np: series(np).rolling(2).mean(), "dummies": lambda np: pandas(
        "get_dummies")(np.array([0, 1, 2])),
    "searched": lambda np: series(np).searchsorted(np.array([2.0, 9.0])),
    "matrix": lambda np: pandas("DataFrame")(np.ones((2, 3)), columns=list("abc")),
    "correlation": lambda np: pandas("DataFrame")(np.arange(6.0).reshape(3, 2) ** 2).corr(),
    "dropped": lambda np: table(np).drop(np.array([0, 1])),
    "functions": lambda np: [np.exp(series(np)), np.asarray(np.mean(series(np)))],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PANDAS)
def test_pandas(name):
    same(PANDAS[name])


@pytest.mark.parametrize("first", ["pandas", "composit.numpy"])
def test_masks_of_pandas_whichever_is_imported_first(first):
    pytest.importorskip("pandas")
    program = (
        f"import {first}, pandas, composit.numpy as np\n"
        "frame = pandas.DataFrame({'a': np.arange(4.0)})\n"
        "assert frame.loc[np.arange(4) > 1].a.tolist() == [2, 3]\n"
        "assert frame.groupby(np.arange(4) % 2).a.sum().tolist() == [2, 4]\n"
        "import importlib.util\n"
        "assert type(pandas.__spec__.loader).__name__ == 'SourceFileLoader'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


XARRAY = {
    "array": lambda xr, np: xr.DataArray(matrix(np), dims=("x", "y"), coords={"x": np.arange(3)}),
    "mean": lambda xr, np: xr.DataArray(matrix(np), dims=("x", "y")).mean("x"),
    "arithmetic": lambda xr, np: xr.DataArray(matrix(np), dims=("x", "y"))
    * xr.DataArray(vector(np), dims="x"),
    "select": lambda xr, np: xr.DataArray(
        vector(np), dims="x", coords={"x": np.arange(3)}).sel(x=1),
    "places": lambda xr, np: xr.DataArray(vector(np), dims="x").isel(x=np.array([0, 2])),
    "where": lambda xr, np: xr.DataArray(vector(np), dims="x").where(
        xr.DataArray(vector(np) > 1, dims="x")),
    "interpolated": lambda xr, np: xr.DataArray(
        vector(np), dims="x", coords={"x": np.arange(3.0)}).interp(x=np.array([0.5, 1.5])),
    "dataset": lambda xr, np: xr.Dataset({"v": (("x",), vector(np))}).v.cumsum(),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", XARRAY)
def test_xarray(name):
    xr = pytest.importorskip("xarray")
    same(lambda np: XARRAY[name](xr, np))


def samples(np):
    x = np.reshape((np.arange(120) * 37 % 101) / 64.0 - 0.75, (40, 3))  # exact, products as well
    return x, x @ vector(np)


def fitted(path, *given, labels=False, **options):
    part, name = path.split(".")

    def program(np):
        kind = getattr(pytest.importorskip(f"sklearn.{part}"), name)
        x, y = samples(np)
        return kind(*given, **options).fit(x, (y > 0) * 1 if labels else y).predict(x)

    return program


SKLEARN = {
    "linear": fitted("linear_model.LinearRegression"), "ridge": fitted("linear_model.Ridge"),
    "lasso": fitted("linear_model.Lasso", alpha=0.01),
    "logistic": fitted("linear_model.LogisticRegression", labels=True),
    "svc": fitted("svm.SVC", labels=True), "svr": fitted("svm.SVR"),
    "tree": fitted("tree.DecisionTreeClassifier", labels=True, random_state=0),
    "forest": fitted("ensemble.RandomForestRegressor", n_estimators=5, random_state=0),
    "boosting": fitted("ensemble.GradientBoostingRegressor", n_estimators=5, random_state=0),
    "neighbours": fitted("neighbors.KNeighborsClassifier", labels=True),
    "bayes": fitted("naive_bayes.GaussianNB", labels=True),
    "network": fitted("neural_network.MLPRegressor", hidden_layer_sizes=(4,), random_state=0,
                      max_iter=5),
    "clusters": fitted("cluster.KMeans", 2, n_init=1, random_state=0),
    "pca": lambda np: pytest.importorskip("sklearn.decomposition").PCA(2).fit_transform(
        samples(np)[0]),
    "scaler": lambda np: pytest.importorskip("sklearn.preprocessing").StandardScaler()
    .fit_transform(samples(np)[0]),
    "polynomial": lambda np: pytest.importorskip("sklearn.preprocessing").PolynomialFeatures(2)
    .fit_transform(samples(np)[0]),
    "split": lambda np: pytest.importorskip("sklearn.model_selection").train_test_split(
        *samples(np), random_state=0),
    "cross validation": lambda np: pytest.importorskip("sklearn.model_selection").cross_val_score(
        pytest.importorskip("sklearn.linear_model").Ridge(), *samples(np), cv=3),
    "metrics": lambda np: [getattr(pytest.importorskip("sklearn.metrics"), name)(
        (samples(np)[1] > 0) * 1, (samples(np)[0][:, 0] > 0) * 1)
        for name in ("accuracy_score", "f1_score", "confusion_matrix", "roc_auc_score")],
    "pipeline": lambda np: pytest.importorskip("sklearn.pipeline").make_pipeline(
        pytest.importorskip("sklearn.preprocessing").StandardScaler(),
        pytest.importorskip("sklearn.linear_model").Ridge()).fit(*samples(np)).predict(
        samples(np)[0]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SKLEARN)
def test_scikit_learn(name):
    same(SKLEARN[name], 1e-7)


def boxes(parts):
    return [line.get_xydata() for line in parts["boxes"] + parts["medians"] + parts["whiskers"]]


def heights(bars):
    return [bar.get_bbox().bounds for bar in bars]


MATPLOTLIB = {
    "hist": lambda ax, np: ax.hist(samples(np)[0])[:2],
    "hist with edges": lambda ax, np: ax.hist(wave(np), bins=np.linspace(-2, 2, 9),
                                              weights=np.ones(64))[:2],
    "hist2d": lambda ax, np: ax.hist2d(wave(np), np.arange(64.0))[:3],
    "boxplot": lambda ax, np: boxes(ax.boxplot(samples(np)[0])),
    "boxplot of a list": lambda ax, np: boxes(ax.boxplot([wave(np), vector(np)])),
    "violinplot": lambda ax, np: [body.get_paths()[0].vertices
                                  for body in ax.violinplot(samples(np)[0])["bodies"]],
    "bar": lambda ax, np: heights(ax.bar(np.arange(3), vector(np), yerr=vector(np) / 10)),
    "bar on bar": lambda ax, np: heights(ax.bar(["a", "b", "c"], vector(np), bottom=vector(np))),
    "barh": lambda ax, np: heights(ax.barh(np.arange(3), vector(np))),
    "imshow": lambda ax, np: ax.imshow(matrix(np)).get_array(),
    "imshow of colours": lambda ax, np: ax.imshow(np.ones((2, 2, 3)) * 0.5).get_array(),
    "plot": lambda ax, np: [line.get_xydata() for line in ax.plot(np.arange(64.0), wave(np))],
    "scatter": lambda ax, np: ax.scatter(wave(np), wave(np), c=wave(np), s=np.abs(wave(np)))
    .get_offsets(),
    "fill": lambda ax, np: ax.fill_between(np.arange(64), wave(np), where=wave(np) > 0)
    .get_paths()[0].vertices,
    "errorbar": lambda ax, np: ax.errorbar(np.arange(3), vector(np), vector(np))[0].get_xydata(),
    "pcolormesh": lambda ax, np: ax.pcolormesh(matrix(np)).get_array(),
    "contour": lambda ax, np: ax.contour(matrix(np)).levels,
    "quiver": lambda ax, np: ax.quiver(vector(np), vector(np)).U,
    "stem": lambda ax, np: ax.stem(vector(np)).markerline.get_xydata(),
    "ticks": lambda ax, np: [tick.get_loc() for tick in ax.set_xticks(np.arange(3))],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MATPLOTLIB)
def test_matplotlib(name):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    try:
        same(lambda np: MATPLOTLIB[name](plt.subplots()[1], np), 1e-9)
    finally:
        plt.close("all")


def image(np):
    return np.arange(48).reshape(4, 4, 3).astype("uint8") * 5


def opened(PIL, np, **options):
    file = io.BytesIO()
    PIL.Image.fromarray(image(np), **options).save(file, "PNG")
    return np.asarray(PIL.Image.open(file))


PILLOW = {
    "colours": lambda PIL, np: np.asarray(PIL.Image.fromarray(image(np))),
    "grey": lambda PIL, np: np.asarray(PIL.Image.fromarray(image(np)[..., 0])),
    "floats": lambda PIL, np: np.asarray(PIL.Image.fromarray(matrix(np).astype("float32"))),
    "resized": lambda PIL, np: np.asarray(PIL.Image.fromarray(image(np)).resize((8, 8))),
    "files": opened, "array": lambda PIL, np: np.array(PIL.Image.fromarray(image(np))) + 1,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PILLOW)
def test_pillow(name):
    pytest.importorskip("PIL.Image")
    import PIL

    same(lambda np: PILLOW[name](PIL, np))


TORCH = {
    "tensor": lambda torch, np: torch.tensor(matrix(np)),
    "tensor of booleans": lambda torch, np: torch.tensor(vector(np) > 1),
    "as_tensor": lambda torch, np: torch.as_tensor(vector(np)),
    "a number": lambda torch, np: torch.tensor(np.sum(vector(np))),
    "rows": lambda torch, np: torch.tensor([vector(np), vector(np) + 1]),
    "rows of a matrix": lambda torch, np: torch.tensor(list(matrix(np))),
    "indices": lambda torch, np: torch.arange(5)[np.array([0, 3])],
    "masks": lambda torch, np: torch.arange(5)[np.arange(5) > 2],
    "two indices": lambda torch, np: torch.arange(6).reshape(2, 3)[
        np.array([0, 1]), np.array([2, 1])],
    "an element as an index": lambda torch, np: torch.arange(5)[np.arange(5)[3]],
    "elements as bounds": lambda torch, np: torch.arange(5)[np.arange(5)[1] : np.arange(5)[3]],
    "many indices": lambda torch, np: torch.arange(50)[np.arange(40)],
    "numbers": lambda torch, np: torch.full((2,), float(vector(np)[0])) * float(np.sum(vector(np))),
    "sizes": lambda torch, np: torch.zeros(int(np.arange(5)[2]), np.arange(5)[3]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TORCH)
def test_pytorch(name):
    torch = pytest.importorskip("torch")
    same(lambda np: TORCH[name](torch, np).numpy())


def test_elements_of_what_is_not_computed_are_computed_once():
    torch = pytest.importorskip("torch")
    calls = []
    counted = cnp.vectorize(lambda x: calls.append(x) or x + 1, otypes=[int])
    found = torch.arange(50)[counted(cnp.arange(30))]
    assert found.tolist() == list(range(1, 31)) and len(calls) == 30


def test_scalars_are_no_sequences():
    from collections.abc import Sequence

    x = cnp.arange(3)
    for scalar in (x[1], x.sum(), cnp.ones(2).mean()):
        assert not isinstance(scalar, Sequence)
        with pytest.raises(TypeError, match=r"has no len\(\)"):
            len(scalar)
