// Sliding windows over the last axes, their transpose `fold`, and positions (`iota`).
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

namespace composit::ops {

using ir::scalar::Expr;

namespace {

const Axes& axes_of(const Node& node, std::string_view name) {
    return node.attributes().get<Axes>(name);
}

std::vector<TensorType> infer_windows(const Tensors& x, const Attributes& attributes) {
    const Axes &window = attributes.get<Axes>("window"), &steps = attributes.get<Axes>("steps");
    const Axes& dilations = attributes.get<Axes>("dilations");
    Shape shape = x[0].shape();
    const size_t outer = shape.size() - window.size();
    for (size_t d = 0; d < window.size(); ++d) {
        const int64_t reach = (window[d] - 1) * dilations[d] + 1;
        user_check(window[d] > 0 && steps[d] > 0 && dilations[d] > 0 && reach <= shape[outer + d],
                   "windows: a window of ", window, " (steps ", steps, ", dilations ", dilations,
                   ") does not fit into shape ", x[0].shape(), ".");
        shape[outer + d] = (shape[outer + d] - reach) / steps[d] + 1;
    }
    shape.insert(shape.end(), window.begin(), window.end());
    return {{shape, x[0].dtype()}};
}

void lower_windows(const Node& node, Lowering& lowering) {
    const Axes &steps = axes_of(node, "steps"), &dilations = axes_of(node, "dilations");
    // Elements repeat, so they are computed once: in memory.
    const Nest x = nest_of(node.operand(0).shape(), lowering.memory(0));
    const size_t outer = x.extents.size() - steps.size();
    lowering.result(0, reindex(x, node.types()[0].shape, [&](Access& access) {
                        const std::vector<int64_t> strides = access.strides;
                        for (size_t d = 0; d < steps.size(); ++d)
                            access.strides[outer + d] = strides[outer + d] * steps[d];
                        for (size_t d = 0; d < steps.size(); ++d)
                            access.strides.push_back(strides[outer + d] * dilations[d]);
                    }));
}

// Both work on the last axes: a leading one is carried along.
Tensors batch_windows(const Node& node, const Tensors& x, const Batched&, int64_t) {
    return {
        windows(x[0], axes_of(node, "window"), axes_of(node, "steps"), axes_of(node, "dilations"))};
}

Tensors batch_fold(const Node& node, const Tensors& x, const Batched&, int64_t) {
    return {
        fold(x[0], axes_of(node, "lengths"), axes_of(node, "steps"), axes_of(node, "dilations"))};
}

const ir::Operation& windows_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "windows",
        .doc = "Sliding windows over the last axes, as a view.",
        .infer = infer_windows,
        .vjp = [](const Node& node, const Tensors& g, const Wanted&) -> Tensors {
            const Shape& shape = node.operand(0).shape();
            const Axes& steps = axes_of(node, "steps");
            const Axes lengths(shape.end() - static_cast<long>(steps.size()), shape.end());
            return {fold(g[0], lengths, steps, axes_of(node, "dilations"))};
        },
        .batch = batch_windows,
        .lower = lower_windows,
        .moves_elements = true,
        .check = check_windows,
    });
    return operation;
}

// Whether the windows tile the result: each element falls on a place of its own.
bool is_tiling(const ir::kernel::Fold& fold) {
    for (size_t d = 0; d < fold.window.size(); ++d)
        if (fold.steps[d] != fold.window[d] || (fold.dilations[d] != 1 && fold.window[d] != 1) ||
            fold.counts[d] * fold.window[d] != fold.positions[d])
            return false;
    return true;
}

// Windows that tile: every element goes to its place, as +0 + x.
void lower_tiling(const Node& node, Lowering& lowering) {
    const Nest x = lowering.operand(0);
    const Access target = lowering.new_output(0);
    const size_t n = axes_of(node, "lengths").size(), outer = x.extents.size() - 2 * n;
    // Loops: outer, then for each axis the window and the position inside it.
    const auto interleaved = [&](const std::vector<int64_t>& values) {
        std::vector<int64_t> result(values.begin(), values.begin() + static_cast<long>(outer));
        for (size_t d = 0; d < n; ++d) {
            result.push_back(values[outer + d]);
            result.push_back(values[outer + n + d]);
        }
        return result;
    };
    Nest places = reindex(x, interleaved(x.extents),
                          [&](Access& access) { access.strides = interleaved(access.strides); });
    Access to = target;
    to.strides.resize(outer);
    for (size_t d = 0; d < n; ++d) {
        to.strides.push_back(target.strides[outer + d] * x.extents[outer + n + d]);
        to.strides.push_back(target.strides[outer + d]);
    }
    const DType dtype = places.value.dtype();
    const Expr sum = Expr::make(ir::scalar::Op::add, {Expr::constant(dtype, 0), places.value});
    lowering.emit(ir::kernel::Map{places.extents, places.inputs, {sum}, {to}});
}

