// What weights are drawn with in PyTorch's manner.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace composit::aten {

// How much wider weights before a nonlinearity are; `slope` is leaky_relu's below 0, 0.01 unless
// given. ValueError, PyTorch's words, for a nonlinearity that has none.
[[nodiscard]] double calculate_gain(std::string_view nonlinearity,
                                    std::optional<double> slope = {});

// How many elements of the input, and of the output, a weight (out, in, window…) joins with one
// element of the other. ValueError below two dimensions.
[[nodiscard]] std::pair<int64_t, int64_t> fans_of(const ir::Shape& shape);

// The standard deviation of He et al. (2015): the gain over the root of a fan, "fan_in" or
// "fan_out" (ValueError for another word).
[[nodiscard]] double kaiming_deviation(const ir::Shape& shape, double slope = 0,
                                       std::string_view mode = "fan_in",
                                       std::string_view nonlinearity = "leaky_relu");

// A weight of a convolution that keeps channels: 1 in the middle of the window from each channel of
// the input to the same one of the output, as far as there are both, in each group; float64.
// ValueError, PyTorch's words.
[[nodiscard]] ir::Array dirac(const ir::Shape& shape, int64_t groups = 1);

}  // namespace composit::aten
