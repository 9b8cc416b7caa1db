// Random numbers of the usual distributions, each one node whose operands are the key and what was
// given besides.
//
// Floating dtypes are float32 and float64 (NotSupported for others, TypeError for what is not
// floating). Parameters are numbers or tensors that broadcast to `shape` (ValueError), and
// derivatives with respect to them are those of the numbers drawn. Distributions with tails are
// made in float64 from 63 bits, with full relative precision where probabilities are small, and
// rounded once: float32 draws are the float64 draws of the same key, rounded. `uniform`, and with
// it `bernoulli`, has jax.random's bits.
#pragma once

#include "composit/random/keys.h"

namespace composit::random {

// [minval, maxval) in steps of 2^-23 (float32) or 2^-52 (float64) of the interval; where that is
// too narrow for its steps, rounding may give maxval.
[[nodiscard]] Tensor uniform(const Tensor& key, const Shape& shape = {},
                             DType dtype = DType::float32, const Operand& minval = {},
                             const Operand& maxval = {});

// Mean 0, deviation 1: the quantile of 63 bits. |value| <= 9.08.
[[nodiscard]] Tensor normal(const Tensor& key, const Shape& shape = {},
                            DType dtype = DType::float32);

// The normal distribution between lower and upper, anywhere on the line; lower < upper is required.
[[nodiscard]] Tensor truncated_normal(const Tensor& key, const Operand& lower, const Operand& upper,
                                      const Shape& shape = {}, DType dtype = DType::float32);

// Density exp(-x) for x >= 0.
[[nodiscard]] Tensor exponential(const Tensor& key, const Shape& shape = {},
                                 DType dtype = DType::float32);

// Density exp(-|x|) / 2.
[[nodiscard]] Tensor laplace(const Tensor& key, const Shape& shape = {},
                             DType dtype = DType::float32);

// The distribution function 1 / (1 + exp(-x)).
[[nodiscard]] Tensor logistic(const Tensor& key, const Shape& shape = {},
                              DType dtype = DType::float32);

// The distribution function exp(-exp(-x)).
[[nodiscard]] Tensor gumbel(const Tensor& key, const Shape& shape = {},
                            DType dtype = DType::float32);

// Density x^(a - 1) exp(-x) / Gamma(a) for a concentration a > 0. Its derivative by the
// concentration is gamma_slope's.
[[nodiscard]] Tensor gamma(const Tensor& key, const Operand& concentration, const Shape& shape = {},
                           DType dtype = DType::float32);

// How draws of gamma move with their concentration at a fixed probability, float64: the derivative
// of the quantile. Both broadcast together.
[[nodiscard]] Tensor gamma_slope(const Tensor& concentration, const Tensor& draws);

// True with probability p, which is float32 unless a float64 tensor; without a shape, p's.
[[nodiscard]] Tensor bernoulli(const Tensor& key, const Operand& p = 0.5,
                               const std::optional<Shape>& shape = {});

// -1 or 1, each as often, in any real or integer dtype that has both.
[[nodiscard]] Tensor rademacher(const Tensor& key, const Shape& shape = {},
                                DType dtype = DType::int64);

// Integers in [minval, maxval), tensors too; minval where the interval is empty. How often two of
// them come differs by less than one in 2^32 (dtypes of 64 bits: in 2^64). TypeError: dtype is no
// integer.
[[nodiscard]] Tensor randint(const Tensor& key, const Shape& shape, const Operand& minval,
                             const Operand& maxval, DType dtype = DType::int64);

// Positions along `axis` of logits, each with a probability proportional to exp(logit): shape
// without the axis, int64.
[[nodiscard]] Tensor categorical(const Tensor& key, const Tensor& logits, int64_t axis = -1);

}  // namespace composit::random
