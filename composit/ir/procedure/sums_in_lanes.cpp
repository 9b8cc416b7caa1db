// with_lanes_in_loops: sums in lanes, as vectors.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/pairs_once.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

// Whether it adds to the lane of this iteration, of which the first one has lane 0.
bool is_in_lane(const Procedure& procedure, const Statement& statement, const Count& count) {
    if (statement.kind != Kind::add || statement.index.size() != 1) return false;
    const Expr& index = statement.index[0];
    const Expr counter = procedure.variable(static_cast<size_t>(count.counter));
    return index.op() == Op::remainder && is_integer_constant(index.operand(1), lanes_of_sums) &&
           scalar::structurally_equal({index.operand(0)}, {minus(counter, count.begin)});
}

class LanesInLoops {
  public:
    explicit LanesInLoops(Procedure procedure)
        : p_(std::move(procedure)), mentions_(mentions_in(p_, p_.body)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            if (block[i].kind != Kind::loop || !has_lanes(block[i])) {
                walk(block[i].body);
                walk(block[i].otherwise);
                continue;
            }
            const Block made = in_lanes(block[i]);
            const auto place = block.begin() + static_cast<std::ptrdiff_t>(i);
            block.insert(block.erase(place), made.begin(), made.end());
            i += made.size() - 1;
        }
    }

    // Whether it adds to lanes and does nothing else that matters: iterations run in their order.
    bool has_lanes(const Statement& loop) const {
        const auto count = count_of(loop);
        if (!count || count->step != 1 ||
            reads_any({count->begin, count->end}, assignments_in({loop})) ||
            !is_own(loop, count->counter))
            return false;
        bool found = false;
        for (const Statement& each : loop.body) {
            if (!is_value(each) && !is_write(each)) return false;
            found |= is_in_lane(p_, each, *count);
        }
        return found;
    }

    // Whether nothing else reads the counter.
    bool is_own(const Statement& loop, int counter) const {
        return mentions_in(p_, {loop}).at(counter) == mentions_.at(counter);
    }

    Block in_lanes(const Statement& loop) {
        const Count count = *count_of(loop);
        const Expr lanes = integer(lanes_of_sums);
        const int behind = p_.add_variable("behind", DType::int64);
        const int lane = p_.add_variable("lane", DType::int64);
        const Expr from = p_.variable(static_cast<size_t>(behind));
        const Expr own = p_.variable(static_cast<size_t>(lane));
        const Expr here = p_.variable(static_cast<size_t>(count.counter));
        Statement whole = loop, rest = loop;
        std::vector<Expr> by = all_variables(p_);
        by[static_cast<size_t>(count.counter)] = here + own;
        for (Statement& each : whole.body)
            if (is_in_lane(p_, each, count)) each.index[0] = own;
        replace_variables(whole.body, by, false);
        whole.body = {Statement::loop(
            {Statement::assign(lane, integer(0), loop.line)}, own < lanes, std::move(whole.body),
            {Statement::assign(lane, own + integer(1), loop.line)}, loop.line)};
        whole.values[0] = here < from;
        whole.otherwise[0].values[0] = here + lanes;
        rest.first[0].values[0] = from;
        give_own_variables(p_, rest, loop, mentions_);
        const Expr turns = Expr::make(Op::divide, {minus(count.end, count.begin), lanes}) * lanes;
        return {Statement::assign(behind, scalar::simplify({count.begin + turns})[0], loop.line),
                std::move(whole), std::move(rest)};
    }

    Procedure p_;
    const std::map<int, int> mentions_;
};

}  // namespace

bool adds_to_lanes(const Statement& loop) {
    const auto count = count_of(loop);
    return count && std::any_of(loop.body.begin(), loop.body.end(), [&](const Statement& each) {
               return each.kind == Kind::add && each.index.size() == 1 &&
                      each.index[0].op() == Op::remainder &&
                      is_integer_constant(each.index[0].operand(1), lanes_of_sums) &&
                      variables_in(each.index).contains(count->counter);
           });
}

Procedure with_lanes_in_loops(Procedure procedure) {
    return LanesInLoops(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
