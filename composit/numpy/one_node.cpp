// Wraps a composition into a call node.
#include "composit/numpy/one_node.h"

#include "composit/base/errors_as.h"
#include "composit/base/text.h"
#include "composit/ops/ops.h"

namespace composit::numpy {

Tensor one_node(std::string_view name, const Tensors& operands,
                const std::function<Tensor(const Tensors&)>& build) {
    Tensors parameters;
    for (const Tensor& x : operands)
        parameters.push_back(ir::input(text("x", parameters.size()), x.dtype(), x.shape()));
    auto body = std::make_shared<ir::Body>();
    body->name = std::string(name);
    body->parameters = parameters;
    body->results = {errors_as(name, [&] { return build(parameters); })};
    return ops::call(std::move(body), operands)[0];
}

}  // namespace composit::numpy
