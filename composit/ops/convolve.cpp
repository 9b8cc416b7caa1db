// convolve: N-dimensional cross-correlation with strides, padding, dilations and groups; its
// gradients are convolutions again.
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

namespace composit::ops {

using ir::kernel::concatenate;

namespace {

Convolution convolution_of(const Attributes& a) {
    return {a.get<Axes>("strides"),         a.get<Axes>("padding_low"),
            a.get<Axes>("padding_high"),    a.get<Axes>("input_dilation"),
            a.get<Axes>("filter_dilation"), a.get<int64_t>("groups")};
}

int64_t spread_length(int64_t length, int64_t dilation) {
    return length == 0 ? 0 : (length - 1) * dilation + 1;
}

Shape spatial(const Tensor& x) { return {x.shape().begin() + 2, x.shape().end()}; }

std::vector<TensorType> infer_convolve(const std::vector<Tensor>& operands,
                                       const Attributes& attributes) {
    const Tensor &x = operands[0], &filters = operands[1];
    const Convolution c = convolution_of(attributes);
    const size_t dimensions = c.strides.size();
    const auto shapes = [&] {
        return text("x has shape ", x.shape(), ", filters have shape ", filters.shape());
    };
    user_check(x.shape().size() == dimensions + 2 && filters.shape().size() == dimensions + 2,
               "convolve: ranks do not fit: ", shapes(), ". Both must have ", dimensions + 2,
               " dimensions.");
    user_check<TypeError>(x.dtype() == filters.dtype(), "convolve: dtypes differ: x is ", x.dtype(),
                          ", filters are ", filters.dtype(), ". Convert one of them before.");
    user_check(c.groups > 0 && x.shape()[1] == filters.shape()[1] * c.groups &&
                   filters.shape()[0] % c.groups == 0,
               "convolve: channels do not fit: ", shapes(), ", groups is ", c.groups,
               ". x.shape[1] must equal filters.shape[1] * groups, and filters.shape[0] be a "
               "multiple of groups.");
    Shape shape{x.shape()[0], filters.shape()[0]};
    for (size_t d = 0; d < dimensions; ++d) {
        user_check(c.strides[d] > 0 && c.input_dilation[d] > 0 && c.filter_dilation[d] > 0,
                   "convolve: strides ", c.strides, " and dilations must be positive.");
        const int64_t padded = spread_length(x.shape()[d + 2], c.input_dilation[d]) +
                               c.padding_low[d] + c.padding_high[d];
        const int64_t window = spread_length(filters.shape()[d + 2], c.filter_dilation[d]);
        user_check(padded >= window && window > 0,
                   "convolve: the window is larger than the padded input along spatial axis ", d,
                   ": ", window, " > ", padded, " (", shapes(),
                   "). Pad more or use a smaller window.");
        shape.push_back((padded - window) / c.strides[d] + 1);
    }
    return {{shape, x.dtype()}};
}

Tensor flipped(const Tensor& filters) {
    std::vector<int64_t> starts(filters.shape().size(), 0), steps(filters.shape().size(), 1);
    for (size_t d = 2; d < filters.shape().size(); ++d) {
        starts[d] = filters.shape()[d] - 1;
        steps[d] = -1;
    }
    return slice(filters, starts, filters.shape(), steps);
}

Shape shape_of(std::initializer_list<int64_t> first, const Shape& rest) {
    return concatenate({Shape(first), rest});
}

Axes swap_with_rest(std::initializer_list<int64_t> first, size_t rank) {
    Axes axes(first);
    for (size_t d = axes.size(); d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
    return axes;
}

// Every output spreads over the window that made it: g, spread by the strides, meets the flipped
// filters.
Tensor gradient_of_input(const Node& node, const Tensor& g, const Convolution& c) {
    const Tensor &x = node.operand(0), &filters = node.operand(1);
    const int64_t outs = filters.shape()[0] / c.groups, ins = filters.shape()[1];
    const Shape window = spatial(filters);
    Tensor turned = flipped(conjugated(filters));
    if (c.groups == 1) {
        turned = transpose(turned, swap_with_rest({1, 0}, turned.shape().size()));
    } else {
        turned = reshape(turned, shape_of({c.groups, outs, ins}, window));
        turned = transpose(turned, swap_with_rest({0, 2, 1}, turned.shape().size()));
        turned = reshape(turned, shape_of({c.groups * ins, outs}, window));
    }
    Convolution back{c.input_dilation, {}, {}, c.strides, c.filter_dilation, c.groups};
    for (size_t d = 0; d < window.size(); ++d) {
        const int64_t reach = (window[d] - 1) * c.filter_dilation[d];
        const int64_t low = reach - c.padding_low[d];
        const int64_t length = spread_length(x.shape()[d + 2], c.input_dilation[d]);
        back.padding_low.push_back(low);
        back.padding_high.push_back(length + reach - spread_length(g.shape()[d + 2], c.strides[d]) -
                                    low);
    }
    return convolve(g, turned, back);
}

// Every filter met g at each position of its windows: a contraction over images and positions. (As
// a convolution whose channels are the images it would read memory in leaps.)
Tensor gradient_of_filters(const Node& node, const Tensor& g, const Convolution& c) {
    const Tensor &x = node.operand(0), &filters = node.operand(1);
    const Shape window = spatial(filters), counts = spatial(g);
    const auto n = static_cast<int64_t>(window.size());
    const Axes low = shape_of({0, 0}, c.padding_low), high = shape_of({0, 0}, c.padding_high);
    Axes interior{0, 0};
    for (int64_t dilation : c.input_dilation) interior.push_back(dilation - 1);
    const Tensor zero = ir::constant(Array::zeros(x.dtype(), {}));
    Tensor seen = windows(pad(conjugated(x), zero, low, high, interior), window, c.strides,
                          c.filter_dilation);
    const int64_t batch = x.shape()[0], groups = c.groups;
    const int64_t outs = filters.shape()[0] / groups, ins = filters.shape()[1];
    seen = reshape(seen, concatenate({{batch, groups, ins}, counts, window}));
    const Tensor made = reshape(g, shape_of({batch, groups, outs}, counts));
    Axes summed{0};
    for (int64_t d = 0; d < n; ++d) summed.push_back(3 + d);
    return reshape(contract(made, seen, {{1}, {1}, summed, summed}), filters.shape());
}

std::vector<Tensor> vjp_convolve(const Node& node, const std::vector<Tensor>& gradients,
                                 const std::vector<bool>& wanted) {
    const Convolution c = convolution_of(node.attributes());
    if (!ir::is_inexact(node.types()[0].dtype)) return {Tensor(), Tensor()};
    return {wanted[0] ? gradient_of_input(node, gradients[0], c) : Tensor(),
            wanted[1] ? gradient_of_filters(node, gradients[0], c) : Tensor()};
}

// x as the convolution reads it: spread and padded, in memory.
Access padded_input(const Node& node, ir::Lowering& lowering, const Convolution& c, Shape& shape) {
    const Tensor& x = node.operand(0);
    shape = x.shape();
    bool is_plain = true;
    for (size_t d = 0; d < c.strides.size(); ++d) {
        is_plain =
            is_plain && c.padding_low[d] == 0 && c.padding_high[d] == 0 && c.input_dilation[d] == 1;
        shape[d + 2] =
            spread_length(shape[d + 2], c.input_dilation[d]) + c.padding_low[d] + c.padding_high[d];
    }
    if (is_plain) return lowering.memory(0);
    const Access padded = lowering.new_temporary(x.dtype(), shape);
    std::vector<int64_t> low{0, 0}, interior{0, 0};
    for (size_t d = 0; d < c.strides.size(); ++d) {
        low.push_back(c.padding_low[d]);
        interior.push_back(c.input_dilation[d] - 1);
    }
    const Nest zero{{}, {}, ir::scalar::Expr::constant(x.dtype(), 0)};
    emit_pad(lowering, lowering.operand(0), zero, low, interior, shape, padded);
    return padded;
}

void lower_convolve(const Node& node, ir::Lowering& lowering) {
    const Convolution c = convolution_of(node.attributes());
    const Tensor& filters = node.operand(1);
    const Shape& out = node.types()[0].shape;
    Shape padded;
    const Access x = padded_input(node, lowering, c, padded);
    const Access f = lowering.memory(1);
    const size_t dimensions = c.strides.size();
    const int64_t outs = out[1] / c.groups, ins = filters.shape()[1];

    ir::kernel::Contract kernel;
    kernel.batch = {out[0], c.groups};
    kernel.rows = {outs};
    kernel.columns = {out.begin() + 2, out.end()};
    kernel.depth = spatial(filters);  // window positions first, then channels: semantics.md 3
    kernel.depth.push_back(ins);

    kernel.left = f;
    kernel.left.strides = {0, f.strides[0] * outs, f.strides[0]};
    kernel.right = x;
    kernel.right.strides = {x.strides[0], x.strides[1] * ins};
    for (size_t d = 0; d < dimensions; ++d) {
        kernel.left.strides.push_back(f.strides[d + 2]);
        kernel.right.strides.push_back(x.strides[d + 2] * c.filter_dilation[d]);
    }
    kernel.left.strides.push_back(f.strides[1]);
    kernel.right.strides.push_back(x.strides[1]);
    for (size_t d = 0; d < dimensions; ++d)
        kernel.right.strides.push_back(x.strides[d + 2] * c.strides[d]);

    const Access output = lowering.new_output(0);
    kernel.output = output;
    kernel.output.strides = {output.strides[0], output.strides[1] * outs, output.strides[1]};
    kernel.output.strides.insert(kernel.output.strides.end(), output.strides.begin() + 2,
                                 output.strides.end());
    lowering.emit(std::move(kernel));
}

// Many inputs: a larger batch. Many filters: more output channels, inside each group. Both: more
// groups.
std::vector<Tensor> batch_convolve(const Node& node, const std::vector<Tensor>& operands,
                                   const Batched& batched, int64_t n) {
    const Tensor &x = operands[0], &filters = operands[1];
    Convolution c = convolution_of(node.attributes());
    const Shape& out = node.types()[0].shape;
    const Shape spatial_out(out.begin() + 2, out.end());
    if (!batched[1]) {
        const Shape lengths(x.shape().begin() + 3, x.shape().end());
        const Tensor merged = reshape(x, shape_of({n * x.shape()[1], x.shape()[2]}, lengths));
        return {reshape(convolve(merged, filters, c), prefixed(n, out))};
    }
    const Shape window(filters.shape().begin() + 3, filters.shape().end());
    const int64_t outs = filters.shape()[1], ins = filters.shape()[2], groups = c.groups;
    if (batched[0]) {
        const Shape lengths(x.shape().begin() + 3, x.shape().end());
        const Tensor channels = reshape(transpose(x, swap_with_rest({1, 0}, x.shape().size())),
                                        shape_of({x.shape()[1], n * x.shape()[2]}, lengths));
        c.groups = n * groups;
        const Tensor y = convolve(channels, reshape(filters, shape_of({n * outs, ins}, window)), c);
        return {axis_to_front(reshape(y, shape_of({out[0], n, outs}, spatial_out)), 1)};
    }
    const int64_t each = outs / groups;
    Tensor sets = reshape(filters, shape_of({n, groups, each, ins}, window));
    sets = transpose(sets, swap_with_rest({1, 0}, sets.shape().size()));
    const Tensor y = convolve(x, reshape(sets, shape_of({groups * n * each, ins}, window)), c);
    const Tensor apart = reshape(y, shape_of({out[0], groups, n, each}, spatial_out));
    return {reshape(axis_to_front(apart, 2), prefixed(n, out))};
}

const ir::Operation& convolve_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "convolve",
        .doc = "N-dimensional cross-correlation; runs as a contraction whose packing gathers the "
               "windows.",
        .infer = infer_convolve,
        .vjp = vjp_convolve,
        .batch = batch_convolve,
        .lower = lower_convolve,
        .by_components = product_by_components,
        .check = check_convolve,
    });
    return operation;
}

}  // namespace

Tensor convolve(const Tensor& x, const Tensor& filters, const Convolution& c) {
    check_lists("convolve", c.strides.size(),
                {{"padding_low", c.padding_low},
                 {"padding_high", c.padding_high},
                 {"input_dilation", c.input_dilation},
                 {"filter_dilation", c.filter_dilation}});
    return ir::make(convolve_operation(), {x, filters},
                    {{"strides", c.strides},
                     {"padding_low", c.padding_low},
                     {"padding_high", c.padding_high},
                     {"input_dilation", c.input_dilation},
                     {"filter_dilation", c.filter_dilation},
                     {"groups", c.groups}});
}

void register_convolve() { convolve_operation(); }

}  // namespace composit::ops
