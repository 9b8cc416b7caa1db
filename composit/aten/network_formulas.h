// Functions of PyTorch's networks that are made of its other operations, as formulas (formulas.h).
#pragma once

#include "composit/aten/formulas.h"
#include "composit/aten/losses.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::aten {

using MaybeValue = std::optional<formulas::Value>;

// cross_entropy_loss of x @ weight^T + bias; the weight is (classes, …, in), where dimensions
// between are the loss's own. Weights of classes and the rest are the options'.
struct ProductLossOptions {
    MaybeValue bias = {}, class_weight = {};
    Reduction reduction = Reduction::mean;
    int64_t ignore_index = -100;
    double label_smoothing = 0;
};
[[nodiscard]] formulas::Value linear_cross_entropy(const formulas::Value& x,
                                                   const formulas::Value& weight,
                                                   const formulas::Value& target,
                                                   const ProductLossOptions& options = {});

// max(0, distance(anchor, positive) - distance(anchor, negative) + margin); swap: the distance of
// positive and negative where it is less. ValueError for a margin that is not above 0.
using Distance = std::function<formulas::Value(const formulas::Value&, const formulas::Value&)>;
[[nodiscard]] formulas::Value triplet_margin_with_distance_loss(
    const formulas::Value& anchor, const formulas::Value& positive, const formulas::Value& negative,
    const Distance& distance, const formulas::Value& margin = 1.0, bool swap = false,
    Reduction reduction = Reduction::mean);

// Dropout that keeps mean and variance of what SELU gives; of whole channels, axis 1, with
// `of_channels`. `draw` gives numbers in [0, 1) of a shape, where some are needed. ValueError for a
// share outside [0, 1].
using Draw = std::function<formulas::Value(const ir::Shape&)>;
[[nodiscard]] formulas::Value alpha_dropout(const formulas::Value& x, const formulas::Value& p,
                                            bool is_training, bool of_channels, const Draw& draw);
// ValueError for a share outside [0, 1].
void check_dropout(const formulas::Value& p);

// A layer's weight and bias with a normalisation of its outputs by a mean and a variance, whose
// weights the scale is multiplied with in a shape.
struct NormOfLayer {
    formulas::Value mean, variance;
    double eps = 1e-5;
    MaybeValue scale = {}, shift = {};
};
[[nodiscard]] std::pair<formulas::Value, formulas::Value> fused_with_norm(
    const formulas::Value& weight, const MaybeValue& bias, const NormOfLayer& norm,
    const ir::Shape& shape);

// The norm of all elements of tensors, one at least: that of their norms.
[[nodiscard]] formulas::Value total_norm(const std::vector<formulas::Value>& tensors,
                                         double order = 2);

// ValueError, PyTorch's words, for options of a product's loss that there are not: rows at once
// that are not above zero, a method that is none of "auto", "aspect_ratio" and "aspect_ratio:N", a
// policy that is none of "auto", "accurate", "balanced" and "compact".
void check_product_loss(std::optional<int64_t> rows, const std::optional<std::string>& method,
                        const std::string& policy);

// A matrix of drawn normal numbers with orthonormal rows or columns in its place, whichever are
// fewer: those of its QR factors, with the signs of R's diagonal.
[[nodiscard]] formulas::Value orthonormal(const formulas::Value& drawn);

}  // namespace composit::aten
