// What PyTorch refuses of floats that it stores and converts, but does not compute with: those of 8
// bits.
#include "composit/aten/operand_rows.h"
#include "composit/aten/operand_rules.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"

#include <algorithm>

namespace composit::aten {
namespace {

struct Refused {
    std::string_view names;
    bool yields_to_dtype = false;  // computed where another dtype is asked for
};
constexpr std::string_view summed =
    "cumprod cumsum log_softmax mean nanmean nansum norm prod softmax std sum var";
constexpr std::string_view computed =
    "acos acosh adaptive_max_pool1d add addcdiv addcmul allclose amax amin aminmax angle "
    "arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort argwhere "
    "asin asinh atan atan2 atanh avg_pool1d bernoulli bincount binomial bitwise_and "
    "bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm "
    "bucketize cauchy cdist ceil celu channel_shuffle cholesky cholesky_inverse "
    "cholesky_solve clamp clamp_max clamp_min clip conv1d conv2d conv3d conv_transpose2d "
    "copysign corrcoef cos cosh cosine_similarity cov cummax cummin cumulative_trapezoid "
    "deg2rad det digamma dist div divide dot erf erfc erfinv exp exp2 expm1 exponential fix "
    "floor floor_divide fmax fmin fmod frac frexp frobenius_norm gather gcd ge geqrf "
    "gradient greater greater_equal group_norm gt hardshrink heaviside histc histogram "
    "histogramdd hypot i0 igamma igammac index_add index_copy isclose isfinite "
    "isneginf isposinf kthvalue layer_norm lcm ldexp le lerp less less_equal lgamma log "
    "log10 log1p log2 log_normal logaddexp logaddexp2 logcumsumexp logical_and logical_not "
    "logical_or logical_xor logit logsumexp lt lu masked_fill masked_scatter matrix_exp max "
    "max_pool1d max_pool2d maximum median min minimum mode msort multinomial mv mvlgamma "
    "nan_to_num nanmedian native_channel_shuffle neg negative nextafter nonzero normal "
    "orgqr pairwise_distance pca_lowrank pdist pixel_unshuffle poisson polygamma prelu qr "
    "rad2deg rand_like randint_like randn_like random reciprocal relu remainder rms_norm "
    "round rrelu rsqrt rsub scatter scatter_add searchsorted selu sgn sigmoid sign signbit "
    "sin sinc sinh sort special_expit sqrt square std_mean stft sub subtract svd take "
    "take_along_dim tan tanh tensordot threshold to_sparse to_sparse_coo topk trace "
    "trapezoid trapz triangular_solve tril triu true_divide trunc unfold uniform unique "
    "unique_consecutive var_mean vdot xlogy";

const std::vector<Refused>& refused() {
    static const std::vector<Refused> rows{{summed, true}, {computed}};
    return rows;
}

}  // namespace

void check_stored_floats(std::string_view function,
                         const std::vector<std::optional<ir::DType>>& operands,
                         bool asks_for_dtype) {
    const auto found = std::find_if(operands.begin(), operands.end(), [](const auto& dtype) {
        return dtype && ir::traits(*dtype).torch_use == ir::TorchUse::stored;
    });
    if (found == operands.end()) return;
    const bool is_scaled = operands.size() > 1 && !operands[1];  // by a number
    user_check<NotSupported>(!is_scaled || (function != "mul" && function != "multiply"), '"',
                             function, "\" not implemented for '", ir::scalar_type_name(**found),
                             "'");
    static const auto rows = by_name(refused());
    const Refused* const row = row_of(rows, function);
    user_check<NotSupported>(!row || (row->yields_to_dtype && asks_for_dtype), '"', function,
                             "\" not implemented for '", ir::scalar_type_name(**found), "'");
}

}  // namespace composit::aten
