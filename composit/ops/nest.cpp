#include "composit/ops/nest.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>

namespace composit::ops {

using ir::Shape;
using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

// Strides of `shape` over the memory that `strides` of `from` describe, or nothing. Both describe
// the same elements.
std::optional<std::vector<int64_t>> reshaped_strides(const Shape& from,
                                                     const std::vector<int64_t>& strides,
                                                     const Shape& shape) {
    std::vector<int64_t> lengths, steps;  // `from` without lengths of 1, neighbours merged
    for (size_t d = 0; d < from.size(); ++d) {
        if (from[d] == 1) continue;
        if (!lengths.empty() && steps.back() == strides[d] * from[d]) {
            lengths.back() *= from[d];
            steps.back() = strides[d];
        } else {
            lengths.push_back(from[d]);
            steps.push_back(strides[d]);
        }
    }
    std::vector<int64_t> result(shape.size(), 0);
    size_t part = lengths.size();
    int64_t left = 1,
            step = 0;  // what is left of the current merged dimension, and its next stride
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] == 1) continue;
        if (left == 1) {
            if (part == 0) return std::nullopt;
            --part;
            left = lengths[part];
            step = steps[part];
        }
        if (left % shape[d] != 0) return std::nullopt;
        result[d] = step;
        step *= shape[d];
        left /= shape[d];
    }
    return result;
}

// The value of `nest` with its inputs numbered anew.
Expr renumbered(const Nest& nest, const std::vector<size_t>& numbers) {
    std::vector<Expr> arguments;
    for (size_t i = 0; i < numbers.size(); ++i)
        arguments.push_back(Expr::argument(static_cast<int>(numbers[i]), nest.inputs[i].dtype));
    return ir::scalar::substitute({nest.value}, arguments).front();
}

}  // namespace

bool is_equal(const Access& a, const Access& b) {
    return a.buffer == b.buffer && a.dtype == b.dtype && a.offset == b.offset &&
           a.strides == b.strides;
}

Access row_major(int buffer, ir::DType dtype, const Shape& shape, int64_t offset) {
    return {buffer, dtype, offset, ir::row_major_strides(shape)};
}

Nest nest_of(const Shape& shape, const Access& access) {
    return {shape, {access}, Expr::argument(0, access.dtype)};
}

bool is_view(const Nest& nest) {
    return nest.inputs.size() == 1 && nest.value.op() == Op::argument;
}

int operation_count(const Nest& nest) {
    int count = 0;
    for (const Expr& e : ir::scalar::topological_order({nest.value}))
        if (e.op() != Op::argument && e.op() != Op::constant) ++count;
    return count;
}

namespace {

// Primitive operations of one node of a body; many for those that take long.
int steps_of(const Expr& e) {
    constexpr int long_time = 100;
    switch (e.op()) {
        case Op::argument:
        case Op::constant: return 0;
        case Op::divide:
        case Op::remainder:
        case Op::square_root:
        case Op::loop:
        case Op::lookup: return long_time;
        case Op::call: break;
        default: return 1;
    }
    std::vector<ir::DType> operands;
    for (const Expr& operand : e.operands()) operands.push_back(operand.dtype());
    int count = 0;
    for (const Expr& inner :
         ir::scalar::topological_order({ir::scalar::specialise(e.row(), operands).body}))
        count += inner.op() == Op::call ? long_time : steps_of(inner);
    return count;
}

}  // namespace

bool moves_with_all(const Access& access, const ir::kernel::Extents& extents) {
    bool moves = access.buffer != Access::position;
    for (size_t d = 0; d < extents.size(); ++d) moves &= access.strides[d] != 0 || extents[d] == 1;
    return moves;
}

bool is_quick(const Nest& nest) {
    constexpr int most_steps = 8;
    int whole = 0;
    for (const Access& input : nest.inputs) whole += moves_with_all(input, nest.extents);
    int steps = 0;
    for (const Expr& e : ir::scalar::topological_order({nest.value})) {
        steps += steps_of(e);
        if (steps > most_steps) return false;
    }
    return whole <= 1;
}

