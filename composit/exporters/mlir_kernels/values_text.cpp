// Writes what an expression needs before it, each value once, without recursion over its depth.
#include "composit/exporters/mlir_kernels/values_text.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/mlir_kernels/operations.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>

namespace composit::mlir {

using ir::DType;
using ir::scalar::Bits;
using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

bool is_leaf(const Expr& expr) { return expr.op() == Op::constant || expr.op() == Op::argument; }

// What has the same meaning for places of elements as for int64.
bool is_arithmetic_of_places(const Expr& expr) {
    return expr.dtype() == DType::int64 && (expr.op() == Op::add || expr.op() == Op::subtract ||
                                            expr.op() == Op::multiply || expr.op() == Op::select);
}

}  // namespace

std::string held_as_plain(FunctionText& out, Held& held, DType dtype) {
    if (held.plain.empty())
        held.plain = held.index.empty()
                         ? out.constant(dtype, {0, 0})
                         : out.add(held.index.substr(1) + "_i64",
                                   text("arith.index_cast ", held.index, " : index to i64"));
    return held.plain;
}

std::string ValuesText::plain(const Expr& expr, std::string_view wanted) {
    return made(expr, false, wanted);
}

std::string ValuesText::index(const Expr& expr, std::string_view wanted) {
    return made(expr, true, wanted);
}

bool ValuesText::is_known_as_index(const Expr& expr) const {
    if (expr.op() != Op::argument) return false;
    const Held& held = arguments_.at(static_cast<size_t>(expr.index()));
    return !held.index.empty() && held.plain.empty();
}

bool ValuesText::is_of_indices(const Expr& expr) const {
    if (!is_arithmetic_of_places(expr)) return false;
    const auto& x = expr.operands();
    const bool is_choice = expr.op() == Op::select;
    const auto is_part = [&](const Expr& part) {
        return is_leaf(part) || (is_choice && part.op() != Op::select && is_of_indices(part));
    };
    const auto is_known = [&](const Expr& part) { return is_known_as_index(part); };
    const auto begin = x.begin() + (is_choice ? 1 : 0);
    return std::all_of(begin, x.end(), is_part) && std::any_of(begin, x.end(), is_known);
}

// Counters of loops and extents are indices, and are compared as such.
bool ValuesText::compares_indices(const Expr& expr) const {
    if (expr.op() < Op::equal || expr.op() > Op::greater_equal) return false;
    const auto& x = expr.operands();
    const auto is_place = [](const Expr& each) {
        return each.dtype() == DType::int64 && (is_leaf(each) || is_arithmetic_of_places(each));
    };
    return is_place(x[0]) && is_place(x[1]) &&
           std::any_of(x.begin(), x.end(), [this](const Expr& each) {
               return is_known_as_index(each) || is_of_indices(each);
           });
}

std::vector<ValuesText::Part> ValuesText::parts_of(const Part& part) const {
    const Expr& expr = part.expr;
    std::vector<Part> parts;
    if (part.is_index && !is_arithmetic_of_places(expr)) return {{expr, false}};
    const bool of_indices = part.is_index || compares_indices(expr);
    for (const Expr& operand : expr.operands())
        parts.push_back({operand, of_indices && operand.dtype() == DType::int64});
    return parts;
}

std::string ValuesText::leaf(const Expr& expr, bool is_index) {
    if (expr.op() == Op::constant)
        return is_index ? out_.index_constant(static_cast<int64_t>(expr.bits()[0]))
                        : out_.constant(expr.dtype(), expr.bits());
    Held& held = arguments_.at(static_cast<size_t>(expr.index()));
    if (!is_index) return held_as_plain(out_, held, expr.dtype());
    if (held.index.empty()) {
        const std::string& plain = held_as_plain(out_, held, expr.dtype());
        const auto value = out_.integer_of(plain);
        held.index = value ? out_.index_constant(*value)
                           : out_.add(plain.substr(1) + "_index",
                                      text("arith.index_cast ", plain, " : i64 to index"));
    }
    return held.index;
}

std::string ValuesText::made(const Expr& expr, bool is_index, std::string_view wanted) {
    if (is_leaf(expr)) return leaf(expr, is_index);
    std::vector<Part> open{{expr, is_index}};
    while (!open.empty()) {
        const Part part = open.back();
        const Demand demand{part.expr.id(), part.is_index};
        if (made_.contains(demand)) {
            open.pop_back();
            continue;
        }
        bool is_ready = true;
        const std::vector<Part> parts = parts_of(part);
        for (size_t i = parts.size(); i-- > 0;)
            if (!is_leaf(parts[i].expr) &&
                !made_.contains({parts[i].expr.id(), parts[i].is_index})) {
                open.push_back(parts[i]);
                is_ready = false;
            }
        if (!is_ready) continue;
        const bool is_root = open.size() == 1;
        std::string name = write(part, is_root && !wanted.empty() ? wanted : part.expr.name());
        made_[demand] = std::move(name);
        kept_.push_back(part.expr);
        open.pop_back();
    }
    return made_.at({expr.id(), is_index});
}

