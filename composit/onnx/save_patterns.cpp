// Layers that graphs show by their form: what is written as one operator of ONNX's.
#include "composit/execute/execute.h"
#include "composit/ir/operation.h"
#include "composit/onnx/save_rules.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace composit::onnx::saving {
namespace {

using ir::Tensor;
using ir::kernel::Combiner;
using Axes = std::vector<int64_t>;

// ----- what a node is

bool is_map(const Node& node, std::string_view row) {
    return node.operation().name == "map" &&
           node.attributes().get<ir::scalar::RowRef>("row")->name == row;
}

bool is_reduction(const Node& node, Combiner combiner) {
    return node.operation().name == "reduce" &&
           node.attributes().get<int64_t>("combiner") == static_cast<int64_t>(combiner);
}

// The one axis that a reduction which keeps it is over; nothing for others.
std::optional<int64_t> kept_axis(const Node& node) {
    const Axes& axes = node.attributes().get<Axes>("axes");
    if (axes.size() != 1 || !node.attributes().get<bool>("keepdims")) return std::nullopt;
    return axes[0];
}

const Tensor& without_stop(const Tensor& x) {
    return x.node().operation().name == "stop_gradient" ? x.node().operand(0) : x;
}

// x - max(x) along an axis: what keeps exponentials from overflowing.
struct Shifted {
    Tensor x;
    int64_t axis;
};
std::optional<Shifted> shifted(const Tensor& y) {
    const Node& node = y.node();
    if (!is_map(node, "subtract")) return std::nullopt;
    const Node& greatest = without_stop(node.operand(1)).node();
    if (!is_reduction(greatest, Combiner::maximum) || !(greatest.operand(0) == node.operand(0)))
        return std::nullopt;
    const auto axis = kept_axis(greatest);
    if (!axis || !ir::is_floating(y.dtype()) || y.dtype() != node.operand(0).dtype())
        return std::nullopt;
    return Shifted{node.operand(0), *axis};
}

// The sum of exp(y) along an axis.
bool is_sum_of_exponentials(const Tensor& sum, const Tensor& exponentials, int64_t axis) {
    const Node& node = sum.node();
    return is_reduction(node, Combiner::sum) && kept_axis(node) == axis &&
           node.operand(0) == exponentials;
}

std::optional<Shifted> softmax(const Node& node) {
    if (!is_map(node, "divide") || !is_map(node.operand(0).node(), "exp")) return std::nullopt;
    const auto from = shifted(node.operand(0).node().operand(0));
    if (!from || !is_sum_of_exponentials(node.operand(1), node.operand(0), from->axis))
        return std::nullopt;
    return from;
}

std::optional<Shifted> log_softmax(const Node& node) {
    if (!is_map(node, "subtract") || !is_map(node.operand(1).node(), "log")) return std::nullopt;
    const auto from = shifted(node.operand(0));
    if (!from) return std::nullopt;
    const Tensor& sum = node.operand(1).node().operand(0);
    if (!is_reduction(sum.node(), Combiner::sum)) return std::nullopt;
    const Tensor& exponentials = sum.node().operand(0);
    if (!is_map(exponentials.node(), "exp") ||
        !(exponentials.node().operand(0) == node.operand(0)) ||
        !is_sum_of_exponentials(sum, exponentials, from->axis))
        return std::nullopt;
    return from;
}

// The value of a constant without axes; nothing for others.
std::optional<double> number_of(const Tensor& x) {
    if (!ir::is_constant(x.node()) || !x.shape().empty() || ir::is_complex(x.dtype()))
        return std::nullopt;
    const Tensor wide = ops::astype(x, DType::float64);
    return *execute::evaluate({wide})[0].data_as<double>();
}

}  // namespace

const Node* mean_of(const ir::Body& body) {
    if (body.parameters.size() != 1 || body.results.size() != 1) return nullptr;
    const Node& quotient = body.results[0].node();
    if (!is_map(quotient, "divide")) return nullptr;
    const Node& sum = quotient.operand(0).node();
    const Node& count = quotient.operand(1).node();
    const Tensor& x = body.parameters[0];
    if (!is_reduction(sum, Combiner::sum) || !(sum.operand(0) == x) || !ir::is_constant(count) ||
        !count.types()[0].shape.empty() || !ir::is_floating(x.dtype()) ||
        body.results[0].dtype() != x.dtype())
        return nullptr;
    const double elements =
        static_cast<double>(x.size()) /
        static_cast<double>(sum.types()[0].shape.empty() ? 1
                                                         : ir::element_count(sum.types()[0].shape));
    return number_of(quotient.operand(1)) == elements ? &sum : nullptr;
}

