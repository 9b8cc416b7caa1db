"""Estimators of scikit-learn, fitted to its own data sets: what docs/exchange.md has a table of,
and what tests compare with composit's programs of them."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.mixture import GaussianMixture
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, LocalOutlierFactor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import composit
from composit import flashlight


class Case(NamedTuple):
    estimator: Any
    data: str


def scaled(estimator: Any) -> Pipeline:
    return make_pipeline(StandardScaler(), estimator)


def _parts(regressors: bool = False) -> list[tuple[str, Any]]:
    if regressors:
        return [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    return [("linear", scaled(LogisticRegression())), ("tree", tree), ("bayes", GaussianNB())]


def _columns() -> Pipeline:
    columns = [("scaled", StandardScaler(), [0, 1, 2, 3]), ("rest", MinMaxScaler(), slice(4, 13))]
    return make_pipeline(ColumnTransformer(columns), PCA(5), LogisticRegression())


# By the words of the table.
CASES: dict[str, Case] = {
    "LinearRegression": Case(LinearRegression(), "diabetes"),
    "Ridge": Case(Ridge(), "diabetes"),
    "Lasso": Case(Lasso(0.1), "diabetes"),
    "PoissonRegressor": Case(PoissonRegressor(), "diabetes"),
    "LogisticRegression, 2 classes": Case(scaled(LogisticRegression()), "cancer"),
    "LogisticRegression, 10 classes": Case(LogisticRegression(max_iter=200), "digits"),
    "RidgeClassifier": Case(RidgeClassifier(), "cancer"),
    "SGDClassifier": Case(scaled(SGDClassifier(random_state=0)), "wine"),
    "Perceptron": Case(scaled(Perceptron()), "cancer"),
    "LinearSVC": Case(scaled(LinearSVC()), "cancer"),
    "LinearDiscriminantAnalysis": Case(LinearDiscriminantAnalysis(), "wine"),
    "QuadraticDiscriminantAnalysis": Case(QuadraticDiscriminantAnalysis(), "wine"),
    "SVC, rbf": Case(scaled(SVC()), "wine"),
    "SVC, rbf, 2 classes": Case(scaled(SVC()), "cancer"),
    "SVC, poly": Case(scaled(SVC(kernel="poly")), "wine"),
    "SVC, probability": Case(scaled(SVC(probability=True, random_state=0)), "wine"),
    "NuSVC": Case(scaled(NuSVC(nu=0.2)), "wine"),
    "SVR": Case(scaled(SVR()), "diabetes"),
    "DecisionTreeClassifier": Case(DecisionTreeClassifier(random_state=0), "wine"),
    "DecisionTreeRegressor": Case(DecisionTreeRegressor(max_depth=5, random_state=0), "diabetes"),
    "RandomForestClassifier, 100 trees": Case(
        RandomForestClassifier(100, random_state=0), "digits"
    ),
    "RandomForestRegressor, 100 trees": Case(
        RandomForestRegressor(100, random_state=0), "diabetes"
    ),
    "ExtraTreesClassifier, 50 trees": Case(ExtraTreesClassifier(50, random_state=0), "wine"),
    "ExtraTreesRegressor, 50 trees": Case(ExtraTreesRegressor(50, random_state=0), "diabetes"),
    "GradientBoostingClassifier": Case(GradientBoostingClassifier(random_state=0), "cancer"),
    "GradientBoostingRegressor": Case(GradientBoostingRegressor(random_state=0), "diabetes"),
    "HistGradientBoostingClassifier": Case(HistGradientBoostingClassifier(max_iter=20), "wine"),
    "HistGradientBoostingRegressor": Case(HistGradientBoostingRegressor(max_iter=30), "diabetes"),
    "AdaBoostClassifier": Case(AdaBoostClassifier(n_estimators=20, random_state=0), "wine"),
    "AdaBoostRegressor": Case(AdaBoostRegressor(n_estimators=20, random_state=0), "diabetes"),
    "BaggingClassifier": Case(BaggingClassifier(random_state=0), "wine"),
    "BaggingRegressor": Case(BaggingRegressor(random_state=0), "diabetes"),
    "VotingClassifier, soft": Case(VotingClassifier(_parts(), voting="soft"), "wine"),
    "VotingRegressor": Case(VotingRegressor(_parts(regressors=True)), "diabetes"),
    "StackingClassifier": Case(StackingClassifier(_parts()), "wine"),
    "StackingRegressor": Case(StackingRegressor(_parts(regressors=True)), "diabetes"),
    "OneVsRestClassifier": Case(OneVsRestClassifier(scaled(LogisticRegression())), "wine"),
    "CalibratedClassifierCV": Case(CalibratedClassifierCV(scaled(LinearSVC()), cv=3), "wine"),
    "KNeighborsClassifier": Case(scaled(KNeighborsClassifier()), "wine"),
    "KNeighborsRegressor": Case(scaled(KNeighborsRegressor()), "diabetes"),
    "GaussianNB": Case(GaussianNB(), "wine"),
    "MultinomialNB": Case(MultinomialNB(), "digits"),
    "BernoulliNB": Case(BernoulliNB(binarize=8), "digits"),
    "MLPClassifier": Case(scaled(MLPClassifier((32,), random_state=0)), "digits"),
    "MLPRegressor": Case(
        scaled(MLPRegressor(hidden_layer_sizes=(16,), random_state=0)), "diabetes"
    ),
    "GaussianProcessRegressor": Case(scaled(GaussianProcessRegressor(alpha=1.0)), "diabetes"),
    "KMeans": Case(scaled(KMeans(3, n_init=3, random_state=0)), "wine"),
    "GaussianMixture": Case(scaled(GaussianMixture(3, random_state=0)), "wine"),
    "IsolationForest, 10 trees": Case(IsolationForest(n_estimators=10, random_state=0), "wine"),
    "LocalOutlierFactor": Case(scaled(LocalOutlierFactor(novelty=True)), "wine"),
    "PCA": Case(scaled(PCA(4)), "wine"),
    "KernelPCA": Case(scaled(KernelPCA(4, kernel="rbf")), "wine"),
    "TruncatedSVD": Case(TruncatedSVD(8, random_state=0), "digits"),
    "StandardScaler": Case(StandardScaler(), "wine"),
    "MinMaxScaler": Case(MinMaxScaler(), "wine"),
    "RobustScaler": Case(RobustScaler(), "wine"),
    "Normalizer": Case(Normalizer(), "wine"),
    "PolynomialFeatures": Case(PolynomialFeatures(2), "diabetes"),
    "KBinsDiscretizer": Case(KBinsDiscretizer(5, encode="ordinal"), "wine"),
    "OneHotEncoder": Case(OneHotEncoder(), "integers"),
    "Pipeline with ColumnTransformer": Case(_columns(), "wine"),
}

# What skl2onnx does not convert from float64.
ONLY_FLOAT32 = ("RidgeClassifier", "LinearSVC", "IsolationForest, 10 trees",
                "CalibratedClassifierCV")  # fmt: skip


@cache
def data_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "integers":
        values = np.random.default_rng(0).integers(0, 4, (100, 3))
        return values, values[:, 0]
    load: Callable[..., Any] = {
        "digits": datasets.load_digits, "wine": datasets.load_wine,
        "cancer": datasets.load_breast_cancer, "diabetes": datasets.load_diabetes,
    }[name]  # fmt: skip
    x, y = load(return_X_y=True)
    return x.astype("float32"), y


def rows_of(name: str, dtype: str) -> np.ndarray:
    """Sixty rows that the case's methods are compared for."""
    rows = data_of(CASES[name].data)[0][::3][:60]
    return rows if rows.dtype.kind == "i" else rows.astype(dtype)


