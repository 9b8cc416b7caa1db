#include "composit/ir/procedure/conditions_again.h"

#include "composit/ir/procedure/returns_in_loops.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>

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
            if (is_condition(block[i]) && ask_again(block, i)) {
                block.erase(block.begin() + static_cast<std::ptrdiff_t>(i--));
                continue;
            }
            if (block[i].kind == Kind::branch) ask_both(block, i);
        }
    }

    // b = false; if (c) { …; b = d }; if (b) …   to   if (c) …; if (c & d) …
    // where d is at hand behind the branch, too: what the branch makes for it is there before. The
    // same of true, with !c | d.
    void ask_both(Block& block, size_t& place) {
        Block& side = block[place].body;
        if (side.empty() || !block[place].otherwise.empty() || may_exit(side)) return;
        const Statement last = side.back();
        const Expr condition = block[place].values[0];
        const int both = last.variable;
        if (last.kind != Kind::assign || last.values[0].dtype() != DType::boolean ||
            !is_of_comparisons(last.values[0]) || !is_of_comparisons(condition) ||
            reads_any({condition}, assignments_in(side)) ||
            static_cast<size_t>(both) < p_.parameters || assignments_[both] != 2 ||
            mentions_[both] != 3 || is_name(both, name_of_choices))
            return;
        const auto first = default_before(block, place, both);
        const auto reader = reader_behind(block, place, last, condition);
        if (!first || !reader) return;
        side.pop_back();
        Block ahead;
        if (!make_before(last.values[0], side, ahead)) {
            side.push_back(last);
            return;
        }
        const bool is_or = block[*first].values[0].value() != 0;
        const Expr value = last.values[0], holds = is_or ? ~condition | value : condition & value,
                   fails = is_or ? condition & ~value : ~condition | ~value;
        Statement& asks = block[*reader];
        std::vector<Expr> by = all_variables(p_);
        by[static_cast<size_t>(both)] = holds;
        const bool is_denied =
            asks.values[0].op() == Op::bit_not && is_variable(asks.values[0].operand(0), both);
        asks.values =
            scalar::simplify(is_denied ? std::vector{fails} : scalar::substitute(asks.values, by));
        const auto at = [&](size_t k) { return block.begin() + static_cast<std::ptrdiff_t>(k); };
        block.insert(at(place), ahead.begin(), ahead.end());
        block.erase(at(*first));
        place += ahead.size();
        --place;
    }

    // Where, before a place, a variable is given a constant, if nothing between mentions it.
    std::optional<size_t> default_before(const Block& block, size_t place, int variable) const {
        for (size_t i = place; i-- > 0;) {
            const Statement& each = block[i];
            if (!mentions_in(p_, {each}).contains(variable)) continue;
            const bool is_default = each.kind == Kind::assign && each.variable == variable &&
                                    each.values[0].op() == Op::constant;
            return is_default ? std::optional(i) : std::nullopt;
        }
        return {};
    }

    // The branch behind a place that asks what a variable is, before which nothing changes what its
    // value, or whether it has that, reads.
    std::optional<size_t> reader_behind(const Block& block, size_t place, const Statement& made,
                                        const Expr& condition) const {
        for (size_t k = place + 1; k < block.size(); ++k) {
            if (block[k].kind == Kind::branch &&
                variables_in(block[k].values).contains(made.variable))
                return k;
            const std::map<int, int> assigned = assignments_in({block[k]});
            if (reads_any(made.values, assigned) || reads_any({condition}, assigned)) return {};
        }
        return {};
    }

    // Takes out of a side what gives the variables that a value reads, and the side makes, their
    // first constants. False: it makes one in another way, or others know it.
    bool make_before(const Expr& value, Block& side, Block& ahead) {
        const std::map<int, int> made = assignments_in(side);
        std::vector<size_t> places;
        for (const int variable : variables_in({value})) {
            if (!made.contains(variable)) continue;
            size_t i = 0;
            while (!mentions_in(p_, {side[i]}).contains(variable)) ++i;
            const bool is_constant =
                side[i].kind == Kind::assign && side[i].values[0].op() == Op::constant;
            const bool is_own = mentions_in(p_, side)[variable] + 1 == mentions_[variable];
            if (!is_constant || !is_own || static_cast<size_t>(variable) < p_.parameters)
                return false;
            places.push_back(i);
        }
        std::sort(places.rbegin(), places.rend());
        for (const size_t i : places) {
            ahead.push_back(side[i]);
            side.erase(side.begin() + static_cast<std::ptrdiff_t>(i));
        }
        return true;
    }

    // Comparisons of what is at hand, and what both say.
    static bool is_of_comparisons(const Expr& value) {
        const auto all = scalar::topological_order({value});
        return std::all_of(all.begin(), all.end(), [](const Expr& each) {
            const bool joins =
                each.dtype() == DType::boolean &&
                (each.op() == Op::bit_and || each.op() == Op::bit_or || each.op() == Op::bit_not);
            return is_at_hand(each) || is_comparison(each.op()) || joins;
        });
    }

    // Whether the function calls it so, and no translator does.
    bool is_name(int variable, const char* hidden) const {
        const std::string& name = p_.variables[static_cast<size_t>(variable)].name;
        return names_.contains(name) && !name.starts_with(hidden);
    }

    bool is_condition(const Statement& made) const {
        if (made.kind != Kind::assign || !is_comparison(made.values[0].op())) return false;
        const auto number = static_cast<size_t>(made.variable);
        return number >= p_.parameters && assignments_.at(made.variable) == 1 &&
               !is_name(made.variable, flag_of_returns) && is_at_hand(made.values[0].operand(0)) &&
               is_at_hand(made.values[0].operand(1));
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
