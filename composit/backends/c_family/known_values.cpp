#include "composit/backends/c_family/known_values.h"

#include <algorithm>

namespace composit::c_family {

using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Bits;
using ir::scalar::Expr;
using Kind = Statement::Kind;

namespace {

constexpr int64_t most_count = int64_t{1} << 40;  // of elements

}  // namespace

KnownValues::KnownValues(const Procedure& procedure, const std::map<int, Bits>& parameters)
    : bits_(procedure.variables.size()), known_(parameters) {
    std::map<int, std::vector<const Statement*>> assigned;
    for (const Statement* each : ir::procedure::all_statements(procedure.body))
        if (each->variable >= 0) assigned[each->variable].push_back(each);
    for (const auto& [variable, statements] : assigned) known_.erase(variable);
    for (const auto& [variable, bits] : known_) bits_[static_cast<size_t>(variable)] = bits;
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (const auto& [variable, statements] : assigned) {
            if (statements.size() != 1 || statements[0]->kind != Kind::assign ||
                known_.contains(variable))
                continue;
            if (const auto value = of(statements[0]->values[0])) {
                known_[variable] = bits_[static_cast<size_t>(variable)] = *value;
                is_new = true;
            }
        }
    }
}

std::optional<Bits> KnownValues::of(const Expr& value) const {
    for (const Expr& part : ir::scalar::topological_order({value}))
        if (part.op() == ir::scalar::Op::argument && !known_.contains(part.index())) return {};
    return ir::scalar::evaluate({value}, bits_)[0];
}

std::optional<int64_t> KnownValues::count_of(const std::vector<Expr>& shape, bool is_shape) const {
    int64_t count = 1;
    for (const Expr& extent : shape) {
        const std::optional<Bits> bits = of(extent);
        if (!bits) return {};
        auto own = static_cast<int64_t>((*bits)[0]);
        if (!is_shape) own = std::max<int64_t>(own, 0);
        if (own < 0 || own > most_count || count * own > most_count) return {};
        count *= own;
    }
    return count;
}

std::optional<int64_t> KnownValues::most_of(const SumOfProducts& sum) const {
    int64_t most = 0;
    for (const std::vector<Expr>& product : sum) {
        const std::optional<int64_t> own = count_of(product, false);
        if (!own || *own > most_count - most) return {};
        most += *own;
    }
    return most;
}

}  // namespace composit::c_family
