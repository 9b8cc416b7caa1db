"""load, and what it returns: a model as a function, with its inputs, outputs and parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import composit._core as _core
from composit._core import LazyTensor
from composit.compilation import compile as compile_function

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
    that composit has no dtype for are held in wider ones: float4 in float32, int4 in int8."""

    def __init__(self, core: Any, name: str) -> None:
        self._core = core
        self.name = name
        self.inputs = tuple(ValueInfo(*info) for info in core.inputs)
        self.outputs = tuple(ValueInfo(*info) for info in core.outputs)
        self.opsets: dict[str, int] = core.opsets
        self.operations: list[str] = core.operations  # of the graph's nodes, in order
        self.constant_numbers: int = core.constant_numbers  # in all parameters
        # The initializers of floating dtypes: leaves that gradients are taken with respect to.
        self.parameters: dict[str, LazyTensor] = core.parameters

    @property
    def format(self) -> str:
        """In words, with the version of the operators."""
        return f"opset {self.opsets.get('', 0)}"

    def __repr__(self) -> str:
        def words(values: tuple[ValueInfo, ...]) -> str:
            return ", ".join(f"{value.name}: {value.description}" for value in values)

        return f"<Model {self.name!r} ({words(self.inputs)}) -> ({words(self.outputs)})>"

    def __call__(
        self, *args: Any, parameters: Mapping[str, Any] | None = None, **named: Any
    ) -> Any:
        """The outputs for these inputs. `parameters` take the place of those of their names."""
        given = self.parameters if parameters is None else {**self.parameters, **parameters}
        inputs = self._core.arguments(args, named)
        return _one_or_all(self._core.outputs_of(inputs, dict(given)))

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
        places = self._core.deciding_inputs(self._core.arguments(examples, {}))
        return tuple(self.inputs[place].name for place in places)


class CompiledModel:
    """A model compiled for the shapes and dtypes that it is called with.

    Inputs whose values decide shapes, as the shape that a Reshape takes, are constants of a
    specialisation: other values are another one."""

    def __init__(self, model: Model, options: dict[str, Any]) -> None:
        self.model = model
        self._options = options
        self._made: dict[Any, Any] = {}
        self._decisions = _bound.Decisions()
        # Of outputs of strings that inputs choose, by place: the strings.
        self._texts: dict[int, list[str]] = {}

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs as ndarrays."""
        inputs = self.model._core.arguments(args, named)
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
        function, free = self._found(self.model._core.arguments(examples, {}))
        return function.specialise(*free)

    def export(self, folder: str | os.PathLike[str], *examples: Any, **options: Any) -> Any:
        """Writes the program for inputs like the examples as C++ into a folder."""
        function, free = self._found(self.model._core.arguments(examples, {}))
        function.specialise(*free)
        return function.export(folder, **options)

    def _found(self, inputs: list[Any]) -> tuple[Any, list[Any]]:
        key, free = self._decisions.of(self.model._core, inputs)
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
            return _one_or_all(outputs)

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


def _one_or_all(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else tuple(values)
