// Layout: the same elements in another shape or order. None of these computes; most are views that
// cost nothing.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/lately.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"
#include "composit/ops/rules.h"

#include <algorithm>

namespace composit::ops {

namespace {

std::vector<TensorType> like(const Tensor& x, Shape shape) {
    return {{std::move(shape), x.dtype()}};
}
// Types of possible shapes.
std::vector<TensorType> checked(const ir::Operation& operation, std::vector<TensorType> types) {
    for (const TensorType& type : types) ir::check_shape(operation.name, type.shape);
    return types;
}
const Axes& axes_of(const Attributes& attributes, std::string_view name) {
    return attributes.get<Axes>(name);
}
const Axes& axes_of(const Node& node, std::string_view name) {
    return axes_of(node.attributes(), name);
}

Tensors batch_reshape(const Node& node, const Tensors& x, const Batched&, int64_t n) {
    return {reshape(x[0], prefixed(n, node.types()[0].shape))};
}

Tensors batch_transpose(const Node& node, const Tensors& x, const Batched&, int64_t) {
    return {transpose(x[0], prefixed(0, moved_right(axes_of(node, "axes"))))};
}

Tensors batch_broadcast(const Node& node, const Tensors& x, const Batched&, int64_t n) {
    const Shape& shape = node.types()[0].shape;
    return {broadcast_to(with_rank(x[0], static_cast<int>(shape.size())), prefixed(n, shape))};
}

Tensors batch_slice(const Node& node, const Tensors& x, const Batched&, int64_t n) {
    return {slice(x[0], prefixed(0, axes_of(node, "starts")), prefixed(n, axes_of(node, "lengths")),
                  prefixed(1, axes_of(node, "steps")))};
}

Tensors batch_concatenate(const Node& node, const Tensors& operands, const Batched& batched,
                          int64_t n) {
    Tensors parts;
    for (size_t i = 0; i < operands.size(); ++i)
        parts.push_back(with_batch(operands[i], batched[i], n));
    return {concatenate(parts, node.attributes().get<int64_t>("axis") + 1)};
}

Tensors batch_split(const Node& node, const Tensors& x, const Batched&, int64_t) {
    return split(x[0], axes_of(node, "lengths"), node.attributes().get<int64_t>("axis") + 1);
}

// ----- reshape
const ir::Operation& reshape_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "reshape",
        .doc = "The same elements, row-major, in another shape.",
        .infer =
            [](const Tensors& x, const Attributes& attributes) {
                const Shape& shape = axes_of(attributes, "shape");
                user_check(ir::element_count(shape) == x[0].size(),
                           "reshape: cannot reshape array of size ", x[0].size(), " into shape ",
                           shape, ". The number of elements must stay the same.");
                return like(x[0], shape);
            },
        .vjp = [](const Node& node, const Tensors& g, const Wanted&) -> Tensors {
            return {reshape(g[0], node.operand(0).shape())};
        },
        .batch = batch_reshape,
        .lower =
            [](const Node& node, Lowering& lowering) {
                const Shape& shape = node.types()[0].shape;
                const Nest x = lowering.operand(0);
                auto view = try_reshape(x, shape);
                if (!view) view = try_reshape(nest_of(x.extents, lowering.materialise(x)), shape);
                if (!view) {  // a view whose order does not fit: copied first
                    const Access copy = lowering.new_temporary(x.value.dtype(), x.extents);
                    lowering.emit(ir::kernel::Map{x.extents, x.inputs, {x.value}, {copy}});
                    view = nest_of(shape, row_major(copy.buffer, copy.dtype, shape, copy.offset));
                }
                lowering.result(0, *view);
            },
        .moves_elements = true,
        .check = check_reshape,
    });
    return operation;
}

