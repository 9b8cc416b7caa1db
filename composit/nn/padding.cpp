// pad: constants by the primitive, other modes by NumPy's.
#include "composit/nn/padding.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::nn {
namespace {

using Axes = std::vector<int64_t>;

struct Amounts {
    Axes low, high;
};

Amounts amounts_of(const Tensor& x, const std::vector<int64_t>& padding) {
    const size_t rank = x.shape().size();
    user_check(padding.size() % 2 == 0 && padding.size() / 2 <= rank, "pad: padding is ", padding,
               ", x has shape ", x.shape(), ". Two lengths for each of the last axes, at most ",
               2 * rank, ", are required.");
    Amounts amounts{Axes(rank, 0), Axes(rank, 0)};
    for (size_t d = 0; d < padding.size() / 2; ++d) {
        amounts.low[rank - 1 - d] = padding[2 * d];
        amounts.high[rank - 1 - d] = padding[2 * d + 1];
    }
    constexpr int64_t most = int64_t{1} << 40;
    for (size_t d = 0; d < rank; ++d) {
        const int64_t low = amounts.low[d], high = amounts.high[d];
        const bool fits = low > -most && high > -most && low < most && high < most &&
                          x.shape()[d] + low + high >= 0;
        user_check(fits, "pad: ", low, " and ", high, " elements around axis ", d, " of shape ",
                   x.shape(), " leave no length. At least 0 is required.");
    }
    return amounts;
}

std::string_view name_in_numpy(std::string_view mode) {
    if (mode == "reflect") return "reflect";
    if (mode == "replicate") return "edge";
    if (mode == "circular") return "wrap";
    fail("pad: mode is '", mode, "'. Available: constant, reflect, replicate, circular.");
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<int64_t>& padding, std::string_view mode,
           double value) {
    const Amounts amounts = amounts_of(x, padding);
    const Tensor given = numpy::strong(x);
    const Axes none(given.shape().size(), 0);
    if (mode == "constant")
        return ops::pad(given, numpy::scalar(given.dtype(), value), amounts.low, amounts.high,
                        none);
    const std::string_view numpys = name_in_numpy(mode);
    const bool wraps = mode == "circular";  // crops before it pads; others mirror what they crop
    std::vector<std::pair<int64_t, int64_t>> widths;
    Axes low, high;
    for (size_t d = 0; d < none.size(); ++d) {
        const int64_t cropped =
            std::min<int64_t>(amounts.low[d], 0) + std::min<int64_t>(amounts.high[d], 0);
        const int64_t length = given.shape()[d] + (wraps ? cropped : 0);
        widths.emplace_back(std::max<int64_t>(amounts.low[d], 0),
                            std::max<int64_t>(amounts.high[d], 0));
        low.push_back(std::min<int64_t>(amounts.low[d], 0));
        high.push_back(std::min<int64_t>(amounts.high[d], 0));
        const int64_t widest = std::max(widths[d].first, widths[d].second);
        const int64_t most = mode == "reflect" ? length - 1
                             : wraps           ? length
                             : length > 0      ? widest
                                               : 0;
        user_check(widest <= std::max<int64_t>(most, 0), "pad: ", widest, " elements of mode '",
                   mode, "' along axis ", d, " of shape ", given.shape(), ". At most ",
                   std::max<int64_t>(most, 0), " are required.");
    }
    const Tensor zero = numpy::scalar(given.dtype(), 0);
    return numpy::one_node("pad", {given}, [&](const numpy::Tensors& operands) {
        const auto cropped = [&](const Tensor& x) { return ops::pad(x, zero, low, high, none); };
        if (wraps) return numpy::pad(cropped(operands[0]), widths, numpys);
        return cropped(numpy::pad(operands[0], widths, numpys));
    });
}

}  // namespace composit::nn
