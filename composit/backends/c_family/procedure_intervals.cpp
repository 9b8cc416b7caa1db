// Intervals grow with operations; where one leaves int64, nothing is known.
#include "composit/backends/c_family/procedure_intervals.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

namespace composit::c_family {
namespace {

using ir::procedure::ArrayVariable;
using ir::procedure::Block;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;
__extension__ using Wide = __int128;

constexpr int64_t least = std::numeric_limits<int64_t>::min();
constexpr int64_t greatest = std::numeric_limits<int64_t>::max();
constexpr int64_t longest_axis = int64_t{1} << 61;

std::optional<Interval> between(Wide low, Wide high) {
    if (low < least || high > greatest) return {};
    return Interval{static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

class Finder {
  public:
    explicit Finder(const Procedure& procedure) : procedure_(procedure) {
        times_ = ir::procedure::assignments_in(procedure.body);
        mentions_ = ir::procedure::mentions_in(procedure, procedure.body);
        for (const ArrayVariable& array : procedure.arrays)
            if (array.role == ArrayVariable::Role::input)
                for (const Expr& extent : array.shape)
                    if (extent.op() == Op::argument && is_parameter(extent.index()) &&
                        !times_.contains(extent.index()))
                        known_[extent.index()] = {0, longest_axis};
        walk(procedure.body);
        find_counters();
        walk(procedure.body);
    }

    std::map<int, Interval> known() && { return std::move(known_); }

  private:
    bool is_parameter(int variable) const {
        return static_cast<size_t>(variable) < procedure_.parameters;
    }

    Interval bounds_of(const Expr& value) const {
        return interval_of(value, known_).value_or(Interval{least, greatest});
    }

    void walk(const Block& block) {
        for (const Statement& statement : block) {
            if (statement.kind == Kind::assign) {
                const bool is_integer =
                    procedure_.variables[static_cast<size_t>(statement.variable)].dtype ==
                    ir::DType::int64;
                if (is_integer && times_.at(statement.variable) == 1 &&
                    !is_parameter(statement.variable))
                    if (const auto found = interval_of(statement.values[0], known_))
                        known_[statement.variable] = {found->low, found->high};
            }
            if (statement.kind == Kind::loop) enter(statement);
            walk(statement.body);
            if (statement.kind == Kind::branch) walk(statement.otherwise);
        }
    }

    // Variables that begin somewhere and go on by one at most: nobody waits for 2^61 steps.
    void find_counters() {
        std::map<int, std::vector<const Expr*>> values;
        for (const Statement* each : ir::procedure::all_statements(procedure_.body))
            if (each->kind == Kind::assign) values[each->variable].push_back(&each->values[0]);
        for (const auto& [variable, given] : values) {
            const auto place = static_cast<size_t>(variable);
            const bool is_all = given.size() == static_cast<size_t>(times_.at(variable));
            if (!is_all || given.size() == 1 || is_parameter(variable) ||
                procedure_.variables[place].dtype != ir::DType::int64)
                continue;
            Interval range{greatest, least};
            bool is_counter = true, is_stepped = false;
            for (const Expr* value : given) {
                if (is_step(*value, variable)) {
                    is_stepped = true;
                    continue;
                }
                const auto start = interval_of(*value, known_);
                is_counter &= start && start->low >= -longest_axis && start->high <= longest_axis;
                if (!is_counter) break;
                range = {std::min(range.low, start->low), std::max(range.high, start->high)};
            }
            if (is_counter && is_stepped && range.low <= range.high)
                known_.try_emplace(variable,
                                   Interval{range.low - longest_axis, range.high + longest_axis});
        }
    }

    // variable + 1, variable - int(condition)
    bool is_step(const Expr& value, int variable) const {
        if ((value.op() != Op::add && value.op() != Op::subtract) ||
            !ir::procedure::is_variable(value.operand(0), variable))
            return false;
        const auto by = interval_of(value.operand(1), known_);
        return by && by->low >= -1 && by->high <= 1;
    }

    void enter(const Statement& loop) {
        const auto range = ir::procedure::range_of(loop);
        if (!range || !ir::procedure::steps_of(loop)) return;
        const int counter = range->counter;
        const Block one{loop};
        const bool is_own =
            times_.at(counter) == 2 && !is_parameter(counter) &&
            ir::procedure::mentions_in(procedure_, one).at(counter) == mentions_.at(counter);
        if (!is_own) return;
        const Interval low = bounds_of(range->low), high = bounds_of(range->high);
        if (high.high <= least) return;
        known_[counter] = {low.low, high.high - 1};
        // Below another variable and so much, which does not wrap where the loop begins at 0 or
        // later: it would be negative.
        Expr other = range->high;
        int64_t more = 0;
        if (other.op() == Op::add && other.operand(1).op() == Op::constant) {
            more = static_cast<int64_t>(other.operand(1).bits()[0]);
            other = Expr(other.operand(0));
        }
        const bool is_fixed = other.op() == Op::argument && other.dtype() == ir::DType::int64 &&
                              !ir::procedure::assignments_in(one).contains(other.index()) &&
                              (is_parameter(other.index()) || times_.contains(other.index())) &&
                              (!times_.contains(other.index()) || times_.at(other.index()) == 1);
        if (is_fixed && more >= 0 && more <= longest_axis && low.low >= 0) {
            known_[counter].other = other.index();
            known_[counter].more = more - 1;
        }
    }

    const Procedure& procedure_;
    std::map<int, int> times_, mentions_;
    std::map<int, Interval> known_;
};

}  // namespace

std::optional<Interval> interval_of(const Expr& value, const std::map<int, Interval>& known) {
    if (value.dtype() != ir::DType::int64) return {};
    const auto of = [&](size_t i) { return interval_of(value.operands()[i], known); };
    switch (value.op()) {
        case Op::constant: {
            const auto number = static_cast<int64_t>(value.bits()[0]);
            return Interval{number, number};
        }
        case Op::argument: {
            const auto found = known.find(value.index());
            return found == known.end() ? Interval{least, greatest} : found->second;
        }
        case Op::add:
        case Op::subtract:
        case Op::multiply: {
            const auto a = of(0), b = of(1);
            if (!a || !b) return {};
            const Wide al = a->low, ah = a->high, bl = b->low, bh = b->high;
            if (value.op() == Op::add) return between(al + bl, ah + bh);
            if (value.op() == Op::subtract) {
                const bool is_less = ir::procedure::is_variable(value.operand(0), b->other);
                return between(is_less ? std::max(-Wide{b->more}, al - bh) : al - bh, ah - bl);
            }
            const auto [low, high] = std::minmax({al * bl, al * bh, ah * bl, ah * bh});
            return between(low, high);
        }
        case Op::negate: {
            const auto a = of(0);
            return a ? between(-Wide{a->high}, -Wide{a->low}) : std::nullopt;
        }
        case Op::select: {
            const auto a = of(1), b = of(2);
            if (!a || !b) return {};
            return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
        }
        case Op::cast:
            return value.operand(0).dtype() == ir::DType::boolean ? Interval{0, 1}
                                                                  : Interval{least, greatest};
        default: return Interval{least, greatest};
    }
}

std::map<int, Interval> intervals_of(const Procedure& procedure) {
    return Finder(procedure).known();
}

}  // namespace composit::c_family
