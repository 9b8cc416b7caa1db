"""load, and what it returns: a model as a function, with its inputs, outputs and parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, with_location
from composit.compilation import compile as compile_function
from composit.evaluation import evaluate

_bound = _core.onnx


class ValueInfo(NamedTuple):
    """What a model says of an input or output: its name, the dtype and shape of its tensors, and
    whether it is a tensor, a sequence or an optional.

    Lengths are integers, names (one length in a call), or None where nothing is known of them; the
    shape is None where its rank is not known."""

    name: str
    dtype: str
    shape: tuple[int | str | None, ...] | None
    kind: str = "tensor"
    description: str = ""

    def __repr__(self) -> str:
        return f"<{self.name}: {self.description}>"


class Model:
    """A model in ONNX's format, called with its inputs in order or by name.

    A call returns what the model computes, lazily: a tensor, or a tuple of them where there are
    several outputs. Sequences are lists, empty optionals None, strings arrays of str objects. Types
    that composit has no dtype for are held in wider ones: float8 in float32, int4 in int8."""

    def __init__(self, core: Any, name: str) -> None:
        self._core = core
        self.name = name
        self.inputs = tuple(ValueInfo(*info) for info in core.inputs)
        self.outputs = tuple(ValueInfo(*info) for info in core.outputs)
        self.opsets: dict[str, int] = core.opsets
        self.operations: list[str] = core.operations  # of the graph's nodes, in order
        # The initializers of floating dtypes: leaves that gradients are taken with respect to.
        self.parameters: dict[str, LazyTensor] = core.parameters

    def __repr__(self) -> str:
        def words(values: tuple[ValueInfo, ...]) -> str:
            return ", ".join(f"{value.name}: {value.description}" for value in values)

        return f"<Model {self.name!r} ({words(self.inputs)}) -> ({words(self.outputs)})>"

    def __call__(
        self, *args: Any, parameters: Mapping[str, Any] | None = None, **named: Any
    ) -> Any:
        """The outputs for these inputs. `parameters` take the place of those of their names."""
        inputs = self._inputs(args, named)
        given = self.parameters if parameters is None else {**self.parameters, **parameters}
        outputs = self._core.call(inputs, dict(given))
        for output, info in zip(outputs, self.outputs):
            if isinstance(output, _bound.ChosenStrings):
                raise NotImplementedError(
                    with_location(
                        f"onnx: output {info.name!r} is one of {_some(output.texts)}, chosen by "
                        "values of a placeholder. model.compile(...), whose results are strings, "
                        "is required."
                    )
                )
        return _one_or_all([_result(output) for output in outputs])

    def compile(self, *examples: Any, **options: Any) -> CompiledModel:
        """The model as a compiled function of its inputs, ready for inputs like the examples, if
        there are any. `options` are those of composit.compile."""
        compiled = CompiledModel(self, options)
        if examples:
            compiled.specialise(*examples)
        return compiled

    def deciding_inputs(self, *examples: Any) -> tuple[str, ...]:
        """The names of the inputs whose values decide shapes, or what is computed, in a call with
        the examples."""
        places = self._core.deciding_inputs(self._inputs(examples, {}))
        return tuple(self.inputs[place].name for place in places)

    def _inputs(self, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        names = [value.name for value in self.inputs]
        inputs: list[Any] = list(args)
        if len(args) > len(names):
            raise TypeError(
                with_location(
                    f"onnx: the model is called with {len(args)} inputs. At most {len(names)} are "
                    f"required: {', '.join(names)}."
                )
            )
        for name in names[len(args) :]:
            inputs.append(named.pop(name, None))
        if named:
            name = next(iter(named))
            why = "is given twice" if name in names else "is no input of the model"
            raise TypeError(
                with_location(f"onnx: {name!r} {why}. Inputs are required: {', '.join(names)}.")
            )
        return [_argument(value, info.dtype) for value, info in zip(inputs, self.inputs)]


class CompiledModel:
    """A model compiled for the shapes and dtypes that it is called with.

    Inputs whose values decide shapes, as the shape that a Reshape takes, are constants of a
    specialisation: other values are another one."""

    def __init__(self, model: Model, options: dict[str, Any]) -> None:
        self.model = model
        self._options = options
        self._made: dict[Any, Any] = {}
        self._deciding: dict[Any, tuple[int, ...]] = {}
        # Of outputs of strings that inputs choose, by place: the strings.
        self._texts: dict[int, list[str]] = {}

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs as ndarrays."""
        inputs = self.model._inputs(args, named)
        function, free = self._found(inputs)
        results = function(*free)
        if not self._texts:
            return results
        all_results = list(results) if isinstance(results, tuple) else [results]
        for place, texts in self._texts.items():
            all_results[place] = np.array(texts, object)[all_results[place]]
        return _one_or_all(all_results)

    @property
    def texts(self) -> dict[str, list[str]]:
        """The strings of outputs that are one of several, as labels of classes, by the output's
        name. In programs, and in what is exported, such an output is an array of places among
        them."""
        return {self.model.outputs[place].name: texts for place, texts in self._texts.items()}

    def specialise(self, *examples: Any) -> Any:
        """What composit.compile made for inputs like these: .source, .graph, .kernels, …"""
        function, free = self._found(self.model._inputs(examples, {}))
        return function.specialise(*free)

    def export(self, folder: str | os.PathLike[str], *examples: Any, **options: Any) -> Any:
        """Writes the program for inputs like the examples as C++ into a folder."""
        function, free = self._found(self.model._inputs(examples, {}))
        function.specialise(*free)
        return function.export(folder, **options)

    def _found(self, inputs: list[Any]) -> tuple[Any, list[Any]]:
        outline = tuple(_outline(value) for value in inputs)
        deciding = self._deciding.get(outline)
        if deciding is None:
            deciding = self._deciding[outline] = tuple(self.model._core.deciding_inputs(inputs))
        # Values of a decision may lead to others.
        key = (outline, tuple(_content(inputs[place]) for place in deciding))
        if key not in self._made:
            places = tuple(self.model._core.deciding_inputs(inputs))
            self._deciding[outline] = deciding = tuple(sorted({*deciding, *places}))
            key = (outline, tuple(_content(inputs[place]) for place in deciding))
        free = [place for place in range(len(inputs)) if place not in deciding]
        if key not in self._made:
            self._made[key] = self._compiled(inputs, free)
        return self._made[key], [inputs[place] for place in free]

    def _compiled(self, inputs: list[Any], free: list[int]) -> Any:
        model, constants = self.model, list(inputs)

        def function(*values: Any) -> Any:
            for place, value in zip(free, values):
                constants[place] = value
            outputs = model._core.with_fixed_parameters(constants)
            for place, output in enumerate(outputs):
                if isinstance(output, _bound.ChosenStrings):
                    self._texts[place], outputs[place] = output.texts, output.places
            return _one_or_all([_result(output) for output in outputs])

        function.__name__ = "model"
        return compile_function(function, **self._options)


