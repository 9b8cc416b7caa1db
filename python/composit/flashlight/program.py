"""flashlight.trace(model, …): a model as a function of composit."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

import composit._core as _core
from composit import devices
from composit._core import LazyTensor, type_error, value_error, with_location
from composit.evaluation import as_tensor, evaluate
from composit.flashlight.dtypes import numpy_dtype
from composit.flashlight.modules import kept_as_they_are
from composit.flashlight.places import mapped, tensors_in
from composit.flashlight.tensor import Tensor
from composit.flashlight.tracer import trace as tracing


def _structured(value: Any, found: list[Any]) -> Callable[[Any], Any]:
    """Collects the tensors of an output; the function that puts others in their places. Outputs of
    transformers and diffusers are mappings of a class of their own, which is kept."""
    if isinstance(value, torch.Tensor):
        found.append(value)
        return next
    if isinstance(value, Mapping):
        parts = {key: _structured(item, found) for key, item in value.items()}
        kind: Any = type(value)
        return lambda items: kind(**{key: part(items) for key, part in parts.items()})
    if isinstance(value, (list, tuple)):
        several = [_structured(item, found) for item in value]
        sequence: Any = type(value)
        if hasattr(value, "_fields"):
            return lambda items: sequence(*(part(items) for part in several))
        return lambda items: sequence(part(items) for part in several)
    return lambda items: value


class TracedModel:
    """What `trace` returns: called with arrays, torch tensors or LazyTensors like those that it was
    traced with, it gives the model's output, with arrays for tensors (LazyTensors, where an
    argument is one)."""

    def __init__(self, model: Any, args: Any, kwargs: Any, key: Any) -> None:
        self.name = type(model).__name__
        self._examples = list(tensors_in((args, kwargs)))
        with tracing(key=key) as tracer:
            if isinstance(model, torch.nn.Module):
                tracer.paths.add(model)
            self.inputs = [
                _core.input(f"input_{i}", numpy_dtype(x.dtype), tuple(x.shape))
                for i, x in enumerate(self._examples)
            ]
            left = iter(zip(self._examples, self.inputs))

            def placeholder(value: Any) -> Any:
                if not isinstance(value, torch.Tensor):
                    return value
                tensor, leaf = next(left)
                with _disable_current_modes():
                    return tracer.tensor(leaf, tracer.twin(tensor))

            with kept_as_they_are(model):
                output = model(*mapped(args, placeholder), **mapped(kwargs, placeholder))
            found: list[Any] = []
            self._rebuild = _structured(output, found)
            with _disable_current_modes():
                self.outputs: list[LazyTensor] = [tracer.read(tensor).copied() for tensor in found]
                self._leaves = list(tracer.memory.leaves())
                self.writes: dict[str, LazyTensor] = tracer.writes()
        self.parameters: dict[str, LazyTensor] = {name: leaf for name, _, leaf in self._leaves}
        self.device = "cpu"
        self._versions = self._now()

    def to(self, device: Any) -> TracedModel:
        """The same model with its weights on a device, where it runs: they are copied now, and
        again after torch wrote them. ValueError for a device that is not here."""
        other = copy.copy(self)
        other.device = devices.full_name(device)
        other._replace_leaves()
        return other

    def _now(self) -> list[int]:
        """torch's counters of writes to the weights."""
        return [tensor._version for _, tensor, _ in self._leaves]

    def _refresh(self) -> None:
        """New leaves where torch wrote weights: plans may hold them in another order."""
        now = self._now()
        if now != self._versions:
            self._replace_leaves()
            self._versions = now

    def _replace_leaves(self) -> None:
        """Leaves of what torch's weights hold now, on the device."""
        from composit.flashlight.places import array_of

        fresh = [
            _core.constant(array_of(tensor.detach()), name, False)
            for name, tensor, _ in self._leaves
        ]
        if self.device != "cpu":
            fresh = [devices.copied(leaf, self.device) for leaf in fresh]
        old = [leaf for _, _, leaf in self._leaves]
        every = [*self.outputs, *self.writes.values()]
        made = iter(_core.substitute(every, old, fresh))
        self.outputs = [next(made) for _ in self.outputs]
        self.writes = {name: next(made) for name in self.writes}
        self._leaves = [(n, t, leaf) for (n, t, _), leaf in zip(self._leaves, fresh)]
        self.parameters = {name: leaf for name, _, leaf in self._leaves}

    @property
    def graph(self) -> Any:
        """The graph of all outputs, over placeholders input_0, input_1, … and the weights."""
        from composit.graph import GraphView

        return GraphView(tuple(self.outputs))

    def _arguments(self, args: Any, kwargs: Any) -> list[Any]:
        """The tensors among the arguments, which have to be like the examples."""
        given: list[Any] = []

        def collect(value: Any) -> None:
            if isinstance(value, (list, tuple)):
                for item in value:
                    collect(item)
            elif isinstance(value, Mapping):
                for item in value.values():
                    collect(item)
            elif isinstance(value, Tensor):
                given.append(value.lazy_tensor)
            elif isinstance(value, torch.Tensor):
                given.append(value.detach().numpy())
            elif hasattr(value, "dtype") and hasattr(value, "shape"):
                given.append(value)

        collect((args, kwargs))
        if len(given) != len(self.inputs):
            raise type_error(
                f"{self.name}: {len(given)} arrays are given. The model was traced with "
                f"{len(self.inputs)}."
            )
        for value, leaf in zip(given, self.inputs):
            if tuple(value.shape) != tuple(leaf.shape) or value.dtype != leaf.dtype:
                raise value_error(
                    f"{self.name}: {leaf.node.name} is {value.dtype}{list(value.shape)}. The "
                    f"model was traced with {leaf.dtype}{list(leaf.shape)}."
                )
        return given

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The model's output for other arrays of the shapes and dtypes it was traced with."""
        given = self._arguments(args, kwargs)
        self._refresh()
        is_lazy = any(isinstance(value, LazyTensor) for value in given)
        if self.device != "cpu":
            there = [devices.moved(as_tensor(value), self.device) for value in given]
            made = iter(_core.substitute(self.outputs, self.inputs, there))
            if is_lazy:
                return self._rebuild(made)
            return self._rebuild(iter(evaluate(*made, always_return_tuple=True)))
        if is_lazy:
            return self.apply({}, *given)
        values = evaluate(
            *self.outputs, inputs=dict(zip(self.inputs, given)), always_return_tuple=True
        )
        return self._rebuild(iter(values))

    def apply(self, parameters: Mapping[str, Any], *arrays: Any) -> Any:
        """The output as LazyTensors, with other values for the weights that are named; so the model
        is a pure function of weights and inputs, to be differentiated or compiled."""
        unknown = [name for name in parameters if name not in self.parameters]
        if unknown:
            raise KeyError(with_location(f"{self.name}.apply: no weight is called {unknown[0]!r}."))
        old = [*self.inputs, *(self.parameters[name] for name in parameters)]
        new = [as_tensor(x) for x in (*self._arguments(arrays, {}), *parameters.values())]
        return self._rebuild(iter(_core.substitute(self.outputs, old, new)))

    def compile(self, **options: Any) -> Any:
        """The model as a compiled program of its arrays, with composit.compile's options; outputs
        are a tuple of arrays, on the model's device. `.export(folder)` of it writes C++."""
        from composit.compilation import compile

        self._refresh()
        outputs, inputs = self.outputs, self.inputs

        def function(*arrays: Any) -> tuple[LazyTensor, ...]:
            return tuple(_core.substitute(outputs, inputs, [as_tensor(x) for x in arrays]))

        function.__name__ = options.pop("name", self.name)
        examples = [tensor.detach().numpy() for tensor in self._examples]
        if self.device != "cpu":
            options.setdefault("device", self.device)
        return compile(function, *examples, **options)

    def export(self, path: Any) -> list[str]:
        """Writes the compiled model as C++ without dependencies into a folder."""
        return self.compile().export(path)

    def __repr__(self) -> str:
        return f"<TracedModel({self.name}, {len(self.graph)} nodes)>"


def trace(model: Any, *args: Any, key: Any = None, **kwargs: Any) -> TracedModel:
    """The model, or a function of torch tensors, traced once with these examples: a function of
    arrays. Weights stay torch's memory; what torch writes into them is seen by the next call.

        traced = flashlight.trace(model, torch.rand(1, 3, 224, 224))
        logits = traced(images)
        traced.compile().export("exported")

    NotImplementedError, with the operator and the line, for what cannot be traced.
    """
    return TracedModel(model, args, kwargs, key)
