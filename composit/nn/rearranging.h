// Elements of images in other places: shuffles of channels and pixels, windows as columns.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <vector>

namespace composit::nn {

using ir::Tensor;

// (…, channels * factor², height, width) -> (…, channels, height * factor, width * factor): a
// channel's factor² numbers become a square; with channels_last channels stand last in both.
// ValueError for channels that are no multiple. One node.
[[nodiscard]] Tensor pixel_shuffle(const Tensor& x, int64_t factor, bool channels_last = false);
// The reverse: squares of factor² pixels become channels. ValueError for other heights and widths
// than multiples. One node.
[[nodiscard]] Tensor pixel_unshuffle(const Tensor& x, int64_t factor, bool channels_last = false);
// Channels in `groups` groups, taken one of each group in turn. x: (batch, channels, …), or
// channels last. ValueError where groups do not divide the channels. One node.
[[nodiscard]] Tensor channel_shuffle(const Tensor& x, int64_t groups, bool channels_last = false);

// Windows over the spatial axes, one length for each axis or a single one for all: strides and
// dilation default to 1, padding (zeros on both sides) to 0.
struct UnfoldOptions {
    std::vector<int64_t> kernel_size;
    std::vector<int64_t> strides = {}, padding = {}, dilation = {};
};
// Each window as a column: x (batch, channels, spatial…) -> (batch, channels * window, windows),
// windows and their elements in row-major order. ValueError where no window fits. One node.
[[nodiscard]] Tensor unfold(const Tensor& x, const UnfoldOptions& options);
// The reverse, overlapping windows added up: columns (batch, channels * window, windows) -> (batch,
// channels, output_size…). ValueError where the columns are not those of such images. One node.
[[nodiscard]] Tensor fold(const Tensor& columns, const std::vector<int64_t>& output_size,
                          const UnfoldOptions& options);

}  // namespace composit::nn
