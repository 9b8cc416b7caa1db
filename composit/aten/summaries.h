// What TensorBoard shows of tensors: histograms in PyTorch's bins, and pictures beside each other.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::aten {

// The edges of PyTorch's bins: wider by a tenth each from 1e-12 on, 0, and as many below.
[[nodiscard]] std::vector<double> edges_of_bins();

// The bins from the first to the last that have values, by their upper edges, behind an empty one.
// Neighbours are put together where there are more bins than `most`.
struct ShownBins {
    std::vector<double> limits, counts;
};
[[nodiscard]] ShownBins shown_bins(const std::vector<double>& counts,
                                   const std::vector<double>& edges,
                                   std::optional<int64_t> most = {});

// Pixels (height, width, channels) of a picture whose dimensions are these letters of N, C, H and
// W; pictures of a batch beside each other, eight in a row. ValueError for letters that do not fit.
[[nodiscard]] ir::Array pixel_rows(const ir::Array& pixels, std::string_view letters);

}  // namespace composit::aten
