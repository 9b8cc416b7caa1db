// with_sums_in_variables: inner loops that add to elements which stay where they are.
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <optional>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_simple(const Block& block) {
    return std::all_of(block.begin(), block.end(), [](const Statement& statement) {
        return statement.kind == Kind::assign || statement.kind == Kind::load ||
               statement.kind == Kind::store || statement.kind == Kind::add;
    });
}

class SumsInVariables {
  public:
    explicit SumsInVariables(Procedure procedure)
        : p_(std::move(procedure)), mentions_(mentions_in(p_, p_.body)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            walk(block[i].body);
            walk(block[i].otherwise);
            if (block[i].kind != Kind::loop) continue;
            Block made = split(block[i]);
            if (made.empty()) made = with_sums(block[i], Expr());
            if (made.empty()) continue;
            const auto place = block.begin() + static_cast<std::ptrdiff_t>(i);
            const size_t more = made.size() - 1;
            block.insert(block.erase(place), made.begin(), made.end());
            i += more;
        }
    }

    // for j: if (j != v) { … }  to  for j below v: …  for j above v: …
    Block split(const Statement& loop) {
        const auto count = count_of(loop);
        if (!count || count->step != 1 || loop.body.size() != 1) return {};
        const Statement& branch = loop.body[0];
        if (branch.kind != Kind::branch || !branch.otherwise.empty() || !is_simple(branch.body))
            return {};
        const Expr& condition = branch.values[0];
        if (condition.op() != Op::not_equal || is_floating(condition.operand(0).dtype())) return {};
        const bool is_first = is_variable(condition.operand(0), count->counter);
        const Expr own = condition.operand(is_first ? 0 : 1),
                   v = condition.operand(is_first ? 1 : 0);
        const std::map<int, int> assigned = assignments_in({loop});
        if (!is_variable(own, count->counter) || reads_any({v, count->begin, count->end}, assigned))
            return {};
        Statement below = loop, above = loop;
        below.body = above.body = branch.body;
        Block made;
        const auto bound = [&](const char* name, const Expr& value) {
            const int variable = p_.add_variable(name, DType::int64);
            made.push_back(Statement::assign(variable, value, loop.line));
            return p_.variable(static_cast<size_t>(variable));
        };
        below.values[0] = own < bound("below", select(v < count->end, v, count->end));
        const Expr behind = select(v < count->end, v + integer(1), count->end);
        above.first[0].values[0] = bound("above", select(v < count->begin, count->begin, behind));
        above.values[0] = own < count->end;
        give_own_variables(p_, above, loop, mentions_);
        for (const Statement& each : {below, above}) {
            const Block own_sums = with_sums(each, v);
            if (own_sums.empty())
                made.push_back(each);
            else
                made.insert(made.end(), own_sums.begin(), own_sums.end());
        }
        return made;
    }

    // for j: x[i] += f(j)  to  if (any j) { s = x[i]; for j: s += f(j); x[i] = s; }
    // `apart`: what the counter never is.
    Block with_sums(const Statement& loop, const Expr& apart) {
        const auto count = count_of(loop);
        if (!count || !is_simple(loop.body)) return {};
        const std::map<int, int> assigned = assignments_in({loop});
        std::vector<std::pair<Statement, int>> sums;
        Statement copy = loop;
        for (Statement& each : copy.body) {
            if (each.kind != Kind::add || reads_any(each.index, assigned) ||
                !is_floating(each.values[0].dtype()) ||
                !is_alone(loop.body, each, count->counter, apart))
                continue;
            auto known = std::find_if(sums.begin(), sums.end(), [&](const auto& sum) {
                return sum.first.array == each.array &&
                       sum.first.index.size() == each.index.size() &&
                       scalar::structurally_equal(sum.first.index, each.index);
            });
            if (known == sums.end()) {
                const auto array = static_cast<size_t>(each.array);
                const int sum =
                    p_.add_variable(p_.arrays[array].name + "_sum", p_.arrays[array].dtype);
                known = sums.insert(sums.end(), {each, sum});
            }
            const Expr sum = p_.variable(static_cast<size_t>(known->second));
            each = Statement::assign(known->second, sum + each.values[0], each.line);
        }
        if (sums.empty()) return {};
        std::vector<Expr> by = all_variables(p_);
        by[static_cast<size_t>(count->counter)] = count->begin;
        Block inner;
        for (const auto& [add, sum] : sums)
            inner.push_back(Statement::load(sum, add.array, add.index, add.line));
        inner.push_back(std::move(copy));
        for (const auto& [add, sum] : sums) {
            const Expr value = p_.variable(static_cast<size_t>(sum));
            inner.push_back(Statement::write(Kind::store, add.array, add.index, value, add.line));
        }
        const Expr runs = scalar::substitute({loop.values[0]}, by)[0];
        return {Statement::branch(runs, std::move(inner), {}, loop.line)};
    }

    // Whether all else that the loop does with the array is with other elements, or adds to it.
    static bool is_alone(const Block& body, const Statement& add, int counter, const Expr& apart) {
        return std::all_of(body.begin(), body.end(), [&](const Statement& other) {
            if (other.array != add.array) return true;
            if (other.index.size() != add.index.size()) return false;
            if (other.kind == Kind::add && scalar::structurally_equal(other.index, add.index))
                return true;
            if (are_apart(other.index, add.index)) return true;
            for (size_t axis = 0; axis < add.index.size(); ++axis)
                if (apart && is_variable(other.index[axis], counter) &&
                    scalar::structurally_equal({add.index[axis]}, {apart}))
                    return true;
            return false;
        });
    }

    Procedure p_;
    const std::map<int, int> mentions_;
};

}  // namespace

Procedure with_sums_in_variables(Procedure procedure) {
    return SumsInVariables(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
