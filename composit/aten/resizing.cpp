// Resizing in PyTorch's terms, by composit::nn's.
#include "composit/aten/resizing.h"

#include "composit/base/error.h"
#include "composit/nn/resizing.h"

namespace composit::aten {
namespace {

nn::InterpolateOptions with(const ResizeOptions& o, const std::vector<int64_t>& size,
                            const std::vector<double>& factors) {
    return {.size = size,
            .scale_factor = factors,
            .mode = o.mode,
            .align_corners = o.align_corners,
            .antialias = o.antialias};
}

// How many spatial axes a mode is of; `count` for those of any.
int64_t axes_of(std::string_view mode, int64_t count) {
    if (mode == "linear") return 1;
    if (mode == "bilinear" || mode == "bicubic") return 2;
    return mode == "trilinear" ? 3 : count;
}

}  // namespace

Tensor upsample(const Tensor& x, const std::vector<int64_t>& size,
                const std::vector<std::optional<double>>& given, const ResizeOptions& options) {
    std::vector<double> factors;
    bool is_any_given = false;
    for (size_t d = 0; d < given.size(); ++d) {
        const bool is_given = given[d] && (size.empty() || *given[d] > 0);
        is_any_given = is_any_given || is_given;
        const auto axis = x.shape().size() - given.size() + d;
        factors.push_back(is_given ? *given[d]
                                   : static_cast<double>(size[d]) /
                                         static_cast<double>(x.shape()[axis]));
    }
    if (!is_any_given) factors.clear();
    return nn::interpolate(x, with(options, size, factors));
}

Tensor interpolate(const Tensor& x, const std::vector<int64_t>& size,
                   const std::vector<double>& given, const ResizeOptions& options, bool recompute) {
    const int64_t count = x.rank() - 2;
    user_check<PyTorchValueError>(!size.empty() || !given.empty(),
                                  "either size or scale_factor should be defined");
    user_check<PyTorchValueError>(size.empty() || given.empty(),
                                  "only one of size or scale_factor should be defined");
    const int64_t needed = axes_of(options.mode, count);
    user_check<NotSupported>(needed == count, "Got ", x.rank(), "D input, but ", options.mode,
                             " mode needs ", needed + 2, "D input");
    std::vector<int64_t> lengths = size;
    std::vector<double> factors = given;
    if (lengths.size() == 1) lengths.resize(static_cast<size_t>(count), size[0]);
    if (factors.size() == 1) factors.resize(static_cast<size_t>(count), given[0]);
    if (recompute || options.mode == "area") {
        for (size_t d = 0; d < factors.size() && d + 2 < x.shape().size(); ++d)
            lengths.push_back(
                static_cast<int64_t>(static_cast<double>(x.shape()[d + 2]) * factors[d]));
        factors.clear();
    }
    return nn::interpolate(x, with(options, lengths, factors));
}

}  // namespace composit::aten
