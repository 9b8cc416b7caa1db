// What decides how fast the loop around a scalar body is: how long a processor waits for the
// body's longest path, and whether there are choices that a compiler could make branches of.
#include "composit/backends/c_family/scalar_printer.h"

#include <algorithm>
#include <unordered_map>

namespace composit::c_family {

using ir::scalar::Expr;
using ir::scalar::ExprNode;
using ir::scalar::Op;
using ir::scalar::Specialisation;

namespace {

using Lengths = std::unordered_map<const Specialisation*, int>;

int own_length(const Expr& expr, const Lengths& known) {
    if (expr.op() == Op::argument || expr.op() == Op::constant) return 0;
    if (expr.op() != Op::call) return 1;
    const auto found = known.find(&specialisation_of(expr));
    return found == known.end() ? 1 : found->second;  // not there: of one operation
}

int longest(const std::vector<Expr>& values, const Lengths& known) {
    std::unordered_map<const ExprNode*, int> ends;
    int result = 0;
    for (const Expr& expr : ir::scalar::topological_order(values)) {
        int start = 0;
        for (const Expr& operand : expr.operands()) start = std::max(start, ends.at(operand.id()));
        const int end = start + own_length(expr, known);
        ends.emplace(expr.id(), end);
        result = std::max(result, end);
    }
    return result;
}

}  // namespace

int longest_chain(const std::vector<Expr>& values) {
    Lengths known;
    for (const Specialisation* callee : functions_used(values))
        known.emplace(callee, longest({callee->body}, known));
    return longest(values, known);
}

bool has_choice(const std::vector<Expr>& values) {
    std::vector<Expr> bodies = values;
    for (const Specialisation* callee : functions_used(values)) bodies.push_back(callee->body);
    const auto all = ir::scalar::all_expressions(bodies);
    return std::any_of(all.begin(), all.end(), [](const Expr& expr) {
        return expr.op() == Op::select ||
               (expr.op() == Op::call && specialisation_of(expr).is_one_operation &&
                specialisation_of(expr).body.op() == Op::select);
    });
}

std::set<int> arguments_in_branches(const std::vector<Expr>& values) {
    std::vector<Expr> branches;
    for (const Expr& expr : ir::scalar::topological_order(values)) {
        const bool is_in_place = expr.op() == Op::call && specialisation_of(expr).is_one_operation;
        const Expr& printed = is_in_place ? specialisation_of(expr).body : expr;
        if (printed.op() != Op::select) continue;
        for (size_t branch : {1, 2}) {
            const Expr& value = printed.operands()[branch];
            if (!is_in_place)
                branches.push_back(value);
            else if (value.op() == Op::argument)
                branches.push_back(expr.operands()[static_cast<size_t>(value.index())]);
        }
    }
    std::set<int> result;
    for (const Expr& expr : ir::scalar::topological_order(branches))
        if (expr.op() == Op::argument) result.insert(expr.index());
    return result;
}

}  // namespace composit::c_family