namespace {

// ----- sums with a bias

// What an array of one axis is, spread along axis 1 of images of that rank: (channels, 1, …).
std::optional<Tensor> per_channel(const Tensor& x, int rank) {
    const Node& node = x.node();
    if (node.operation().name != "reshape" || node.operand(0).rank() != 1) return std::nullopt;
    Shape shape(static_cast<size_t>(rank) - 1, 1);
    shape[0] = node.operand(0).shape()[0];
    Shape whole = shape;
    whole.insert(whole.begin(), 1);
    if (x.shape() != shape && x.shape() != whole) return std::nullopt;
    return node.operand(0);
}

bool is_of_one_dtype(const Node& node) {
    return std::all_of(node.operands().begin(), node.operands().end(), [&](const Tensor& operand) {
        return operand.dtype() == node.types()[0].dtype && ir::is_floating(operand.dtype());
    });
}

// Rows times a matrix, or a turned one, plus a row: Gemm.
ManyWritten linear(GraphSaver& saver, const Node& node) {
    const Node& product = node.operand(0).node();
    const Tensor& bias = node.operand(1);
    if (product.operation().name != "contract" || bias.rank() != 1) return {};
    const ops::Contraction c = ops::contraction_of(product.attributes());
    const Tensor &x = product.operand(0), &matrix = product.operand(1);
    if (x.rank() != 2 || matrix.rank() != 2 || !c.batch_a.empty() || c.contracted_a != Axes{1} ||
        c.contracted_b.size() != 1 || bias.shape() != Shape{node.types()[0].shape[1]})
        return {};
    bool is_turned = c.contracted_b == Axes{1};
    const Tensor* weight = &matrix;
    if (matrix.node().operation().name == "transpose") {
        weight = &matrix.node().operand(0);
        is_turned = !is_turned;
    }
    std::vector<Attribute> attributes;
    if (is_turned) attributes.push_back(integer_attribute("transB", 1));
    return {saver.out.add("Gemm", {saver.written(x), saver.written(*weight), saver.written(bias)},
                          {node.types()[0].dtype, node.types()[0].shape}, std::move(attributes))};
}

// A convolution plus a number for each channel: Conv with a bias.
ManyWritten convolution(GraphSaver& saver, const Node& node) {
    const Node& product = node.operand(0).node();
    if (product.operation().name != "convolve") return {};
    const auto bias = per_channel(node.operand(1), node.operand(0).rank());
    if (!bias) return {};
    return {saver.out.with_operand(saver.written(node.operand(0)), saver.written(*bias))};
}

// ----- normalizations

// (x - mean) * reciprocal(sqrt(mean((x - mean)**2) + epsilon)), means over the last axes.
struct Normalized {
    Tensor x;
    int64_t axis;
    double epsilon;
};

std::optional<Axes> mean_axes(const Tensor& mean, const Tensor& of) {
    if (mean.node().operation().name != "call" || !(mean.node().operand(0) == of))
        return std::nullopt;
    const Node* sum =
        mean_of(*mean.node().attributes().get<std::shared_ptr<const ir::Body>>("body"));
    if (!sum || !sum->attributes().get<bool>("keepdims")) return std::nullopt;
    return sum->attributes().get<Axes>("axes");
}

std::optional<Normalized> normalized(const Tensor& y) {
    const Node& node = y.node();
    if (!is_map(node, "multiply") || !is_map(node.operand(0).node(), "subtract") ||
        !is_map(node.operand(1).node(), "reciprocal"))
        return std::nullopt;
    const Tensor& centred = node.operand(0);
    const Tensor& x = centred.node().operand(0);
    const auto axes = mean_axes(centred.node().operand(1), x);
    const Node& root = node.operand(1).node().operand(0).node();
    if (!axes || axes->empty() || !is_map(root, "sqrt") || !is_map(root.operand(0).node(), "add"))
        return std::nullopt;
    const Node& sum = root.operand(0).node();
    const auto epsilon = number_of(sum.operand(1));
    const Tensor& variance = sum.operand(0);
    if (!epsilon || variance.node().operands().empty()) return std::nullopt;
    const Tensor& squares = variance.node().operand(0);
    if (mean_axes(variance, squares) != axes || !is_map(squares.node(), "multiply") ||
        !(squares.node().operand(0) == centred) || !(squares.node().operand(1) == centred))
        return std::nullopt;
    for (size_t i = 0; i < axes->size(); ++i)
        if ((*axes)[i] != x.rank() - static_cast<int64_t>(axes->size() - i)) return std::nullopt;
    return Normalized{x, (*axes)[0], *epsilon};
}

ManyWritten layer_norm(GraphSaver& saver, const Normalized& from, const Tensor* weight,
                       const Tensor* bias) {
    const Shape lengths(from.x.shape().begin() + from.axis, from.x.shape().end());
    for (const Tensor* each : {weight, bias})
        if (each && each->shape() != lengths) return {};
    ManyWritten inputs{saver.written(from.x)};
    inputs.push_back(weight ? saver.written(*weight)
                            : saver.out.broadcast(saver.out.scalar(from.x.dtype(), 1), lengths));
    if (bias) inputs.push_back(saver.written(*bias));
    return {saver.out.add(
        "LayerNormalization", inputs, {from.x.dtype(), from.x.shape()},
        {integer_attribute("axis", from.axis), number_attribute("epsilon", from.epsilon)}, 17)};
}

// (x - mean) / sqrt(variance + epsilon) * weight + bias, of channels.
ManyWritten batch_norm(GraphSaver& saver, const Node& node) {
    const Node& scaled = node.operand(0).node();
    if (!is_map(scaled, "multiply") || !is_map(scaled.operand(0).node(), "divide")) return {};
    const Node& quotient = scaled.operand(0).node();
    const Node &centred = quotient.operand(0).node(), &root = quotient.operand(1).node();
    if (!is_map(centred, "subtract") || !is_map(root, "sqrt") ||
        !is_map(root.operand(0).node(), "add"))
        return {};
    const int rank = node.operand(0).rank();
    const auto epsilon = number_of(root.operand(0).node().operand(1));
    const auto mean = per_channel(centred.operand(1), rank);
    const auto variance = per_channel(root.operand(0).node().operand(0), rank);
    const auto weight = per_channel(scaled.operand(1), rank);
    const auto bias = per_channel(node.operand(1), rank);
    if (!epsilon || !mean || !variance || !weight || !bias) return {};
    ManyWritten inputs{saver.written(centred.operand(0))};
    for (const auto* each : {&weight, &bias, &mean, &variance})
        inputs.push_back(saver.written(**each));
    return {saver.out.add("BatchNormalization", inputs,
                          {node.types()[0].dtype, node.types()[0].shape},
                          {number_attribute("epsilon", *epsilon)})};
}

ManyWritten normalization(GraphSaver& saver, const Node& node) {
    const Tensor self(Ref<Node>(&node), 0);
    if (const auto from = normalized(self)) return layer_norm(saver, *from, nullptr, nullptr);
    if (is_map(node, "multiply"))
        if (const auto from = normalized(node.operand(0)))
            return layer_norm(saver, *from, &node.operand(1), nullptr);
    if (!is_map(node, "add")) return {};
    const Node& scaled = node.operand(0).node();
    if (is_map(scaled, "multiply"))
        if (const auto from = normalized(scaled.operand(0)))
            return layer_norm(saver, *from, &scaled.operand(1), &node.operand(1));
    return batch_norm(saver, node);
}

}  // namespace

ManyWritten save_layer(GraphSaver& saver, const Node& node) {
    if (node.operation().name != "map") return {};
    const ir::TensorType& type = node.types()[0];
    const auto layer = [&](const char* operation, const Shifted& from) {
        return ManyWritten{saver.out.add(operation, {saver.written(from.x)},
                                         {type.dtype, type.shape},
                                         {integer_attribute("axis", from.axis)})};
    };
    if (const auto from = softmax(node)) return layer("Softmax", *from);
    if (const auto from = log_softmax(node)) return layer("LogSoftmax", *from);
    if (!is_of_one_dtype(node) || node.operands().size() != 2) return {};
    ManyWritten found = normalization(saver, node);
    if (found.empty() && is_map(node, "add")) found = linear(saver, node);
    if (found.empty() && is_map(node, "add")) found = convolution(saver, node);
    return found;
}

}  // namespace composit::onnx::saving
