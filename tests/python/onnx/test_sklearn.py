"""Estimators of scikit-learn as composit's programs: interpreted, compiled, exported as plain C++,
beside the estimators themselves."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import plain_exports
import pytest
import sklearn_estimators as estimators
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVC

import composit
import composit.onnx
from composit import flashlight

pytestmark = pytest.mark.filterwarnings("ignore")
PAGE = Path(__file__).resolve().parents[3] / "docs/exchange.md"
# Largest differences in float32, of estimators whose own results for it are so far from those for
# the same numbers in float64.
COARSE = {"GaussianMixture": 2e-6, "GaussianProcessRegressor": 1e-4,
          "RidgeClassifier": 1e-5}  # fmt: skip


@pytest.mark.long_tail
@pytest.mark.parametrize("name", estimators.CASES)
def test_results_are_the_estimators(name):
    """Classes exactly, numbers to 1e-6 of the largest."""
    assert estimators.difference(name, "float32") <= COARSE.get(name, 1e-6)
    if name not in estimators.ONLY_FLOAT32:
        assert estimators.difference(name, "float64") <= 2e-7


@pytest.mark.parametrize(
    "name",
    ["MultinomialNB", "BernoulliNB", "SVC, rbf, 2 classes", "GaussianMixture",
     "GaussianProcessRegressor"],
)  # fmt: skip
def test_what_float32_is_too_coarse_for_is_computed_in_float64(name):
    """Inputs and results are float32; results are those of scikit-learn for float64."""
    traced, rows = estimators.traced(name, "float32"), estimators.rows_of(name, "float32")
    fitted = estimators.fitted(name, "float32")
    for method, value in traced(rows).items():
        expected = np.asarray(getattr(fitted, method)(rows.astype("float64")))
        if expected.dtype.kind == "f":
            assert str(value.dtype) == "float32"
            largest = max(1.0, np.abs(expected).max())
            assert np.abs(composit.evaluate(value) - expected).max() <= 1e-7 * largest


@pytest.mark.long_tail
@pytest.mark.parametrize("name", estimators.CASES)
def test_compiled_and_exported_as_plain_cpp(name, tmp_path):
    """The bits of the interpreter; and no warning of the compiler's."""
    traced, rows = estimators.traced(name, "float32"), estimators.rows_of(name, "float32")

    def function(x):
        return traced(x)

    plain_exports.check(function, [rows[:5]], tmp_path, "cpp", "g++", ("-O1",))


def page_table():
    rows = re.findall(r"^\| (.+?) \| (\w+) \| (\w+-?\d*) \| (\w*-?\d*) \| ([\d,]+) \| ([\d,]+) \|$",
                      PAGE.read_text(encoding="utf-8"), re.MULTILINE)  # fmt: skip
    return {name: values for name, *values in rows}


def test_the_pages_table_has_all_estimators():
    table = page_table()
    assert list(table) == list(estimators.CASES)
    for name, (data, *_) in table.items():
        assert data == estimators.CASES[name].data


@pytest.mark.parametrize("name", ["Ridge", "SVC, rbf", "DecisionTreeClassifier", "PCA"])
def test_the_pages_table(name):
    """Other processors' fits differ in the last digits, and so may a line."""
    _, of_float32, of_float64, lines, size = page_table()[name]
    assert estimators.difference(name, "float32") <= 10 * float(of_float32)
    assert estimators.difference(name, "float64") <= 10 * float(of_float64)
    found_lines, found_size = estimators.size_of_export(name)
    assert found_lines == pytest.approx(int(lines.replace(",", "")), rel=0.05)
    assert found_size == pytest.approx(int(size.replace(",", "")), rel=0.05)


# ----- the function of flashlight
X, Y = estimators.data_of("wine")
NAMES = np.array(["red", "white", "rosé"])


def test_methods_have_the_estimators_shapes_and_compile():
    forest = RandomForestClassifier(10, random_state=0).fit(X, Y)
    traced = flashlight.trace_sklearn(forest, X)
    assert repr(traced) == "<TracedEstimator 'RandomForestClassifier': predict, predict_proba>"
    compiled = composit.compile(traced.predict_proba, X[:7])
    np.testing.assert_array_equal(compiled(X[:7]), composit.evaluate(traced.predict_proba(X[:7])))
    np.testing.assert_array_equal(composit.evaluate(traced.predict(X)), forest.predict(X))
    # Other dtypes become the example's.
    np.testing.assert_array_equal(
        composit.evaluate(traced.predict(X.astype("float64"))), forest.predict(X)
    )
    with pytest.raises(
        AttributeError, match=r"has no 'transform' here\. One of predict, predict_p"
    ):
        traced.transform(X)


