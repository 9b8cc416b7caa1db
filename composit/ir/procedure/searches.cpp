#include "composit/ir/procedure/searches.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

Expr truth(bool value) { return Expr::constant_integer(DType::boolean, value ? 1 : 0); }

bool is_truth(const Statement& statement, bool value) {
    return statement.kind == Kind::assign && statement.values[0].op() == Op::constant &&
           statement.values[0].dtype() == DType::boolean &&
           (statement.values[0].value() != 0) == value;
}

class SearchMover {
  public:
    explicit SearchMover(Procedure& procedure) : procedure_(procedure) {}

    Block moved(const Block& block) {
        Block out;
        for (size_t i = 0; i < block.size(); ++i) {
            Statement statement = block[i];
            statement.body = moved(statement.body);
            if (statement.kind == Kind::branch) statement.otherwise = moved(statement.otherwise);
            if (statement.kind != Kind::loop) {
                out.push_back(std::move(statement));
                continue;
            }
            Block behind;
            Expr flag;
            if (const auto place = place_of_end(statement))
                behind = take_out(statement, *place, out, flag);
            out.push_back(std::move(statement));
            if (behind.empty()) continue;
            if (asked_.kind == Kind::assign && asked_.variable >= 0) out.push_back(asked_);
            if (i + 1 < block.size() && joins(block[i + 1], flag)) {
                Statement next = block[++i];
                next.body = moved(next.body);
                next.otherwise = moved(next.otherwise);
                Block& side =
                    is_variable(next.values[0], flag.index()) ? next.body : next.otherwise;
                side.insert(side.begin(), behind.begin(), behind.end());
                out.push_back(std::move(next));
            } else {
                const SourceLine line = behind[0].line;
                out.push_back(Statement::branch(flag, std::move(behind), {}, line));
            }
        }
        return out;
    }

  private:
    // Whether the statement is a branch on the flag, or on what it is not.
    static bool joins(const Statement& next, const Expr& flag) {
        if (next.kind != Kind::branch) return false;
        const Expr& condition = next.values[0];
        return is_variable(condition, flag.index()) ||
               (condition.op() == Op::bit_not && is_variable(condition.operand(0), flag.index()));
    }

    // The branch of a loop's body that alone ends it early, with something to do before: where.
    static std::optional<size_t> place_of_end(const Statement& loop) {
        std::optional<size_t> found;
        for (size_t i = 0; i < loop.body.size(); ++i) {
            const Statement& each = loop.body[i];
            const Block one{each};
            if (!has_own(one, Kind::stop)) continue;
            const bool is_end = !found && each.kind == Kind::branch && each.otherwise.empty() &&
                                each.body.size() > 1 && each.body.back().kind == Kind::stop;
            if (!is_end) return {};
            const Block work(each.body.begin(), each.body.end() - 1);
            if (has_own(work, Kind::stop) || has_own(work, Kind::go_on)) return {};
            found = i;
        }
        // One that changes arrays does more than search: its iterations are logged, the last one,
        // too.
        const auto all = all_statements(loop.body);
        const bool does_more = std::any_of(all.begin(), all.end(), [&](const Statement* each) {
            const bool changes = is_write(*each) || each->kind == Kind::append ||
                                 each->kind == Kind::take || each->kind == Kind::allocate;
            return each->kind == Kind::leave || changes;
        });
        return does_more ? std::nullopt : found;
    }

