#include "composit/ir/procedure/additions.h"

#include "composit/ir/procedure/structure.h"

#include <map>
#include <optional>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

// What is added to the variable, if the value is such a sum.
Expr added_to(int variable, const Expr& value) {
    if (!is_floating(value.dtype()) || (value.op() != Op::add && value.op() != Op::subtract))
        return {};
    const bool is_first = is_variable(value.operand(0), variable);
    if (!is_first && (value.op() != Op::add || !is_variable(value.operand(1), variable))) return {};
    const Expr other = value.operand(is_first ? 1 : 0);
    if (variables_in({other}).contains(variable)) return {};
    return value.op() == Op::add ? other : -other;
}

class Additions {
  public:
    explicit Additions(Procedure procedure)
        : p_(std::move(procedure)),
          mentions_(mentions_in(p_, p_.body)),
          assignments_(assignments_in(p_.body)) {}

    Procedure run() {
        find_others(p_.body);
        walk(p_.body);
        return std::move(p_);
    }

  private:
    // The places of a load and of the store of its sum.
    struct Pair {
        size_t load = 0, store = 0;
        Expr added;
    };

    void find_others(const Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            find_others(block[i].body);
            if (block[i].kind == Kind::branch) find_others(block[i].otherwise);
            if (block[i].kind == Kind::load && !pair_at(block, i))
                read_otherwise_.insert(block[i].array);
        }
    }

    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            if (block[i].kind == Kind::branch) walk(block[i].otherwise);
            const auto pair =
                block[i].kind == Kind::load && !read_otherwise_.contains(block[i].array)
                    ? pair_at(block, i)
                    : std::nullopt;
            if (!pair) continue;
            block[pair->store].kind = Kind::add;
            block[pair->store].values = {pair->added};
            block.erase(block.begin() + static_cast<std::ptrdiff_t>(i--));
        }
    }

    // What the load at a place finds, a later statement stores, and more.
    std::optional<Pair> pair_at(const Block& block, size_t place) const {
        const Statement& load = block[place];
        const int variable = load.variable;
        if (static_cast<size_t>(variable) < p_.parameters || mentions_.at(variable) != 2 ||
            assignments_.at(variable) != 1)
            return {};
        const std::set<int> index = variables_in(load.index);
        for (size_t k = place + 1; k < block.size(); ++k) {
            const Statement& next = block[k];
            const bool is_plain = is_value(next) || is_write(next) || next.kind == Kind::expect;
            if (!is_plain || (is_value(next) && index.contains(next.variable))) return {};
            if (!is_write(next) || next.array != load.array) continue;
            const bool is_same = next.kind == Kind::store &&
                                 next.index.size() == load.index.size() &&
                                 scalar::structurally_equal(next.index, load.index);
            const Expr added = is_same ? added_to(variable, next.values[0]) : Expr();
            return added ? std::optional(Pair{place, k, added}) : std::nullopt;
        }
        return {};
    }

    Procedure p_;
    std::map<int, int> mentions_, assignments_;
    std::set<int> read_otherwise_;  // arrays that a load reads which is of no such pair
};

}  // namespace

Procedure with_additions(Procedure procedure) { return Additions(std::move(procedure)).run(); }

}  // namespace composit::ir::procedure
