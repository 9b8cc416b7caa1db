"""What the models of the zoo share: parameters by name, and the layers that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import composit.numpy as cnp
from composit import nn
from composit._core import LazyTensor, extension_floats


class Parameters(Mapping[str, Any]):
    """A dictionary of arrays or tensors, seen from a place in a model: `(p / "encoder")["bias"]` is
    `p["encoder.bias"]`. KeyError names the whole name and its nearest neighbours."""

    def __init__(self, values: Mapping[str, Any], place: str = "") -> None:
        self._values: Mapping[str, Any] = values
        self._place = place
        if isinstance(values, Parameters):
            self._values, self._place = values._values, values._place + place

    def __truediv__(self, name: Any) -> Parameters:
        return Parameters(self._values, f"{self._place}{name}.")

    def __getitem__(self, name: str) -> LazyTensor:
        whole = self._place + name
        if whole not in self._values:
            raise KeyError(_missing(whole, self._values))
        return cnp.asarray(self._values[whole])

    def __contains__(self, name: object) -> bool:
        return f"{self._place}{name}" in self._values

    def __iter__(self) -> Iterator[str]:
        start = len(self._place)
        return (name[start:] for name in self._values if name.startswith(self._place))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def has(self, place: Any) -> bool:
        """Whether any parameter stands below this place."""
        return any(name.startswith(f"{self._place}{place}.") for name in self._values)

    def count(self) -> int:
        """How many places 0, 1, 2 … there are here."""
        found = {name.partition(".")[0] for name in self}
        return next(i for i in range(len(found) + 1) if str(i) not in found)


def _missing(name: str, values: Mapping[str, Any]) -> str:
    import difflib

    near = difflib.get_close_matches(name, values, n=3)
    hint = f" The nearest names are {', '.join(near)}." if near else ""
    return f"there is no parameter {name!r} among {len(values)}.{hint}"


def linear(x: Any, parameters: Parameters) -> LazyTensor:
    """x @ weight + bias, with weight (in, out); bias (out,) where there is one."""
    product = x @ parameters["weight"]
    return product + parameters["bias"] if "bias" in parameters else product


def layer_norm(x: Any, parameters: Parameters, epsilon: float) -> LazyTensor:
    """Over the last axis."""
    weight, bias = parameters["weight"], parameters["bias"]
    return nn.layer_norm(x, weight, bias, axis=-1, epsilon=epsilon)


def split_heads(x: LazyTensor, num_heads: int) -> LazyTensor:
    """(batch, tokens, heads * size) -> (batch, heads, tokens, size)"""
    batch, tokens, _ = x.shape
    return cnp.swapaxes(cnp.reshape(x, (batch, tokens, num_heads, -1)), 1, 2)


def join_heads(x: LazyTensor) -> LazyTensor:
    """(batch, heads, tokens, size) -> (batch, tokens, heads * size)"""
    batch, _, tokens, _ = x.shape
    return cnp.reshape(cnp.swapaxes(x, 1, 2), (batch, tokens, -1))


def attention(
    query_of: Any, key_of: Any, parameters: Parameters, names: tuple[str, ...], num_heads: int
) -> LazyTensor:
    """Multi-head attention of the tokens `query_of` (batch, tokens, width) to the tokens `key_of`.
    `names` are those of the projections of queries, keys, values and of the output."""
    query, key, value = (
        split_heads(linear(x, parameters / name), num_heads)
        for x, name in zip((query_of, key_of, key_of), names)
    )
    mixed = nn.scaled_dot_product_attention(query, key, value)
    return linear(join_heads(mixed), parameters / names[3])


def filters_of(parameters: Parameters, channels_last: bool) -> tuple[LazyTensor, int, int]:
    """The filters of a convolution, and their height and width."""
    filters = parameters["weight"]
    sizes = filters.shape[1:3] if channels_last else filters.shape[2:]
    return filters, *sizes


def convolution(
    x: Any, parameters: Parameters, *, channels_last: bool, strides: int = 1, padding: Any = None
) -> LazyTensor:
    """A convolution of images, with a bias where there is one. `padding`: rows and columns on each
    side; half the filter's size if not given."""
    filters, height, width = filters_of(parameters, channels_last)
    padding = (height // 2, width // 2) if padding is None else padding
    return nn.convolution(
        x,
        filters,
        channels_last=channels_last,
        strides=(strides, strides),
        padding=padding,
        bias=parameters.get("bias"),
    )


def per_channel(values: LazyTensor, channels_last: bool) -> LazyTensor:
    """(channels,) in the shape that broadcasts against images."""
    return values if channels_last else cnp.reshape(values, (-1, 1, 1))


def group_norm(
    x: Any, parameters: Parameters, num_groups: int, *, channels_last: bool, epsilon: float
) -> LazyTensor:
    """Over groups of channels of images."""
    return nn.group_norm(
        x,
        parameters["weight"],
        parameters["bias"],
        channel_axis=-1 if channels_last else 1,
        num_groups=num_groups,
        epsilon=epsilon,
    )


def state_of(model: Any) -> dict[str, np.ndarray]:
    """A torch module's parameters and buffers as arrays, sharing memory where NumPy knows the dtype
    (others become float32); or a dictionary of arrays or torch tensors, likewise."""
    values = model.state_dict() if hasattr(model, "state_dict") else model
    return {name: _as_array(value) for name, value in values.items()}


def _as_array(value: Any) -> np.ndarray:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        is_lacking = str(value.dtype).removeprefix("torch.") in extension_floats
        return (value.float() if is_lacking else value).numpy()
    return np.asarray(value)


def convert(
    state: Mapping[str, np.ndarray],
    is_dense: Callable[[str, np.ndarray], bool],
    channels_last: bool,
) -> dict[str, np.ndarray]:
    """Parameters in PyTorch's layout in composit's: dense weights (out, in) become (in, out), and
    filters (out, in, height, width) become (out, height, width, in) with channels last."""
    converted = {}
    for name, value in state.items():
        if name.endswith("num_batches_tracked"):
            continue
        if value.ndim == 2 and is_dense(name, value):
            value = np.ascontiguousarray(value.T)
        elif value.ndim == 4 and channels_last:
            value = np.ascontiguousarray(np.moveaxis(value, 1, -1))
        converted[name] = value
    return converted


Shapes = dict[str, tuple[int, ...]]


def draw(shapes: Shapes, seed: int) -> dict[str, np.ndarray]:
    """Random float32 parameters of these names and shapes, the same for the same seed: biases and
    means 0, scales and variances 1, filters as He et al. (2015) draw them, matrices of deviation
    0.02."""
    random, parameters = np.random.default_rng(seed), {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            is_zero = name.endswith(("bias", "running_mean"))
            parameters[name] = np.full(shape, 0 if is_zero else 1, np.float32)
            continue
        deviation = np.sqrt(2 / np.prod(shape[1:])) if len(shape) == 4 else 0.02
        parameters[name] = random.standard_normal(shape, np.float32) * np.float32(deviation)
    return parameters


def dense(shapes: Shapes, name: str, inputs: int, outputs: int, *, bias: bool = True) -> None:
    """Adds a dense layer's weight, and its bias."""
    shapes[f"{name}.weight"] = (inputs, outputs)
    if bias:
        shapes[f"{name}.bias"] = (outputs,)


def scale(shapes: Shapes, name: str, width: int, *, bias: bool = True) -> None:
    """Adds what a normalised tensor is multiplied with, and what is added to it."""
    shapes[f"{name}.weight"] = (width,)
    if bias:
        shapes[f"{name}.bias"] = (width,)


def layers(
    shapes: Shapes,
    place: str,
    count: int,
    matrices: Mapping[str, tuple[int, int]],
    norms: Mapping[str, int],
    *,
    bias: bool = True,
) -> None:
    """Adds equal layers, place.0, place.1, …: dense ones by their names and sizes, and the widths
    of what is normalised."""
    for layer in range(count):
        for name, (inputs, outputs) in matrices.items():
            dense(shapes, f"{place}.{layer}.{name}", inputs, outputs, bias=bias)
        for name, width in norms.items():
            scale(shapes, f"{place}.{layer}.{name}", width, bias=bias)


def as_tensors(parameters: Mapping[str, Any]) -> dict[str, LazyTensor]:
    """The parameters as leaves named after them, so that compiled programs share them."""
    return {name: cnp.asarray(value, name=name) for name, value in parameters.items()}
