// Normalisations over channels, layers, groups and axes.
#include "composit/aten/normalization.h"
#include "composit/nn/layers.h"
#include "composit/nn/normalization.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/onnx/operators.h"

#include <numeric>

namespace composit::onnx {
namespace normalizations {
namespace {

using numpy::apply;

Tensor per_channel(const Tensor& values, int rank) {
    Shape shape(static_cast<size_t>(rank), 1);
    if (rank > 1) shape[1] = values.size();
    return numpy::reshape(values, shape);
}

// By the statistics that are given; in training by x's own, with the running ones anew.
Values batch_normalization(Call& call) {
    const Tensor& x = call.tensor(0);
    const int rank = x.rank();
    const double epsilon = call.number("epsilon", 1e-5f);
    const Tensor scale = per_channel(call.tensor(1), rank),
                 bias = per_channel(call.tensor(2), rank);
    call.check<NotSupported>(call.opset() >= 9 || call.flag("spatial", true),
                             "spatial is 0. Statistics of channels are required.");
    if (call.opset() < 14 || !call.flag("training_mode")) {
        const Tensor result =
            nn::batch_norm(x, per_channel(call.tensor(3), rank), per_channel(call.tensor(4), rank),
                           scale, bias, epsilon);
        return {numpy::astype(result, x.dtype())};
    }
    std::vector<int64_t> axes{0};
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
    const DType dtype = call.tensor(3).dtype();
    const Tensor wide = numpy::astype(x, dtype);
    const Tensor mean = numpy::mean(wide, axes), variance = numpy::var(wide, axes);
    const double momentum = call.number("momentum", 0.9f);
    const Tensor result =
        nn::batch_norm(wide, per_channel(mean, rank), per_channel(variance, rank),
                       numpy::astype(scale, dtype), numpy::astype(bias, dtype), epsilon);
    return {numpy::astype(result, x.dtype()), call.tensor(3) * momentum + mean * (1 - momentum),
            call.tensor(4) * momentum + variance * (1 - momentum)};
}

Values instance_normalization(Call& call) {
    return {nn::instance_norm(call.tensor(0), call.tensor(1), call.tensor(2), 1,
                              call.number("epsilon", 1e-5f))};
}

std::vector<int64_t> axes_from(int64_t first, int rank) {
    std::vector<int64_t> axes(static_cast<size_t>(rank - first));
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

// The dtype that statistics are computed in.
DType stash_type(const Call& call, const Tensor& x) {
    const DType asked = carrier(call.element("stash_type", ElementType::float32));
    return x.dtype() == DType::float64 ? x.dtype() : asked;
}

Values layer_normalization(Call& call) {
    const Tensor& x = call.tensor(0);
    const std::vector<int64_t> axes = axes_from(call.axis(x.rank(), -1), x.rank());
    const DType dtype = stash_type(call, x);
    const Tensor wide = numpy::astype(x, dtype);
    const Tensor mean = numpy::mean(wide, axes, {}, true);
    const Tensor centred = wide - mean;
    const Tensor variance = numpy::mean(centred * centred, axes, {}, true);
    const Tensor deviation = apply("sqrt", {variance + call.number("epsilon", 1e-5f)});
    Tensor result = numpy::astype(centred / deviation, x.dtype()) * call.tensor(1);
    if (call.has(2)) result = result + call.tensor(2);
    return {result, mean, apply("reciprocal", {deviation})};
}

Values rms_normalization(Call& call) {
    const Tensor& x = call.tensor(0);
    const std::vector<int64_t> axes = axes_from(call.axis(x.rank(), -1), x.rank());
    const Tensor wide = numpy::astype(x, stash_type(call, x));
    const Tensor mean_square = numpy::mean(wide * wide, axes, {}, true);
    const Tensor root = apply("sqrt", {mean_square + call.number("epsilon", 1e-5f)});
    const Tensor& scale = call.tensor(1);
    return {numpy::astype(wide / root, scale.dtype()) * scale};
}

// Before opset 21 scale and bias are those of groups, since then of channels.
Values group_normalization(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t groups = call.integer("num_groups");
    call.check(x.rank() >= 2 && groups > 0 && x.shape()[1] % groups == 0, groups,
               " groups over an image of shape ", x.shape(),
               ". Channels that the groups divide are required.");
    const double epsilon = call.number("epsilon", 1e-5f);
    const DType dtype = call.opset() >= 21 ? stash_type(call, x) : x.dtype();
    const Tensor wide = numpy::astype(x, dtype);
    const int64_t channels = x.shape()[1];
    Tensor scale = call.tensor(1), bias = call.tensor(2);
    if (scale.size() == groups && groups != channels) {
        scale = numpy::repeat(scale, channels / groups, 0);
        bias = numpy::repeat(bias, channels / groups, 0);
    }
    const Tensor result = aten::group_norm(wide, groups, {}, {}, epsilon);
    return {numpy::astype(result, x.dtype()) * per_channel(scale, x.rank()) +
            per_channel(bias, x.rank())};
}

Values lp_normalization(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t axis = call.axis(x.rank(), -1), p = call.integer("p", 2);
    call.check(p == 1 || p == 2, "p is ", p, ". 1 or 2 is required.");
    const Tensor norm = p == 1 ? numpy::sum(apply("absolute", {x}), axis, {}, true)
                               : apply("sqrt", {numpy::sum(x * x, axis, {}, true)});
    return {apply("where", {apply("equal", {norm, 0.0}), 0.0, x / norm})};
}

Values mean_variance_normalization(Call& call) {
    const Tensor& x = call.tensor(0);
    std::vector<int64_t> axes{0, 2, 3};
    if (const auto given = call.axes(size_t(-1), "axes", x.rank())) axes = *given;
    const Tensor mean = numpy::mean(x, axes, {}, true);
    const Tensor square = numpy::mean(x * x, axes, {}, true);
    return {(x - mean) / (apply("sqrt", {square - mean * mean}) + 1e-9)};
}

}  // namespace
}  // namespace normalizations

void add_normalizations(Registry& registry) {
    using namespace normalizations;
    registry.add("BatchNormalization", batch_normalization);
    registry.add("GroupNormalization", group_normalization);
    registry.add("InstanceNormalization", instance_normalization);
    registry.add("LayerNormalization", layer_normalization);
    registry.add("LpNormalization", lp_normalization);
    registry.add("MeanVarianceNormalization", mean_variance_normalization);
    registry.add("RMSNormalization", rms_normalization);
}

}  // namespace composit::onnx
