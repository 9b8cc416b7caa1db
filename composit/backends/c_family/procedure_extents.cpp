// Finding extents that cannot be negative, and arrays that need memory once.
#include "composit/backends/c_family/procedure_extents.h"

#include <algorithm>
#include <utility>

namespace composit::c_family {

using ir::procedure::ArrayVariable;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using ir::scalar::structurally_equal;
using Kind = Statement::Kind;

Naturals::Naturals(const Procedure& procedure, std::set<int> known) : extents_(std::move(known)) {
    for (const ArrayVariable& array : procedure.arrays)
        if (array.role == ArrayVariable::Role::input)
            for (const Expr& extent : array.shape)
                if (extent.op() == Op::argument) extents_.insert(extent.index());
    std::set<int> loaded;
    for (const Statement* statement : ir::procedure::all_statements(procedure.body)) {
        if (statement->variable < 0) continue;
        extents_.erase(statement->variable);
        if (statement->kind == Kind::assign)
            values_[statement->variable].push_back(statement->values[0]);
        else
            loaded.insert(statement->variable);
    }
    std::erase_if(values_, [&](const auto& each) {
        return loaded.contains(each.first) ||
               static_cast<size_t>(each.first) < procedure.parameters;
    });
}

bool Naturals::contains(const Expr& value) const {
    switch (value.op()) {
        case Op::constant: return value.value() >= 0;
        case Op::argument: {
            if (extents_.contains(value.index())) return true;
            const auto found = values_.find(value.index());
            // A variable that is made of itself says nothing.
            if (found == values_.end() || !asked_.insert(value.index()).second) return false;
            const bool is_natural =
                std::all_of(found->second.begin(), found->second.end(),
                            [this](const Expr& each) { return contains(each); });
            asked_.erase(value.index());
            return is_natural;
        }
        case Op::add:
        case Op::multiply:
        case Op::divide: return contains(value.operand(0)) && contains(value.operand(1));
        case Op::select: {
            const Expr &condition = value.operand(0), &chosen = value.operand(1);
            if (!contains(value.operand(2))) return false;
            if (contains(chosen)) return true;
            const bool is_positive = condition.op() == Op::greater &&
                                     condition.operand(1).op() == Op::constant &&
                                     condition.operand(1).value() >= 0;
            if (!is_positive) return false;
            // d > 0 ? d : 0, d > 0 ? (d + 2) / 3 : 0
            Expr of = chosen;
            if (of.op() == Op::divide && contains(of.operand(1))) of = Expr(of.operand(0));
            if (of.op() == Op::add && contains(of.operand(1)) &&
                !structurally_equal({of}, {condition.operand(0)}))
                of = Expr(of.operand(0));
            return structurally_equal({of}, {condition.operand(0)});
        }
        default: return false;
    }
}

bool has_fixed_size(const ArrayVariable& array) {
    if (array.grows) return false;
    double count = 1;
    for (const Expr& extent : array.shape) {
        if (extent.op() != Op::constant) return false;
        count *= extent.value();
    }
    return count > 0 && count <= 4096;
}

std::set<size_t> hoisted_arrays(const Procedure& procedure, const Homes& homes,
                                const Naturals& naturals) {
    std::set<size_t> found;
    for (size_t array = 0; array < procedure.arrays.size(); ++array) {
        const ArrayVariable& known = procedure.arrays[array];
        const Home& home = homes.of_array(array);
        if (known.role != ArrayVariable::Role::local || known.grows || has_fixed_size(known) ||
            home.block == nullptr)
            continue;
        if (home.block == &procedure.body && procedure.body[home.first].kind == Kind::allocate)
            continue;
        const std::set<int> read = read_by(known.shape);
        const bool is_known = std::all_of(read.begin(), read.end(), [&](int variable) {
            return static_cast<size_t>(variable) < procedure.parameters &&
                   homes.of(variable).assignments == 0;
        });
        // Where a loop does not come to it, an array may have a negative extent.
        const bool is_natural =
            std::all_of(known.shape.begin(), known.shape.end(),
                        [&](const Expr& extent) { return naturals.contains(extent); });
        if (is_known && is_natural) found.insert(array);
    }
    return found;
}

}  // namespace composit::c_family