// ----- transpose
const ir::Operation& transpose_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "transpose",
        .doc = "Axes in another order.",
        .infer =
            [](const Tensors& x, const Attributes& attributes) {
                Shape shape;
                for (int64_t axis : axes_of(attributes, "axes"))
                    shape.push_back(x[0].shape()[static_cast<size_t>(axis)]);
                return like(x[0], shape);
            },
        .vjp = [](const Node& node, const Tensors& g, const Wanted&) -> Tensors {
            const Axes& axes = axes_of(node, "axes");
            Axes inverse(axes.size());
            for (size_t d = 0; d < axes.size(); ++d)
                inverse[static_cast<size_t>(axes[d])] = static_cast<int64_t>(d);
            return {transpose(g[0], inverse)};
        },
        .batch = batch_transpose,
        .lower =
            [](const Node& node, Lowering& lowering) {
                lowering.result(
                    0, reindex(lowering.operand(0), node.types()[0].shape, [&](Access& access) {
                        std::vector<int64_t> strides;
                        for (int64_t axis : axes_of(node, "axes"))
                            strides.push_back(access.strides[static_cast<size_t>(axis)]);
                        access.strides = std::move(strides);
                    }));
            },
        .moves_elements = true,
        .check = check_transpose,
    });
    return operation;
}

// ----- broadcast_to
const ir::Operation& broadcast_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "broadcast_to",
        .doc = "Repeated along new axes and along axes of length 1.",
        .infer =
            [](const Tensors& x, const Attributes& attributes) {
                const Shape& shape = axes_of(attributes, "shape");
                const auto fits = [&] {
                    if (x[0].shape().size() > shape.size()) return false;
                    const size_t extra = shape.size() - x[0].shape().size();
                    for (size_t d = 0; d < x[0].shape().size(); ++d)
                        if (x[0].shape()[d] != 1 && x[0].shape()[d] != shape[extra + d])
                            return false;
                    return true;
                };
                user_check(
                    fits(),
                    "broadcast_to: operands could not be broadcast together with remapped shapes "
                    "[original->remapped]: ",
                    x[0].shape(), " and requested shape ", shape, ".");
                return like(x[0], shape);
            },
        .vjp = [](const Node& node, const Tensors& g, const Wanted&) -> Tensors {
            const Shape &shape = node.operand(0).shape(), &full = node.types()[0].shape;
            Axes axes;
            const size_t extra = full.size() - shape.size();
            for (size_t d = 0; d < full.size(); ++d)
                if (d < extra || (shape[d - extra] == 1 && full[d] != 1))
                    axes.push_back(static_cast<int64_t>(d));
            return {reshape(axes.empty() ? g[0] : reduce(Combiner::sum, g[0], axes), shape)};
        },
        .batch = batch_broadcast,
        .lower =
            [](const Node& node, Lowering& lowering) {
                lowering.result(0, broadcast(lowering.operand(0), node.types()[0].shape, lowering));
            },
        .moves_elements = true,
        .check = check_broadcast,
    });
    return operation;
}

// ----- slice
void check_is_within(const Shape& shape, const Axes& starts, const Axes& lengths,
                     const Axes& steps) {
    for (size_t d = 0; d < lengths.size(); ++d) {
        const int64_t n = shape[d], last = starts[d] + (lengths[d] - 1) * steps[d];
        internal_check(
            lengths[d] == 0 || (starts[d] >= 0 && starts[d] < n && last >= 0 && last < n), "slice ",
            starts, lengths, steps, " of ", shape);
    }
}

