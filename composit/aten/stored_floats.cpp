// What PyTorch refuses of floats that it stores and converts, but does not compute with: those of 8
// bits.
#include "composit/aten/operand_rows.h"
#include "composit/aten/operand_rules.h"
#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"

#include <algorithm>
#include <cmath>

namespace composit::aten {
namespace {

struct Refused {
    std::string_view names;
    bool yields_to_dtype = false;   // computed where another dtype is asked for
    bool takes_infinities = false;  // computed where the dtype has infinities
};
constexpr std::string_view summed =
    "cumprod cumsum log_softmax mean nanmean nansum norm prod softmax std sum var";
constexpr std::string_view made =
    "arange bartlett_window blackman_window col2im hamming_window hann_window im2col kaiser_window "
    "linspace logspace rand randint randn randperm range";
constexpr std::string_view computed =
    "acos acosh adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool1d add addcdiv "
    "addcmul addmv addr allclose amax amin aminmax angle arccos arccosh arcsin arcsinh "
    "arctan arctan2 arctanh argmax argmin argsort argwhere asin asinh atan atan2 atanh "
    "avg_pool1d avg_pool2d baddbmm batch_norm bernoulli bincount binomial bitwise_and "
    "bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm bucketize "
    "cauchy cdist ceil celu channel_shuffle cholesky cholesky_inverse cholesky_solve clamp "
    "clamp_max clamp_min clip conv1d conv2d conv3d conv_transpose2d copysign corrcoef cos "
    "cosh cosine_embedding_loss cosine_similarity count_nonzero cov cross cross_entropy "
    "cummax cummin cumulative_trapezoid deg2rad det diff digamma dist div divide dot einsum "
    "elu equal erf erfc erfinv exp exp2 expm1 exponential fft_fft fix flip fliplr flipud "
    "floor floor_divide fmax fmin fmod frac frexp frobenius_norm gather gaussian_nll_loss "
    "gcd ge gelu geqrf glu gradient greater greater_equal group_norm gt hardshrink "
    "hardsigmoid hardswish hardtanh heaviside hinge_embedding_loss histc histogram "
    "histogramdd huber_loss hypot i0 igamma igammac index_add index_copy index_fill "
    "index_reduce inner instance_norm interpolate isclose isin isneginf isposinf kl_div "
    "kthvalue l1_loss layer_norm lcm ldexp le leaky_relu lerp less less_equal lgamma "
    "linalg_cross linalg_vector_norm log log10 log1p log2 log_normal logaddexp logaddexp2 "
    "logcumsumexp logical_and logical_not logical_or logical_xor logit logsigmoid logsumexp "
    "lp_pool1d lt lu margin_ranking_loss masked_fill masked_scatter matrix_exp max "
    "max_pool1d max_pool2d maximum median min minimum mish mode mse_loss msort "
    "multilabel_soft_margin_loss multinomial mv mvlgamma nan_to_num nanmedian nanquantile "
    "native_batch_norm native_channel_shuffle neg negative nextafter nll_loss nonzero normal "
    "normalize orgqr pairwise_distance pca_lowrank pdist pixel_shuffle pixel_unshuffle "
    "poisson poisson_nll_loss polygamma pow prelu put qr quantile rad2deg rand_like "
    "randint_like randn_like random reciprocal relu relu6 remainder renorm rms_norm rot90 "
    "round rrelu rsqrt rsub scaled_dot_product_attention scatter scatter_add scatter_reduce "
    "searchsorted selu sgn sigmoid sign signbit silu sin sinc sinh smooth_l1_loss "
    "soft_margin_loss softmin softplus softshrink softsign sort special_entr special_erfcx "
    "special_expit special_i0e special_i1 special_ndtr sqrt square std_mean stft sub "
    "subtract svd take take_along_dim tan tanh tanhshrink tensordot threshold to_sparse "
    "to_sparse_coo topk trace trapezoid trapz triangular_solve tril triplet_margin_loss triu "
    "true_divide trunc uniform unique unique_consecutive upsample vander var_mean vdot xlogy";

const std::vector<Refused>& refused() {
    static const std::vector<Refused> rows{
        {summed, true}, {computed}, {made}, {"isfinite isinf", false, true}};
    return rows;
}

}  // namespace

void check_stored_floats(std::string_view function,
                         const std::vector<std::optional<ir::DType>>& operands, bool asks_for_dtype,
                         bool is_scaled) {
    const auto found = std::find_if(operands.begin(), operands.end(), [](const auto& dtype) {
        return dtype && ir::traits(*dtype).torch_use == ir::TorchUse::stored;
    });
    if (found == operands.end()) return;
    const bool is_product = function == "mul" || function == "multiply";
    static const auto rows = by_name(refused());
    const Refused* const row = row_of(rows, function);
    const bool is_computed = !row || (row->yields_to_dtype && asks_for_dtype) ||
                             (row->takes_infinities && ir::float_format(**found).has_infinity);
    user_check<NotSupported>(is_computed && !(is_product && is_scaled), '"', function,
                             "\" not implemented for '", ir::scalar_type_name(**found), "'");
}

void check_fits(double number, ir::DType dtype) {
    if (!ir::is_floating(dtype) || ir::float_format(dtype).bits() > 16) return;
    const ir::FloatFormat format = ir::float_format(dtype);
    const bool is_too_large = std::abs(number) > format.greatest();
    user_check<RuntimeError>(!is_too_large || (std::isinf(number) && format.has_infinity),
                             "value cannot be converted to type ", ir::cpp_type_name(dtype),
                             " without overflow");
}

}  // namespace composit::aten
