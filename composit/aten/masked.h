// Elements that a mask leaves out of reductions and normalisations: PyTorch's torch.masked.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::aten {

using ir::Tensor;

// x, and where the mask, which broadcasts to it, is false what changes nothing of an operation: 0
// of "sum", 1 of "prod", the largest and the least number of "amin" and "amax", NaN of "median", 0
// of "norm", infinity of it where `order` is -infinity. "logsumexp" and "logaddexp" have amax's.
// IndexError, PyTorch's words, for a mask of more dimensions; NotSupported for dtypes and
// operations without such a number.
[[nodiscard]] Tensor identity_filled(const Tensor& x, const Tensor& mask,
                                     std::string_view operation, double order = 2);

// ValueError, PyTorch's words, for a mean in a dtype that is no float, which was asked for or is
// the input's.
void check_masked_mean(ir::DType dtype, bool is_asked_for);

// The dimensions of a reduction, from 0 on, in order; all where none are given. RuntimeError for
// one that is there twice, IndexError for one out of range, PyTorch's words.
[[nodiscard]] std::vector<int64_t> masked_dims(const std::optional<std::vector<int64_t>>& dims,
                                               int64_t rank);

// softmax among the slices of x along its first dimension that have one number in `groups`, a row
// of `count` different numbers at most; its logarithm with `is_log`.
[[nodiscard]] Tensor group_softmax(const Tensor& x, const Tensor& groups, int64_t count,
                                   bool is_log = false);

}  // namespace composit::aten
