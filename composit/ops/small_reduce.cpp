#include "composit/ops/small_reduce.h"

#include "composit/ir/scalar/row.h"
#include "composit/ops/nest.h"

#include <algorithm>

namespace composit::ops {
namespace {

using ir::DType;
using ir::scalar::Expr;
using ir::scalar::Op;
using Exprs = std::vector<Expr>;

// What one body may read and do (semantics.md 15): a few loads for each element.
constexpr int64_t most_loads = 16, most_operations = 64;
constexpr size_t lanes = 32;  // of kernel::Reduce: each element has one of its own here

Expr combined(Combiner combiner, const Expr& a, const Expr& b) {
    switch (combiner) {
        case Combiner::sum: return Expr::make(Op::add, {a, b});
        case Combiner::product: return Expr::make(Op::multiply, {a, b});
        case Combiner::maximum: return Expr::call(ir::scalar::row("maximum"), {a, b});
        case Combiner::minimum: return Expr::call(ir::scalar::row("minimum"), {a, b});
        case Combiner::any: return Expr::make(Op::bit_or, {a, b});
        case Combiner::all: return Expr::make(Op::bit_and, {a, b});
        case Combiner::argmax:
        case Combiner::argmin: break;
    }
    return a;
}

// Lanes combine by halving, absent ones are skipped.
Expr halved(Combiner combiner, Exprs elements) {
    for (size_t half = lanes / 2; half >= 1; half /= 2) {
        if (elements.size() <= half) continue;
        for (size_t j = 0; j + half < elements.size(); ++j)
            elements[j] = combined(combiner, elements[j], elements[j + half]);
        elements.resize(half);
    }
    return elements[0];
}

// The position of the first extremum, or of the first NaN.
Expr first_position(Combiner combiner, const Exprs& elements) {
    const Op beats = combiner == Combiner::argmax ? Op::greater : Op::less;
    Expr best = elements[0], position = Expr::constant_integer(DType::int64, 0);
    const bool has_nan = ir::is_floating(best.dtype());
    for (size_t i = 1; i < elements.size(); ++i) {
        const Expr& x = elements[i];
        Expr wins = Expr::make(beats, {x, best});
        if (has_nan) wins = wins | (not_equal(x, x) & equal(best, best));
        position =
            select(wins, Expr::constant_integer(DType::int64, static_cast<int64_t>(i)), position);
        best = select(wins, x, best);
    }
    return position;
}

}  // namespace

std::optional<ir::Nest> small_reduction(const ir::Nest& x, Combiner combiner, const Axes& axes,
                                        const ir::Shape& shape) {
    ir::Shape reduced;
    for (int64_t axis : axes) reduced.push_back(x.extents[static_cast<size_t>(axis)]);
    const int64_t count = ir::element_count(reduced);
    const int64_t steps = finds_position(combiner) ? 6 : 1;
    if (count == 0 ||
        count * static_cast<int64_t>(std::max<size_t>(1, x.inputs.size())) > most_loads ||
        count * (operation_count(x) + steps) > most_operations || ir::is_complex(x.value.dtype()))
        return std::nullopt;
    const bool keeps_axes = shape.size() == x.extents.size();
    std::vector<ir::Nest> elements;
    for (int64_t e = 0; e < count; ++e) {
        elements.push_back(reindex(x, shape, [&](Access& access) {
            std::vector<int64_t> kept;
            int64_t rest = e;
            for (size_t d = x.extents.size(); d-- > 0;) {
                const bool is_reduced =
                    std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(d));
                if (is_reduced) {
                    access.offset += access.strides[d] * (rest % x.extents[d]);
                    rest /= x.extents[d];
                }
                if (!is_reduced || keeps_axes) kept.push_back(is_reduced ? 0 : access.strides[d]);
            }
            std::reverse(kept.begin(), kept.end());
            access.strides = std::move(kept);
        }));
    }
    return combine(elements, [&](const Exprs& values) {
        Exprs typed = values;
        if (combiner == Combiner::any || combiner == Combiner::all)
            for (Expr& value : typed) value = Expr::cast(value, DType::boolean);
        return finds_position(combiner) ? first_position(combiner, typed)
                                        : halved(combiner, std::move(typed));
    });
}

}  // namespace composit::ops
