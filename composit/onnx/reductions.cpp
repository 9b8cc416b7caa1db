// Operators over axes: sums, extrema, norms, running totals.
#include "composit/numpy/reductions.h"

#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"

#include <limits>

namespace composit::onnx {
namespace reductions {
namespace {

using numpy::apply;
using numpy::Axis;

Tensor sum(const Tensor& x, const Axis& axes, bool keep) {
    return numpy::sum(x, axes, x.dtype(), keep);
}
Tensor sum_square(const Tensor& x, const Axis& axes, bool keep) { return sum(x * x, axes, keep); }
Tensor size_sum(const Tensor& x, const Axis& axes, bool keep) {
    return sum(apply("absolute", {x}), axes, keep);
}
Tensor root_of_squares(const Tensor& x, const Axis& axes, bool keep) {
    if (ir::is_floating(x.dtype())) return apply("sqrt", {sum_square(x, axes, keep)});
    const Tensor wide = numpy::astype(x, DType::float64);
    return numpy::astype(apply("sqrt", {sum_square(wide, axes, keep)}), x.dtype());
}
Tensor log_sum(const Tensor& x, const Axis& axes, bool keep) {
    return apply("log", {sum(x, axes, keep)});
}
// Around the maximum, so that no exponential is too large.
Tensor log_sum_exp(const Tensor& x, const Axis& axes, bool keep) {
    if (x.size() == 0) return log_sum(apply("exp", {x}), axes, keep);
    const Tensor most = numpy::max(x, axes, true);
    const Tensor middle = apply("where", {apply("isfinite", {most}), most, 0.0});
    const Tensor total = log_sum(apply("exp", {x - middle}), axes, true) + middle;
    return keep ? total : numpy::squeeze(total, axes);
}
Tensor mean(const Tensor& x, const Axis& axes, bool keep) {
    if (ir::is_floating(x.dtype())) return numpy::mean(x, axes, {}, keep);
    return numpy::astype(numpy::mean(x, axes, {}, keep), x.dtype());
}
Tensor product(const Tensor& x, const Axis& axes, bool keep) {
    return numpy::prod(x, axes, x.dtype(), keep);
}

// What an extremum of nothing is: the least, or the greatest, value of the dtype.
Tensor extremum(const Tensor& x, const Axis& axes, bool keep, bool is_maximum) {
    if (x.dtype() == DType::boolean)
        return is_maximum ? numpy::any(x, axes, keep) : numpy::all(x, axes, keep);
    if (x.size() != 0) return is_maximum ? numpy::max(x, axes, keep) : numpy::min(x, axes, keep);
    user_check<NotSupported>(ir::is_floating(x.dtype()),
                             "an extremum of no integers is asked "
                             "for. Floats, or elements, are required.");
    const double infinity = std::numeric_limits<double>::infinity();
    return is_maximum ? numpy::max(x, axes, keep, -infinity) : numpy::min(x, axes, keep, infinity);
}
Tensor maximum(const Tensor& x, const Axis& axes, bool keep) {
    return extremum(x, axes, keep, true);
}
Tensor minimum(const Tensor& x, const Axis& axes, bool keep) {
    return extremum(x, axes, keep, false);
}

// Over the axes that an attribute or an input names; over all where there are none, unless nothing
// is to be done then.
template <Tensor (*function)(const Tensor&, const Axis&, bool)>
Values reduce(Call& call) {
    const Tensor& x = call.tensor(0);
    const auto axes = call.axes(1, "axes", x.rank());
    const bool keep = call.flag("keepdims", true);
    if (!axes || axes->empty()) {
        if (!call.flag("noop_with_empty_axes")) return {function(x, Axis(), keep)};
        // Over no axis: what the function makes of each element alone.
        const Tensor alone = numpy::expand_dims(x, -1);
        return {function(alone, Axis(-1), false)};
    }
    return {function(x, Axis(*axes), keep)};
}

template <bool is_maximum>
Values arg_extremum(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t axis = call.axis(x.rank(), 0);
    const bool keep = call.flag("keepdims", true);
    const auto found = [&](const Tensor& of) {
        return is_maximum ? numpy::argmax(of, axis, keep) : numpy::argmin(of, axis, keep);
    };
    if (!call.flag("select_last_index")) return {found(x)};
    return {x.shape()[static_cast<size_t>(axis)] - 1 - found(numpy::flip(x, axis))};
}

// Running totals, of the elements before where `exclusive`, from the end where `reverse`.
template <bool is_sum>
Values running(Call& call) {
    const Tensor& x = call.tensor(0);
    int64_t axis = call.known_integer(1);
    call.check(axis >= -x.rank() && axis < x.rank(), "axis ", axis, " of a tensor of rank ",
               x.rank(), ". An axis of the tensor is required.");
    if (axis < 0) axis += x.rank();
    const bool reverse = call.flag("reverse");
    Tensor totals = reverse ? numpy::flip(x, axis) : x;
    totals =
        is_sum ? numpy::cumsum(totals, axis, x.dtype()) : numpy::cumprod(totals, axis, x.dtype());
    if (call.flag("exclusive")) {
        const auto place = static_cast<size_t>(axis);
        std::vector<std::pair<int64_t, int64_t>> widths(x.shape().size());
        widths[place] = {1, 0};
        numpy::Index first(x.shape().size(), numpy::Slice{});
        first[place] = numpy::Slice{0, x.shape()[place]};
        totals = numpy::get_item(numpy::pad(totals, widths, "constant", is_sum ? 0 : 1), first);
    }
    return {reverse ? numpy::flip(totals, axis) : totals};
}

}  // namespace
}  // namespace reductions

void add_reductions(Registry& registry) {
    using namespace reductions;
    registry.add("ArgMax", arg_extremum<true>);
    registry.add("ArgMin", arg_extremum<false>);
    registry.add("CumProd", running<false>);
    registry.add("CumSum", running<true>);
    registry.add("ReduceL1", reduce<size_sum>);
    registry.add("ReduceL2", reduce<root_of_squares>);
    registry.add("ReduceLogSum", reduce<log_sum>);
    registry.add("ReduceLogSumExp", reduce<log_sum_exp>);
    registry.add("ReduceMax", reduce<maximum>);
    registry.add("ReduceMean", reduce<mean>);
    registry.add("ReduceMin", reduce<minimum>);
    registry.add("ReduceProd", reduce<product>);
    registry.add("ReduceSum", reduce<sum>);
    registry.add("ReduceSumSquare", reduce<sum_square>);
}

}  // namespace composit::onnx
