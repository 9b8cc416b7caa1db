"""flashlight.trace_sklearn(estimator, …): a fitted estimator of scikit-learn as functions of
composit.

skl2onnx converts the estimator; composit.onnx reads what it gives. Here are only the estimator's
methods: which of the model's outputs each is, and its shape."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import composit._core as _core
import composit.numpy as cnp
from composit._core import LazyTensor, value_error, with_location
from composit.compilation import compile as compile_function
from composit.evaluation import as_tensor, evaluate
from composit.onnx.model import load

_strings = _core.onnx.ChosenStrings

# What the second output of a model is: the first of these methods that the estimator has.
_of_scores = ("predict_proba", "decision_function", "transform")
# Results further from the estimator's own than this, of the largest value, are errors of a
# conversion, not of rounding.
_most_apart = 1e-3
# Results of a model of float32 that are further from the estimator's are computed in float64.
_most_apart_in_float32 = 1e-6


def trace_sklearn(estimator: Any, example: Any, *, check: bool = True) -> TracedEstimator:
    """A fitted estimator of scikit-learn (or a pipeline of them) as functions of tensors.

    `example` is what the estimator's methods take: an array (rows, features), or a pandas
    DataFrame, whose columns become inputs of their own. Its dtype is that of the inputs; the number
    of rows is that of each call. What is returned has the methods `predict`, and `predict_proba`,
    `decision_function` or `transform`, as far as the estimator does, whose results have the shapes
    of the estimator's. They are differentiated, compiled and exported like any function of
    composit.

    The methods are called with the example, too, and so are the estimator's own: ValueError where
    they differ by more than float32's rounding, as estimators do that skl2onnx converts wrongly.
    Where they differ by more than 1e-6 of the largest value for an array of float32, what lies
    between inputs and results is computed in float64, if that is nearer: scikit-learn adds large
    numbers of both signs so (naive Bayes). check=False leaves both out.

    ImportError where skl2onnx is not installed; NotImplementedError for what it does not convert,
    with its own words; ValueError for an estimator that is not fitted."""
    return TracedEstimator(estimator, example, check)


class TracedEstimator:
    """What `trace_sklearn` returns."""

    def __init__(self, estimator: Any, example: Any, check: bool) -> None:
        self.name = type(estimator).__name__
        self.__name__ = self.name
        model = _converted(estimator, example)
        self._model: Any = load(model)
        # The model's bytes in ONNX's format, as skl2onnx wrote them for inputs like the example.
        self.onnx: bytes = model.SerializeToString()
        # The names of classes that are texts, by the number that predictions have for each.
        self.classes: np.ndarray | None = None
        known = np.asarray(getattr(estimator, "classes_", ()))
        if known.dtype.kind in "OU":
            self.classes = known.astype(object)
        self._places = {name: place for place, name in enumerate(known.tolist())}
        own = {
            name: _dense(getattr(estimator, name)(example)) for name in self._methods_of(estimator)
        }
        self._shapes = {name: values.ndim for name, values in own.items()}
        # Of inputs and results that are not of the model's float64.
        self._outside: str | None = None
        if check:
            self._widen(estimator, own, example)
            self._check(own, example)

    def __repr__(self) -> str:
        methods = ", ".join(self._shapes)
        return f"<TracedEstimator {self.name!r}: {methods}>"

    def __call__(self, x: Any) -> dict[str, LazyTensor]:
        """The results of all methods, by their names."""
        results = dict(zip(self._shapes, self._outputs(x)))
        return {name: self._shaped(name, value) for name, value in results.items()}

    def predict(self, x: Any) -> LazyTensor:
        """The predictions: classes, or where these are texts their places in `classes`."""
        return self._result("predict", x)

    def predict_proba(self, x: Any) -> LazyTensor:
        """The probability of each class."""
        return self._result("predict_proba", x)

    def decision_function(self, x: Any) -> LazyTensor:
        """The scores that decide for classes."""
        return self._result("decision_function", x)

    def transform(self, x: Any) -> LazyTensor:
        """The features that a transformer makes."""
        return self._result("transform", x)

    def export(
        self, path: str | os.PathLike[str], example: Any, *methods: str, **options: Any
    ) -> list[str]:
        """Writes one function for inputs like the example as C++ or C into the folder `path`. Its
        results are those of the methods, all by default; it is named after the estimator. Where
        classes are texts, the header has them as the table `classes`, in which predictions are
        places. `options` are those of composit.compile's `export`, and `name`."""
        chosen = methods or (*self._shapes,)
        for method in chosen:
            self._place(method)

        def function(x: Any) -> dict[str, LazyTensor]:
            results = self(x)
            return {method: results[method] for method in chosen}

        name = options.pop("name", _core.reports.snake_case(self.name))
        compiled = compile_function(function, self._arguments(example), name=name)
        if self.classes is not None and "predict" in chosen:
            options["texts"] = {"classes": [*self.classes], **options.get("texts", {})}
        return compiled.export(path, **options)

    # ----- the model's inputs and outputs
    def _methods_of(self, estimator: Any) -> list[str]:
        """The methods that the model's outputs are the results of."""
        first = "predict" if hasattr(estimator, "predict") else "transform"
        count = len(self._model.outputs)
        scores = [name for name in _of_scores if name != first and hasattr(estimator, name)]
        methods = [first, *scores[:1]]
        if count > len(methods):
            raise NotImplementedError(
                with_location(
                    f"trace_sklearn: the model of {self.name} has {count} outputs. One of predict "
                    f"or transform, and one of {', '.join(_of_scores)}, is required."
                )
            )
        return methods[:count]

    def _place(self, method: str) -> int:
        if method not in self._shapes:
            raise AttributeError(
                with_location(
                    f"trace_sklearn: {self.name} has no {method!r} here. One of "
                    f"{', '.join(self._shapes)} is required."
                )
            )
        return [*self._shapes].index(method)

    def _result(self, method: str, x: Any) -> LazyTensor:
        place = self._place(method)
        return self._shaped(method, self._outputs(x)[place])

    def _arguments(self, x: Any) -> Any:
        """What a compiled function takes for x: an array, or one for each column."""
        dtypes = {value.name: value.dtype for value in self._model.inputs}
        if isinstance(x, Mapping) or hasattr(x, "columns"):
            return {name: _column(x[name], dtype) for name, dtype in dtypes.items()}
        (dtype,) = dtypes.values()
        dtype = self._outside or dtype
        if isinstance(x, LazyTensor):
            return x if str(x.dtype) == dtype else x.astype(dtype)
        return np.asarray(x) if dtype == "string" else np.asarray(x, dtype)

    def _outputs(self, x: Any) -> list[Any]:
        given = self._arguments(x)
        if self._outside is not None:
            given = as_tensor(given).astype("float64")
        named, listed = (given, ()) if isinstance(given, dict) else ({}, (given,))
        core = self._model._core
        outputs = core.call(core.arguments(listed, named), dict(self._model.parameters))
        return [self._narrowed(self._numbers(output)) for output in outputs]

    def _narrowed(self, output: Any) -> Any:
        is_wide = self._outside is not None and str(output.dtype) == "float64"
        return output.astype(self._outside) if is_wide else output

    def _numbers(self, output: Any) -> Any:
        """Classes that are texts as their places in `classes`."""
        if isinstance(output, _strings):
            return cnp.take(self._places_of(output.texts), output.places)
        return output if isinstance(output, LazyTensor) else as_tensor(self._places_of(output))

    def _places_of(self, texts: Any) -> np.ndarray:
        return np.vectorize(self._places.__getitem__, ["int64"])(np.asarray(texts, object))

    def _shaped(self, method: str, value: Any) -> Any:
        """A result with as many axes as the estimator's."""
        rows = value.shape[0]
        if self._shapes[method] == 1:
            # The score of two classes stands there for both, with opposite signs.
            is_of_both = method == "decision_function" and value.shape[1:] == (2,)
            return value[:, 1] if is_of_both else value.reshape((-1,))
        return value if value.ndim == 2 else value.reshape((rows, -1))

    def _widen(self, estimator: Any, own: dict[str, Any], example: Any) -> None:
        """Takes the model of float64 where that of float32 is too coarse for the example."""
        if hasattr(example, "columns") or np.asarray(example).dtype != np.float32:
            return
        apart = self._apart(own, example)
        if apart <= _most_apart_in_float32:
            return
        try:
            wide = _converted(estimator, np.asarray(example, "float64"))
        except NotImplementedError:
            return  # skl2onnx converts some from float32 alone
        narrow, self._model, self._outside = self._model, load(wide), "float32"
        if self._apart(own, example) >= apart:
            self._model, self._outside = narrow, None

    def _compared(self, own: dict[str, Any], example: Any) -> Iterator[tuple[str, Any, Any]]:
        """The name of each method, what it gives here, and what the estimator's gives."""
        for method, value in self(example).items():
            expected = own[method]
            if expected.dtype.kind in "OU":
                expected = self._places_of(expected)
            yield method, evaluate(value), expected

    def _apart(self, own: dict[str, Any], example: Any) -> float:
        """The largest difference of numbers from the estimator's, in parts of the largest value
        where that is above 1."""
        floats = (each for each in self._compared(own, example) if each[2].dtype.kind == "f")
        apart = (_core.reports.distance(found, expected) for _, found, expected in floats
                 if found.shape == expected.shape)  # fmt: skip
        return max((largest / scale for largest, scale in apart), default=0.0)

    def _check(self, own: dict[str, Any], example: Any) -> None:
        for method, found, expected in self._compared(own, example):
            problem = _core.reports.beyond_rounding(found, expected, _most_apart, "the estimator's")
            if problem:
                raise ValueError(
                    with_location(
                        f"trace_sklearn: {method} of {self.name} {problem}: skl2onnx converts it "
                        "to another function. An estimator that it converts rightly is required, "
                        "an example of float64 where float32 is too coarse, or check=False."
                    )
                )