Nest combine(const std::vector<Nest>& nests,
             const std::function<Expr(const std::vector<Expr>&)>& body) {
    Nest result;
    if (!nests.empty()) result.extents = nests.front().extents;
    std::vector<Expr> values;
    for (const Nest& nest : nests) {
        internal_check(nest.extents == result.extents, "combine: extents ", nest.extents, " and ",
                       result.extents);
        std::vector<size_t> numbers;
        bool moved = false;  // the first nest of a chain keeps its numbers, and so its body
        for (const Access& access : nest.inputs) {
            size_t k = 0;
            while (k < result.inputs.size() && !is_equal(result.inputs[k], access)) ++k;
            if (k == result.inputs.size()) result.inputs.push_back(access);
            moved |= k != numbers.size();
            numbers.push_back(k);
        }
        values.push_back(moved ? renumbered(nest, numbers) : nest.value);
    }
    result.value = body(values);
    return result;
}

Nest reindex(const Nest& nest, const Shape& shape, const std::function<void(Access&)>& change) {
    Nest result = nest;
    result.extents = shape;
    for (Access& access : result.inputs) {
        change(access);
        internal_check(access.strides.size() == shape.size(), "reindex: rank of strides");
    }
    return result;
}

Nest broadcast(const Nest& nest, const Shape& shape, ir::Lowering& lowering) {
    if (nest.extents == shape) return nest;
    const bool repeats = ir::element_count(shape) > ir::element_count(nest.extents);
    Nest source = nest;
    if (repeats && operation_count(nest) > 0 && ir::element_count(nest.extents) > 0 &&
        !nest.inputs.empty())
        source = nest_of(nest.extents, lowering.materialise(nest));
    const size_t extra = shape.size() - nest.extents.size();
    return reindex(source, shape, [&](Access& access) {
        std::vector<int64_t> strides(shape.size(), 0);
        for (size_t d = 0; d < nest.extents.size(); ++d)
            if (nest.extents[d] != 1) strides[extra + d] = access.strides[d];
        access.strides = std::move(strides);
    });
}

std::optional<Nest> try_reshape(const Nest& nest, const Shape& shape) {
    Nest result = nest;
    result.extents = shape;
    if (ir::element_count(shape) == 0) {
        for (Access& access : result.inputs) access.strides.assign(shape.size(), 0);
        return result;
    }
    for (Access& access : result.inputs) {
        auto strides = reshaped_strides(nest.extents, access.strides, shape);
        if (!strides) return std::nullopt;
        access.strides = std::move(*strides);
    }
    return result;
}

KeptRange kept_by_padding(int64_t length, int64_t low, int64_t step, int64_t padded_length) {
    const int64_t first = low < 0 ? (-low + step - 1) / step : 0;
    const int64_t room = padded_length - 1 - low;  // the last position times step must not pass it
    const int64_t last = room < 0 ? -1 : std::min(length - 1, room / step);
    return {first, std::max<int64_t>(0, last - first + 1)};
}

void emit_pad(ir::Lowering& lowering, const Nest& x, const Nest& fill,
              const std::vector<int64_t>& low, const std::vector<int64_t>& interior,
              const Shape& shape, const Access& target) {
    const Nest around = broadcast(fill, shape, lowering);
    lowering.emit(ir::kernel::Map{shape, around.inputs, {around.value}, {target}});
    Shape inner(shape.size());
    std::vector<int64_t> first(shape.size());
    Access place = target;
    for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t step = interior[d] + 1;
        const KeptRange kept = kept_by_padding(x.extents[d], low[d], step, shape[d]);
        first[d] = kept.first;
        inner[d] = kept.count;
        place.offset += target.strides[d] * (low[d] + first[d] * step);
        place.strides[d] = target.strides[d] * step;
    }
    if (ir::element_count(inner) == 0) return;
    const Nest kept = reindex(x, inner, [&](Access& access) {
        for (size_t d = 0; d < shape.size(); ++d) access.offset += access.strides[d] * first[d];
    });
    lowering.emit(ir::kernel::Map{inner, kept.inputs, {kept.value}, {place}});
}

}  // namespace composit::ops
