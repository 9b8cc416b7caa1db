// without_zero_gradients: loops back through choices, whose gradients are 0 but for a few.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

// Whether a value is 0 where those of `multiples` are, whatever else it is made of: a product with
// an infinity, too, as a gradient of 0 leaves nothing of a slope.
bool is_multiple(const Expr& value, const std::set<int>& multiples) {
    const auto is_own = [&](int operand) { return is_multiple(value.operand(operand), multiples); };
    switch (value.op()) {
        case Op::argument: return multiples.contains(value.index());
        case Op::constant: return is_integer_constant(value, 0);
        case Op::negate: return is_own(0);
        case Op::multiply: return is_own(0) || is_own(1);
        case Op::divide: return is_own(0);
        case Op::add:
        case Op::subtract: return is_own(0) && is_own(1);
        case Op::select: return is_own(1) && is_own(2);
        default: return false;
    }
}

bool has_choice(const Expr& value) {
    const auto all = scalar::topological_order({value});
    return std::any_of(all.begin(), all.end(),
                       [](const Expr& each) { return each.op() == Op::select; });
}

class ZerosLeftOut {
  public:
    explicit ZerosLeftOut(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (Statement& statement : block) {
            walk(statement.body);
            walk(statement.otherwise);
            if (statement.kind != Kind::loop || !count_of(statement)) continue;
            for (size_t i = 0; i + 2 < statement.body.size(); ++i)
                if (is_taken_at(statement.body, i) && leave_out(statement, i)) break;
        }
    }

    // g = x[k]; x[k] = 0, as the adjoint of a store begins (reverse.cpp)
    static bool is_taken_at(const Block& block, size_t place) {
        const Statement &load = block[place], &store = block[place + 1];
        return load.kind == Kind::load && load.is_zeroed && store.kind == Kind::store &&
               store.array == load.array && is_positive_zero(store.values[0]) &&
               is_floating(store.values[0].dtype()) && store.index.size() == load.index.size() &&
               scalar::structurally_equal(store.index, load.index);
    }

    bool leave_out(Statement& loop, size_t place) {
        Block& body = loop.body;
        const Statement taken = body[place];
        // Through a choice, to what another iteration takes: most of them take 0, one by one.
        const bool hands_on = std::any_of(
            body.begin() + static_cast<std::ptrdiff_t>(place), body.end(), [&](const Statement& s) {
                return s.kind == Kind::add && s.array == taken.array && has_choice(s.values[0]);
            });
        if (!hands_on) return false;
        if (!mentions_) mentions_ = mentions_in(p_, p_.body);
        const Block whole{loop};
        const std::map<int, int> inside = mentions_in(p_, whole);
        const std::set<int> exposed = exposed_in(p_, body);
        const auto is_own = [&](int variable) {
            return !exposed.contains(variable) && inside.at(variable) == mentions_->at(variable);
        };
        if (!is_own(taken.variable)) return false;
        std::set<int> multiples{taken.variable};
        for (size_t i = place + 2; i < body.size(); ++i) {
            const Statement& each = body[i];
            if (each.kind == Kind::load && is_own(each.variable)) continue;
            if (each.kind == Kind::add && is_multiple(each.values[0], multiples)) continue;
            if (each.kind != Kind::assign) return false;
            const Expr& value = each.values[0];
            if (is_own(each.variable)) {
                if (is_multiple(value, multiples)) multiples.insert(each.variable);
                continue;
            }
            // A sum that goes on through the iterations.
            const bool adds = (value.op() == Op::add || value.op() == Op::subtract) &&
                              is_variable(value.operand(0), each.variable) &&
                              is_multiple(value.operand(1), multiples);
            if (!adds) return false;
        }
        Block rest = before_of(body, place);
        const auto from = body.begin() + static_cast<std::ptrdiff_t>(place) + 2;
        rest.insert(rest.end(), from, body.end());
        body.erase(from, body.end());
        const Expr g = p_.variable(static_cast<size_t>(taken.variable));
        const Expr zero = Expr::constant(g.dtype(), 0);
        body.push_back(Statement::branch(Expr::make(Op::not_equal, {g, zero}), std::move(rest), {},
                                         taken.line));
        return true;
    }

    // What stands before a place and only serves what stands behind it: it leaves the block.
    Block before_of(Block& body, size_t& place) const {
        Block moved;
        const std::map<int, int> inside = mentions_in(p_, body), assigned = assignments_in(body);
        const std::set<int> exposed = exposed_in(p_, body);
        std::set<int> needed = variables_in(body[place].index), passed;
        for (size_t i = place; i-- > 0;) {
            const Statement each = body[i];
            if (each.kind != Kind::assign && each.kind != Kind::load) break;
            const std::set<int> read = variables_in(expressions_of(p_, each));
            const bool stays = (each.kind == Kind::load && each.array == body[place].array) ||
                               needed.contains(each.variable) || exposed.contains(each.variable) ||
                               assigned.at(each.variable) != 1 ||
                               inside.at(each.variable) != mentions_->at(each.variable) ||
                               std::any_of(read.begin(), read.end(),
                                           [&](int variable) { return passed.contains(variable); });
            if (stays) {
                needed.insert(read.begin(), read.end());
                passed.insert(each.variable);
                continue;
            }
            moved.insert(moved.begin(), each);
            body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
            --place;
        }
        return moved;
    }

    Procedure p_;
    std::optional<std::map<int, int>> mentions_;
};

}  // namespace

Procedure without_zero_gradients(Procedure procedure) {
    return ZerosLeftOut(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