def _dense(values: Any) -> np.ndarray:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _column(values: Any, dtype: str) -> Any:
    """One feature of rows: (rows, 1)."""
    if not isinstance(values, LazyTensor):
        values = np.asarray(values) if dtype == "string" else np.asarray(values, dtype)
    return values.reshape((-1, 1))


def _converted(estimator: Any, example: Any) -> Any:
    """The onnx.ModelProto that skl2onnx makes."""
    try:
        import skl2onnx
        from skl2onnx.algebra.type_helper import guess_initial_types
    except ImportError:
        raise ImportError(
            with_location(
                "trace_sklearn: skl2onnx is not installed, which converts estimators. "
                "`pip install skl2onnx` is required."
            )
        ) from None
    from sklearn.ensemble import VotingClassifier
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    if not hasattr(example, "columns"):
        example = np.asarray(example)
        if example.ndim != 2:
            raise value_error(
                f"trace_sklearn: the example has shape {example.shape}. (rows, features) is "
                "required."
            )
    if isinstance(estimator, VotingClassifier):
        # It says how results of `transform` lie, which are none here; skl2onnx knows one way.
        estimator = copy.copy(estimator)
        estimator.flatten_transform = False
    converters, shapes = _repaired()
    try:
        return skl2onnx.convert_sklearn(
            estimator,
            initial_types=guess_initial_types(example[:1], None),
            target_opset={"": min(21, skl2onnx.__max_supported_opset__), "ai.onnx.ml": 3},
            options=_options(estimator),
            custom_conversion_functions=converters,
            custom_shape_calculators=shapes,
        )
    except Exception as error:  # of many classes
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise NotImplementedError(
            with_location(
                f"trace_sklearn: skl2onnx {skl2onnx.__version__} does not convert the "
                f"{type(estimator).__name__}: {said} An estimator of "
                "skl2onnx.supported_converters(), or other options of this one, is required."
            )
        ) from error


