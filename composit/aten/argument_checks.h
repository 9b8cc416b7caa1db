// What PyTorch's functions demand of their arguments, in its words. RuntimeErrors, if nothing else
// is said.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::aten {

using ir::Shape;

// segment_reduce: lengths or offsets, and not both, of one dimension, along dimension 0
// (NotSupported); no indices.
void check_segments(bool has_indices, bool has_lengths, bool has_offsets, const Shape& segments,
                    int64_t dim);
// as_strided: the last element of a shape by strides, from `offset` on, lies in memory of so many
// elements. ValueError.
void check_strided(const Shape& sizes, const std::vector<int64_t>& strides, int64_t offset,
                   int64_t elements);
// eye: no negative lengths; logspace and linspace: no negative count; windows: no negative length.
void check_eye(int64_t n, int64_t m);
void check_steps(int64_t steps);
void check_window_length(std::string_view function, int64_t length);
// empty_strided: as many strides as sizes. empty_permuted: the numbers of all dimensions.
void check_strides(int64_t sizes, int64_t strides);
void check_layout(int64_t dims, const std::vector<int64_t>& layout);
// The number of singular values that svd_lowrank finds of a matrix (…, m, n), 6 unless given;
// ValueError where it is negative, or above the least of m and n.
[[nodiscard]] int64_t low_rank(std::optional<int64_t> q, const Shape& shape);
// The same of pca_lowrank, 6 or the least of m and n unless given, and its number of iterations.
[[nodiscard]] int64_t principal_rank(std::optional<int64_t> q, const Shape& shape,
                                     int64_t iterations);
// stft of real signals and windows: whether the result is complex has to be said.
void check_complex_is_said(bool is_said, bool is_complex);
// randint: from `low`, below `high`, numbers that an integer dtype has. normal: a deviation that is
// not negative. bernoulli: a chance in [0, 1]. multinomial: weights that are finite and not
// negative, whose sums are above 0; told by the least, the greatest (NaN where one is) and the
// least sum.
void check_integer_bounds(int64_t low, int64_t high, ir::DType dtype = ir::DType::int64);
void check_deviation(double deviation);
void check_chance(double least, double greatest);
void check_weights(double least, double greatest, double least_sum);
// Whether torch casts a dtype to the other in place: not to a lower kind.
[[nodiscard]] bool can_cast(ir::DType from, ir::DType to);
// dim_order: no length of 1, where the order would be seen nowhere.
void check_order_is_unique(const Shape& shape);

}  // namespace composit::aten
