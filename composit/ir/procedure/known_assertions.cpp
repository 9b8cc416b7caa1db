// without_known_assertions: what an assertion before has made certain is not asserted again.
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;
using scalar::Op;

bool are_equal_lists(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return a.size() == b.size() && scalar::structurally_equal(a, b);
}

// Walks the statements in their order, with what each integer is in terms of the parameters, of
// elements of inputs, and of counters. Counters of loops with the same range, around which the same
// loops stand, have one symbol: what held for all iterations of one holds for those of the other,
// where the loops that stood around it run at all, because they stand around that place, too.
class KnownAssertions {
  public:
    explicit KnownAssertions(Procedure procedure) : p_(std::move(procedure)) {
        for (const Variable& variable : p_.variables) values_.push_back(fresh(variable.dtype));
    }

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    struct Element {
        int array;
        std::vector<Expr> index;
        Expr symbol;
    };
    struct Counter {
        std::vector<Expr> bounds;
        std::ptrdiff_t depth;
        Expr symbol;
    };
    struct Fact {
        Expr holds;
        std::vector<int> within;  // counters of loops in which it was asserted, which have ended
    };

    Expr fresh(DType dtype) { return Expr::argument(symbols_++, dtype); }

    std::vector<Expr> in_symbols(const std::vector<Expr>& values) const {
        return values.empty() ? values : scalar::substitute(values, values_);
    }

    void forget(const Block& changed) {
        for (const auto& [variable, times] : assignments_in(changed)) {
            const auto place = static_cast<size_t>(variable);
            values_[place] = fresh(p_.variables[place].dtype);
        }
    }

    Expr element(const Statement& load) {
        const DType dtype = p_.arrays[static_cast<size_t>(load.array)].dtype;
        if (p_.arrays[static_cast<size_t>(load.array)].role != Role::input || is_floating(dtype))
            return fresh(dtype);
        std::vector<Expr> index = in_symbols(load.index);
        for (const Element& known : elements_)
            if (known.array == load.array && are_equal_lists(known.index, index))
                return known.symbol;
        elements_.push_back({load.array, std::move(index), fresh(dtype)});
        return elements_.back().symbol;
    }

    // The symbol of a counter; `depth` tells nested loops of one range apart.
    Counter counter_of(const Range& range) {
        const std::vector<Expr> bounds = in_symbols({range.low, range.high});
        const auto depth = std::count_if(around_.begin(), around_.end(), [&](const Counter& outer) {
            return are_equal_lists(outer.bounds, bounds);
        });
        for (const Counter& known : counters_)
            if (known.depth == depth && are_equal_lists(known.bounds, bounds)) return known;
        counters_.push_back({bounds, depth, fresh(DType::int64)});
        return counters_.back();
    }

    void walk(Block& block) {
        Block kept;
        for (Statement& statement : block) {
            if (statement.kind == Kind::expect && is_known(statement)) continue;
            const auto place = static_cast<size_t>(statement.variable);
            switch (statement.kind) {
                case Kind::assign:
                    // Long values of floats are no indices.
                    values_[place] = is_floating(p_.variables[place].dtype)
                                         ? fresh(p_.variables[place].dtype)
                                         : in_symbols(statement.values)[0];
                    break;
                case Kind::load: values_[place] = element(statement); break;
                case Kind::take: values_[place] = fresh(p_.variables[place].dtype); break;
                case Kind::branch: walk_branch(statement); break;
                case Kind::loop: walk_loop(statement); break;
                default: break;
            }
            kept.push_back(std::move(statement));
        }
        block = std::move(kept);
    }

    bool is_known(const Statement& statement) {
        std::vector<Expr> holds = in_symbols(statement.values);
        if (always_holds(holds[0])) return true;
        holds[0] = as_bound(holds[0]);
        for (const Fact& known : known_)
            if (are_equal_lists({known.holds}, holds) && run_here(known.within)) return true;
        known_.push_back({holds[0], {}});
        return false;
    }

    // i == i, and i >= j | j > i, of integers.
    static bool always_holds(const Expr& value) {
        if (value.operands().size() != 2) return false;
        const Expr &one = value.operand(0), &other = value.operand(1);
        if (value.op() == Op::equal)
            return one.dtype() == DType::int64 && are_equal_lists({one}, {other});
        return value.op() == Op::bit_or && one.op() == Op::greater_equal &&
               other.op() == Op::greater && one.operand(0).dtype() == DType::int64 &&
               are_equal_lists({one.operand(0), one.operand(1)},
                               {other.operand(1), other.operand(0)});
    }

    // Of an integer and a constant, in one form: x >= 1, of 0 < x.
    static Expr as_bound(const Expr& value) {
        const Op op = value.op();
        const bool is_comparison =
            op == Op::less || op == Op::less_equal || op == Op::greater || op == Op::greater_equal;
        if (!is_comparison || value.operand(0).dtype() != DType::int64) return value;
        const bool is_turned = op == Op::greater || op == Op::greater_equal;
        const Expr low = value.operand(is_turned ? 1 : 0), high = value.operand(is_turned ? 0 : 1);
        const bool is_strict = op == Op::less || op == Op::greater;
        constexpr double most = 1e15;  // what one more of is exact
        const auto is_number = [&](const Expr& x) {
            return x.op() == Op::constant && std::abs(x.value()) < most;
        };
        const auto moved = [&](const Expr& x, int64_t by) {
            return integer(static_cast<int64_t>(x.value()) + (is_strict ? by : 0));
        };
        if (is_number(low)) return Expr::make(Op::greater_equal, {high, moved(low, 1)});
        if (is_number(high)) return Expr::make(Op::less_equal, {low, moved(high, -1)});
        return value;
    }

    // Whether loops with these counters stand around.
    bool run_here(const std::vector<int>& symbols) const {
        return std::all_of(symbols.begin(), symbols.end(), [&](int symbol) {
            return std::any_of(around_.begin(), around_.end(), [&](const Counter& outer) {
                return outer.symbol.index() == symbol;
            });
        });
    }

    void walk_branch(Statement& branch) {
        const size_t before = known_.size();
        const std::vector<Expr> values = values_;
        walk(branch.body);
        known_.resize(before);
        values_ = values;
        walk(branch.otherwise);
        known_.resize(before);
        forget(branch.body);
        forget(branch.otherwise);
    }

    void walk_loop(Statement& loop) {
        const size_t before = known_.size();
        const Block whole{loop};
        const auto range = range_of(loop);
        if (range) around_.push_back(counter_of(*range));
        forget(whole);
        if (range) values_[static_cast<size_t>(range->counter)] = around_.back().symbol;
        walk(loop.body);
        forget(whole);
        // What every iteration asserted holds behind the loop, if each came to the assertion.
        if (!range || has_own(loop.body, Kind::stop) || has_own(loop.body, Kind::go_on))
            known_.resize(before);
        for (size_t i = before; i < known_.size(); ++i)
            known_[i].within.push_back(around_.back().symbol.index());
        if (range) around_.pop_back();
    }

    Procedure p_;
    int symbols_ = 0;
    std::vector<Expr> values_;
    std::vector<Fact> known_;
    std::vector<Element> elements_;
    std::vector<Counter> counters_, around_;
};

}  // namespace

Procedure without_known_assertions(Procedure procedure) {
    return KnownAssertions(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
