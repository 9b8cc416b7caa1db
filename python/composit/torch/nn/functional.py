"""torch.nn.functional: functions of networks over Tensors."""

from __future__ import annotations

import functools
import math
from typing import Any

import composit._core as _core
from composit import nn
from composit import numpy as cnp
from composit._core import not_implemented, runtime_error, value_error
from composit.flashlight.operators.promotion import floating
from composit.flashlight.operators.table import function_of
from composit.torch import calling, dtypes, writing
from composit.torch.calling import define, functions, torch_function
from composit.torch.functions import random
from composit.torch.functions.indexing import from_first
from composit.torch.tape import no_grad

_neural: dict[str, Any] = {"is_function": False, "is_method": False, "is_neural": True}

# ----- activations

for _name in ("relu", "sigmoid", "tanh"):
    calling.neural[_name] = calling.functions[_name]
for _name in ("silu", "gelu", "glu", "hardshrink", "softshrink", "softplus", "log_sigmoid"):
    order = "rows" if _name == "log_sigmoid" else None
    define(function_of(_name), "logsigmoid" if order else _name, order=order, **_neural)


def _in_place_option(name: str, function: Any, options: int, is_function: bool = False) -> None:
    """An activation with the option inplace, which stands behind other options, and a function
    name_."""

    def unknown(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        if len(args) == options + 1:
            *args, inplace = args  # type: ignore[assignment]
        if inplace:
            writing.check_writable(input)
        made = calling.call(function, name, False, (input, *args), kwargs)
        return writing.write(input, made, name) if inplace else made

    over: Any = _core.TorchFunction(function, unknown)
    functools.update_wrapper(over, unknown)

    def in_place(input: Any, *args: Any, **kwargs: Any) -> Any:
        return over(input, *args, inplace=True, **kwargs)

    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"torch's {name}."
    in_place.__doc__ = f"{name}, written over the tensor."
    calling.neural[name] = over
    calling.neural[f"{name}_"] = in_place
    if is_function:
        calling.functions[name] = over
        calling.functions[f"{name}_"] = in_place


for _name, _options in {"relu6": 0, "hardtanh": 2, "hardsigmoid": 0, "hardswish": 0, "mish": 0,
                        "elu": 1, "leaky_relu": 1, "threshold": 2, "silu": 0}.items():  # fmt: skip
    _in_place_option(_name, function_of(_name), _options)
for _name, _options in {"celu": 1, "selu": 0, "relu": 0}.items():
    _in_place_option(_name, function_of(_name), _options, is_function=True)


@torch_function("tanhshrink", is_function=False, is_method=False, is_neural=True)
def _tanhshrink(input: Any) -> Any:
    """x - tanh(x)"""
    x = floating(input)
    return x - cnp.tanh(x)


@torch_function("softsign", is_function=False, is_method=False, is_neural=True)
def _softsign(input: Any) -> Any:
    """x / (1 + |x|)"""
    x = floating(input)
    return x / (cnp.abs(x) + 1)


define(function_of("prelu"), "prelu", is_neural=True)


def rrelu(
    input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
    inplace: bool = False,
) -> Any:  # fmt: skip
    """leaky_relu with slopes that are drawn, in training."""
    if not training:
        return calling.neural["leaky_relu"](input, (lower + upper) / 2, inplace=inplace)
    slopes = calling.functions["rand_like"](input) * (upper - lower) + lower
    made = calling.functions["where"](input >= 0, input, input * slopes)
    return writing.write(input, made, "rrelu") if inplace else made


def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """Draws from the softmax of logits, through which gradients go."""
    from composit import random as keys

    noise = calling.wrapped(random.drawn(keys.gumbel, logits.shape, logits.dtype))
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    best = soft.argmax(dim, keepdim=True)
    ones = calling.functions["zeros_like"](soft).scatter(dim, best, 1.0)
    return ones - soft.detach() + soft


calling.neural.update(rrelu=rrelu, gumbel_softmax=gumbel_softmax)

# ----- products


@torch_function("linear", is_function=False, is_method=False, is_neural=True)
def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias"""
    return _core.aten.linear(input, weight, bias)


define(function_of("bilinear"), "bilinear", **_neural)
for _count in (1, 2, 3):
    define(function_of(f"conv{_count}d"), f"conv{_count}d",
           is_method=False, is_neural=True)  # fmt: skip
    _name = f"conv_transpose{_count}d" + (".input" if _count > 1 else "")
    define(function_of(_name), f"conv_transpose{_count}d", is_method=False, is_neural=True)


@torch_function("unfold", is_function=False, is_method=False, is_neural=True)
def _unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """The windows of images as columns."""
    _core.check_made("im2col", dtypes.of_numpy(input.dtype))
    return function_of("im2col")(input, *map(_two, (kernel_size, dilation, padding, stride)))


@torch_function("fold", is_function=False, is_method=False, is_neural=True)
def _fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Any:  # fmt: skip
    """Columns added up to images."""
    _core.check_made("col2im", dtypes.of_numpy(input.dtype))
    options = map(_two, (output_size, kernel_size, dilation, padding, stride))
    return function_of("col2im")(input, *options)


def _two(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


# ----- attention and embeddings


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """softmax(query @ key^T * scale + mask) @ value"""
    drawn = random.next_key_tensor() if dropout_p else None
    given = (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, drawn)
    return calling.call(_attention, "scaled_dot_product_attention", False, given, {})


def _attention(
    query: Any, key: Any, value: Any, mask: Any, dropout_p: float, is_causal: bool,
    scale: float | None, enable_gqa: bool, drawn: Any,
) -> Any:  # fmt: skip
    return function_of("scaled_dot_product_attention")(
        query, key, value, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa, key=drawn
    )


calling.pure.add(_attention)
calling.neural["scaled_dot_product_attention"] = scaled_dot_product_attention


@torch_function("embedding", is_function=False, is_method=False, is_neural=True)
def _embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """Rows of weight; the row padding_idx gets no gradient."""
    if scale_grad_by_freq or sparse:
        raise not_implemented("embedding: scale_grad_by_freq and sparse are not built yet.")
    return nn.embedding(from_first(input, weight, 0), weight, padding_idx)


_plain_embedding = calling.neural["embedding"]


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """Rows of weight; the row padding_idx gets no gradient. With max_norm, rows that are read are
    scaled down to that norm before, in the weight itself."""
    if max_norm is not None:
        with no_grad():
            sizes = weight.detach().norm(norm_type, 1)
            is_read = functions["zeros_like"](sizes).index_fill(0, input.reshape(-1), 1.0)
            is_long = functions["logical_and"](is_read > 0, sizes > max_norm)
            scale = functions["where"](is_long, max_norm / (sizes + 1e-7), 1.0)
            weight.mul_(scale.to(weight.dtype).unsqueeze(1))
    return _plain_embedding(input, weight, padding_idx, None, norm_type, scale_grad_by_freq, sparse)


calling.neural["embedding"] = embedding


@torch_function("one_hot", is_function=False, is_method=False, is_neural=True, order="rows")
def _one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """1 where the class is, of dtype int64."""
    if num_classes < 0:
        num_classes = int(tensor.evaluated().max()) + 1
    return nn.one_hot(tensor, num_classes, "int64")


# ----- normalisation


@torch_function("layer_norm", is_method=False, is_neural=True)
def _layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:  # fmt: skip
    """Normalised over the last dimensions."""
    shape = tuple(normalized_shape)
    if tuple(input.shape[-len(shape) :]) != shape:
        raise ValueError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, "
            f"{str(list(shape))[1:-1]}], but got input of size{list(input.shape)}"
        )
    return function_of("layer_norm")(input, shape, weight, bias, eps)


@torch_function("rms_norm", is_method=False, is_neural=True)
def _rms_norm(
    input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None
) -> Any:
    """Divided by the root of the mean square over the last dimensions."""
    if len(normalized_shape) == 0:
        raise runtime_error(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            f"element, but got normalized_shape = {list(normalized_shape)}"
        )
    return function_of("rms_norm")(input, tuple(normalized_shape), weight, eps)


define(function_of("group_norm"), "group_norm", is_method=False, is_neural=True)


def _with_statistics(name: str) -> Any:
    """A normalisation as a function that also results in the new running statistics."""
    row = function_of(name)

    def function(*plain: Any) -> Any:
        made = row(*plain)
        if not hasattr(made, "writes"):
            return made
        news = [cnp.broadcast_to(cnp.astype(value, plain[place].dtype), plain[place].shape)
                for place, value in sorted(made.writes.items())]  # fmt: skip
        return (made.result, *news)

    calling.pure.add(function)
    return calling.lifted(function, "native_batch_norm" if name == "batch_norm" else name)


_batch_norm, _instance_norm = _with_statistics("batch_norm"), _with_statistics("instance_norm")


def _normalized(function: Any, args: tuple[Any, ...]) -> Any:
    """The normalised input; the running statistics, the fourth and fifth argument, are written."""
    made = function(*args)
    if not isinstance(made, tuple):
        return made
    for target, value in zip(args[3:5], made[1:]):
        if not writing.assigned(target, value, is_detached=True):
            writing.overwrite(target, writing.stored(value))
    return made[0]


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Normalised over all but the channels; in training by the batch's statistics."""
    shape = input._seen.shape
    if training and math.prod((*shape[:1], *shape[2:])) == 1:
        raise value_error("Expected more than 1 value per channel when training, got input size "
                          f"{input.shape}")  # fmt: skip
    args = (input, weight, bias, running_mean, running_var, training, momentum, eps)
    return _normalized(_batch_norm, args)


def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None,
    bias: Any = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel of each sample normalised."""
    if use_input_stats and math.prod(input._seen.shape[2:]) == 1:
        raise value_error("Expected more than 1 spatial element when training, got input size "
                          f"{input.shape}")  # fmt: skip
    args = (input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)
    return _normalized(_instance_norm, args)


calling.neural.update(batch_norm=batch_norm, instance_norm=instance_norm)


@torch_function("normalize", is_function=False, is_method=False, is_neural=True)
def _normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """Divided by the p-norm along a dimension."""
    size = function_of("linalg_vector_norm")(input, p, dim, True)
    return input / cnp.maximum(size, eps)


define(function_of("cosine_similarity"), "cosine_similarity", is_method=False, is_neural=True)


@torch_function("pairwise_distance", is_method=False, is_neural=True)
def _pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return function_of("linalg_vector_norm")(floating(x1 - x2) + eps, p, -1, keepdim)


# ----- dropout

calling.neural["dropout"] = random.dropout


def _without_features(input: Any, p: float, key: Any) -> Any:
    return function_of("feature_dropout")(input, p, True, key=key)


calling.pure.add(_without_features)


def _feature_dropout(name: str) -> None:
    def function(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        if not training or p == 0:
            return input
        given = (input, p, random.next_key_tensor())
        made = calling.call(_without_features, name, False, given, {})
        return writing.write(input, made, name) if inplace else made

    function.__doc__ = "Whole channels zero with probability p, the others divided by 1 - p."
    calling.neural[name] = function


def _dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Elements zero with probability p, the others divided by 1 - p."""
    _core.aten.check_dropout(p)
    if training and p and not input.is_floating_point() and not input.is_complex():
        found = _core.scalar_type_name(input.dtype.name)
        raise runtime_error(f"result type Float can't be cast to the desired output type {found}")
    made = random.dropout(input, p, training)
    return writing.write(input, made, "dropout") if inplace and made is not input else made


calling.neural["dropout"] = _dropout
for _name in ("dropout1d", "dropout2d", "dropout3d"):
    _feature_dropout(_name)

# ----- padding and resizing


@torch_function("pad", is_function=False, is_method=False, is_neural=True)
def _pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """Elements added around, the widths of the last dimension first."""
    if value is not None:
        _core.check_fits(value, input.dtype)
    return function_of("pad")(input, list(pad), mode, value)


for _name in ("pixel_shuffle", "pixel_unshuffle", "channel_shuffle"):
    define(function_of(_name), _name, is_method=False, is_neural=True)


@torch_function("interpolate", "upsample", is_function=False, is_method=False, is_neural=True)
def _interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:  # fmt: skip
    """Images of another size: "nearest", "nearest-exact", "linear", "bilinear", "trilinear",
    "bicubic" or "area"."""
    return _core.aten.interpolate(
        input, size, scale_factor, mode, align_corners, antialias, recompute_scale_factor
    )


def multi_head_attention_heads(x: Any, heads: int) -> Any:
    """(batch, length, heads * size) as (batch, heads, length, size)."""
    batch, length, size = x.shape
    return x.reshape(batch, length, heads, size // heads).transpose(1, 2)


def __getattr__(name: str) -> Any:
    """Functions that are defined by tables, here and in losses and pools; what is not built says
    so."""
    try:
        return calling.neural[name]
    except KeyError:
        raise AttributeError(
            f"composit.torch.nn.functional.{name} is not built yet; docs/torch.md lists what is."
        ) from None


def __dir__() -> list[str]:
    return sorted(calling.neural)
