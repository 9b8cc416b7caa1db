// with_varied_operands: loops that call functions of what changes and of what does not.
#include "composit/ir/procedure/fixed_parts.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_plain_loop(const Statement& loop) {
    return loop.kind == Kind::loop && !loop.body.empty() &&
           std::all_of(loop.body.begin(), loop.body.end(), [](const Statement& each) {
               return each.kind == Kind::assign || each.kind == Kind::load || is_write(each);
           });
}

bool is_one_value(const Expr& a, const Expr& b) { return scalar::structurally_equal({a}, {b}); }

class VariedOperands {
  public:
    explicit VariedOperands(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            walk(block[i].otherwise);
            if (!is_plain_loop(block[i])) continue;
            const Block before = vary(block[i]);
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), before.begin(),
                         before.end());
            i += before.size();
        }
    }

    // Which operands of a function no iteration changes, where others of the same call change.
    static std::vector<char> fixed_ones(const Expr& call, const std::map<int, int>& assigned) {
        const auto varies = [&](const Expr& value) { return reads_any({value}, assigned); };
        const bool is_function = call.op() == Op::call && is_named_call(call) &&
                                 call.row()->name.find(".kernel") == std::string::npos;
        std::vector<char> fixed(call.operands().size(), 0);
        if (!is_function || !varies(call)) return fixed;
        for (size_t i = 0; i < fixed.size(); ++i) {
            const Expr& operand = call.operands()[i];
            fixed[i] = is_floating(operand.dtype()) && !variables_in({operand}).empty() &&
                       !varies(operand);
        }
        return fixed;
    }

    // Operands of functions that no iteration changes, but for those that the block computes.
    static std::vector<Expr> fixed_operands(const Statement& loop, const Block& before) {
        const std::map<int, int> assigned = assignments_in({loop});
        const std::map<int, int> made = assignments_in(before);
        std::vector<Expr> found;
        for (const Statement& statement : loop.body)
            for (const Expr& call : scalar::topological_order(statement.values)) {
                const std::vector<char> fixed = fixed_ones(call, assigned);
                for (size_t i = 0; i < fixed.size(); ++i) {
                    const Expr& operand = call.operands()[i];
                    if (fixed[i] && !reads_any({operand}, made) &&
                        std::none_of(found.begin(), found.end(),
                                     [&](const Expr& one) { return is_one_value(one, operand); }))
                        found.push_back(operand);
                }
            }
        return found;
    }

    // Computes once, in statements that are given, what functions of the loop make of operands that
    // no iteration changes: the logarithm of the base of powers.
    Block parts_before(Statement& loop) {
        const std::map<int, int> assigned = assignments_in({loop});
        Block before;
        std::vector<std::pair<Expr, Expr>> known;  // the call of a part, its variable
        const auto part = [&](const scalar::RowRef& row, const std::vector<Expr>& operands) {
            const Expr value = Expr::call(row, operands);
            for (const auto& [call, name] : known)
                if (is_one_value(call, value)) return name;
            const int made = p_.add_variable("part", value.dtype());
            before.push_back(Statement::assign(made, value, loop.line));
            known.emplace_back(value, p_.variable(static_cast<size_t>(made)));
            return known.back().second;
        };
        for (Statement& statement : loop.body) {
            std::map<const scalar::ExprNode*, Expr> made;
            for (const Expr& expr : scalar::topological_order(statement.values)) {
                std::vector<Expr> operands, staying;
                bool is_changed = false;
                for (const Expr& each : expr.operands()) {
                    operands.push_back(made.at(each.id()));
                    is_changed |= !(operands.back() == each);
                }
                Expr& own = made[expr.id()] = is_changed ? expr.with_operands(operands) : expr;
                const std::vector<char> fixed = fixed_ones(expr, assigned);
                for (size_t i = 0; i < fixed.size(); ++i)
                    if (fixed[i]) staying.push_back(operands[i]);
                if (staying.empty()) continue;
                const FixedParts& parts = fixed_parts_of(expr, fixed);
                for (const scalar::RowRef& row : parts.parts)
                    operands.push_back(part(row, staying));
                if (!parts.parts.empty()) own = Expr::call(parts.rest, operands);
            }
            for (Expr& value : statement.values) value = made.at(value.id());
        }
        return before;
    }

    // The statements before the loop that fill an array with each such operand, which the loop
    // reads an element of in each iteration then.
    Block vary(Statement& loop) {
        const auto count = count_by_one(loop);
        if (!count) return {};
        Block before = parts_before(loop), loads;
        for (const Expr& operand : fixed_operands(loop, before)) {
            const SourceLine line = loop.line;
            const auto variable = [&](const char* name, DType dtype) {
                const int made = p_.add_variable(name, dtype);
                return std::pair(made, p_.variable(static_cast<size_t>(made)));
            };
            const auto [value, whole] = variable("operand", operand.dtype());
            const auto [element, own] = variable("operand", operand.dtype());
            const auto [trips, times] = variable("trips", DType::int64);
            const auto [place, here] = variable("place", DType::int64);
            const int array =
                p_.add_array("operands", {.name = "", .dtype = operand.dtype(), .shape = {times}});
            before.push_back(Statement::assign(value, operand, line));
            before.push_back(Statement::assign(trips, trips_of(p_, *count, count->begin), line));
            before.push_back(Statement::allocate(array, false, line));
            before.push_back(
                counting_up(here, integer(0), times,
                            {Statement::write(Kind::store, array, {here}, whole, line)}, line));
            loads.push_back(
                Statement::load(element, array, {trip_of(p_, *count, count->begin)}, line));
            for (Statement& statement : loop.body) replace(statement, operand, own);
        }
        loop.body.insert(loop.body.begin(), loads.begin(), loads.end());
        return before;
    }

    // In calls alone: elsewhere the value may stay what no iteration changes.
    static void replace(Statement& statement, const Expr& operand, const Expr& by) {
        std::map<const scalar::ExprNode*, Expr> made;
        for (const Expr& expr : scalar::topological_order(statement.values)) {
            std::vector<Expr> operands;
            bool is_changed = false;
            for (const Expr& each : expr.operands()) {
                const bool is_it = expr.op() == Op::call && is_one_value(each, operand);
                operands.push_back(is_it ? by : made.at(each.id()));
                is_changed |= !(operands.back() == each);
            }
            made[expr.id()] = is_changed ? expr.with_operands(std::move(operands)) : expr;
        }
        for (Expr& value : statement.values) value = made.at(value.id());
    }

    Procedure p_;
};

}  // namespace

Procedure with_varied_operands(Procedure procedure) {
    return VariedOperands(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