void lower_fold(const Node& node, Lowering& lowering) {
    const Axes& lengths = axes_of(node, "lengths");
    const Shape& shape = node.operand(0).shape();
    const auto n = static_cast<long>(lengths.size());
    ir::kernel::Fold kernel;
    kernel.outer = {shape.begin(), shape.end() - 2 * n};
    kernel.positions = lengths;
    kernel.counts = {shape.end() - 2 * n, shape.end() - n};
    kernel.window = {shape.end() - n, shape.end()};
    kernel.steps = axes_of(node, "steps");
    kernel.dilations = axes_of(node, "dilations");
    if (is_tiling(kernel) && node.types()[0].dtype != DType::boolean)
        return lower_tiling(node, lowering);
    kernel.input = lowering.memory(0);
    kernel.output = lowering.new_output(0);
    lowering.emit(std::move(kernel));
}

const ir::Operation& fold_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "fold",
        .doc = "Overlapping windows added up: the transpose of windows.",
        .infer = [](const Tensors& x, const Attributes& attributes) -> std::vector<TensorType> {
            const Axes& lengths = attributes.get<Axes>("lengths");
            const Axes &steps = attributes.get<Axes>("steps"),
                       &dilations = attributes.get<Axes>("dilations");
            const Shape& from = x[0].shape();
            user_check(from.size() >= 2 * lengths.size(), "fold: shape ", from,
                       " has too few axes for lengths ", lengths,
                       ". Two axes for each length are required.");
            const size_t outer = from.size() - 2 * lengths.size();
            for (size_t d = 0; d < lengths.size(); ++d) {
                const int64_t count = from[outer + d], window = from[outer + lengths.size() + d];
                user_check(steps[d] > 0 && dilations[d] > 0, "fold: steps ", steps,
                           " and dilations ", dilations, " must be positive.");
                user_check((count - 1) * steps[d] + (window - 1) * dilations[d] < lengths[d],
                           "fold: ", count, " windows of ", window, " do not fit into length ",
                           lengths[d], ".");
            }
            Shape shape(from.begin(), from.begin() + static_cast<long>(outer));
            shape.insert(shape.end(), lengths.begin(), lengths.end());
            return {{shape, x[0].dtype()}};
        },
        .vjp = [](const Node& node, const Tensors& g, const Wanted&) -> Tensors {
            const Shape& shape = node.operand(0).shape();
            const Axes& steps = axes_of(node, "steps");
            const auto n = static_cast<long>(steps.size());
            const Axes window(shape.end() - n, shape.end());
            Tensor all = windows(g[0], window, steps, axes_of(node, "dilations"));
            if (all.shape() != shape)  // positions beyond the last window of the forward pass
                all = slice(all, Axes(shape.size(), 0), shape, Axes(shape.size(), 1));
            return {all};
        },
        .batch = batch_fold,
        .lower = lower_fold,
        .check = check_fold,
    });
    return operation;
}

const ir::Operation& iota_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "iota",
        .doc = "The position along one axis, as int64.",
        .infer = [](const Tensors&, const Attributes& attributes) -> std::vector<TensorType> {
            return {{attributes.get<Axes>("shape"), DType::int64}};
        },
        .vjp = [](const Node&, const Tensors&, const Wanted&) -> Tensors { return {}; },
        .lower =
            [](const Node& node, Lowering& lowering) {
                const Shape& shape = node.types()[0].shape;
                Access access;
                access.strides.assign(shape.size(), 0);
                access.strides[static_cast<size_t>(node.attributes().get<int64_t>("axis"))] = 1;
                lowering.result(0, nest_of(shape, access));
            },
        .check = check_iota,
    });
    return operation;
}

}  // namespace

Tensor windows(const Tensor& x, std::vector<int64_t> window, std::vector<int64_t> steps,
               std::vector<int64_t> dilations) {
    return make_checked(windows_operation(), {x},
                        {{"window", window}, {"steps", steps}, {"dilations", dilations}})[0];
}

Tensor fold(const Tensor& x, std::vector<int64_t> lengths, std::vector<int64_t> steps,
            std::vector<int64_t> dilations) {
    check_lists("fold", lengths.size(), {{"steps", steps}, {"dilations", dilations}});
    return ir::make(fold_operation(), {x},
                    {{"lengths", lengths}, {"steps", steps}, {"dilations", dilations}});
}

Tensor iota(Shape shape, int64_t axis) {
    return make_checked(iota_operation(), {}, {{"shape", shape}, {"axis", axis}})[0];
}

void register_windows() {
    windows_operation();
    fold_operation();
    iota_operation();
}

}  // namespace composit::ops