@cache
def fitted(name: str, dtype: str) -> Any:
    """The case's estimator, fitted to data of a dtype: some take no other one then."""
    estimator, data = CASES[name]
    x, y = data_of(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(x if x.dtype.kind == "i" else x.astype(dtype), y)


@cache
def traced(name: str, dtype: str) -> flashlight.TracedEstimator:
    return flashlight.trace_sklearn(fitted(name, dtype), rows_of(name, dtype))


def own(name: str, dtype: str, method: str) -> np.ndarray:
    values = getattr(fitted(name, dtype), method)(rows_of(name, dtype))
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def difference(name: str, dtype: str) -> float:
    """The largest of all methods, in parts of the largest value where that is above 1. Infinite
    where a class is another one, or a shape."""
    rows, worst = rows_of(name, dtype), 0.0
    for method, value in traced(name, dtype)(rows).items():
        found, expected = composit.evaluate(value), own(name, dtype, method)
        if found.shape != expected.shape:
            return float("inf")
        if expected.dtype.kind == "f":
            largest = max(1.0, float(np.abs(expected).max()))
            worst = max(worst, float(np.abs(found - expected).max()) / largest)
        elif (found != expected).any():
            return float("inf")
    return worst


def size_of_export(name: str) -> tuple[int, int]:
    """Lines and bytes of the plain C++ for one row of float32."""
    with tempfile.TemporaryDirectory() as folder:
        example = rows_of(name, "float32")[:1]
        files = traced(name, "float32").export(folder, example, style="plain")
        texts = [(Path(folder) / file).read_bytes() for file in files]
    return sum(text.count(b"\n") for text in texts), sum(len(text) for text in texts)
