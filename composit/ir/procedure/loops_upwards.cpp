// with_loops_upwards: loops that count down and need not.
#include "composit/ir/procedure/integer_sum.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

class LoopsUpwards {
  public:
    explicit LoopsUpwards(Procedure procedure)
        : p_(std::move(procedure)), mentions_(mentions_in(p_, p_.body)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) const {
        for (Statement& each : block) {
            walk(each.body);
            if (each.kind != Kind::loop)
                walk(each.otherwise);
            else if (const auto count = count_by_one(each);
                     count && count->step < 0 && has_free_order(each, *count))
                turn(each, range_of(*count));
        }
    }

    static void turn(Statement& loop, const Range& range) {
        const Expr counter = loop.otherwise[0].values[0].operand(0);
        loop = counting_up(counter, range.low, range.high, std::move(loop.body), loop.line);
    }

    // Whether no iteration has to do with another one, and nobody asks which was the last.
    bool has_free_order(const Statement& loop, const Count& count) const {
        const std::map<int, int> assigned = assignments_in(loop.body);
        for (const Statement& each : loop.body) {
            if (!is_value(each) && !is_write(each)) return false;
            if (is_write(each) && !is_apart(loop.body, each, range_of(count), assigned))
                return false;
        }
        const Block whole{loop};
        const std::map<int, int> inside = mentions_in(p_, whole);
        const std::set<int> exposed = exposed_in(p_, loop.body);
        const auto is_own = [&](int variable) {
            return inside.at(variable) == mentions_.at(variable);
        };
        return is_own(count.counter) &&
               std::all_of(assigned.begin(), assigned.end(), [&](const auto& each) {
                   return !exposed.contains(each.first) && is_own(each.first);
               });
    }

    // Whether what an iteration writes no other one reads or writes: along one axis each index is
    // the counter and what the iterations do not change, and two of them are the same, or as far
    // apart as there are iterations.
    static bool is_apart(const Block& body, const Statement& write, const Range& range,
                         const std::map<int, int>& assigned) {
        return std::all_of(body.begin(), body.end(), [&](const Statement& other) {
            if (other.array != write.array) return true;
            for (size_t axis = 0; axis < write.index.size(); ++axis)
                if (other.index.size() == write.index.size() &&
                    goes_along(write.index[axis], range.counter, assigned) &&
                    goes_along(other.index[axis], range.counter, assigned) &&
                    are_apart_along(write.index[axis], other.index[axis], range))
                    return true;
            return false;
        });
    }

    static bool goes_along(const Expr& index, int counter, const std::map<int, int>& assigned) {
        IntegerSum sum;
        sum.add(index, 1);
        return std::count_if(sum.terms.begin(), sum.terms.end(),
                             [&](const auto& each) {
                                 return is_variable(each.first, counter) && each.second == 1;
                             }) == 1 &&
               std::all_of(sum.terms.begin(), sum.terms.end(), [&](const auto& each) {
                   return is_variable(each.first, counter) ||
                          (!variables_in({each.first}).contains(counter) &&
                           !reads_any({each.first}, assigned));
               });
    }

    static bool are_apart_along(const Expr& a, const Expr& b, const Range& range) {
        IntegerSum distance;
        distance.add(a, 1);
        distance.add(b, ~uint64_t(0));
        if (distance.is_zero()) return true;
        for (const uint64_t sign : {uint64_t(1), ~uint64_t(0)}) {
            IntegerSum rest = distance;
            rest.add(range.high, sign);
            rest.add(range.low, 0 - sign);
            if (rest.is_zero()) return true;
        }
        return false;
    }

    Procedure p_;
    const std::map<int, int> mentions_;
};

}  // namespace

Procedure with_loops_upwards(Procedure procedure) {
    return LoopsUpwards(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
