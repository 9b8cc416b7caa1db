// What weights are drawn with in PyTorch's manner.
#pragma once

#include <optional>
#include <string_view>

namespace composit::aten {

// How much wider weights before a nonlinearity are; `slope` is leaky_relu's below 0, 0.01 unless
// given. ValueError, PyTorch's words, for a nonlinearity that has none.
[[nodiscard]] double calculate_gain(std::string_view nonlinearity,
                                    std::optional<double> slope = {});

}  // namespace composit::aten
