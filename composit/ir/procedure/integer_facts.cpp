#include "composit/ir/procedure/integer_facts.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>

namespace composit::ir::procedure {

IntegerFacts::IntegerFacts(const Procedure& procedure) : by_(all_variables(procedure)) {
    const std::map<int, int> assigned = assignments_in(procedure.body);
    for (size_t i = 0; i < procedure.parameters; ++i)
        if (!assigned.contains(static_cast<int>(i))) fixed_.insert(static_cast<int>(i));
    for (const ArrayVariable& array : procedure.arrays)
        if (array.role == ArrayVariable::Role::input)
            for (const Expr& extent : array.shape)
                if (extent.op() == scalar::Op::argument && fixed_.contains(extent.index()))
                    extents_.insert(extent.index());
    for (const Statement* each : all_statements(procedure.body)) {
        if (each->kind != Statement::Kind::assign || assigned.at(each->variable) != 1 ||
            static_cast<size_t>(each->variable) < procedure.parameters ||
            each->values[0].dtype() != DType::int64)
            continue;
        const Expr value = resolved(each->values[0]);
        if (is_fixed(value)) by_[static_cast<size_t>(each->variable)] = value;
    }
}

bool IntegerFacts::is_fixed(const Expr& value) const {
    const std::set<int> read = variables_in({resolved(value)});
    return std::all_of(read.begin(), read.end(),
                       [&](int variable) { return fixed_.contains(variable); });
}

Expr IntegerFacts::resolved(const Expr& value) const { return scalar::substitute({value}, by_)[0]; }

IntegerSum IntegerFacts::difference(const Expr& a, const Expr& b) const {
    IntegerSum sum;
    sum.add(resolved(a), 1);
    sum.add(resolved(b), uint64_t{0} - 1);
    return sum;
}

std::optional<int64_t> IntegerFacts::distance(const Expr& a, const Expr& b) const {
    const IntegerSum sum = difference(a, b);
    if (!sum.terms.empty()) return {};
    return static_cast<int64_t>(sum.rest);
}

bool IntegerFacts::is_at_least(const Expr& a, const Expr& b) const {
    const IntegerSum sum = difference(a, b);
    return static_cast<int64_t>(sum.rest) >= 0 &&
           std::all_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
               return static_cast<int64_t>(term.second) > 0 &&
                      term.first.op() == scalar::Op::argument &&
                      extents_.contains(term.first.index());
           });
}

}  // namespace composit::ir::procedure