def test_classes_that_are_texts(tmp_path):
    """Predictions are places in `classes`, which the exported header has as a table."""
    model = GaussianNB().fit(X, NAMES[Y])
    traced = flashlight.trace_sklearn(model, X)
    assert traced.classes.tolist() == ["red", "rosé", "white"]
    places = composit.evaluate(traced.predict(X))
    np.testing.assert_array_equal(traced.classes[places], model.predict(X))
    compiled = composit.compile(traced.predict, X)
    np.testing.assert_array_equal(compiled(X), places)
    for language, header in (("cpp", "gaussian_nb.hpp"), ("c", "gaussian_nb.h")):
        folder = tmp_path / language
        traced.export(folder, X[:1], "predict", style="plain", language=language)
        scope = "gaussian_nb::" if language == "cpp" else "gaussian_nb_"
        rows = ", ".join(repr(float(value)) + "f" for value in X[50])
        call = "gaussian_nb::gaussian_nb" if language == "cpp" else "gaussian_nb"
        (folder / f"main.{language}").write_text(
            f'#include "{header}"\n#include <stdio.h>\n'
            f"int main(void) {{\n    const float x[1][13] = {{{{{rows}}}}};\n"
            "    int64_t place[1];\n"
            f"    {call}(x, place);\n    puts({scope}classes[place[0]]);\n    return 0;\n}}\n"
        )
        compiler = plain_exports.COMPILERS[language][0]
        command = [compiler, "-Wall", "-Werror", f"gaussian_nb.{language}", f"main.{language}"]
        subprocess.run([*command, "-o", "run"], cwd=folder, check=True)
        out = subprocess.run([folder / "run"], capture_output=True, text=True, check=True).stdout
        assert out.strip() == model.predict(X[50:51])[0]


def test_texts_of_models_that_are_loaded():
    """Of known inputs they are strings, compiled ones choose them; placeholders alone cannot."""
    model = SVC().fit(X, NAMES[Y])
    loaded = composit.onnx.load(flashlight.trace_sklearn(model, X).onnx)
    labels, scores = loaded(X)
    np.testing.assert_array_equal(labels, model.predict(X))
    assert scores.shape == (178, 3)
    compiled = loaded.compile(X)
    np.testing.assert_array_equal(compiled(X)[0], model.predict(X))
    np.testing.assert_array_equal(compiled(X[::-1])[0], model.predict(X)[::-1])
    assert len(compiled._made) == 1 and compiled.texts == {"output_label": ["red", "rosé", "white"]}
    with pytest.raises(
        NotImplementedError, match=r"output 'output_label' is one of 'red', 'rosé', 'whi"
    ):
        composit.compile(loaded, X)


def test_a_frame_has_an_input_for_each_column():
    import pandas
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    frame = pandas.DataFrame({"size": X[:, 0], "sort": Y.astype("int64"), "age": X[:, 1]})
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), ["size", "age"]), ("sorts", OneHotEncoder(), ["sort"])]
    )
    model = make_pipeline(columns, LogisticRegression()).fit(frame, Y)
    traced = flashlight.trace_sklearn(model, frame)
    expected = model.predict_proba(frame)
    np.testing.assert_allclose(composit.evaluate(traced.predict_proba(frame)), expected, atol=1e-6)
    columns = {name: frame[name].to_numpy() for name in frame}
    compiled = composit.compile(traced.predict_proba, columns)
    np.testing.assert_allclose(compiled(columns), expected, atol=1e-6)


def test_gradients_by_features():
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    traced = flashlight.trace_sklearn(model, X.astype("float64"))
    first = X[:1].astype("float64")
    gradient = composit.grad(lambda x: traced.predict_proba(x)[0, 1])(first)
    p = model.predict_proba(first)[0]
    expected = p[1] * (model.coef_[1] - p @ model.coef_)
    np.testing.assert_allclose(gradient[0], expected, rtol=1e-5, atol=1e-9)


def test_refusals():
    with pytest.raises(
        NotImplementedError, match=r"does not convert the SplineTransformer: Unable"
    ):
        flashlight.trace_sklearn(SplineTransformer().fit(X), X)
    with pytest.raises(ValueError, match="not fitted"):
        flashlight.trace_sklearn(LogisticRegression(), X)
    with pytest.raises(ValueError, match=r"the example has shape \(178,\)\. \(rows, features\) is"):
        flashlight.trace_sklearn(GaussianNB().fit(X, Y), X[:, 0])
    # skl2onnx converts it to another function; ONNX Runtime gives the same values.
    model = KNeighborsRegressor(weights="distance").fit(X, Y)
    with pytest.raises(ValueError, match="converts it to another function"):
        flashlight.trace_sklearn(model, X)
    assert flashlight.trace_sklearn(model, X, check=False).predict(X).shape == (178,)


