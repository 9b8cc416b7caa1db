// Activations: elementwise functions of networks.
#include "composit/nn/activations.h"

#include "composit/nn/layers.h"
#include "composit/nn/operations.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/operators.h"

#include <cmath>

namespace composit::onnx {
namespace activations {
namespace {

using numpy::apply;

Tensor where(const Tensor& condition, const numpy::Operand& chosen, const numpy::Operand& other) {
    return apply("where", {condition, chosen, other});
}

Values relu(Call& call) {
    const Tensor& x = call.tensor(0);
    return {ir::is_floating(x.dtype()) ? nn::relu(x) : apply("maximum", {x, 0})};
}
Values leaky_relu(Call& call) {
    return {nn::leaky_relu(call.tensor(0), call.number("alpha", 0.01))};
}
Values elu(Call& call) { return {nn::elu(call.tensor(0), call.number("alpha", 1))}; }
Values celu(Call& call) { return {nn::celu(call.tensor(0), call.number("alpha", 1))}; }
Values selu(Call& call) {
    const Tensor& x = call.tensor(0);
    const double alpha = call.number("alpha", 1.67326319217681884765625);
    return {call.number("gamma", 1.05070102214813232421875) * nn::elu(x, alpha)};
}
Values hard_sigmoid(Call& call) {
    const Tensor line = call.number("alpha", 0.2f) * call.tensor(0) + call.number("beta", 0.5);
    return {numpy::clip(line, 0.0, 1.0)};
}
Values hard_swish(Call& call) { return {nn::hardswish(call.tensor(0))}; }
Values mish(Call& call) { return {nn::mish(call.tensor(0))}; }
Values softsign(Call& call) { return {nn::softsign(call.tensor(0))}; }
Values gelu(Call& call) { return {nn::gelu(call.tensor(0), call.text("approximate", "none"))}; }
Values thresholded_relu(Call& call) {
    return {nn::threshold(call.tensor(0), call.number("alpha", 1), 0)};
}

// A slope for each element, broadcast to x.
Values prelu(Call& call) {
    const Tensor &x = call.tensor(0), &slope = call.tensor(1);
    return {where(x < 0, slope * x, x)};
}

Values shrink(Call& call) {
    const Tensor& x = call.tensor(0);
    const double bias = call.number("bias", 0), lambd = call.number("lambd", 0.5);
    if (!ir::is_floating(x.dtype())) {
        const Tensor wide = numpy::astype(x, DType::float64);
        return {numpy::astype(
            where(wide < -lambd, wide + bias, where(wide > lambd, wide - bias, 0.0)), x.dtype())};
    }
    return {where(x < -lambd, x + bias, where(x > lambd, x - bias, 0.0))};
}

Tensor swish_of(const Tensor& x, double alpha) {
    return alpha == 1 ? nn::silu(x) : x * nn::sigmoid(alpha * x);
}
Values swish(Call& call) { return {swish_of(call.tensor(0), call.number("alpha", 1))}; }
Values swiglu(Call& call) {
    return {swish_of(call.tensor(0), call.number("alpha", 1)) * call.tensor(1)};
}

// Before opset 13 x is a matrix of rows from `axis` on; since then the axis alone counts.
template <Tensor (*function)(const Tensor&, int64_t)>
Values along_axis(Call& call) {
    const Tensor& x = call.tensor(0);
    if (call.opset() >= 13) return {function(x, call.axis(x.rank(), -1))};
    const auto axis = static_cast<size_t>(call.axis(x.rank(), 1));
    Shape matrix{1, 1};
    for (size_t i = 0; i < x.shape().size(); ++i) matrix[i < axis ? 0 : 1] *= x.shape()[i];
    return {numpy::reshape(function(numpy::reshape(x, matrix), 1), x.shape())};
}

Tensor softmax(const Tensor& x, int64_t axis) { return nn::softmax(x, axis); }
Tensor log_softmax(const Tensor& x, int64_t axis) { return nn::log_softmax(x, axis); }
// 1 at the first maximum of an axis, 0 elsewhere.
Tensor hardmax(const Tensor& x, int64_t axis) {
    const Tensor labels = numpy::argmax(x, axis);
    return numpy::moveaxis(nn::one_hot(labels, x.shape()[static_cast<size_t>(axis)], x.dtype()), -1,
                           axis);
}

}  // namespace
}  // namespace activations

void add_activations(Registry& registry) {
    using namespace activations;
    registry.add("Sigmoid", unary_row<"sigmoid">);
    registry.add("Softplus", unary_row<"softplus">);
    registry.add("Celu", celu);
    registry.add("Elu", elu);
    registry.add("Gelu", gelu);
    registry.add("HardSigmoid", hard_sigmoid);
    registry.add("HardSwish", hard_swish);
    registry.add("Hardmax", along_axis<hardmax>);
    registry.add("LeakyRelu", leaky_relu);
    registry.add("LogSoftmax", along_axis<log_softmax>);
    registry.add("Mish", mish);
    registry.add("PRelu", prelu);
    registry.add("Relu", relu);
    registry.add("Selu", selu);
    registry.add("Shrink", shrink);
    registry.add("Softmax", along_axis<softmax>);
    registry.add("Softsign", softsign);
    registry.add("SwiGLU", swiglu);
    registry.add("Swish", swish);
    registry.add("ThresholdedRelu", thresholded_relu);
}

}  // namespace composit::onnx