def load(source: str | os.PathLike[str] | bytes, folder: str | os.PathLike[str] = "") -> Model:
    """The model in a file, or in a file's bytes, or of an onnx.ModelProto. External data is read
    from the file's folder; `folder` is that of a model that is given as bytes."""
    if hasattr(source, "SerializeToString"):
        source = source.SerializeToString()
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Model(_bound.load_bytes(bytes(source), os.fspath(folder)), "model")
    path = os.fspath(source)
    return Model(_bound.load(path), os.path.splitext(os.path.basename(path))[0])


def operators() -> list[tuple[str, str]]:
    """(domain, name) of each operator that composit builds; the domain ai.onnx is ""."""
    return _bound.operators()


# Types of few bits, by the name that ml_dtypes has for them, and the dtype that holds each.
_carriers = {
    "float8_e4m3fn": "float32", "float8_e4m3fnuz": "float32", "float8_e5m2": "float32",
    "float8_e5m2fnuz": "float32", "float8_e8m0fnu": "float32", "float4_e2m1fn": "float32",
    "float6_e2m3fn": "float32", "float6_e3m2fn": "float32",
    "int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8",
}  # fmt: skip


def _argument(value: Any, dtype: str) -> Any:
    """What the core takes for an input: strings as objects of its own, types of few bits in their
    carriers."""
    if isinstance(value, (list, tuple)) and not _is_strings(value):
        return [_argument(part, dtype) for part in value]
    if dtype == "string" and value is not None:
        array = np.asarray(value)
        texts = [_text(each) for each in array.ravel().tolist()]
        return _bound.Strings(list(array.shape), texts)
    if isinstance(value, np.ndarray) and value.dtype.name in _carriers:
        return value.astype(_carriers[value.dtype.name])
    return value


def _is_strings(value: Any) -> bool:
    return len(value) > 0 and all(isinstance(part, (str, bytes)) for part in value)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _result(value: Any) -> Any:
    if isinstance(value, _bound.Strings):
        return np.array(value.elements, object).reshape(tuple(value.shape))
    if isinstance(value, list):
        return [_result(part) for part in value]
    return value


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)


def _some(texts: list[str]) -> str:
    shown = ", ".join(repr(text) for text in texts[:4])
    return shown if len(texts) <= 4 else f"{shown}, … ({len(texts)})"


def _outline(value: Any) -> Any:
    """What a specialisation is for: dtypes and shapes."""
    if isinstance(value, list):
        return tuple(_outline(part) for part in value)
    if value is None or isinstance(value, _bound.Strings):
        return None if value is None else ("strings", *value.elements)
    if isinstance(value, LazyTensor):
        return str(value.dtype), tuple(value.shape)
    array = np.asarray(value)
    return str(array.dtype), array.shape


def _content(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_content(part) for part in value)
    if value is None or isinstance(value, _bound.Strings):
        return None
    return np.asarray(evaluate(value) if isinstance(value, LazyTensor) else value).tobytes()
