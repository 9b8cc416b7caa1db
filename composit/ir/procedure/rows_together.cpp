// with_rows_together: four iterations of a loop whose inner loops add to the same elements.
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

constexpr int64_t rows_at_once = 4;  // more would not find registers for all factors

class RowsTogether {
  public:
    explicit RowsTogether(Procedure procedure)
        : p_(std::move(procedure)), mentions_(mentions_in(p_, p_.body)) {}

    Procedure run() {
        walk(p_.body);
        return std::move(p_);
    }

  private:
    void walk(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            if (block[i].kind == Kind::loop && holds_for(block[i])) {
                const Block made = together(block[i]);
                const auto place = block.begin() + static_cast<std::ptrdiff_t>(i);
                block.insert(block.erase(place), made.begin(), made.end());
                i += made.size() - 1;
                continue;
            }
            walk(block[i].body);
            walk(block[i].otherwise);
        }
    }

    // Whether each iteration computes values of its own, then runs an inner loop that adds
    // something to elements which are those of all iterations, and does nothing else.
    bool holds_for(const Statement& loop) const {
        const auto count = count_of(loop);
        if (!count || count->step != 1 || loop.body.empty()) return false;
        const Statement& inner = loop.body.back();
        const auto within = inner.kind == Kind::loop ? count_by_one(inner) : std::nullopt;
        if (!within || inner.body.empty()) return false;
        if (within->begin.op() == Op::constant && within->end.op() == Op::constant) return false;
        const std::map<int, int> assigned = assignments_in({loop});
        const auto is_fixed = [&](const std::vector<Expr>& values, int except) {
            const std::set<int> read = variables_in(values);
            return std::none_of(read.begin(), read.end(), [&](int variable) {
                return variable != except && assigned.contains(variable);
            });
        };
        if (!is_fixed({count->begin, count->end, within->begin, within->end}, -1)) return false;
        std::set<int> written, read, appended;
        for (size_t i = 0; i + 1 < loop.body.size(); ++i) {
            const Statement& own = loop.body[i];
            if (own.kind == Kind::append)
                appended.insert(own.array);
            else if (!is_value(own))
                return false;
            else if (own.kind == Kind::load)
                read.insert(own.array);
        }
        for (const Statement& each : inner.body) {
            if (each.kind == Kind::load) read.insert(each.array);
            if (is_value(each)) continue;
            const bool is_sum = each.kind == Kind::add && is_floating(each.values[0].dtype()) &&
                                is_fixed(each.index, within->counter) &&
                                written.insert(each.array).second &&
                                has_own_elements(p_, inner.body, within->counter, each.array);
            if (!is_sum) return false;
        }
        const auto is_read = [&](int array) { return read.contains(array); };
        return !written.empty() && std::none_of(written.begin(), written.end(), is_read) &&
               std::none_of(appended.begin(), appended.end(), is_read) && has_own_variables(loop);
    }

    // Whether no iteration of the loop hands on a variable.
    bool has_own_variables(const Statement& loop) const {
        const Block whole{loop};
        const std::map<int, int> inside = mentions_in(p_, whole);
        const std::set<int> exposed = exposed_in(p_, loop.body);
        for (const auto& [variable, times] : assignments_in(loop.body))
            if (exposed.contains(variable) || inside.at(variable) != mentions_.at(variable))
                return false;
        return inside.at(loop.first[0].variable) == mentions_.at(loop.first[0].variable);
    }

    // The statements of the iteration `row` behind the counter, in variables of its own.
    Block of_row(const Block& body, int counter, int inner_counter, int64_t row) {
        std::vector<Expr> by = all_variables(p_);
        for (const auto& [variable, times] : assignments_in(body)) {
            if (variable == inner_counter) continue;
            p_.variables.push_back(p_.variables[static_cast<size_t>(variable)]);
            by[static_cast<size_t>(variable)] = p_.variable(p_.variables.size() - 1);
        }
        Block made = body;
        replace_variables(made, by, true);
        by = all_variables(p_);
        if (row > 0)
            by[static_cast<size_t>(counter)] =
                p_.variable(static_cast<size_t>(counter)) + integer(row);
        replace_variables(made, by, false);
        return made;
    }

    Block together(const Statement& loop) {
        const auto count = count_of(loop);
        const SourceLine line = loop.line;
        const int behind = p_.add_variable("behind", DType::int64);
        const Expr from = p_.variable(static_cast<size_t>(behind));
        const Expr trips =
            Expr::make(Op::divide, {trips_of(p_, *count, count->begin), integer(rows_at_once)});
        Block out{Statement::assign(
            behind, scalar::simplify({count->begin + trips * integer(rows_at_once)})[0], line)};
        Statement four = loop, rest = loop;
        const Statement& inner = loop.body.back();
        const int within = count_of(inner)->counter;
        four.values[0] = p_.variable(static_cast<size_t>(count->counter)) < from;
        four.otherwise[0].values[0] =
            p_.variable(static_cast<size_t>(count->counter)) + integer(rows_at_once);
        Statement sums = inner;
        four.body.clear();
        sums.body.clear();
        std::map<int, int> totals;  // array -> the variable that holds its element
        for (int64_t row = 0; row < rows_at_once; ++row) {
            for (Statement& each : of_row(loop.body, count->counter, within, row)) {
                if (each.kind != Kind::loop) {
                    four.body.push_back(std::move(each));
                    continue;
                }
                for (Statement& one : each.body) add_to(sums.body, std::move(one), totals);
            }
        }
        for (const Statement& each : inner.body)
            if (each.kind == Kind::add)
                sums.body.push_back(Statement::write(
                    Kind::store, each.array, each.index,
                    p_.variable(static_cast<size_t>(totals.at(each.array))), each.line));
        four.body.push_back(std::move(sums));
        give_own_variables(p_, four, loop, mentions_);
        rest.first[0].values[0] = from;
        out.push_back(std::move(four));
        out.push_back(std::move(rest));
        return out;
    }

    // A statement of the inner loop, with an addition to an element that a variable holds.
    void add_to(Block& body, Statement statement, std::map<int, int>& totals) {
        if (statement.kind != Kind::add) {
            body.push_back(std::move(statement));
            return;
        }
        const ArrayVariable& array = p_.arrays[static_cast<size_t>(statement.array)];
        auto total = totals.find(statement.array);
        if (total == totals.end()) {
            const int made = p_.add_variable(array.name + "_sum", array.dtype);
            total = totals.emplace(statement.array, made).first;
            body.push_back(Statement::load(made, statement.array, statement.index, statement.line));
        }
        const Expr sum = p_.variable(static_cast<size_t>(total->second));
        body.push_back(Statement::assign(total->second, sum + statement.values[0], statement.line));
    }

    Procedure p_;
    const std::map<int, int> mentions_;
};

}  // namespace

Procedure with_rows_together(Procedure procedure) {
    return RowsTogether(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
