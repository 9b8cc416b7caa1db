// Forward mode. The vjp is linear in its cotangents; its transpose is the jvp, so no rule is
// written twice.
#include "composit/base/error.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

namespace composit::transforms {

std::vector<Tensor> jvp(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& tangents) {
    user_check<TypeError>(inputs.size() == tangents.size(), "jvp: ", inputs.size(), " inputs and ",
                          tangents.size(), " tangents given. One tangent per input is required.");
    for (size_t i = 0; i < inputs.size(); ++i)
        user_check(
            inputs[i].shape() == tangents[i].shape() && inputs[i].dtype() == tangents[i].dtype(),
            "jvp: tangent ", i, " has type ", tangents[i].type(), ". The type of its input, ",
            inputs[i].type(), ", is required.");
    std::vector<Tensor> smooth, cotangents;
    for (const Tensor& output : outputs) {
        if (!ir::is_inexact(output.dtype())) continue;
        smooth.push_back(output);
        cotangents.push_back(ir::input("cotangent", output.dtype(), output.shape()));
    }
    const std::vector<Tensor> transposed =
        vjp(vjp(smooth, cotangents, inputs), tangents, cotangents);
    std::vector<Tensor> result;
    size_t next = 0;
    for (const Tensor& output : outputs)
        result.push_back(ir::is_inexact(output.dtype()) ? transposed[next++]
                                                        : ops::zeros_like(output));
    return result;
}

}  // namespace composit::transforms
