// What histograms are made of.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <string>
#include <utility>

namespace composit::numpy {

// The sums of the weights (their dtype; of ones as int64 without) of values by the number of their
// bin, from 0 to count - 1; other numbers are left out.
[[nodiscard]] Tensor sums_of_bins(const Tensor& bins, const Tensor& weights, int64_t count);

// How many equal bins from low to high an estimator chooses for x, which is 1-d, not empty, and
// within them.
[[nodiscard]] int64_t estimated_bins(const std::string& estimator, const Tensor& x,
                                     const std::pair<Operand, Operand>& ends);

// a - b, as an unsigned integer where the dtype is a signed one: that holds it.
[[nodiscard]] Tensor unsigned_difference(const Operand& a, const Operand& b);

}  // namespace composit::numpy
