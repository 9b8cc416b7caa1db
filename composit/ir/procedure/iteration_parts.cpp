#include "composit/ir/procedure/iteration_parts.h"

#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

constexpr int quotient_cost = 4, function_cost = 10;

bool is_float_quotient(const Expr& value) {
    return value.op() == Op::divide && is_floating(value.dtype());
}

class PartsNamed {
  public:
    PartsNamed(Procedure& procedure, Block& body, int counter, const std::set<int>& own)
        : p_(procedure),
          body_(body),
          counter_(counter),
          own_(own),
          assigned_(assignments_in(body)) {
        assigned_[counter] = 1;
    }

    void run() {
        for (Statement& statement : body_) {
            const bool has_value = statement.kind == Kind::assign || is_write(statement);
            if (has_value) name_within(statement);
            out_.push_back(std::move(statement));
        }
        body_ = std::move(out_);
    }

  private:
    void name_within(Statement& statement) {
        statement.values[0] =
            with_named_parts(statement, [&](const Expr& part, const Expr& computed) {
                const bool is_named = is_float_quotient(part) || is_named_call(part);
                return is_named ? name_for(computed, statement.line) : Expr();
            });
    }

    Expr name_for(const Expr& value, const SourceLine& line) {
        for (const auto& [known, name] : named_)
            if (scalar::structurally_equal({known}, {value})) return name;
        const char* const wanted = is_float_quotient(value) ? "quotient" : "value";
        const int variable = p_.add_variable(wanted, value.dtype());
        const Expr name = p_.variable(static_cast<size_t>(variable));
        out_.push_back(Statement::assign(variable, value, line));
        const std::set<int> read = variables_in({value});
        const bool stays = std::all_of(read.begin(), read.end(), [&](int each) {
            const auto times = assigned_.find(each);
            return each == counter_ || times == assigned_.end() ||
                   (times->second == 1 && own_.contains(each));
        });
        if (stays) named_.emplace_back(value, name);
        return name;
    }

    Procedure& p_;
    Block& body_;
    const int counter_;
    const std::set<int>& own_;
    std::map<int, int> assigned_;
    std::vector<std::pair<Expr, Expr>> named_;
    Block out_;
};

}  // namespace

int vector_cost(const std::vector<Expr>& values) {
    int cost = 0;
    for (const Expr& expr : scalar::topological_order(values)) {
        if (is_float_quotient(expr) || expr.op() == Op::square_root)
            cost += quotient_cost;
        else if (is_named_call(expr))
            cost += function_cost;
    }
    return cost;
}

bool is_running_sum(const Statement& statement, const std::map<int, int>& assigned) {
    if (statement.kind == Kind::add) return !reads_any(statement.index, assigned);
    if (statement.kind != Kind::assign) return false;
    const Expr& value = statement.values[0];
    return (value.op() == Op::add || value.op() == Op::subtract) &&
           is_variable(value.operand(0), statement.variable) &&
           !variables_in({value.operand(1)}).contains(statement.variable);
}

void name_parts(Procedure& procedure, Block& body, int counter, const std::set<int>& own) {
    PartsNamed(procedure, body, counter, own).run();
}

Statement without_own_arrays(const Procedure& procedure, Statement loop, Block& ahead) {
    const auto is_small = [&](int number) {
        const ArrayVariable& array = procedure.arrays[static_cast<size_t>(number)];
        return array.role == ArrayVariable::Role::local && !array.grows &&
               std::all_of(array.shape.begin(), array.shape.end(),
                           [](const Expr& extent) { return extent.op() == scalar::Op::constant; });
    };
    std::erase_if(loop.body, [&](const Statement& each) {
        const bool is_movable =
            each.kind == Statement::Kind::allocate && !each.is_zeroed && is_small(each.array);
        if (is_movable) ahead.push_back(each);
        return is_movable;
    });
    return loop;
}

}  // namespace composit::ir::procedure
