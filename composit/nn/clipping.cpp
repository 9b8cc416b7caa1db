// Gradients kept within bounds: by element, and by the norm of all.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/nn/optimizers.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <cmath>
#include <string_view>

namespace composit::nn {
namespace {

using Tensors = std::vector<Tensor>;

void check_positive(std::string_view function, std::string_view name, double value) {
    user_check(value > 0, function, ": ", name, " is ", value, ". A positive number is required.");
}

void check_floating(std::string_view function, const Tensors& gradients) {
    for (size_t i = 0; i < gradients.size(); ++i)
        user_check<TypeError>(ir::is_floating(gradients[i].dtype()), function, ": gradient ", i,
                              " is ", gradients[i].dtype(), ". A real floating dtype is required.");
}

Tensor norm_of_all(std::string_view function, const Tensors& gradients, double order) {
    check_positive(function, "order", order);
    check_floating(function, gradients);
    if (gradients.empty()) return numpy::scalar(ir::DType::float32, 0);
    return errors_as(function, [&] {
        Tensors norms;
        for (const Tensor& g : gradients)
            // The largest of no elements, and the norm of them: nothing to add.
            norms.push_back(g.size() == 0
                                ? numpy::zeros({}, g.dtype())
                                : numpy::linalg::norm(ops::reshape(g, {g.size()}), order));
        return numpy::linalg::norm(numpy::stack(norms), order);
    });
}

}  // namespace

std::vector<Tensor> clip_by_value(const Tensors& gradients, double limit) {
    check_positive("clip_by_value", "limit", limit);
    check_floating("clip_by_value", gradients);
    Tensors result;
    for (const Tensor& g : gradients) result.push_back(numpy::clip(g, -limit, limit));
    return result;
}

Tensor global_norm(const Tensors& gradients, double order) {
    return norm_of_all("global_norm", gradients, order);
}

Clipped clip_by_global_norm(const Tensors& gradients, double maximum, double order) {
    check_positive("clip_by_global_norm", "maximum", maximum);
    Clipped result{{}, norm_of_all("clip_by_global_norm", gradients, order)};
    const Tensor factor = numpy::apply("minimum", {maximum / (result.norm + 1e-6), 1.0});
    for (const Tensor& g : gradients)
        result.gradients.push_back(g * ops::astype(factor, g.dtype()));
    return result;
}

}  // namespace composit::nn