const ir::Operation& slice_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "slice",
        .doc = "Every step-th element of a range of each axis; steps may be negative.",
        .infer =
            [](const Tensors& x, const Attributes& attributes) {
                const Axes &starts = axes_of(attributes, "starts"),
                           &lengths = axes_of(attributes, "lengths");
                const Axes& steps = axes_of(attributes, "steps");
                check_is_within(x[0].shape(), starts, lengths, steps);
                return like(x[0], lengths);
            },
        .vjp = [](const Node& node, const Tensors& g, const Wanted&) -> Tensors {
            const Axes &starts = axes_of(node, "starts"), &lengths = axes_of(node, "lengths");
            const Axes& steps = axes_of(node, "steps");
            const Shape& shape = node.operand(0).shape();
            Axes low, high, interior, turn_starts, turn_steps;
            bool turns = false;
            for (size_t d = 0; d < shape.size(); ++d) {
                const bool back = steps[d] < 0;
                const int64_t step = back ? -steps[d] : steps[d], n = lengths[d];
                const int64_t first = n == 0 ? 0
                                      : back ? starts[d] + (n - 1) * steps[d]
                                             : starts[d];
                const int64_t covered = n == 0 ? 0 : (n - 1) * step + 1;
                turns = turns || back;
                turn_starts.push_back(back && n > 0 ? n - 1 : 0);
                turn_steps.push_back(back ? -1 : 1);
                low.push_back(first);
                high.push_back(shape[d] - first - covered);
                interior.push_back(step - 1);
            }
            const Tensor upright = turns ? slice(g[0], turn_starts, lengths, turn_steps) : g[0];
            return {pad(upright, ir::constant(Array::scalar(g[0].dtype(), 0), "scalar_0.0"), low,
                        high, interior)};
        },
        .batch = batch_slice,
        .lower =
            [](const Node& node, Lowering& lowering) {
                const Axes &starts = axes_of(node, "starts"), &steps = axes_of(node, "steps");
                lowering.result(
                    0, reindex(lowering.operand(0), node.types()[0].shape, [&](Access& access) {
                        for (size_t d = 0; d < starts.size(); ++d) {
                            access.offset += access.strides[d] * starts[d];
                            access.strides[d] *= steps[d];
                        }
                    }));
            },
        .moves_elements = true,
        .check = check_slice,
    });
    return operation;
}

// ----- concatenate
const ir::Operation& concatenate_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "concatenate",
        .doc = "Tensors one after the other along an axis.",
        .infer =
            [](const Tensors& parts, const Attributes& attributes) {
                const auto axis = static_cast<size_t>(attributes.get<int64_t>("axis"));
                Shape shape = parts[0].shape();
                for (size_t i = 1; i < parts.size(); ++i) {
                    const Shape& other = parts[i].shape();
                    user_check(other.size() == shape.size(),
                               "concatenate: all the input array dimensions except for the "
                               "concatenation axis must match exactly: array 0 has shape ",
                               parts[0].shape(), ", array ", i, " has shape ", other,
                               ". They must have the same number of dimensions.");
                    for (size_t d = 0; d < shape.size(); ++d)
                        user_check(
                            d == axis || other[d] == shape[d],
                            "concatenate: all the input array dimensions except "
                            "for the concatenation axis must match exactly, but along dimension ",
                            d,
                            ", the array at "
                            "index 0 has size ",
                            shape[d], " and the array at index ", i, " has size ", other[d], ".");
                    user_check(other[axis] <= ir::most_elements - shape[axis],
                               "concatenate: the parts are too long together. At most 2^58 "
                               "elements are required.");
                    shape[axis] += other[axis];
                }
                return like(parts[0], shape);
            },
        .vjp =
            [](const Node& node, const Tensors& g, const Wanted& wanted) {
                const int64_t axis = node.attributes().get<int64_t>("axis");
                Tensors result(node.operands().size());
                int64_t start = 0;
                for (size_t i = 0; i < result.size(); ++i) {
                    const int64_t length = node.operands()[i].shape()[static_cast<size_t>(axis)];
                    if (wanted[i]) result[i] = part(g[0], axis, start, length);
                    start += length;
                }
                return result;
            },
        .batch = batch_concatenate,
        .lower =
            [](const Node& node, Lowering& lowering) {
                const auto axis = static_cast<size_t>(node.attributes().get<int64_t>("axis"));
                Access target = lowering.new_output(0);
                for (size_t i = 0; i < node.operands().size(); ++i) {
                    const Nest x = lowering.operand(static_cast<int>(i));
                    if (ir::element_count(x.extents) > 0)
                        lowering.emit(ir::kernel::Map{x.extents, x.inputs, {x.value}, {target}});
                    target.offset += target.strides[axis] * x.extents[axis];
                }
            },
        .moves_elements = true,
        .check = check_concatenate,
    });
    return operation;
}

