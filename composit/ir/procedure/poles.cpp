#include "composit/ir/procedure/poles.h"

#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <optional>

namespace composit::ir::procedure {
namespace {

using scalar::Op;

struct Passage {
    ValueFlow flow;
    bool has_pole = false;
};

std::vector<Passage> passages_in(const Block& body) {
    std::vector<Passage> made;
    for (const Statement* statement : all_statements(body))
        if (std::optional<ValueFlow> flow = flow_of(*statement))
            made.push_back({std::move(*flow),
                            !statement->values.empty() && passes_pole(statement->values[0])});
    return made;
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
    static const std::set<std::string> others = {"sqrt", "cbrt", "arccos", "arccosh", "arcsin"};
    return others.contains(name);
}

bool passes_pole(const Expr& value) {
    const std::vector<Expr> all = scalar::topological_order({value});
    return std::any_of(all.begin(), all.end(), [](const Expr& expr) {
        return is_pole(expr) && !derived_from({expr}).empty();
    });
}

std::set<int> infinite_tangents(const Block& body) {
    const std::vector<Passage> passages = passages_in(body);
    std::set<int> found;
    for (bool grew = true; grew;) {
        grew = false;
        for (const auto& [flow, has_pole] : passages) {
            const bool is_infinite =
                has_pole || std::any_of(flow.from.begin(), flow.from.end(),
                                        [&](int each) { return found.contains(each); });
            if (is_infinite) grew |= found.insert(flow.to).second;
        }
    }
    return found;
}

std::set<int> infinite_adjoints(const Block& body) {
    const std::vector<Passage> passages = passages_in(body);
    std::set<int> found;
    for (bool grew = true; grew;) {
        grew = false;
        for (const auto& [flow, has_pole] : passages)
            if (has_pole || found.contains(flow.to))
                for (const int each : flow.from) grew |= found.insert(each).second;
    }
    return found;
}

}  // namespace composit::ir::procedure
