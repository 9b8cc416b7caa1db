// with_sums_together: four iterations of a loop whose inner loops each sum something in order.
#include "composit/ir/procedure/integer_sum.h"
#include "composit/ir/procedure/iteration_parts.h"
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

constexpr int64_t sums_at_once = 4;  // one waits three or four times as long as an addition takes
constexpr size_t most_summed = 16;   // statements of an inner loop that is written four times

class SumsTogether {
  public:
    explicit SumsTogether(Procedure procedure)
        : p_(std::move(procedure)), mentions_(mentions_in(p_, p_.body)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            const auto inner = block[i].kind == Kind::loop ? inner_of(block[i]) : std::nullopt;
            if (!inner) {
                walk(block[i].body);
                walk(block[i].otherwise);
                continue;
            }
            const Block made = together(block[i], *inner);
            const auto place = block.begin() + static_cast<std::ptrdiff_t>(i);
            block.insert(block.erase(place), made.begin(), made.end());
            i += made.size() - 1;
        }
    }

    // Where the inner loop stands in a loop each of whose iterations computes values of its own,
    // runs an inner loop that sums something, and does nothing that another one could see.
    std::optional<size_t> inner_of(const Statement& loop) const {
        const auto count = count_by_one(loop);
        if (!count) return {};
        const auto first =
            std::find_if(loop.body.begin(), loop.body.end(),
                         [](const Statement& each) { return each.kind == Kind::loop; });
        if (first == loop.body.end() || first->body.size() > most_summed) return {};
        const auto within = count_by_one(*first);
        const std::map<int, int> assigned = assignments_in({loop});
        if (!within || reads_any({within->begin, within->end}, assigned) ||
            reads_any({count->begin, count->end}, assigned) ||
            (within->begin.op() == Op::constant && within->end.op() == Op::constant))
            return {};
        std::set<int> taken;
        for (auto each = loop.body.begin(); each != loop.body.end(); ++each) {
            if (each == first || is_value(*each)) continue;
            if (each < first && each->kind == Kind::take)
                taken.insert(each->array);
            else if (each < first || !is_write(*each))
                return {};
        }
        const bool is_plain =
            std::all_of(first->body.begin(), first->body.end(),
                        [](const Statement& each) { return is_value(each) || is_write(each); });
        if (!is_plain || !sums_something(*first) || !has_own_variables(loop)) return {};
        for (const int array : arrays_written(loop))
            if (taken.contains(array) || !is_own(loop, *count, array, assigned)) return {};
        for (const Statement* each : all_statements(loop.body))
            if (each->kind != Kind::take && taken.contains(each->array)) return {};
        return static_cast<size_t>(first - loop.body.begin());
    }

    // Whether a variable of floats is what it was and something else, in order.
    static bool sums_something(const Statement& inner) {
        const std::map<int, int> assigned = assignments_in(inner.body);
        return std::any_of(inner.body.begin(), inner.body.end(), [&](const Statement& each) {
            if (each.kind != Kind::assign || assigned.at(each.variable) != 1) return false;
            const Expr& value = each.values[0];
            return is_floating(value.dtype()) &&
                   (value.op() == Op::add || value.op() == Op::subtract) &&
                   is_variable(value.operand(0), each.variable) &&
                   !variables_in({value.operand(1)}).contains(each.variable);
        });
    }

    // Whether no iteration of the loop hands on a variable.
    bool has_own_variables(const Statement& loop) const {
        const std::map<int, int> inside = mentions_in(p_, {loop});
        const std::set<int> exposed = exposed_in(p_, loop.body);
        const auto is_own = [&](int variable) {
            return static_cast<size_t>(variable) >= p_.parameters && mentions_.contains(variable) &&
                   inside.at(variable) == mentions_.at(variable);
        };
        for (const auto& [variable, times] : assignments_in(loop.body))
            if (exposed.contains(variable) || !is_own(variable)) return false;
        return is_own(loop.first[0].variable);
    }

    static std::set<int> arrays_written(const Statement& loop) {
        std::set<int> found;
        for (const Statement* each : all_statements(loop.body))
            if (is_write(*each)) found.insert(each->array);
        return found;
    }

    // Whether each iteration reaches elements of its own: on one axis all places are the same one,
    // the counter and what no iteration changes.
    static bool is_own(const Statement& loop, const Count& count, int array,
                       const std::map<int, int>& assigned) {
        std::vector<const Statement*> uses;
        for (const Statement* each : all_statements(loop.body))
            if (each->array == array) uses.push_back(each);
        const auto& index = uses[0]->index;
        for (size_t axis = 0; axis < index.size(); ++axis) {
            const bool is_same = std::all_of(uses.begin(), uses.end(), [&](const Statement* each) {
                return each->index.size() == index.size() &&
                       scalar::structurally_equal({each->index[axis]}, {index[axis]});
            });
            if (is_same && moves_with(index[axis], count.counter, assigned)) return true;
        }
        return false;
    }

    static bool moves_with(const Expr& place, int counter, const std::map<int, int>& assigned) {
        IntegerSum sum;
        sum.add(place, 1);
        bool moves = false;
        for (const auto& [term, times] : sum.terms) {
            if (is_variable(term, counter))
                moves = times == 1 || times == uint64_t(0) - 1;
            else if (reads_any({term}, assigned))
                return false;
        }
        return moves;
    }

    // Loads of the inner loop that are the same in all iterations of the outer one.
    std::set<int> loaded_once(const Statement& loop, const Statement& inner) const {
        const int within = count_of(inner)->counter;
        const std::map<int, int> assigned = assignments_in({loop});
        const std::set<int> written = arrays_written(loop);
        std::set<int> found;
        for (const Statement& each : inner.body) {
            const std::set<int> read = variables_in(each.index);
            const bool is_fixed = std::all_of(read.begin(), read.end(), [&](int variable) {
                return variable == within || !assigned.contains(variable);
            });
            if (each.kind == Kind::load && is_fixed && !written.contains(each.array) &&
                assigned.at(each.variable) == 1)
                found.insert(each.variable);
        }
        return found;
    }

    // The statements of the iteration `row` behind the counter, in variables of its own.
    Block of_row(const Block& body, const Count& count, const std::set<int>& shared, int64_t row) {
        std::vector<Expr> by = all_variables(p_);
        for (const auto& [variable, times] : assignments_in(body)) {
            if (shared.contains(variable)) continue;
            p_.variables.push_back(p_.variables[static_cast<size_t>(variable)]);
            by[static_cast<size_t>(variable)] = p_.variable(p_.variables.size() - 1);
        }
        Block made = body;
        replace_variables(made, by, true);
        if (row == 0) return made;
        by = all_variables(p_);
        const Expr counter = p_.variable(static_cast<size_t>(count.counter));
        by[static_cast<size_t>(count.counter)] =
            count.step == 1 ? counter + integer(row) : counter - integer(row);
        replace_variables(made, by, false);
        return made;
    }

    Block together(const Statement& loop, size_t place) {
        const Count count = *count_of(loop);
        const Statement& inner = loop.body[place];
        std::set<int> shared = loaded_once(loop, inner);
        shared.insert(count_of(inner)->counter);
        const bool is_up = count.step == 1;
        const Expr here = p_.variable(static_cast<size_t>(count.counter));
        const Expr turns =
            Expr::make(Op::divide, {trips_of(p_, count, count.begin), integer(sums_at_once)}) *
            integer(sums_at_once);
        const int number = p_.add_variable("behind", DType::int64);
        const Expr behind = p_.variable(static_cast<size_t>(number));
        Block out{Statement::assign(
            number, scalar::simplify({is_up ? count.begin + turns : count.begin - turns})[0],
            loop.line)};
        Statement four = loop, rest = loop, sums = inner;
        four.values[0] = is_up ? here < behind : here > behind;
        four.otherwise[0].values[0] =
            is_up ? here + integer(sums_at_once) : here - integer(sums_at_once);
        sums.body.clear();
        Block before, after;
        for (int64_t row = 0; row < sums_at_once; ++row) {
            Block own = of_row(loop.body, count, shared, row);
            for (size_t i = 0; i < own.size(); ++i)
                if (i != place) (i < place ? before : after).push_back(std::move(own[i]));
            for (Statement& each : own[place].body)
                if (row == 0 || each.kind != Kind::load || !shared.contains(each.variable))
                    sums.body.push_back(std::move(each));
        }
        four.body = std::move(before);
        const Block writes = writes_apart(sums);
        four.body.push_back(std::move(sums));
        four.body.insert(four.body.end(), writes.begin(), writes.end());
        four.body.insert(four.body.end(), after.begin(), after.end());
        give_own_variables(p_, four, loop, mentions_);
        rest.first[0].values[0] = behind;
        out.push_back(std::move(four));
        out.push_back(std::move(rest));
        return out;
    }

    // A loop for what the sums' loop writes to neighbouring elements, which are vectors where no
    // sum waits for the one before it; empty where both belong together.
    Block writes_apart(Statement& sums) {
        const Count count = *count_of(sums);
        const std::set<int> written = arrays_written(sums), handed_on = exposed_in(p_, sums.body);
        if (written.empty()) return {};
        std::vector<char> is_for_sums, is_for_writes;
        for (const Statement& each : sums.body) {
            const bool writes = is_write(each);
            if (writes ? !is_among_neighbours(sums, each, count) : written.contains(each.array))
                return {};
            is_for_writes.push_back(writes);
            is_for_sums.push_back(!writes && handed_on.contains(each.variable));
        }
        mark_needed(sums.body, is_for_sums);
        mark_needed(sums.body, is_for_writes);
        Block own, other;
        for (size_t i = 0; i < sums.body.size(); ++i) {
            const Statement& each = sums.body[i];
            if (is_for_writes[i] && !is_write(each) && handed_on.contains(each.variable)) return {};
            if (is_for_sums[i] && is_for_writes[i] && vector_cost(each.values) > 0) return {};
            if (is_for_sums[i]) own.push_back(each);
            if (is_for_writes[i]) other.push_back(each);
        }
        Block made{sums};
        made[0].body = std::move(other);
        std::vector<Expr> by = all_variables(p_);
        for (const auto& [variable, times] : assignments_in(made)) {
            p_.variables.push_back(p_.variables[static_cast<size_t>(variable)]);
            by[static_cast<size_t>(variable)] = p_.variable(p_.variables.size() - 1);
        }
        replace_variables(made, by, true);
        sums.body = std::move(own);
        return made;
    }

    bool is_among_neighbours(const Statement& loop, const Statement& write,
                             const Count& count) const {
        return !write.index.empty() && offset_from(count.counter, write.index.back()) &&
               has_own_elements(p_, loop.body, count.counter, write.array);
    }

    // What gives marked statements the variables that they read.
    void mark_needed(const Block& body, std::vector<char>& is_marked) const {
        std::set<int> wanted;
        for (size_t i = body.size(); i-- > 0;) {
            if (!is_marked[i] && (is_write(body[i]) || !wanted.contains(body[i].variable)))
                continue;
            is_marked[i] = 1;
            const std::set<int> read = variables_in(expressions_of(p_, body[i]));
            wanted.insert(read.begin(), read.end());
        }
    }

    Procedure p_;
    const std::map<int, int> mentions_;
};

}  // namespace

Procedure with_sums_together(Procedure procedure) {
    return SumsTogether(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
