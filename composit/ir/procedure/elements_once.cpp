// with_elements_written_once: elements that an iteration empties first and adds to later.
#include "composit/ir/procedure/integer_sum.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <optional>
#include <set>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

// Whether the two differ in an iteration of a loop over the range: by a constant, or by as much as
// the number of iterations, which is at least 1 there.
bool differ_within(const Range& range, const Expr& a, const Expr& b) {
    IntegerSum distance;
    distance.add(a, 1);
    distance.add(b, uint64_t(0) - 1);
    if (distance.terms.empty()) return distance.rest != 0;
    for (const uint64_t sign : {uint64_t(1), uint64_t(0) - 1}) {
        IntegerSum rest = distance;
        rest.add(range.high, sign);
        rest.add(range.low, 0 - sign);
        if (rest.is_zero()) return true;
    }
    return false;
}

class ElementsOnce {
  public:
    explicit ElementsOnce(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    static void walk(Block& block) {
        for (Statement& each : block) {
            walk(each.body);
            walk(each.otherwise);
            const auto count = each.kind == Kind::loop ? count_by_one(each) : std::nullopt;
            if (!count) continue;
            const Range range = range_of(*count);
            for (size_t i = 0; i < each.body.size();)
                if (write_later(each.body, i, range))
                    each.body.erase(each.body.begin() + static_cast<std::ptrdiff_t>(i));
                else
                    ++i;
        }
    }

    // Whether what becomes a constant at `place` is written by what adds to it instead.
    static bool write_later(Block& block, size_t place, const Range& range) {
        const Statement& first = block[place];
        if (first.kind != Kind::store || first.values[0].op() != Op::constant) return false;
        const std::set<int> fixed = variables_in(first.index);
        for (size_t i = place + 1; i < block.size(); ++i) {
            Statement& each = block[i];
            const bool is_plain = each.kind == Kind::assign || each.kind == Kind::load ||
                                  each.kind == Kind::store || each.kind == Kind::add;
            if (!is_plain || (is_assignment(each) && fixed.contains(each.variable))) return false;
            if (each.array != first.array) continue;
            if (each.kind == Kind::add && scalar::structurally_equal(each.index, first.index)) {
                each.kind = Kind::store;
                each.values[0] = first.values[0] + each.values[0];
                return true;
            }
            if (!are_elsewhere(each.index, first.index, range)) return false;
        }
        return false;
    }

    static bool are_elsewhere(const std::vector<Expr>& a, const std::vector<Expr>& b,
                              const Range& range) {
        if (a.size() != b.size()) return false;
        for (size_t axis = 0; axis < a.size(); ++axis)
            if (differ_within(range, a[axis], b[axis])) return true;
        return false;
    }

    Procedure p_;
};

}  // namespace

Procedure with_elements_written_once(Procedure procedure) {
    return ElementsOnce(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
