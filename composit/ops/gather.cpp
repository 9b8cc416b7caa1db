// gather and scatter: NumPy's integer indexing and its reverse.
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/lift.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

#include <algorithm>

namespace composit::ops {

namespace {

bool is_indexed(const Axes& axes, size_t d) {
    return std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
}

Shape index_shape(const Tensors& operands, size_t first, size_t count) {
    std::vector<Shape> shapes;
    for (size_t i = first; i < first + count; ++i) {
        user_check<IndexError>(ir::is_integer(operands[i].dtype()),
                               "arrays used as indices must be of integer (or boolean) type, not ",
                               operands[i].dtype(), ".");
        shapes.push_back(operands[i].shape());
    }
    return broadcast_shapes("indexing", shapes);
}

Shape selected_shape(const Tensor& data, const Shape& index, const Axes& axes) {
    Shape shape = index;
    for (size_t d = 0; d < data.shape().size(); ++d)
        if (!is_indexed(axes, d)) shape.push_back(data.shape()[d]);
    return shape;
}

// What gather and scatter kernels have in common, read off the node's operands 1 … n.
template <class Kernel>
void describe(Kernel& kernel, const Node& node, Lowering& lowering, const Shape& index,
              Access data) {
    const Axes& axes = node.attributes().get<Axes>("axes");
    const Shape& shape = node.operand(0).shape();
    kernel.outer = index;
    std::vector<int64_t> inner_strides;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (is_indexed(axes, d)) continue;
        kernel.inner.push_back(shape[d]);
        inner_strides.push_back(data.strides[d]);
    }
    for (size_t i = 0; i < axes.size(); ++i) {
        const auto axis = static_cast<size_t>(axes[i]);
        kernel.axis_strides.push_back(data.strides[axis]);
        kernel.axis_lengths.push_back(shape[axis]);
        kernel.axis_numbers.push_back(axes[i]);
        const Nest position = broadcast(
            combine({lowering.operand(static_cast<int>(i) + 1)},
                    [](const auto& x) { return ir::scalar::Expr::cast(x[0], DType::int64); }),
            index, lowering);
        kernel.indices.push_back(lowering.materialise(position));
    }
    data.strides = std::move(inner_strides);
    kernel.data = data;
}

// Constants were checked when they were given.
bool has_computed_index(const Node& node) {
    const size_t count = node.attributes().get<Axes>("axes").size();
    return std::any_of(node.operands().begin() + 1,
                       node.operands().begin() + 1 + static_cast<long>(count),
                       [](const Tensor& index) { return !ir::is_constant(index.node()); });
}

template <class T>
void check_index(const ir::Array& index, int64_t axis, int64_t length) {
    const T* const values = index.data_as<T>();
    for (int64_t i = 0; i < index.size(); ++i) {
        const auto value = static_cast<int64_t>(values[i]);
        if (value >= length || value < -length)
            fail<IndexError>("index ", value, " is out of bounds for axis ", axis, " with size ",
                             length);
    }
}

void check_index(const ir::Array& index, int64_t axis, int64_t length) {
    switch (index.dtype()) {
        case DType::int8: return check_index<int8_t>(index, axis, length);
        case DType::int16: return check_index<int16_t>(index, axis, length);
        case DType::int32: return check_index<int32_t>(index, axis, length);
        case DType::int64: return check_index<int64_t>(index, axis, length);
        case DType::uint8: return check_index<uint8_t>(index, axis, length);
        case DType::uint16: return check_index<uint16_t>(index, axis, length);
        case DType::uint32: return check_index<uint32_t>(index, axis, length);
        case DType::uint64: return check_index<uint64_t>(index, axis, length);
        default: return;
    }
}

void check_indices(const Node& node, const std::vector<ir::Array>& indices) {
    const Axes& axes = node.attributes().get<Axes>("axes");
    for (size_t i = 0; i < axes.size(); ++i)
        check_index(indices[i], axes[i], node.operand(0).shape()[static_cast<size_t>(axes[i])]);
}

Tensors index_operands(const Node& node, size_t count) {
    return {node.operands().begin() + 1, node.operands().begin() + 1 + static_cast<long>(count)};
}

Tensors indices_of(const Node& node) {
    return index_operands(node, node.attributes().get<Axes>("axes").size());
}

// The indices of all slices: the number of the slice selects along the leading axis of data.
Tensors batched_indices(const Node& node, const Tensors& operands, const Batched& batched,
                        int64_t n) {
    const Axes& axes = node.attributes().get<Axes>("axes");
    const int rank = static_cast<int>(index_shape(node.operands(), 1, axes.size()).size());
    Tensors indices{with_rank(iota({n}, 0), rank)};
    for (size_t i = 1; i <= axes.size(); ++i)
        indices.push_back(batched[i] ? with_rank(operands[i], rank) : operands[i]);
    return indices;
}

Tensors batch_gather(const Node& node, const Tensors& operands, const Batched& batched, int64_t n) {
    const Axes& axes = node.attributes().get<Axes>("axes");
    Tensors indices = batched_indices(node, operands, batched, n);
    const bool any_index = std::find(batched.begin() + 1, batched.end(), true) != batched.end();
    if (batched[0] && any_index)
        return {gather(operands[0], indices, prefixed(0, moved_right(axes)))};
    indices.erase(indices.begin());
    if (!batched[0]) return {gather(operands[0], indices, axes)};
    const int64_t rank = static_cast<int64_t>(index_shape(node.operands(), 1, axes.size()).size());
    return {axis_to_front(gather(operands[0], indices, moved_right(axes)), rank)};
}

Tensors batch_scatter(const Node& node, const Tensors& operands, const Batched& batched,
                      int64_t n) {
    return {scatter(
        with_batch(operands[0], batched[0], n), batched_indices(node, operands, batched, n),
        prefixed(0, moved_right(node.attributes().get<Axes>("axes"))),
        with_batch(operands.back(), batched.back(), n), node.attributes().get<bool>("add"))};
}

const ir::Operation& gather_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "gather",
        .doc = "Elements selected by integer tensors (NumPy's advanced indexing).",
        .infer = [](const Tensors& x, const Attributes& attributes) -> std::vector<TensorType> {
            const Axes& axes = attributes.get<Axes>("axes");
            return {{selected_shape(x[0], index_shape(x, 1, axes.size()), axes), x[0].dtype()}};
        },
        .vjp =
            [](const Node& node, const Tensors& g, const Wanted& wanted) {
                Tensors result(node.operands().size());
                const Axes& axes = node.attributes().get<Axes>("axes");
                if (wanted[0] && ir::is_inexact(node.operand(0).dtype()))
                    result[0] = scatter(zeros_like(node.operand(0)),
                                        index_operands(node, axes.size()), axes, g[0], true);
                return result;
            },
        .batch = batch_gather,
        .lower =
            [](const Node& node, Lowering& lowering) {
                const Axes& axes = node.attributes().get<Axes>("axes");
                ir::kernel::Gather kernel;
                describe(kernel, node, lowering, index_shape(node.operands(), 1, axes.size()),
                         lowering.memory(0));
                kernel.output = lowering.new_output(0);
                lowering.emit(std::move(kernel));
            },
        .moves_elements = true,
        .check = check_gather,
        .may_fail = has_computed_index,
        .deciding = indices_of,
        .check_values = check_indices,
    });
    return operation;
}