    // What the branch does before the loop ends, with a flag that says whether it ended so.
    Block take_out(Statement& loop, size_t place, Block& before, Expr& flag) {
        Block work = std::move(loop.body[place].body);
        Statement stop = work.back();
        work.pop_back();
        std::optional<size_t> known;
        for (size_t i = 0; i < work.size(); ++i)
            if (is_truth(work[i], true) && is_flag(work[i].variable, loop, work, before)) known = i;
        if (work.size() == (known ? 1u : 0u)) {
            work.push_back(stop);
            loop.body[place].body = std::move(work);
            return {};
        }
        if (steps_of(loop) && !has_own(loop.body, Kind::go_on)) {
            // The counter says it: the loop ended early where it did not reach its end.
            int number = -1;
            if (known) {
                number = work[*known].variable;
                work.erase(work.begin() + static_cast<std::ptrdiff_t>(*known));
            } else {
                number = procedure_.add_variable("found", DType::boolean);
            }
            flag = procedure_.variable(static_cast<size_t>(number));
            asked_ = Statement::assign(number, loop.values[0], loop.line);
            stop.line = loop.body[place].line;
            loop.body[place].body = {stop};
            return with_values_again(loop.body, place, std::move(work));
        }
        asked_ = {};
        Statement found;
        if (known) {
            found = work[*known];
            work.erase(work.begin() + static_cast<std::ptrdiff_t>(*known));
            flag = procedure_.variable(static_cast<size_t>(found.variable));
        } else {
            const int made = procedure_.add_variable("found", DType::boolean);
            flag = procedure_.variable(static_cast<size_t>(made));
            before.push_back(Statement::assign(made, truth(false), loop.line));
            found = Statement::assign(made, truth(true), stop.line);
        }
        loop.body[place].body = {found, stop};
        return with_values_again(loop.body, place, std::move(work));
    }

    // Whether a variable is false where the loop begins, and becomes true in this work alone.
    static bool is_flag(int variable, const Statement& loop, const Block& work,
                        const Block& before) {
        if (assignments_in(loop.body).contains(variable) || assignments_in(work)[variable] != 1)
            return false;
        for (size_t i = before.size(); i-- > 0;)
            if (assignments_in({before[i]}).contains(variable)) return is_truth(before[i], false);
        return false;
    }

    // The work, which computes again what it reads of its iteration, so that nothing but the
    // counter has to live longer: from statements before the branch, of values that are the same.
    Block with_values_again(const Block& body, size_t place, Block work) {
        std::set<int> wanted;
        for (const int variable : exposed_in(procedure_, work)) wanted.insert(variable);
        std::vector<size_t> again;
        std::set<int> changed;
        std::set<int> written;
        const std::map<int, int> times = assignments_in(body);
        for (size_t i = place; i-- > 0;) {
            const Statement& each = body[i];
            const Block one{each};
            const bool is_own = is_assignment(each) && wanted.contains(each.variable) &&
                                times.at(each.variable) == 1 &&
                                (each.kind == Kind::assign ||
                                 (each.kind == Kind::load && !written.contains(each.array)));
            const std::set<int> read =
                variables_in(each.kind == Kind::load ? each.index : each.values);
            const bool is_same = std::none_of(
                read.begin(), read.end(), [&](int variable) { return changed.contains(variable); });
            if (is_own && is_same && !read.contains(each.variable)) {
                again.push_back(i);
                wanted.insert(read.begin(), read.end());
            }
            for (const auto& [variable, count] : assignments_in(one)) changed.insert(variable);
            for (const Statement* within : all_statements(one))
                if (within->kind != Kind::load) written.insert(within->array);
        }
        std::reverse(again.begin(), again.end());
        std::vector<Expr> by = all_variables(procedure_);
        Block made;
        for (const size_t i : again) {
            const auto variable = static_cast<size_t>(body[i].variable);
            const Variable own = procedure_.variables[variable];
            Block copy{body[i]};
            replace_variables(copy, by, false);
            procedure_.variables.push_back(own);
            by.resize(variable + 1 > by.size() ? variable + 1 : by.size());
            by[variable] = procedure_.variable(procedure_.variables.size() - 1);
            copy[0].variable = by[variable].index();
            made.push_back(std::move(copy[0]));
        }
        replace_variables(work, by, false);
        made.insert(made.end(), work.begin(), work.end());
        return made;
    }

    Procedure& procedure_;
    Statement asked_;  // gives the flag its value behind a loop that counts
};

}  // namespace

Block with_searches_apart(const Block& block, Procedure& procedure) {
    return SearchMover(procedure).moved(block);
}

}  // namespace composit::ir::procedure
