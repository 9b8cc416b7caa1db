// Activations beyond the rows of the scalar table: one node each, of elementwise functions, with
// PyTorch's values and its slopes at kinks. Integers are computed in float64.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>

namespace composit::nn {

using ir::Tensor;

[[nodiscard]] Tensor tanh(const Tensor& x);
[[nodiscard]] Tensor relu6(const Tensor& x);  // x between 0 and 6
// x where x > 0, else negative_slope * x
[[nodiscard]] Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);
// leaky_relu whose slope is a weight: one, or one per channel. ValueError when they are not as
// many.
[[nodiscard]] Tensor prelu(const Tensor& x, const Tensor& weight, int64_t channel_axis = 1);
// Without a key leaky_relu of the slope (lower + upper) / 2; with one each negative x has a slope
// of its own, drawn uniformly between the two: training's form.
[[nodiscard]] Tensor rrelu(const Tensor& x, double lower = 1.0 / 8, double upper = 1.0 / 3,
                           const Tensor& key = {});
// x where x > 0, else alpha * expm1(x)
[[nodiscard]] Tensor elu(const Tensor& x, double alpha = 1);
[[nodiscard]] Tensor selu(const Tensor& x);  // scale * elu(x, alpha), self-normalising constants
// x where x > 0, else alpha * expm1(x / alpha). ValueError: alpha is 0.
[[nodiscard]] Tensor celu(const Tensor& x, double alpha = 1);
[[nodiscard]] Tensor mish(const Tensor& x);  // x * tanh(softplus(x))
// x between least and greatest; slope 0 at both. ValueError: least > greatest.
[[nodiscard]] Tensor hardtanh(const Tensor& x, double least = -1, double greatest = 1);
[[nodiscard]] Tensor hardsigmoid(const Tensor& x);  // relu6(x + 3) / 6
[[nodiscard]] Tensor hardswish(const Tensor& x);    // x * relu6(x + 3) / 6
// log(1 + exp(beta * x)) / beta, and x where beta * x > threshold.
[[nodiscard]] Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20);
[[nodiscard]] Tensor softsign(const Tensor& x);  // x / (1 + |x|)
// x moved towards 0 by lambd, 0 where |x| <= lambd. ValueError: lambd < 0.
[[nodiscard]] Tensor softshrink(const Tensor& x, double lambd = 0.5);
// x where |x| > lambd, else 0
[[nodiscard]] Tensor hardshrink(const Tensor& x, double lambd = 0.5);
[[nodiscard]] Tensor tanhshrink(const Tensor& x);  // x - tanh(x)
// x where x > least, else value
[[nodiscard]] Tensor threshold(const Tensor& x, double least, double value);
[[nodiscard]] Tensor logsigmoid(const Tensor& x);  // -log(1 + exp(-x))
// The first half of an axis times sigmoid of the other one. ValueError: its length is odd.
[[nodiscard]] Tensor glu(const Tensor& x, int64_t axis = -1);

}  // namespace composit::nn