def test_skl2onnx_is_asked_for_by_name(tmp_path):
    code = (
        "import sys; sys.modules['skl2onnx'] = None\n"
        "from composit import flashlight\n"
        "flashlight.trace_sklearn(None, [[1.0]])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: trace_sklearn: skl2onnx is not installed" in run.stderr


# ----- support vector machines, beside ONNX Runtime
def svm(operation, count, **attributes):
    outputs = [onnx.helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, None)]
    if operation == "SVMClassifier":
        label = onnx.helper.make_tensor_value_info("label", onnx.TensorProto.INT64, None)
        outputs = [label, *outputs]
    node = onnx.helper.make_node(operation, ["x"], [o.name for o in outputs], domain="ai.onnx.ml",
                                 **attributes)  # fmt: skip
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, count])
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    graph = onnx.helper.make_graph([node], "svm", [x], outputs)
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)


DRAWN = np.random.default_rng(0)
VECTORS = DRAWN.standard_normal((7, 4)).astype("float32")


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("has_probabilities", [False, True])
def test_support_vector_classifiers(kernel, classes, has_probabilities):
    import onnxruntime

    pairs = classes * (classes - 1) // 2
    attributes = {}
    if has_probabilities:
        attributes = {"prob_a": -DRAWN.random(pairs) - 0.5, "prob_b": DRAWN.random(pairs) - 0.5}
    model = svm(
        "SVMClassifier", 4, kernel_type=kernel, kernel_params=[0.3, 0.1, 2.0],
        support_vectors=VECTORS.ravel(),
        vectors_per_class=[7 - 2 * (classes - 1)] + [2] * (classes - 1),
        coefficients=DRAWN.standard_normal((classes - 1) * 7), rho=DRAWN.standard_normal(pairs),
        classlabels_ints=[10 + i for i in range(classes)], **attributes,
    )  # fmt: skip
    x = DRAWN.standard_normal((50, 4)).astype("float32")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    label, scores = session.run(None, {"x": x})
    found = [composit.evaluate(value) for value in composit.onnx.load(model)(x)]
    np.testing.assert_array_equal(found[0], label)
    np.testing.assert_allclose(found[1], scores, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("one_class", [0, 1])
def test_support_vector_regressors(one_class):
    import onnxruntime

    model = svm("SVMRegressor", 4, kernel_type="RBF", kernel_params=[0.3, 0.0, 3.0], n_supports=7,
                support_vectors=VECTORS.ravel(), coefficients=DRAWN.standard_normal(7), rho=[0.1],
                one_class=one_class)  # fmt: skip
    x = DRAWN.standard_normal((50, 4)).astype("float32")
    (scores,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    found = composit.evaluate(composit.onnx.load(model)(x))
    np.testing.assert_allclose(found, scores, rtol=1e-5, atol=1e-6)


def test_damaged_support_vector_machines():
    good = {"support_vectors": VECTORS.ravel(), "vectors_per_class": [4, 3], "rho": [0.1],
            "coefficients": np.ones(7), "classlabels_ints": [0, 1]}  # fmt: skip
    x = np.zeros((1, 4), "float32")
    for change, message in (
        ({"coefficients": np.ones(6)}, "as many are required"),
        ({"rho": [0.1, 0.2]}, r"'rho' has 2 entries\. One for each pair"),
        ({"vectors_per_class": [4, -3]}, "a class has -3 vectors"),
        ({"vectors_per_class": [7]}, r"'vectors_per_class' has 1 entries\. 2 are required"),
        ({"classlabels_ints": [0]}, "there are 1 labels of classes"),
        ({"prob_a": [1.0, 2.0], "prob_b": [1.0]}, "'prob_a' and 'prob_b' have 2 and 1 entries"),
        ({"kernel_type": "CUBE"}, "kernel_type is 'CUBE'"),
        ({"kernel_params": [1.0]}, "'kernel_params' has 1 entries"),
    ):
        model = composit.onnx.load(svm("SVMClassifier", 4, **{**good, **change}))
        with pytest.raises(ValueError, match=f"(?i){message}"):
            model(x)
