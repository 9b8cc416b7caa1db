// Checks and layouts of images.
#include "composit/nn/spatial.h"

#include "composit/base/error.h"
#include "composit/numpy/manipulation.h"

#include <limits>

namespace composit::nn {

Axes per_axis(std::string_view function, std::string_view argument, const Axes& given, size_t count,
              int64_t missing, int64_t least) {
    Axes result = given.empty()       ? Axes(count, missing)
                  : given.size() == 1 ? Axes(count, given[0])
                                      : given;
    user_check(result.size() == count, function, ": ", argument, " is ", given, ". One value, or ",
               count, ", is required.");
    constexpr int64_t most = std::numeric_limits<int32_t>::max();  // products do not overflow
    for (int64_t value : result) {
        user_check(value >= least, function, ": ", argument, " is ", given, ". At least ", least,
                   " is required.");
        user_check(value <= most, function, ": ", argument, " is ", given, ". At most ", most,
                   " is required.");
    }
    return result;
}

size_t spatial_axes(std::string_view function, const Tensor& x) {
    user_check(x.rank() >= 3 && x.rank() <= 5, function, ": x has shape ", x.shape(),
               ". 3, 4 or 5 dimensions (batch, channels and 1 to 3 more) are required.");
    return static_cast<size_t>(x.rank()) - 2;
}

Tensor channels_first(const Tensor& x, bool is_last) {
    return is_last ? numpy::moveaxis(x, -1, 1) : x;
}

Tensor channels_back(const Tensor& x, bool to_last) {
    return to_last ? numpy::moveaxis(x, 1, -1) : x;
}

Axes with_batch_and_channels(const Axes& lengths, int64_t sign) {
    Axes result(2, 0);
    for (int64_t length : lengths) result.push_back(sign * length);
    return result;
}

}  // namespace composit::nn