// ----- split
const ir::Operation& split_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "split",
        .doc = "Consecutive parts along an axis, as several outputs.",
        .infer =
            [](const Tensors& x, const Attributes& attributes) {
                const auto axis = static_cast<size_t>(attributes.get<int64_t>("axis"));
                std::vector<TensorType> types;
                int64_t total = 0;
                for (int64_t length : axes_of(attributes, "lengths")) {
                    Shape shape = x[0].shape();
                    shape[axis] = length;
                    types.push_back({shape, x[0].dtype()});
                    total += length;
                }
                internal_check(total == x[0].shape()[axis], "split: lengths");
                return types;
            },
        .vjp = [](const Node& node, const Tensors& g, const Wanted&) -> Tensors {
            Tensors parts;
            for (size_t i = 0; i < g.size(); ++i)
                parts.push_back(g[i] ? g[i]
                                     : full(node.types()[i].shape,
                                            ir::constant(Array::scalar(node.operand(0).dtype(), 0),
                                                         "scalar_0.0")));
            return {concatenate(parts, node.attributes().get<int64_t>("axis"))};
        },
        .batch = batch_split,
        .lower =
            [](const Node& node, Lowering& lowering) {
                const auto axis = static_cast<size_t>(node.attributes().get<int64_t>("axis"));
                const Nest x = lowering.operand(0);
                int64_t start = 0;
                for (int i = 0; i < node.output_count(); ++i) {
                    const Shape& shape = node.types()[static_cast<size_t>(i)].shape;
                    lowering.result(i, reindex(x, shape, [&](Access& access) {
                                        access.offset += access.strides[axis] * start;
                                    }));
                    start += shape[axis];
                }
            },
        .moves_elements = true,
        .check = check_split,
    });
    return operation;
}

}  // namespace

Tensor reshape(const Tensor& x, Shape shape) {
    thread_local Lately<1> lately;
    if (ir::element_count(shape) != x.size())
        return ir::make(reshape_operation(), {x}, {{"shape", shape}});  // says what is wrong
    const auto& record = lately.find(
        {&shape}, x.dtype(), [&] { return Attributes{{"shape", shape}}; },
        [&] { return checked(reshape_operation(), like(x, shape)); });
    return {ir::make_typed_node(reshape_operation(), {x}, record.attributes, record.types), 0};
}

Tensor transpose(const Tensor& x, Axes permutation) {
    return make_checked(transpose_operation(), {x}, {{"axes", permutation}})[0];
}

Tensor broadcast_to(const Tensor& x, Shape shape) {
    if (x.shape() == shape && !x.type().weak) return x;
    return ir::make(broadcast_operation(), {x}, {{"shape", shape}});
}

Tensor slice(const Tensor& x, std::vector<int64_t> starts, std::vector<int64_t> lengths,
             std::vector<int64_t> steps) {
    thread_local Lately<3> lately;
    check_lists("slice", x.shape().size(),
                {{"starts", starts}, {"lengths", lengths}, {"steps", steps}});
    check_is_within(x.shape(), starts, lengths, steps);
    const auto& record = lately.find(
        {&starts, &lengths, &steps}, x.dtype(),
        [&] { return Attributes{{"starts", starts}, {"lengths", lengths}, {"steps", steps}}; },
        [&] { return checked(slice_operation(), like(x, lengths)); });
    return {ir::make_typed_node(slice_operation(), {x}, record.attributes, record.types), 0};
}

Tensor concatenate(const std::vector<Tensor>& parts, int64_t axis) {
    return make_checked(concatenate_operation(), parts, {{"axis", axis}})[0];
}

std::vector<Tensor> split(const Tensor& x, std::vector<int64_t> lengths, int64_t axis) {
    return make_checked(split_operation(), {x}, {{"lengths", lengths}, {"axis", axis}});
}

Tensor full(Shape shape, const Tensor& value) { return broadcast_to(value, shape); }

Tensor zeros_like(const Tensor& x) {
    return full(x.shape(), ir::constant(Array::scalar(x.dtype(), 0),
                                        ir::is_floating(x.dtype()) ? "scalar_0.0" : "scalar_0"));
}

void register_layout() {
    reshape_operation();
    transpose_operation();
    broadcast_operation();
    slice_operation();
    concatenate_operation();
    split_operation();
}

}  // namespace composit::ops
