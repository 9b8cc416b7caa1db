#include "composit/ir/procedure/carried_values.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

// Whether a value is given by the body's own statements alone, and another statement reads it.
bool is_chain(const Procedure& procedure, const Block& body, int variable) {
    size_t mentioning = 0;
    for (const Statement& each : body) {
        const Block one{each};
        if (!mentions_in(procedure, one).contains(variable)) continue;
        ++mentioning;
        const bool gives = assignments_in(one).contains(variable);
        if (gives && !(is_value(each) && each.variable == variable)) return false;
    }
    return mentioning > 1;
}

void name_values_of(Procedure& procedure, Block& body, int variable, bool has_first) {
    const auto place = static_cast<size_t>(variable);
    const Variable known = procedure.variables[place];
    const Expr whole = procedure.variable(place);
    Expr now = whole;
    Block out;
    const auto give = [&] {
        const int number = procedure.add_variable(known.name, known.dtype);
        now = procedure.variable(static_cast<size_t>(number));
        return number;
    };
    const SourceLine line = body.front().line;
    if (has_first) out.push_back(Statement::assign(give(), whole, line));
    for (Statement& each : body) {
        const bool gives = is_value(each) && each.variable == variable;
        Block one{std::move(each)};
        std::vector<Expr> by = all_variables(procedure);
        by[place] = now;
        replace_variables(one, by, false);
        if (gives) one[0].variable = give();
        out.push_back(std::move(one[0]));
    }
    out.push_back(Statement::assign(variable, now, out.back().line));
    body = std::move(out);
}

}  // namespace

void name_carried_values(Procedure& procedure, Block& body, const std::set<int>& own) {
    const std::set<int> exposed = exposed_in(procedure, body);
    for (const auto& [variable, times] : assignments_in(body))
        if (!own.contains(variable) && is_chain(procedure, body, variable))
            name_values_of(procedure, body, variable, exposed.contains(variable));
}

}  // namespace composit::ir::procedure