const ir::Operation& scatter_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "scatter",
        .doc = "A copy of a tensor with values added to, or written over, the elements that "
               "integer tensors select.",
        .infer = [](const Tensors& x, const Attributes& attributes) -> std::vector<TensorType> {
            const Axes& axes = attributes.get<Axes>("axes");
            const Shape shape = selected_shape(x[0], index_shape(x, 1, axes.size()), axes);
            user_check(x.back().shape() == shape && x.back().dtype() == x[0].dtype(),
                       "scatter: the update has type ", x.back().type(), ". ",
                       ir::TensorType{shape, x[0].dtype()}, " is required.");
            return {{x[0].shape(), x[0].dtype()}};
        },
        .vjp =
            [](const Node& node, const Tensors& g, const Wanted& wanted) {
                Tensors result(node.operands().size());
                if (!ir::is_inexact(node.operand(0).dtype())) return result;
                const Axes& axes = node.attributes().get<Axes>("axes");
                const Tensors indices = index_operands(node, axes.size());
                const bool add = node.attributes().get<bool>("add");
                const Tensor& update = node.operands().back();
                if (wanted[0])
                    result[0] =
                        add ? g[0] : scatter(g[0], indices, axes, zeros_like(update), false);
                if (!wanted.back()) return result;
                Tensor back = gather(g[0], indices, axes);
                const bool one_place =
                    ir::element_count(index_shape(node.operands(), 1, axes.size())) == 1;
                if (!add && !one_place) {
                    // Of several updates of one element only the last one stays: number them and
                    // see whose number is left.
                    const Tensor number = reshape(iota({update.size()}, 0), update.shape());
                    const Tensor none =
                        full(node.operand(0).shape(),
                             ir::constant(Array::scalar(DType::int64, -1), "scalar_-1"));
                    const Tensor winner =
                        gather(scatter(none, indices, axes, number, false), indices, axes);
                    back = map("where", {map("equal", {winner, number}), back, zeros_like(back)});
                }
                result.back() = back;
                return result;
            },
        .batch = batch_scatter,
        .lower =
            [](const Node& node, Lowering& lowering) {
                const Axes& axes = node.attributes().get<Axes>("axes");
                const Nest x = lowering.operand(0);
                const Access target = lowering.new_output(0);
                lowering.emit(ir::kernel::Map{x.extents, x.inputs, {x.value}, {target}});
                ir::kernel::Scatter kernel;
                describe(kernel, node, lowering, index_shape(node.operands(), 1, axes.size()),
                         target);
                kernel.update = lowering.memory(static_cast<int>(node.operands().size()) - 1);
                kernel.add = node.attributes().get<bool>("add");
                lowering.emit(std::move(kernel));
            },
        .check = check_scatter,
        .may_fail = has_computed_index,
        .deciding = indices_of,
        .check_values = check_indices,
    });
    return operation;
}

}  // namespace

Tensor gather(const Tensor& data, const std::vector<Tensor>& indices, Axes axes) {
    Tensors operands{data};
    operands.insert(operands.end(), indices.begin(), indices.end());
    return make_checked(gather_operation(), operands, {{"axes", axes}})[0];
}

Tensor scatter(const Tensor& data, const std::vector<Tensor>& indices, Axes axes,
               const Tensor& update, bool add) {
    Tensors operands{data};
    operands.insert(operands.end(), indices.begin(), indices.end());
    operands.push_back(update);
    return make_checked(scatter_operation(), operands, {{"axes", axes}, {"add", add}})[0];
}

void register_gather() {
    gather_operation();
    scatter_operation();
}

}  // namespace composit::ops
