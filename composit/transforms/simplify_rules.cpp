// Rewrites that hold for every value, special ones included.
#include "composit/transforms/simplify_rules.h"

#include "composit/ir/dtype_traits.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/target/target.h"

#include <algorithm>

namespace composit::transforms {
namespace {

using ir::DType;
using ir::Node;
using ir::Shape;
using ir::Tensor;
using ir::kernel::Combiner;
using Axes = std::vector<int64_t>;

const Axes& axes_of(const Node& node, std::string_view name) {
    return node.attributes().get<Axes>(name);
}

bool is(const Tensor& x, std::string_view operation) {
    return x.node().operation().name == operation;
}

bool all_are(const Axes& values, int64_t value) {
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
}

Tensor operand_of_equal_type(const Node& node) {
    return node.operand(0).type() == node.types()[0] ? node.operand(0) : Tensor();
}

Tensor reshape_of_reshape(const Node& node) {
    if (!is(node.operand(0), "reshape")) return {};
    return ops::reshape(node.operand(0).node().operand(0), node.types()[0].shape);
}

Tensor identity_transpose(const Node& node) {
    const Axes& axes = axes_of(node, "axes");
    for (size_t d = 0; d < axes.size(); ++d)
        if (axes[d] != static_cast<int64_t>(d)) return {};
    return operand_of_equal_type(node);
}

Tensor transpose_of_transpose(const Node& node) {
    if (!is(node.operand(0), "transpose")) return {};
    const Node& inner = node.operand(0).node();
    Axes axes;
    for (int64_t axis : axes_of(node, "axes"))
        axes.push_back(axes_of(inner, "axes")[static_cast<size_t>(axis)]);
    return ops::transpose(inner.operand(0), axes);
}

Tensor broadcast_of_broadcast(const Node& node) {
    if (!is(node.operand(0), "broadcast_to")) return {};
    return ops::broadcast_to(node.operand(0).node().operand(0), node.types()[0].shape);
}

Tensor astype_there_and_back(const Node& node) {
    if (!is(node.operand(0), "astype")) return {};
    const Tensor& x = node.operand(0).node().operand(0);
    return x.type() == node.types()[0] && ir::holds_all(node.operand(0).dtype(), x.dtype())
               ? x
               : Tensor();
}

Tensor whole_slice(const Node& node) {
    const bool is_whole = all_are(axes_of(node, "starts"), 0) && all_are(axes_of(node, "steps"), 1);
    return is_whole ? operand_of_equal_type(node) : Tensor();
}

Tensor slice_of_slice(const Node& node) {
    if (!is(node.operand(0), "slice")) return {};
    const Node& inner = node.operand(0).node();
    Axes starts = axes_of(inner, "starts"), steps = axes_of(inner, "steps");
    for (size_t d = 0; d < starts.size(); ++d) {
        starts[d] += axes_of(node, "starts")[d] * steps[d];
        steps[d] *= axes_of(node, "steps")[d];
    }
    if (node.types()[0].shape != Shape() && ir::element_count(node.types()[0].shape) == 0)
        return {};  // starts of empty ranges may lie outside
    return ops::slice(inner.operand(0), starts, node.types()[0].shape, steps);
}

Tensor pad_by_nothing(const Node& node) {
    const bool is_nothing = all_are(axes_of(node, "low"), 0) && all_are(axes_of(node, "high"), 0) &&
                            all_are(axes_of(node, "interior"), 0);
    return is_nothing ? operand_of_equal_type(node) : Tensor();
}

Tensor concatenation_of_one(const Node& node) {
    return node.operands().size() == 1 ? operand_of_equal_type(node) : Tensor();
}

Tensor reduction_of_no_axes(const Node& node) {
    const auto combiner = static_cast<Combiner>(node.attributes().get<int64_t>("combiner"));
    if (combiner == Combiner::argmax || combiner == Combiner::argmin) return {};
    return axes_of(node, "axes").empty() ? operand_of_equal_type(node) : Tensor();
}

// The row of a map by its name; empty for rows of users, who may mean anything.
std::string_view row_of(const Node& node) {
    const auto& row = node.attributes().get<ir::scalar::RowRef>("row");
    return ir::scalar::is_user_row(*row) ? std::string_view() : std::string_view(row->name);
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The operand, when it is a map of the same row and all three have one type.
const Node* same_map_inside(const Node& node) {
    if (node.operands().size() != 1 || !is(node.operand(0), "map")) return nullptr;
    const Node& inner = node.operand(0).node();
    const bool same = inner.operands().size() == 1 && row_of(inner) == row_of(node) &&
                      inner.operand(0).type() == node.types()[0] &&
                      inner.types()[0] == node.types()[0];
    return same ? &inner : nullptr;
}

Tensor involution_twice(const Node& node) {
    if (!is_one_of(row_of(node), {"negative", "invert", "logical_not", "conjugate"})) return {};
    const Node* inner = same_map_inside(node);
    return inner ? inner->operand(0) : Tensor();
}

Tensor idempotent_twice(const Node& node) {
    if (!is_one_of(row_of(node), {"absolute", "fabs", "floor", "ceil", "trunc", "rint"})) return {};
    return same_map_inside(node) ? node.operand(0) : Tensor();
}

Tensor positive(const Node& node) {
    return row_of(node) == "positive" ? operand_of_equal_type(node) : Tensor();
}

}  // namespace

Tensor swapped_product(const Node& transpose) {
    const int64_t tile = Target().least_columns;  // a graph is of no target yet
    const Node& product = transpose.operand(0).node();
    if (product.operation().name != "contract" || ir::is_complex(product.types()[0].dtype))
        return {};
    const Tensor &a = product.operand(0), &b = product.operand(1);
    const ops::Contraction c = ops::contraction_of(product.attributes());
    const auto length = [](const Tensor& x, const Axes& axes) {
        int64_t count = 1;
        for (const int64_t axis : axes) count *= x.shape()[static_cast<size_t>(axis)];
        return count;
    };
    const Axes rows = ops::free_axes(a, c.batch_a, c.contracted_a),
               columns = ops::free_axes(b, c.batch_b, c.contracted_b);
    if (length(a, rows) < tile || length(b, columns) < tile) return {};
    Axes swapped;
    const auto add = [&](size_t first, size_t count) {
        for (size_t d = 0; d < count; ++d) swapped.push_back(static_cast<int64_t>(first + d));
    };
    const size_t batch = c.batch_a.size();
    add(0, batch);
    add(batch + rows.size(), columns.size());
    add(batch, rows.size());
    if (axes_of(transpose, "axes") != swapped) return {};
    return ops::contract(b, a, {c.batch_b, c.batch_a, c.contracted_b, c.contracted_a});
}

const std::vector<SimplifyRule>& simplify_rules() {
    static const std::vector<SimplifyRule> rules{
        {"reshape", "reshape(x, x.shape) = x", operand_of_equal_type},
        {"reshape", "reshape(reshape(x, s), t) = reshape(x, t)", reshape_of_reshape},
        {"transpose", "transpose(x, identity) = x", identity_transpose},
        {"transpose", "transpose(transpose(x, p), q) = transpose(x, p[q])", transpose_of_transpose},
        {"broadcast_to", "broadcast_to(x, x.shape) = x", operand_of_equal_type},
        {"broadcast_to", "broadcast_to(broadcast_to(x, s), t) = broadcast_to(x, t)",
         broadcast_of_broadcast},
        {"astype", "astype(x, x.dtype) = x", operand_of_equal_type},
        {"astype", "astype(astype(x, wider), x.dtype) = x", astype_there_and_back},
        {"slice", "slice(x, everything) = x", whole_slice},
        {"slice", "slice(slice(x, s), t) = slice(x, s[t])", slice_of_slice},
        {"pad", "pad(x, nothing) = x", pad_by_nothing},
        {"concatenate", "concatenate([x]) = x", concatenation_of_one},
        {"reduce", "sum, product, maximum, minimum, any, all over no axes = x",
         reduction_of_no_axes},
        {"map", "negative, invert, logical_not, conjugate twice = x", involution_twice},
        {"map", "absolute, floor, ceil, trunc, rint twice = once", idempotent_twice},
        {"map", "positive(x) = x", positive},
    };
    return rules;
}

}  // namespace composit::transforms
