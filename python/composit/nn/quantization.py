"""quantize: a model whose weights are stored in few bits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import LazyTensor, value_error
from composit.evaluation import as_tensor, check_function
from composit.structure import flatten

__all__ = ["Quantized", "quantize"]


class Quantized:
    """A model with weights in few bits, to be called as the model is: see quantize."""

    def __init__(self, model: Callable[..., Any], quantizer: Any) -> None:
        self._model = model
        self._quantizer = quantizer
        self.errors: list[Any] = []
        """For each output over the inputs of the calibration: `largest` and `relative` error, and
        `same_argmax`, the share of rows whose largest element is the same. [] without any."""
        functools.update_wrapper(self, model, updated=())

    def _calibrate(self, examples: list[tuple[Any, ...]]) -> None:
        outputs = [self._outputs(_arguments(example), {})[:2] for example in examples]
        for tensors, inputs in outputs:
            self._quantizer.observe(tensors, inputs)
        self.errors = self._quantizer.errors(outputs)

    def _outputs(self, arguments: Any, options: Any) -> tuple[list[Any], list[Any], Any]:
        """The model's outputs, its inputs as tensors, and how outputs become what it returns."""
        leaves, rebuild = flatten((arguments, options))
        given = list(map(_as_input, leaves))
        arguments, options = rebuild(given)
        tensors, restore = _tensors(self._model(*arguments, **options))
        return tensors, [leaf for leaf in given if isinstance(leaf, LazyTensor)], restore

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        tensors, inputs, restore = self._outputs(arguments, options)
        return restore(self._quantizer(tensors, inputs))

    @property
    def weights(self) -> list[Any]:
        """Every weight that a call has met: `name`, `shape`, `depth`, `columns`, `bytes_before`,
        `bytes_after`, `largest_error`, `relative_error`, and `kept_because`, which says why a
        weight stays float32, or is empty."""
        return list(self._quantizer.weights)

    @property
    def report(self) -> str:
        """The weights and the errors of the outputs as a table."""
        return str(self._quantizer.report(self.errors))


def quantize(
    model: Callable[..., Any],
    *,
    bits: int | None = None,
    group: int | None = None,
    least_elements: int = 4096,
    dtype: Any = None,
    calibration: Iterable[tuple[Any, ...]] = (),
) -> Quantized:
    """The model with its weights in eight or four bits: float32 constants that its products read
    are stored as integers with float32 scales, or as floats of 16 or eight bits, and become float32
    again where a product reads them.
    Activations and arithmetic stay float32, so evaluated, compiled and exported models have the
    same bits.

    model: a function of arrays that closes over its weights; its result: a tensor, or tensors in
        tuples, lists and dictionaries. Weights of convolutions, of loops and those that are
        arguments stay as they are, as do those of fewer than `least_elements` elements.
    bits: 8 (-127 to 127), which is the default, or 4 (-7 to 7).
    group: so many neighbours along the contracted axis share a scale (32 or 128 for four bits);
        None: all of a column do.
    dtype: "float16", "bfloat16", "float8_e4m3fn" or "float8_e5m2", in place of bits and group:
        no scales, and no calibration changes a weight.
    calibration: tuples of arguments. What the weights are multiplied with there decides on scales,
        so that products, not weights, have the least error; and `errors` says what it cost.

    Compile the result: a function that is called anew finds its weights by their elements.
    ValueError for other bits, groups and dtypes, for dtype beside bits or group, and for weights
    that are not finite, or that the dtype has no finite number for."""
    check_function("quantize", model)
    quantized = Quantized(model, _core.nn.Quantizer(bits, group, least_elements, dtype))
    quantized._calibrate(list(calibration))
    return quantized


def _arguments(example: Any) -> tuple[Any, ...]:
    if not isinstance(example, tuple):
        raise value_error(
            f"quantize: an element of calibration is {type(example).__name__}. A tuple of "
            "arguments is required."
        )
    return example


def _as_input(leaf: Any) -> Any:
    return as_tensor(leaf) if isinstance(leaf, np.ndarray) else leaf


def _tensors(value: Any) -> tuple[list[LazyTensor], Callable[[Any], Any]]:
    leaves, rebuild = flatten(value)
    return [as_tensor(leaf) for leaf in leaves], rebuild