std::string ValuesText::write(const Part& part, std::string_view wanted) {
    const Expr& expr = part.expr;
    std::vector<std::string> operands;
    const std::vector<Part> parts = parts_of(part);
    for (const Part& each : parts)
        operands.push_back(is_leaf(each.expr) ? leaf(each.expr, each.is_index)
                                              : made_.at({each.expr.id(), each.is_index}));
    if (part.is_index && !is_arithmetic_of_places(expr))
        return out_.add("", text("arith.index_cast ", operands[0], " : i64 to index"));
    if (expr.op() == Op::loop) return write_loop(expr, operands)[static_cast<size_t>(expr.index())];
    if (expr.op() == Op::call) return write_in_place(part, operands, wanted);
    const bool of_indices = !parts.empty() && parts.back().is_index;
    return write_operation(out_, expr, operands, wanted, of_indices);
}

// A row of one operation is that operation.
std::string ValuesText::write_in_place(const Part& call, const std::vector<std::string>& operands,
                                       std::string_view wanted) {
    const auto& called = c_family::specialisation_of(call.expr);
    const Expr& body = called.body;
    if (!called.is_one_operation) return write_operation(out_, call.expr, operands, wanted);
    const auto name_of = [&](const Expr& each) {
        return each.op() == Op::constant ? out_.constant(each.dtype(), each.bits())
                                         : operands.at(static_cast<size_t>(each.index()));
    };
    if (is_leaf(body)) return name_of(body);
    std::vector<std::string> own;
    for (const Expr& each : body.operands()) own.push_back(name_of(each));
    return write_operation(out_, body, own, wanted);
}

// The state, and how many steps there were, which a loop of the language has a limit for.
std::vector<std::string> ValuesText::write_loop(const Expr& expr,
                                                const std::vector<std::string>& initial) {
    std::vector<std::string>& names = runs_[ir::scalar::run_of(expr)];
    if (!names.empty()) return names;
    const ir::scalar::Loop& loop = *expr.loop();
    std::vector<DType> dtypes;
    std::vector<std::string> wanted, types;
    for (const Expr& each : loop.state) {
        wanted.push_back(each.name().empty() ? "state" : each.name());
        dtypes.push_back(each.dtype());
        types.push_back(scalar_type(each.dtype()));
    }
    wanted.emplace_back("step");
    dtypes.push_back(DType::int64);
    types.emplace_back("i64");
    const auto number = [&](int64_t value) {
        return out_.constant(DType::int64, {static_cast<uint64_t>(value), 0});
    };
    std::vector<std::string> starts, results, before, within, heads;
    for (size_t i = 0; i < wanted.size(); ++i) {
        results.push_back(out_.fresh(wanted[i]));
        before.push_back(out_.fresh(wanted[i]));
        within.push_back(out_.fresh(wanted[i]));
        starts.push_back(before[i] + " = " + (i < initial.size() ? initial[i] : number(0)));
        heads.push_back(within[i] + ": " + types[i]);
    }
    const std::string all = join(types);
    out_.open(
        text(join(results), " = scf.while (", join(starts), ") : (", all, ") -> (", all, ") {"));
    const auto state = [&](const std::vector<std::string>& own) {
        HeldValues held;
        for (size_t i = 0; i < loop.state.size(); ++i) held.push_back({own[i], ""});
        return held;
    };
    HeldValues of_condition = state(before);
    const std::string condition = ValuesText(out_, of_condition).plain(loop.condition);
    const std::string is_within =
        out_.add("", text("arith.cmpi slt, ", before.back(), ", ", number(loop.limit), " : i64"));
    const std::string goes_on =
        out_.add("", text("arith.andi ", condition, ", ", is_within, " : i1"));
    out_.line(text("scf.condition(", goes_on, ") ", join(before), " : ", all));
    out_.close("} do {");
    out_.label(text("^bb0(", join(heads), "):"));
    HeldValues of_steps = state(within);
    ValuesText steps(out_, of_steps);
    std::vector<std::string> next;
    for (const Expr& step : loop.steps) next.push_back(steps.plain(step));
    next.push_back(out_.add("", text("arith.addi ", within.back(), ", ", number(1), " : i64")));
    out_.line(text("scf.yield ", join(next), " : ", all));
    out_.close();
    return names = std::vector(results.begin(), results.end() - 1);
}

}  // namespace composit::mlir
