"""Which values PyTorch's operations keep for their gradients (its derivatives.yaml)."""

from __future__ import annotations

import functools
from typing import Any

# What is saved: "r" the results, "r0" the first, "i" those that are integers, a number an argument
# ("!": one that has no derivative), < the arguments one of which has to require a gradient
# (PyTorch's derivatives.yaml); below each, the operations.
_TABLE = {
    "r<0 0<0": "cholesky_inverse vander",
    "r0<0 r1<0": "lu lu_factor lu_factor_ex",
    "0<0": """
        abs absolute acos acosh angle asin asinh atan atanh arccos arccosh arcsin arcsinh arctan
        arctanh celu clamp clamp_max clamp_min clip combinations cos cosh digamma erf erfc erfinv
        hardshrink i0 lgamma log log10 log1p log2 logit logdet matrix_exp mvlgamma nan_to_num
        nanmean nansum renorm selu sin sinc sinh square threshold var var_mean avg_pool1d
        avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
        rms_norm entr gammaln multigammaln psi elu gelu glu hardsigmoid hardswish
        hardtanh leaky_relu local_response_norm logsigmoid lp_pool1d lp_pool2d lp_pool3d mish
        normalize relu6 silu softplus softshrink softsign multi_dot ihfft2 ihfftn rfft rfft2 rfftn
        native_batch_norm instance_norm stft take_along_dim linalg_vander""",
    "r<0": """
        exp exp2 expm1 inverse log_softmax reciprocal relu rsqrt sigmoid expit softmax softmin sqrt
        tan tanh cholesky inv linalg_lu ndtri tensorinv svdvals eigvalsh""",
    "i<0": "frexp kthvalue mode sort topk",
    "i<0 0<0": """
        cummax cummin max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d""",
    "r0<0": "cholesky_ex inv_ex",
    "r0<0 0<0": "slogdet std_mean",
    "0<0 r<0": """
        amax amin aminmax cumprod det logcumsumexp logsumexp pdist prod sgn std pinverse pinv erfcx
        i0e i1 i1e log_ndtr vector_norm frobenius_norm norm segment_reduce""",
    "0<0,1 1<0,1": """
        atan2 arctan2 fmax fmin logaddexp logaddexp2 maximum minimum xlogy xlog1py conv1d conv2d
        conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu grid_sampler grid_sample
        binary_cross_entropy_with_logits binary_cross_entropy huber_loss mse_loss smooth_l1_loss
        cosine_embedding_loss""",
    "0<1 1<0": """
        mul multiply matmul mm bmm mv dot vdot inner outer ger linear tensordot chain_matmul cross
        vecdot poisson_nll_loss""",
    "0<1 1<0,1": "div divide true_divide kl_div",
    "0<0 1<0": """
        masked_select nextafter take ctc_loss multi_margin_loss multilabel_margin_loss
        multilabel_soft_margin_loss nll_loss soft_margin_loss""",
    "2<1 1<2": "addbmm addcmul addmm addmv addr baddbmm",
    "0<0 2<0": "gather",
    "0<1 1<1": "zeta",
    "0<1 2<1": "embedding_bag",
    "0<1 1<0 2<0,1": "linear_cross_entropy",
    "2<0,1": "scaled_dot_product_attention",
    "1<2 2<1": "einsum",
    "1<0": "masked_fill",
    "0<1": "embedding",
    "2<0": "index_fill index_select",
    "1<0,2": "index_put masked_scatter",
    "2<0,3": "scatter",
    "2<3": "scatter_add",
    "2<3 3<3": "index_add",
    "2<0,3 3<3": "index_copy",
    "1<0,2 2<2": "put",
    "0<0,3 2<0,3 3<0,3 r<0,3": "index_reduce scatter_reduce",
    "2<0,1,2 1<2": "addcdiv",
    "0<1,2": "where",
    "2<0,1,2 0<2 1<2": "lerp",
    "0<0,2,3 2<0,2,3 3<0,2,3": "layer_norm",
    "0<0,2,3 2<0,2,3": "group_norm",
    "0<0 1<1 r<0,1": "hypot",
    "r<0,1": "polar pairwise_distance",
    "0<0 r<0,1": "copysign",
    "0<0,1 r<0,1": "solve solve_triangular tensorsolve",
    "0<0,1 r0<0,1": "solve_ex",
    "0<0,1 1<0,1 r0<0,1": "triangular_solve",
    "0<0,1 1<0,1 r<0,1": "cholesky_solve householder_product orgqr",
    "0<0,1,2 1<0,1,2 2<0,1,2 r<0,1,2": "ormqr",
    "0<0,1,2 1<0,1,2 2<0,1,2": "conv_tbc",
    "0<0 1<1": "complex cosine_similarity",
    "0<0,1 r<0,1 1<0,1": "cdist dist",
    "1<0 r<0": "ldexp",
    "1<1": "polygamma",
    "1<0,2 2<0,1 0<1,2": "bilinear",
    "!<0": "geqrf",
    "0<1 1<1 !<0": "igamma igammac gammainc gammaincc",
}  # fmt: skip


