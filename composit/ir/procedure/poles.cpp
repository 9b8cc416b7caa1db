#include "composit/ir/procedure/poles.h"

#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <optional>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

// What a statement gives a value, and what of: variables, and arrays as -1 - number.
struct Passage {
    int to = 0;
    std::vector<int> from;
    bool has_pole = false;
};

std::optional<Passage> flow_of(const Statement& statement) {
    const int array = -1 - statement.array;
    switch (statement.kind) {
        case Kind::load:
        case Kind::take: return Passage{statement.variable, {array}, false};
        case Kind::assign:
        case Kind::store:
        case Kind::add:
        case Kind::append:
            return Passage{statement.kind == Kind::assign ? statement.variable : array,
                           derived_from(statement.values), passes_pole(statement.values[0])};
        default: return {};
    }
}

std::vector<Passage> flows_in(const Block& body) {
    std::vector<Passage> flows;
    for (const Statement* statement : all_statements(body))
        if (std::optional<Passage> flow = flow_of(*statement)) flows.push_back(std::move(*flow));
    return flows;
}

}  // namespace

bool is_pole(const Expr& expr) {
    if (!is_floating(expr.dtype())) return false;
    if (expr.op() == Op::square_root) return expr.operand(0).op() != Op::constant;
    if (expr.op() != Op::call) return false;
    const std::string& name = expr.row()->name;
    if (name == "power") {
        const Expr& exponent = expr.operand(1);
        return exponent.op() != Op::constant || exponent.value() < 1;
    }
    static const std::set<std::string> others = {"sqrt",   "cbrt",    "hypot",
                                                 "arccos", "arccosh", "arcsin"};
    return others.contains(name);
}

bool passes_pole(const Expr& value) {
    const std::vector<Expr> all = scalar::topological_order({value});
    return std::any_of(all.begin(), all.end(), [](const Expr& expr) {
        return is_pole(expr) && !derived_from({expr}).empty();
    });
}

std::set<int> infinite_tangents(const Block& body) {
    const std::vector<Passage> flows = flows_in(body);
    std::set<int> found;
    for (bool grew = true; grew;) {
        grew = false;
        for (const Passage& flow : flows) {
            const bool is_infinite =
                flow.has_pole || std::any_of(flow.from.begin(), flow.from.end(),
                                             [&](int each) { return found.contains(each); });
            if (is_infinite) grew |= found.insert(flow.to).second;
        }
    }
    return found;
}

std::set<int> infinite_adjoints(const Block& body) {
    const std::vector<Passage> flows = flows_in(body);
    std::set<int> found;
    for (bool grew = true; grew;) {
        grew = false;
        for (const Passage& flow : flows)
            if (flow.has_pole || found.contains(flow.to))
                for (const int each : flow.from) grew |= found.insert(each).second;
    }
    return found;
}

}  // namespace composit::ir::procedure
