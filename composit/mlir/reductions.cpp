// Reductions and running folds.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/mlir/graph_printer.h"
#include "composit/ops/combiner_of.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace composit::mlir {

Value extreme(Writer& out, DType dtype, bool is_least) {
    if (ir::is_floating(dtype)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return out.number(dtype, is_least ? -infinity : infinity);
    }
    const int width = 8 * ir::size_of(dtype);
    const bool is_signed = ir::is_signed_integer(dtype);
    uint64_t bits = is_least ? 0 : ~uint64_t{0};
    if (is_signed) bits = is_least ? uint64_t{1} << (width - 1) : (uint64_t{1} << (width - 1)) - 1;
    ir::Array one(dtype, {});
    std::memcpy(one.mutable_data(), &bits, static_cast<size_t>(ir::size_of(dtype)));
    return out.constant(one);
}

namespace {

using ir::kernel::Combiner;

const char* operation_of(Combiner combiner) {
    switch (combiner) {
        case Combiner::sum: return "add";
        case Combiner::product: return "multiply";
        case Combiner::maximum:
        case Combiner::argmax: return "maximum";
        case Combiner::minimum:
        case Combiner::argmin: return "minimum";
        case Combiner::any: return "or";
        case Combiner::all: return "and";
    }
    return "";
}

Value first_of(Writer& out, Combiner combiner, DType dtype) {
    switch (combiner) {
        case Combiner::sum:
        case Combiner::any: return out.number(dtype, 0);
        case Combiner::product:
        case Combiner::all: return out.number(dtype, 1);
        case Combiner::maximum:
        case Combiner::argmax: return extreme(out, dtype, true);
        default: return extreme(out, dtype, false);
    }
}

// The first place of an extremum along one axis: that of several ones is found along all in a row.
// The first NaN is one.
Value position(Writer& out, const Node& node, const Value& x, const Axes& axes) {
    Axes order;
    for (int64_t d = 0; d < x.rank(); ++d)
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
    Shape kept;
    for (const int64_t d : order) kept.push_back(x.shape[static_cast<size_t>(d)]);
    order.insert(order.end(), axes.begin(), axes.end());
    Shape flat = kept;
    int64_t length = 1;
    for (const int64_t d : axes) length *= x.shape[static_cast<size_t>(d)];
    flat.push_back(length);
    const Value rows = out.reshape(out.transpose(x, order), flat);
    const auto last = static_cast<int64_t>(flat.size()) - 1;
    const Combiner combiner = ops::combiner_of(node);
    const ValueType element{x.dtype, {}}, place{DType::int64, {}};
    const char* const direction = combiner == Combiner::argmax ? "GT" : "LT";
    const Values found = out.with_block(
        "reduce",
        {rows, out.iota(DType::int64, flat, last), first_of(out, combiner, x.dtype),
         out.number(DType::int64, 0)},
        "dimensions = array<i64: " + std::to_string(last) + ">", {element, place, element, place},
        [&](const Values& v) {
            const Value &a = v[0], &i = v[1], &b = v[2], &j = v[3];
            Value wins = out.compare(direction, a, b), ties = out.compare("EQ", a, b);
            if (ir::is_floating(a.dtype)) {
                const Value a_is_nan = out.compare("NE", a, a), b_is_nan = out.compare("NE", b, b);
                wins = out.binary("or", wins, out.binary("and", a_is_nan, out.negation(b_is_nan)));
                ties = out.binary("or", ties, out.binary("and", a_is_nan, b_is_nan));
            }
            wins = out.binary("or", wins, out.binary("and", ties, out.compare("LT", i, j)));
            return Values{out.select(wins, a, b), out.select(wins, i, j)};
        },
        {{x.dtype, kept}, {DType::int64, kept}});
    return out.reshape(found[1], node.types()[0].shape);
}

Values reduce(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const Axes& axes = node.attributes().get<Axes>("axes");
    const Combiner combiner = ops::combiner_of(node);
    Value value = x[0];
    if (combiner == Combiner::any || combiner == Combiner::all)
        value = out.convert(value, DType::boolean);
    else if (value.dtype == DType::boolean)
        value = out.convert(value, DType::int32);
    if (ir::kernel::finds_position(combiner)) return {position(out, node, value, axes)};
    if (axes.empty()) return {value};
    const Value result =
        out.reduce(operation_of(combiner), value, first_of(out, combiner, value.dtype), axes);
    return {out.reshape(result, node.types()[0].shape)};
}

// Each step joins what lies `reach` before, and there are log2(length) of them.
Value running(Writer& out, Combiner combiner, Value value, int64_t axis) {
    const auto along = static_cast<size_t>(axis);
    const int64_t length = value.shape[along];
    const Axes none(value.shape.size(), 0), ones(value.shape.size(), 1);
    for (int64_t reach = 1; reach < length; reach *= 2) {
        Axes first = value.shape, rest_starts = none, rest = value.shape;
        first[along] = reach;
        rest_starts[along] = reach;
        rest[along] = length - reach;
        const Value joined = out.binary(operation_of(combiner), out.slice(value, none, rest, ones),
                                        out.slice(value, rest_starts, rest, ones));
        value = out.concatenate({out.slice(value, none, first, ones), joined}, axis);
    }
    return value;
}

const char* name_of_scan(Combiner combiner) {
    switch (combiner) {
        case Combiner::product: return "cumprod";
        case Combiner::maximum: return "cummax";
        case Combiner::minimum: return "cummin";
        default: return "cumsum";
    }
}

Values scan(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const int64_t axis = node.attributes().get<int64_t>("axis");
    const Value given = x[0].dtype == DType::boolean ? out.convert(x[0], DType::int32) : x[0];
    if (given.shape[static_cast<size_t>(axis)] < 2) return {given};
    const Combiner combiner = ops::combiner_of(node);
    return printer.composite(
        name_of_scan(combiner), "axis = " + std::to_string(axis) + " : i64", {given},
        [&](const Values& inside) { return Values{running(out, combiner, inside[0], axis)}; });
}

}  // namespace

void add_reduction_rules(PrintRules& rules) {
    rules["reduce"] = reduce;
    rules["scan"] = scan;
}

}  // namespace composit::mlir