def _rule(text: str) -> tuple[tuple[Any, frozenset[int]], ...]:
    parts = (part.split("<") for part in text.split())
    return tuple(
        (int(what) if what.isdigit() else what, frozenset(map(int, by.split(","))))
        for what, by in parts
    )


def camel(name: str) -> str:
    """log_softmax as LogSoftmaxBackward0."""
    return "".join(part.capitalize() for part in name.strip("_").split("_")) + "Backward0"


RULES: dict[str, Any] = {
    camel(f"{space}{name}"): _rule(text)
    for text, names in _TABLE.items()
    for name in names.split()
    for space in ("", "linalg_", "special_", "fft_")
}


def _of_largest(values: dict[Any, Any], results: list[Any]) -> str:
    """Along a dimension, of everything, or of two tensors."""
    if len(results) == 2:
        return "i<0"
    return "0<0,1 1<0,1" if _is_tensor(values.get(1)) else "0<0 r<0"


def _of_power(values: dict[Any, Any], results: list[Any]) -> str:
    if not _is_tensor(values.get(0)):
        return "r<1 1<1"
    return "0<0,1 1<0,1 r<0,1" if _is_tensor(values.get(1)) else "0<0"


def _of_matrix_power(values: dict[Any, Any], results: list[Any]) -> str:
    return "0<0" if values.get(1, 0) > 1 else ""


def _of_matrix_norm(values: dict[Any, Any], results: list[Any]) -> str:
    """Norms by singular values save what those do."""
    return "" if values.get(1, "fro") in ("nuc", 2, -2) else "0<0 r<0"


def _of_cross_entropy(values: dict[Any, Any], results: list[Any]) -> str:
    """Of classes, or of probabilities."""
    return "" if values[1].dtype.is_floating_point else "1<0 2<0"


def _of_padding(values: dict[Any, Any], results: list[Any]) -> str:
    return "0<0" if values.get(2, "constant") in ("reflect", "replicate") else ""


def _of_transform(values: dict[Any, Any], results: list[Any]) -> str:
    return "" if values[0].dtype.is_complex else "0<0"


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_writes")


# What is saved depends on what is given: functions of the arguments by number and of the results.
_VARIANTS = {
    "max": _of_largest, "min": _of_largest, "median": _of_largest, "nanmedian": _of_largest,
    "pow": _of_power, "matrix_power": _of_matrix_power, "matrix_norm": _of_matrix_norm,
    "cross_entropy": _of_cross_entropy, "pad": _of_padding, "fft": _of_transform,
}  # fmt: skip

rule_of_text = functools.cache(_rule)

RULES |= {
    camel(f"{space}{name}"): function
    for name, function in _VARIANTS.items()
    for space in ("", "linalg_", "fft_")
}

# In place, their gradient is that from the result.
FROM_RESULT = frozenset(map(camel, ("celu", "elu", "leaky_relu", "rrelu", "selu")))
