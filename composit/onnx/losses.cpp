// Losses of labels.
#include "composit/aten/losses.h"

#include "composit/nn/operations.h"
#include "composit/numpy/manipulation.h"
#include "composit/onnx/operators.h"

namespace composit::onnx {
namespace losses {
namespace {

aten::ClassLossOptions options_of(const Call& call) {
    aten::ClassLossOptions options;
    options.weight = call.tensor_if_given(2);
    const std::string reduction = call.text("reduction", "mean");
    call.check(reduction == "none" || reduction == "mean" || reduction == "sum", "reduction is '",
               reduction, "'. none, mean or sum is required.");
    options.reduction = aten::reduction_from(reduction);
    // Without an attribute no label is ignored: none is as low as this.
    options.ignore_index = call.integer("ignore_index", -0x7fffffff);
    return options;
}

Values negative_log_likelihood(Call& call) {
    return {aten::nll_loss(call.tensor(0), numpy::astype(call.tensor(1), DType::int64),
                           options_of(call))};
}

Values softmax_cross_entropy(Call& call) {
    const Tensor logs = nn::log_softmax(call.tensor(0), 1);
    return {aten::nll_loss(logs, numpy::astype(call.tensor(1), DType::int64), options_of(call)),
            logs};
}

}  // namespace
}  // namespace losses

void add_losses(Registry& registry) {
    using namespace losses;
    registry.add("NegativeLogLikelihoodLoss", negative_log_likelihood);
    registry.add("SoftmaxCrossEntropyLoss", softmax_cross_entropy);
}

}  // namespace composit::onnx