def _options(estimator: Any) -> dict[type, dict[str, bool]]:
    """Scores of a support vector machine of two classes as decision_function's, not as votes'."""
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC, NuSVC

    last = estimator
    while isinstance(last, Pipeline):
        last = last.steps[-1][1]
    is_raw = isinstance(last, (SVC, NuSVC)) and not hasattr(last, "predict_proba")
    return {type(last): {"raw_scores": True}} if is_raw and len(last.classes_) == 2 else {}


def _repaired() -> tuple[dict[type, Callable[..., Any]], dict[type, Callable[..., Any]]]:
    """Converters, and calculators of shapes, of estimators whose converter in skl2onnx writes
    booleans among integers, which protobuf takes no longer: as integers. Mixtures, whose converter
    compares all opsets with a number where it is given float64, with ONNX's own. And LinearSVC
    registered with the option that pipelines set for all classifiers."""
    import skl2onnx
    from skl2onnx.common._registration import get_converter, get_shape_calculator
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
    from skl2onnx.operator_converters.linear_classifier import convert_sklearn_linear_classifier
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
    from sklearn.svm import LinearSVC

    class Container:
        def __init__(self, around: Any) -> None:
            self._around = around

        def __getattr__(self, name: str) -> Any:
            return getattr(self._around, name)

        def add_node(self, *arguments: Any, **attributes: Any) -> Any:
            for name, value in attributes.items():
                if isinstance(value, list):
                    attributes[name] = [int(x) if isinstance(x, bool) else x for x in value]
            return self._around.add_node(*arguments, **attributes)

    def alias(operator: Any) -> str:
        return "Sklearn" + type(operator.raw_operator).__name__

    def convert(scope: Any, operator: Any, container: Any) -> None:
        get_converter(alias(operator))(scope, operator, Container(container))

    def convert_mixture(scope: Any, operator: Any, container: Any) -> None:
        operator.target_opset = container.target_opset
        get_converter(alias(operator))(scope, operator, container)

    def shape(operator: Any) -> None:
        get_shape_calculator(alias(operator))(operator)

    kinds: dict[type, Callable[..., Any]] = {
        HistGradientBoostingClassifier: convert,
        HistGradientBoostingRegressor: convert,
        GaussianMixture: convert_mixture,
        BayesianGaussianMixture: convert_mixture,
    }
    skl2onnx.update_registered_converter(
        LinearSVC,
        "SklearnLinearSVC",
        calculate_linear_classifier_output_shapes,
        convert_sklearn_linear_classifier,
        options={
            "nocl": [True, False], "output_class_labels": [False, True],
            "raw_scores": [True, False], "zipmap": [True, False, "columns"],
        },
    )  # fmt: skip
    return kinds, dict.fromkeys(kinds, shape)
