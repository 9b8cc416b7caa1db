// Random weights to start from, one node each: drawn when they are evaluated.
//
// A weight's variance is scale / fan. Of a dense layer's weights (in, out) the fans are the lengths
// of the two axes; those of filters are multiplied by the size of the window: `fans` says which
// axes are which, as {1, 0} for filters (out, in, window…) and {-1, 0} for (out, window…, in).
//
//   const Tensor filters = nn::he_normal(key, {16, 3, 5, 5}, {1, 0});
#pragma once

#include "composit/random/keys.h"

#include <cstdint>
#include <string_view>

namespace composit::nn {

using ir::DType;
using ir::Shape;
using ir::Tensor;

struct FanAxes {
    int64_t in_axis = -2, out_axis = -1;
};

// Glorot and Bengio 2010: variance 2 / (in + out).
[[nodiscard]] Tensor glorot_normal(const Tensor& key, const Shape& shape, const FanAxes& fans = {},
                                   DType dtype = DType::float32);
[[nodiscard]] Tensor glorot_uniform(const Tensor& key, const Shape& shape, const FanAxes& fans = {},
                                    DType dtype = DType::float32);
// He et al. 2015, for relu: variance 2 / in.
[[nodiscard]] Tensor he_normal(const Tensor& key, const Shape& shape, const FanAxes& fans = {},
                               DType dtype = DType::float32);
[[nodiscard]] Tensor he_uniform(const Tensor& key, const Shape& shape, const FanAxes& fans = {},
                                DType dtype = DType::float32);
// LeCun et al. 1998: variance 1 / in.
[[nodiscard]] Tensor lecun_normal(const Tensor& key, const Shape& shape, const FanAxes& fans = {},
                                  DType dtype = DType::float32);
[[nodiscard]] Tensor lecun_uniform(const Tensor& key, const Shape& shape, const FanAxes& fans = {},
                                   DType dtype = DType::float32);

// The general form. mode: "fan_in", "fan_out" or "fan_avg", their mean; distribution: "normal",
// "uniform", or "truncated_normal" (at two deviations of the normal distribution that is cut).
// ValueError: another word, scale not positive, less than two dimensions, a fan of 0; AxisError.
[[nodiscard]] Tensor variance_scaling(const Tensor& key, const Shape& shape, double scale,
                                      std::string_view mode, std::string_view distribution,
                                      const FanAxes& fans = {}, DType dtype = DType::float32);

}  // namespace composit::nn
