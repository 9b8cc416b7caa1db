// The table of primitives, and what rules share.
#include "composit/jax/primitives.h"

#include "composit/base/error.h"
#include "composit/base/nearest.h"
#include "composit/jax/rules.h"

#include <cstring>
#include <limits>

namespace composit::jax {
namespace {

const ApplyRules& rules() {
    static const ApplyRules all = [] {
        ApplyRules made;
        add_elementwise_primitives(made);
        add_layout_primitives(made);
        add_indexing_primitives(made);
        add_reduction_primitives(made);
        add_product_primitives(made);
        add_matrix_primitives(made);
        add_random_primitives(made);
        return made;
    }();
    return all;
}

}  // namespace

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& [name, rule] : rules()) all.emplace_back(name);
    return all;
}

bool knows(std::string_view primitive) { return rules().contains(primitive); }

Tensors apply(std::string_view primitive, const Tensors& operands,
              const ir::Attributes& parameters) {
    const auto found = rules().find(primitive);
    user_check<NotSupported>(found != rules().end(), "trace_jax: the primitive '", primitive,
                             "' has no operation here. Programs of other primitives are required "
                             "(composit.flashlight.jax_primitives()).");
    return found->second({primitive, operands, parameters});
}

Tensor number(DType dtype, double value) { return ir::constant(ir::Array::scalar(dtype, value)); }

Tensor integer_number(DType dtype, int64_t value) {
    return ops::astype(ir::constant(ir::Array::of<int64_t>(DType::int64, {}, {value})), dtype);
}

Tensor counted(int64_t length, size_t axis, size_t rank) {
    Shape shape(rank, 1);
    shape[axis] = length;
    return ops::iota(shape, static_cast<int64_t>(axis));
}

Tensor with_axes_behind(const Tensor& x, size_t rank) {
    Shape shape = x.shape();
    shape.resize(rank, 1);
    return ops::reshape(x, shape);
}

Tensor reversed(const Tensor& x, const Axes& axes) {
    Axes starts(x.shape().size(), 0), steps(x.shape().size(), 1);
    for (const int64_t axis : axes) {
        const auto d = static_cast<size_t>(axis);
        starts[d] = x.shape()[d] - 1;
        steps[d] = -1;
    }
    return x.size() == 0 ? x : ops::slice(x, starts, x.shape(), steps);
}

Tensor extreme(DType dtype, bool is_least) {
    if (ir::is_floating(dtype)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return number(dtype, is_least ? -infinity : infinity);
    }
    const int width = 8 * ir::size_of(dtype);
    uint64_t bits = is_least ? 0 : ~uint64_t{0};
    if (dtype == DType::boolean) bits = is_least ? 0 : 1;
    if (ir::is_signed_integer(dtype))
        bits = is_least ? uint64_t{1} << (width - 1) : (uint64_t{1} << (width - 1)) - 1;
    ir::Array one(dtype, {});
    std::memcpy(one.mutable_data(), &bits, static_cast<size_t>(ir::size_of(dtype)));
    return ir::constant(one);
}

}  // namespace composit::jax
