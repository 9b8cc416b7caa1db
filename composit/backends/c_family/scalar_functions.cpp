// The functions that printed text calls.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/ir/scalar/function.h"

#include <unordered_set>

namespace composit::c_family {

using ir::DType;
using ir::scalar::Expr;
using ir::scalar::Op;
using ir::scalar::Specialisation;

const Specialisation& specialisation_of(const Expr& call) {
    std::vector<DType> dtypes;
    for (const Expr& operand : call.operands()) dtypes.push_back(operand.dtype());
    return ir::scalar::specialise(call.row(), dtypes);
}

std::vector<const Specialisation*> functions_used(const std::vector<Expr>& results) {
    struct Visit {
        const Specialisation* specialisation;
        std::vector<const Specialisation*> callees;
        size_t next = 0;
    };
    const auto callees_of = [](const std::vector<Expr>& exprs) {
        std::vector<const Specialisation*> callees;
        for (const Expr& expr : ir::scalar::all_expressions(exprs))
            if (expr.op() == Op::call) callees.push_back(&specialisation_of(expr));
        return callees;
    };
    std::vector<const Specialisation*> order;
    std::unordered_set<const Specialisation*> seen;
    std::vector<Visit> stack{{nullptr, callees_of(results)}};
    while (!stack.empty()) {
        Visit& visit = stack.back();
        if (visit.next < visit.callees.size()) {
            const Specialisation* callee = visit.callees[visit.next++];
            if (seen.insert(callee).second) stack.push_back({callee, callees_of({callee->body})});
        } else {
            if (visit.specialisation && !visit.specialisation->is_one_operation)
                order.push_back(visit.specialisation);
            stack.pop_back();
        }
    }
    return order;
}

}  // namespace composit::c_family
