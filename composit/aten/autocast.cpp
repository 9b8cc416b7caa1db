// PyTorch's lists, and what it composes of their functions.
#include "composit/aten/autocast.h"

#include <unordered_map>

namespace composit::aten {
namespace {

constexpr std::string_view lower[] = {
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "bmm",
    "mm",
    "baddbmm",
    "addmm",
    "addbmm",
    "linear",
    "matmul",
    "prelu",
    "scaled_dot_product_attention",
    "einsum",
    "tensordot",
    "inner",
    "vecdot",
    "chain_matmul",
    "multi_dot",
    "matrix_power",
    "linalg_vecdot",
    "linalg_multi_dot",
    "linalg_matrix_power",
    "lstm",
    "rnn_tanh",
    "rnn_relu",
};
constexpr std::string_view float32[] = {
    "avg_pool3d",
    "binary_cross_entropy",
    "grid_sample",
    "polar",
    "prod",
    "quantile",
    "nanquantile",
    "stft",
    "cdist",
    "pdist",
    "trace",
    "view_as_complex",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "inverse",
    "lu_solve",
    "orgqr",
    "ormqr",
    "pinverse",
    "max_pool3d",
    "max_unpool2d",
    "max_unpool3d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d",
    "mse_loss",
    "cosine_embedding_loss",
    "nll_loss",
    "hinge_embedding_loss",
    "poisson_nll_loss",
    "cross_entropy",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "margin_ranking_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "ctc_loss",
    "kl_div",
    "binary_cross_entropy_with_logits",
    "geqrf",
    "qr",
    "svd",
    "triangular_solve",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "cond",
    "matrix_rank",
    "solve",
    "svdvals",
    "eigvals",
    "eigvalsh",
    "inv",
    "householder_product",
    "tensorinv",
    "tensorsolve",
    "cholesky_ex",
    "eig",
    "eigh",
    "lstsq",
    "inv_ex",
    "pinv",
    "fft",
    "ifft",
    "fft2",
    "ifft2",
    "fftn",
    "ifftn",
    "rfft",
    "irfft",
    "rfft2",
    "irfft2",
    "rfftn",
    "irfftn",
    "hfft",
    "ihfft",
};
constexpr std::string_view widest[] = {
    "stack",  "cat",    "concat", "concatenate",  "index_copy",
    "hstack", "vstack", "dstack", "column_stack", "row_stack",
};

std::string_view without(std::string_view name, std::string_view prefix) {
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace

Autocast autocast_of(std::string_view function, std::string_view mode) {
    static const auto& known = *[] {
        auto* all = new std::unordered_map<std::string_view, Autocast>;
        for (const std::string_view name : lower) all->emplace(name, Autocast::lower);
        for (const std::string_view name : float32) all->emplace(name, Autocast::float32);
        for (const std::string_view name : widest) all->emplace(name, Autocast::widest);
        return all;
    }();
    if (function == "pad" && (mode == "reflect" || mode == "replicate")) return Autocast::float32;
    const auto found = known.find(without(without(function, "linalg_"), "fft_"));
    return found == known.end() ? Autocast::none : found->second;
}

}  // namespace composit::aten
