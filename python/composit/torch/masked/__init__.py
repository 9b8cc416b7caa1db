"""torch.masked: reductions and normalisations of the elements that a mask keeps. A mask is a tensor
of booleans that broadcasts to the input; without one all elements count. Masked elements are those
that change nothing of the operation (composit/aten/masked.h). Results have the input's dtype, or
`dtype`.

MaskedTensor, a tensor with its mask, is not built: its names are refused."""

from __future__ import annotations

from typing import Any

import composit._core as _core
from composit._core import index_error, not_implemented, runtime_error, value_error
from composit.torch import dtypes
from composit.torch.calling import define, functions, neural

__all__ = [
    "MaskedTensor", "amax", "amin", "argmax", "argmin", "as_masked_tensor", "cumprod", "cumsum",
    "is_masked_tensor", "log_softmax", "logaddexp", "logsumexp", "masked_tensor", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip


def _identity_filled(input: Any, mask: Any, operation: str, order: float) -> Any:
    return _core.aten.identity_filled(input, mask, operation, order)


_filled = define(_identity_filled, "masked_identity", is_function=False, is_method=False)
_small = ("uint8", "bool", "int8", "int16", "int32")


def _kept(name: str, input: Any, mask: Any, operation: str, order: Any = 2) -> Any:
    """The input with what changes nothing where the mask is false. ValueError: it is sparse."""
    if input.layout is not dtypes.strided:
        raise value_error(f"masked {name} expects strided tensor (got {input.layout} tensor)")
    return input if mask is None else _filled(input, mask, operation, float(order))


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions, from 0 on, in order; all for None and for none."""
    return _core.aten.masked_dims(dim, ndim)


def _sum_dtype(input: Any) -> Any:
    return dtypes.by_name["int64"] if input.dtype.name in _small else input.dtype


def sum(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The sum over dimensions, 0 of nothing."""
    kept = _kept("sum", input, mask, "sum")
    return functions["sum"](kept, _dims(dim, input.ndim), bool(keepdim),
                            dtype=dtype or _sum_dtype(input))  # fmt: skip


def prod(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The product over dimensions, 1 of nothing."""
    made = _kept("prod", input, mask, "prod").to(dtype or _sum_dtype(input))
    for one in reversed(_dims(dim, input.ndim)):
        made = functions["prod"](made, dim=one, keepdim=bool(keepdim))
    return made


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running sums along a dimension."""
    kept = _kept("cumsum", input, mask, "sum")
    to = dtype or input.dtype
    return functions["cumsum"](kept, _dims(dim, input.ndim)[0], dtype=to).to(to)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """Running products along a dimension."""
    kept = _kept("cumprod", input, mask, "prod")
    to = dtype or input.dtype
    return functions["cumprod"](kept, _dims(dim, input.ndim)[0], dtype=to).to(to)


def amax(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The largest element over dimensions."""
    kept = _kept("amax", input, mask, "amax")
    made = functions["amax"](kept, _dims(dim, input.ndim), bool(keepdim))
    return made.to(dtype or input.dtype)


def amin(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The least element over dimensions."""
    kept = _kept("amin", input, mask, "amin")
    made = functions["amin"](kept, _dims(dim, input.ndim), bool(keepdim))
    return made.to(dtype or input.dtype)


def argmax(
    input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Any = None,
) -> Any:  # fmt: skip
    """The place of the largest element, in the input's dtype, as PyTorch has it."""
    kept = _kept("argmax", input, mask, "argmax")
    return functions["argmax"](kept, dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(
    input: Any, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Any = None,
) -> Any:  # fmt: skip
    """The place of the least element, in the input's dtype, as PyTorch has it."""
    kept = _kept("argmin", input, mask, "argmin")
    return functions["argmin"](kept, dim, bool(keepdim)).to(dtype or input.dtype)


def _count(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    """How many elements count."""
    if mask is None:
        kept = functions["ones"](*input.shape, dtype=dtypes.by_name["int64"], device=input.device)
    else:
        if mask.ndim > input.ndim:
            raise index_error(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of "
                "the input)"
            )
        kept = functions["broadcast_to"](mask.bool(), input.shape)
    return functions["sum"](kept, _dims(dim, input.ndim), keepdim)


def mean(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The mean over dimensions, NaN of nothing. ValueError for integers without a dtype."""
    to = dtype or input.dtype
    _core.aten.check_masked_mean(to.numpy, dtype is not None)
    if input.layout is not dtypes.strided:
        raise value_error(
            f"masked mean expects strided or sparse_csr tensor (got {input.layout} tensor)"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=to, mask=mask)
    return total / _count(input, dim, bool(keepdim), mask)


def _as_floats(x: Any) -> Any:
    return x if x.dtype.is_floating_point else x.to(dtypes.by_name["float32"])


def _whole(found: Any, dtype: Any) -> Any:
    """Medians in a dtype of integers."""
    if bool(found.isnan().any()):
        raise value_error(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return found.to(dtype)


def median(
    input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The middle element, the lower of two, along a dimension; NaN of nothing, of integers a
    ValueError."""
    kept = _kept("median", _as_floats(input), mask, "median")
    made = functions["nanmedian"](kept, _dims(dim, input.ndim)[0], keepdim)[0]
    return made if input.dtype.is_floating_point else _whole(made, dtype or input.dtype)


def logsumexp(
    input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Any:
    """The logarithm of the sum of exponentials over dimensions."""
    kept = _kept("logsumexp", input, mask, "logsumexp")
    made = functions["logsumexp"](kept, _dims(dim, input.ndim), keepdim=keepdim)
    return made.to(dtype or input.dtype)


def logaddexp(
    input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Any:
    """The logarithm of the sum of two tensors' exponentials, each with its mask."""
    if any(x.layout is not dtypes.strided for x in (input, other)):
        raise value_error(
            f"masked logaddexp expects strided tensors (got {input.layout} tensor for input, "
            f"{other.layout} for other)"
        )
    one = _kept("logaddexp", input, input_mask, "logaddexp")
    two = _kept("logaddexp", other, other_mask, "logaddexp")
    return functions["logaddexp"](one, two).to(dtype or input.dtype)


def norm(
    input: Any, ord: float = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None,
    mask: Any = None,
) -> Any:  # fmt: skip
    """The norm of an order over dimensions."""
    from composit.torch import linalg

    kept = _kept("norm", input, mask, "norm", 2 if ord is None else ord)
    made: Any = linalg
    return made.vector_norm(kept, ord, _dims(dim, input.ndim), bool(keepdim),
                            dtype=dtype or input.dtype)  # fmt: skip


def _variance(
    input: Any, dim: Any, unbiased: bool | None, correction: float | None, keepdim: bool,
    dtype: Any, mask: Any,
) -> Any:  # fmt: skip
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0.0 if unbiased is False else 1.0
    if input.layout is not dtypes.strided:
        raise value_error(f"masked std/var expects strided tensor (got {input.layout} tensor)")
    single = dtypes.by_name["float32"]
    is_inexact = input.dtype.is_floating_point or input.dtype.is_complex
    to = dtype or (input.dtype if is_inexact else single)
    wide = to if to.is_floating_point or to.is_complex else single
    count = _count(input, dim, True, mask)
    middle = sum(input, dim, keepdim=True, dtype=to, mask=mask) / count
    apart = input - middle
    total = sum(apart * apart.conj(), dim, keepdim=keepdim, dtype=wide, mask=mask)
    count = count if keepdim else count.reshape(total.shape)
    if correction != 0:
        real = {"complex64": "float32", "complex128": "float64"}.get(wide.name, wide.name)
        count = (count.to(dtypes.by_name[real]) - correction).clamp(min=0)
    return (total / count).to(to)


def var(
    input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The variance over dimensions; a correction of 1, unless given, is taken from the number of
    elements."""
    return _variance(input, dim, unbiased, correction, bool(keepdim), dtype, mask)


def std(
    input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """The square root of var."""
    return _variance(input, dim, unbiased, correction, bool(keepdim), dtype, mask).sqrt()


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """softmax along a dimension: 0 at masked elements, NaN where all are."""
    kept = _kept("softmax", input, mask, "amax")
    return neural["softmax"](kept, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of softmax."""
    kept = _kept("log_softmax", input, mask, "amax")
    return neural["log_softmax"](kept, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """softmax of the negative input."""
    kept = _kept("softmin", input, mask, "amin")
    return neural["softmin"](kept, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def normalize(
    input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None
) -> Any:
    """The input divided by its norm along a dimension, or by eps where that is less; 0 at masked
    elements."""
    kept = _kept("normalize", input, mask, "sum")
    found = norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return kept / functions["maximum"](found, found.new_full((), eps))


class MaskedTensor:
    """NotImplementedError: a tensor with its mask is not built."""

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        _refuse("MaskedTensor")


def _refuse(name: str) -> Any:
    raise not_implemented(
        f"{name}: tensors with a mask of their own are not built. torch.masked's functions take "
        "`mask`, as torch.masked.sum(x, mask=m)."
    )


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> Any:
    """NotImplementedError: a tensor with its mask is not built."""
    return _refuse("masked_tensor")


def as_masked_tensor(data: Any, mask: Any) -> Any:
    """NotImplementedError: a tensor with its mask is not built."""
    return _refuse("as_masked_tensor")


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether it is a tensor with its mask: nothing is."""
    return isinstance(obj, MaskedTensor)
