// Losses, dropout and weights made of other operations.
#include "composit/aten/network_formulas.h"

#include "composit/base/error.h"

#include <cmath>
#include <string_view>

namespace composit::aten {
namespace {

using namespace formulas;

// What SELU tends to where it is given little, and so what stands in place of dropped elements.
constexpr double saturated = -1.7580993408473766;

Value reduced_value(const Value& losses, Reduction reduction) {
    if (reduction == Reduction::none) return losses;
    return apply(reduction == Reduction::mean ? "mean" : "sum", losses);
}

}  // namespace

Value linear_cross_entropy(const Value& x, const Value& weight, const Value& target,
                           const ProductLossOptions& options) {
    ir::Shape shape = x.shape();
    const ir::Shape outer = weight.shape();
    user_check(!shape.empty() && outer.size() >= 2, "linear_cross_entropy: an input of shape ",
               shape, " and a weight of shape ", outer,
               ". (…, in) and (classes, …, in) are required.");
    const Value flat = reshape(weight, {-1, outer.back()});
    Value logits = options.bias ? apply("linear", {x, flat, reshape(*options.bias, {-1})})
                                : apply("linear", {x, flat});
    shape.pop_back();
    shape.insert(shape.end(), outer.begin(), outer.end() - 1);
    logits = reshape(logits, shape);
    if (!logits.held())
        return cross_entropy_loss(
            logits.tensor(), target.tensor(),
            {options.class_weight ? options.class_weight->tensor() : Tensor(), options.reduction,
             options.ignore_index, options.label_smoothing});
    const auto number = static_cast<int64_t>(options.reduction);
    if (options.class_weight)
        return apply("loss_of_classes", {logits, target, options.ignore_index, number,
                                         options.label_smoothing, *options.class_weight});
    return apply("loss_of_classes",
                 {logits, target, options.ignore_index, number, options.label_smoothing});
}

Value triplet_margin_with_distance_loss(const Value& anchor, const Value& positive,
                                        const Value& negative, const Distance& distance,
                                        const Value& margin, bool swap, Reduction reduction) {
    if (margin.is_number())
        user_check(margin.number() > 0, "margin must be greater than 0, got ", margin.shown());
    const Value near = distance(anchor, positive);
    Value far = distance(anchor, negative);
    if (swap) far = apply("minimum", far, distance(positive, negative));
    return reduced_value(clamp_min(near - far + margin, 0), reduction);
}

void check_dropout(const Value& p) {
    user_check(p.number() >= 0 && p.number() <= 1,
               "dropout probability has to be between 0 and 1, but got ", p.shown());
}

Value alpha_dropout(const Value& x, const Value& share, bool is_training, bool of_channels,
                    const Draw& draw) {
    check_dropout(share);
    const double p = share.number();
    if (!is_training || p == 0) return x;
    ir::Shape shape = x.shape();
    for (size_t i = 2; of_channels && i < shape.size(); ++i) shape[i] = 1;
    const Value kept = draw(shape) >= p;
    if (p == 1) return x * 0;
    const double scale = 1 / std::sqrt((1 - p) * (1 + p * (saturated * saturated)));
    return where(kept, x, saturated) * scale - scale * p * saturated;
}

std::pair<Value, Value> fused_with_norm(const Value& weight, const MaybeValue& given,
                                        const NormOfLayer& norm, const ir::Shape& shape) {
    const Value bias = given ? *given : zeros_like(norm.mean);
    const Value scale = norm.scale ? *norm.scale : ones_like(norm.mean);
    const Value shift = norm.shift ? *norm.shift : zeros_like(norm.mean);
    const Value factor = scale * apply("rsqrt", norm.variance + norm.eps);
    const Value made = type_as(weight * reshape(factor, shape), weight);
    return {made, type_as((bias - norm.mean) * factor + shift, given ? *given : weight)};
}

Value total_norm(const std::vector<Value>& tensors, double order) {
    user_check(!tensors.empty(), "total_norm: no tensors. One at least is required.");
    std::vector<Value> norms;
    for (const Value& tensor : tensors) norms.push_back(apply("norm", {tensor, order}));
    std::vector<const Value*> parts;
    for (const Value& norm : norms) parts.push_back(&norm);
    return apply("norm", {apply("stacked", Operands(parts)), order});
}

void check_product_loss(std::optional<int64_t> rows, const std::optional<std::string>& method,
                        const std::string& policy) {
    const bool is_policy =
        policy == "auto" || policy == "accurate" || policy == "balanced" || policy == "compact";
    user_check(is_policy, "invalid acc_policy: '", policy, "'");
    constexpr std::string_view by_aspect = "aspect_ratio";
    const auto is_factor = [](std::string_view digits) {
        return !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos &&
               digits.find_first_not_of('0') != digits.npos;
    };
    const std::string_view given = method ? std::string_view(*method) : "auto";
    const bool is_method = given == "auto" || given == by_aspect ||
                           (given.starts_with(by_aspect) && given[by_aspect.size()] == ':' &&
                            is_factor(given.substr(by_aspect.size() + 1)));
    user_check(is_method, "invalid chunking_method: '", given, "'");
    user_check(!rows || *rows > 0, "batch_chunk_size must be positive int or None, got ",
               rows.value_or(0));
}

Value orthonormal(const Value& drawn) {
    const bool is_wide = drawn.size(0) < drawn.size(1);
    const auto turned = [&](const Value& x) { return is_wide ? apply("t", x) : x; };
    const Value signed_basis = apply("qr_with_signs", turned(drawn));
    return turned(signed_basis);
}

}  // namespace composit::aten
