#include "composit/ir/procedure/conditions_again.h"

#include "composit/ir/procedure/returns_in_loops.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_comparison(Op op) {
    constexpr Op all[] = {Op::less,          Op::less_equal, Op::greater,
                          Op::greater_equal, Op::equal,      Op::not_equal};
    return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

bool is_leaf(const Expr& value) { return value.op() == Op::argument || value.op() == Op::constant; }

// A variable, a constant, or n - 1.
bool is_at_hand(const Expr& value) {
    if (is_leaf(value)) return true;
    const bool is_sum = value.op() == Op::add || value.op() == Op::subtract;
    return is_sum && value.dtype() == DType::int64 && is_leaf(value.operand(0)) &&
           is_leaf(value.operand(1));
}

class Asker {
  public:
    Asker(Procedure procedure, const std::set<std::string>& names)
        : p_(std::move(procedure)),
          names_(names),
          mentions_(mentions_in(p_, p_.body)),
          assignments_(assignments_in(p_.body)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            for (Block* inner : {&block[i].body, &block[i].otherwise}) walk(*inner);
            if (is_condition(block[i]) && ask_again(block, i))
                block.erase(block.begin() + static_cast<std::ptrdiff_t>(i--));
        }
    }

    bool is_condition(const Statement& made) const {
        if (made.kind != Kind::assign || !is_comparison(made.values[0].op())) return false;
        const auto number = static_cast<size_t>(made.variable);
        const std::string& name = p_.variables[number].name;
        const bool is_name = names_.contains(name) && !name.starts_with(flag_of_returns);
        return number >= p_.parameters && assignments_.at(made.variable) == 1 && !is_name &&
               is_at_hand(made.values[0].operand(0)) && is_at_hand(made.values[0].operand(1));
    }

    static int count_in(const Block& block, int variable) {
        int times = 0;
        for (const Statement* each : all_statements(block))
            times += each->kind == Kind::branch && is_variable(each->values[0], variable);
        return times;
    }

    // Of the block's statements behind a place, those that ask are branches, up to the last of
    // which nothing changes what the condition reads.
    bool ask_again(Block& block, size_t place) {
        const Statement& made = block[place];
        const int wanted = mentions_[made.variable] - 1;
        int found = 0;
        size_t end = place + 1;
        for (; end < block.size() && found < wanted; ++end) {
            const Block one{block[end]};
            if (reads_any(made.values, assignments_in(one))) return false;
            found += count_in(one, made.variable);
        }
        if (found != wanted) return false;
        const Expr condition = made.values[0];
        const int variable = made.variable;
        for (size_t k = place + 1; k < end; ++k) ask(block[k], variable, condition);
        return true;
    }

    static void ask(Statement& statement, int variable, const Expr& condition) {
        if (statement.kind == Kind::branch && is_variable(statement.values[0], variable))
            statement.values = {condition};
        for (Block* inner : {&statement.body, &statement.otherwise})
            for (Statement& each : *inner) ask(each, variable, condition);
    }

    Procedure p_;
    const std::set<std::string>& names_;
    std::map<int, int> mentions_, assignments_;
};

}  // namespace

Procedure with_conditions_again(Procedure procedure, const std::set<std::string>& names) {
    return Asker(std::move(procedure), names).run();
}

}  // namespace composit::ir::procedure
