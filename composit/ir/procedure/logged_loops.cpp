#include "composit/ir/procedure/logged_loops.h"

#include "composit/ir/procedure/summed_arrays.h"
#include "composit/ir/procedure/tangent_rules.h"

#include <algorithm>
#include <optional>

namespace composit::ir::procedure {

using Kind = Statement::Kind;

Block LoggedLoops::logged_body(const Statement& loop) {
    return structured(loop.body, [](const Statement& statement) -> std::optional<Block> {
        if (statement.kind == Kind::stop || statement.kind == Kind::go_on) return Block{statement};
        return {};
    });
}

Block LoggedLoops::as_swept(const Block& block) const {
    Block out = block;
    for (Statement& statement : out) {
        const bool is_apart = parts_of({statement}, changing_)[0].is_logged;
        if (statement.kind == Kind::loop && is_apart)
            statement.body = as_swept(logged_body(statement));
        if (statement.kind != Kind::branch) continue;
        statement.body = as_swept(statement.body);
        statement.otherwise = as_swept(statement.otherwise);
    }
    return out;
}

// ----- logs

int LoggedLoops::log_of_array(int array, std::map<int, int>& logs, const std::string& suffix,
                              DType dtype) {
    const auto [found, is_new] = logs.emplace(array, -1);
    if (is_new) {
        const std::string name = array < 0 ? p_.arrays[static_cast<size_t>(-1 - array)].name
                                           : out_.variables[static_cast<size_t>(array)].name;
        ArrayVariable log{.name = "", .dtype = dtype, .shape = {integer(0)}};
        log.grows = true;
        found->second = out_.add_array(name + suffix, log);
    }
    return found->second;
}

int LoggedLoops::log_of(int variable) {
    return log_of_array(variable, logs_->of, "_log",
                        out_.variables[static_cast<size_t>(variable)].dtype);
}

Statement LoggedLoops::push(int variable, const SourceLine& line) {
    return Statement::write(Kind::append, log_of(variable), {}, read(variable), line);
}

// ----- the forward sweep

void LoggedLoops::forward_logged_loop(const Statement& loop, Record& record, Block& out) {
    const auto count = count_of(loop);
    const bool is_outermost = logs_ == nullptr;
    if (is_outermost) {
        record.logs = std::make_shared<Logs>();
        logs_ = record.logs.get();
        const Block swept = as_swept({loop});
        logs_->assignments = assignments_in(swept);
        logs_->mentions = mentions_in(p_, swept);
        logs_->heads = heads_in(loop, changing_);
        logs_->summed = summed_arrays(p_, loop);
    }
    record.is_logged = true;
    Statement copy = loop;
    copy.body = forward_logged(logged_body(loop), record.body);
    Block begin;
    if (count) {
        record.begin = count->begin;
    } else {
        record.trips = out_.add_variable("trips", DType::int64);
        begin.push_back(Statement::assign(record.trips, integer(0), loop.line));
        Block head;
        if (!steps_of(loop))
            for (const int variable : head_of(loop)) head.push_back(push(variable, loop.line));
        head.push_back(Statement::assign(record.trips, read(record.trips) + integer(1), loop.line));
        copy.body.insert(copy.body.begin(), head.begin(), head.end());
    }
    if (is_outermost) {
        for (const auto* logs : {&logs_->of, &logs_->places})
            for (const auto& [_, log] : *logs)
                out.push_back(Statement::allocate(log, false, loop.line));
        const std::set<int> exposed = exposed_in(p_, {loop});
        for (const auto& [variable, times] : assignments_in({loop})) {
            const bool is_parameter = static_cast<size_t>(variable) < p_.parameters;
            const bool is_elsewhere = times < assignments_.at(variable) || is_parameter;
            if (!logs_->before.contains(variable)) {
                if (is_elsewhere)
                    record.saves[variable] = copy_of(variable, "_before", out, loop.line);
            } else if (!exposed.contains(variable) && !is_parameter) {
                // Whatever it is: what is logged first has a value.
                const DType dtype = out_.variables[static_cast<size_t>(variable)].dtype;
                start_.push_back(Statement::assign(variable, zero(dtype), p_.line));
            }
        }
    }
    out.insert(out.end(), begin.begin(), begin.end());
    out.push_back(std::move(copy));
    if (is_outermost)
        logs_ = nullptr;
    else if (!count)
        out.push_back(push(record.trips, loop.line));
}

Block LoggedLoops::forward_logged(const Block& block, std::vector<Record>& records) {
    Block out;
    records.resize(block.size());
    size_t exchanged = 0;  // behind the last exchange
    const std::vector<Part> parts = parts_of(block, changing_);
    const std::vector<Pushed> pushed = pushed_in(block, parts);
    const std::set<int> had = had_;
    for (size_t k = 0; k < parts.size(); ++k) {
        const Part& part = parts[k];
        had_ = had_within(block, parts, pushed, k);
        const Statement& statement = block[part.begin];
        Record& record = records[part.begin];
        if (const auto exchange = exchange_of(block, part.begin))
            exchanged = part.begin + exchange->statements;
        if (part.begin < exchanged) {
            out.push_back(statement);
        } else if (!part.is_logged) {
            record.pushed = pushed[k];
            forward_part(record.pushed, part.of(block), out);
        } else if (statement.kind == Kind::loop) {
            forward_logged_loop(statement, record, out);
        } else if (statement.kind == Kind::branch) {
            record.is_logged = true;
            record.taken = out_.add_variable("is_taken", DType::boolean);
            out.push_back(Statement::assign(record.taken, statement.values[0], statement.line));
            record.is_known = is_known_again(statement.values, logs_->found);
            if (!record.is_known) out.push_back(push(record.taken, statement.line));
            Statement copy = statement;
            copy.values = {read(record.taken)};
            copy.body = forward_logged(statement.body, record.body);
            Block rest = forward_logged(statement.otherwise, record.otherwise);
            const bool leaves = !copy.body.empty() && always_leaves(copy.body);
            copy.otherwise = leaves ? Block{} : std::move(rest);
            out.push_back(std::move(copy));
            if (leaves) out.insert(out.end(), rest.begin(), rest.end());
        } else {
            out.push_back(statement);
        }
        had_ = had;
    }
    return out;
}

bool LoggedLoops::is_known_again(const std::vector<Expr>& values,
                                 const std::set<int>& found) const {
    const std::set<int> read = variables_in(values);
    return std::none_of(read.begin(), read.end(), [&](int variable) {
        return logs_->assignments.contains(variable) && !logs_->heads.contains(variable) &&
               !found.contains(variable);
    });
}

namespace {

// The statements of a part, by place, that make the index of a write again, where they read nothing
// else that the part changes: integers that are computed, or elements of inputs, and given to
// variables nowhere else. Nothing where the index is not found again.
std::optional<std::set<size_t>> index_made_again(const Procedure& procedure, const Block& part,
                                                 size_t place, const std::map<int, int>& assigned,
                                                 const std::map<int, int>& everywhere) {
    std::set<size_t> makers;
    std::set<int> wanted = variables_in(part[place].index);
    for (size_t i = place; i-- > 0;) {
        const Statement& made = part[i];
        if (!is_assignment(made) || !wanted.contains(made.variable)) continue;
        const bool is_input =
            made.kind == Kind::load &&
            procedure.arrays[static_cast<size_t>(made.array)].role == ArrayVariable::Role::input;
        const bool is_plain =
            (made.kind == Kind::assign || is_input) && everywhere.at(made.variable) == 1 &&
            !is_floating(procedure.variables[static_cast<size_t>(made.variable)].dtype);
        if (!is_plain) return {};
        wanted.erase(made.variable);
        for (const int read : variables_in(expressions_of(procedure, made))) wanted.insert(read);
        makers.insert(i);
    }
    const bool is_found = std::none_of(wanted.begin(), wanted.end(),
                                       [&](int variable) { return assigned.contains(variable); });
    return is_found ? std::optional(makers) : std::nullopt;
}

}  // namespace

namespace {

// Whether the write of a part is one of such a row.
bool is_in_row(const std::map<size_t, size_t>& rows, const Block& part, size_t place) {
    return std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
        return row.first <= place && place <= row.second &&
               part[row.first].array == part[place].array;
    });
}

}  // namespace

std::map<size_t, size_t> LoggedLoops::rows_in(const Block& part) const {
    std::map<size_t, size_t> rows;
    for (size_t i = 0; i < part.size(); ++i) {
        if (part[i].kind != Kind::store || !is_overwriting(part[i])) continue;
        const int array = part[i].array;
        const Expr count = element_count(p_.arrays[static_cast<size_t>(array)].shape);
        if (count.op() != scalar::Op::constant || count.value() < 2) continue;
        int64_t next = 0;
        size_t k = i;
        for (; k < part.size(); ++k) {
            if (!mentions_array(part[k], array)) continue;
            const bool is_next = part[k].kind == Kind::store && part[k].index.size() == 1 &&
                                 is_integer_constant(part[k].index[0], static_cast<int64_t>(next));
            if (!is_next) break;
            if (++next == static_cast<int64_t>(count.value())) break;
        }
        if (next != static_cast<int64_t>(count.value())) continue;
        rows[i] = k;
        i = k;
    }
    return rows;
}

Statement LoggedLoops::over_elements(int array, int counter, Block body, bool is_back,
                                     const SourceLine& line) const {
    const Expr here = read(counter);
    const Expr count = element_count(p_.arrays[static_cast<size_t>(array)].shape);
    if (!is_back) return counting_up(here, integer(0), count, std::move(body), line);
    return Statement::loop({Statement::assign(counter, one_less(count), line)}, here >= integer(0),
                           std::move(body), {Statement::assign(counter, here - integer(1), line)},
                           line);
}

void LoggedLoops::forward_part(const Pushed& pushed, const Block& part, Block& out) {
    const std::map<size_t, size_t> rows = rows_in(part);
    const SourceLine line = part[0].line;
    for (const int variable : pushed.before) {
        logs_->before.insert(variable);
        out.push_back(push(variable, line));
    }
    const std::map<int, int> assigned = assignments_in(part);
    for (size_t i = 0; i < part.size(); ++i) {
        const Statement& statement = part[i];
        const DType dtype = statement.array < 0
                                ? DType::float64
                                : p_.arrays[static_cast<size_t>(statement.array)].dtype;
        if (const auto row = rows.find(i); row != rows.end()) {
            const int array = statement.array;
            const SourceLine& own = statement.line;
            const int log = log_of_array(-1 - array, logs_->of, "_log", dtype);
            const int k = out_.add_variable("k", DType::int64);
            const int old = out_.add_variable("old", dtype);
            Block body = {Statement::load(old, array, {read(k)}, own),
                          Statement::write(Kind::append, log, {}, read(old), own)};
            out.push_back(over_elements(array, k, std::move(body), false, own));
        }
        if (is_overwriting(statement) && !is_in_row(rows, part, i)) {
            const int array = -1 - statement.array;
            const SourceLine& own = statement.line;
            const int old = old_element(out_, statement, out);
            const int log = log_of_array(array, logs_->of, "_log", dtype);
            out.push_back(Statement::write(Kind::append, log, {}, read(old), own));
            if (!index_made_again(p_, part, i, assigned, assignments_)) {
                const int places = log_of_array(array, logs_->places, "_place", DType::int64);
                const Expr place = flat_place(out_, statement);
                out.push_back(Statement::write(Kind::append, places, {}, place, own));
            }
        }
        const Block made = plain({statement}, {});
        out.insert(out.end(), made.begin(), made.end());
    }
    for (const int variable : pushed.behind) out.push_back(push(variable, line));
    logs_->found.insert(pushed.behind.begin(), pushed.behind.end());
    for (const Statement& statement : pushed.again) logs_->found.insert(statement.variable);
}

// ----- the backward sweep

void LoggedLoops::take_head(const Statement& loop, const Expr& trip, Block& out) {
    if (const auto steps = steps_of(loop)) {
        const Expr here = steps->begin + trip * integer(steps->step);
        out.push_back(Statement::assign(steps->counter, scalar::simplify({here})[0], loop.line));
        return;
    }
    for (const int variable : head_of(loop))
        out.push_back(Statement::take(variable, log_of(variable), loop.line));
}

void LoggedLoops::backward_logged(const Block& block, const std::vector<Record>& records,
                                  Block& out, Zeros& zeros) {
    const std::vector<Part> parts = parts_of(block, changing_);
    for (const Part& part : parts) {
        if (part.is_logged) continue;
        const Pushed& pushed = records[part.begin].pushed;
        if (!pushed.again_after) out.insert(out.end(), pushed.again.begin(), pushed.again.end());
        for (const int variable : pushed.behind)
            out.push_back(Statement::take(variable, log_of(variable), block[part.begin].line));
    }
    for (size_t i = parts.size(); i-- > 0;) {
        const Statement& statement = block[parts[i].begin];
        const Record& record = records[parts[i].begin];
        if (i >= 2 && exchange_of(block, parts[i - 2].begin)) {
            i -= 2;
            backward_exchange(block, parts[i].begin, out);
        } else if (!parts[i].is_logged) {
            backward_part(record.pushed, parts[i].of(block), out, zeros);
            for (const Part& part : parts)
                if (const Pushed& late = records[part.begin].pushed; late.again_after == i)
                    out.insert(out.end(), late.again.begin(), late.again.end());
        } else if (statement.kind == Kind::branch) {
            if (record.is_known)
                out.push_back(Statement::assign(record.taken, statement.values[0], statement.line));
            else
                out.push_back(Statement::take(record.taken, log_of(record.taken), statement.line));
            backward_branch(statement, record, out, zeros);
        } else if (statement.kind == Kind::loop) {
            if (record.trips >= 0)
                out.push_back(Statement::take(record.trips, log_of(record.trips), statement.line));
            backward_loop(statement, record, out, zeros);
        }
    }
}

namespace {

Block without_assertions(const Block& block) {
    Block out;
    for (Statement statement : block) {
        if (statement.kind == Kind::expect) continue;
        statement.body = without_assertions(statement.body);
        if (statement.kind == Kind::branch)
            statement.otherwise = without_assertions(statement.otherwise);
        out.push_back(std::move(statement));
    }
    return out;
}

// Whether a variable has the value that a part gives it before the part runs again: it was taken
// from a log, or made again.
bool is_there(const Pushed& pushed, const Block& part, int variable) {
    if (assignments_in(pushed.again).contains(variable)) return true;
    const auto& behind = pushed.behind;
    return std::find(behind.begin(), behind.end(), variable) != behind.end() &&
           assignments_in(part).at(variable) == 1;
}

}  // namespace

void LoggedLoops::backward_part(const Pushed& pushed, const Block& part, Block& out, Zeros& zeros) {
    const std::map<int, int> assigned = assignments_in(part);
    std::set<size_t> makers;
    for (size_t i = 0; i < part.size(); ++i)
        if (is_overwriting(part[i]))
            if (const auto found = index_made_again(p_, part, i, assigned, assignments_))
                makers.insert(found->begin(), found->end());
    for (const size_t i : makers) out.push_back(part[i]);
    const std::map<size_t, size_t> rows = rows_in(part);
    for (size_t i = part.size(); i-- > 0;) {
        const Statement& write = part[i];
        if (!is_overwriting(write)) continue;
        if (is_in_row(rows, part, i)) {
            if (!std::any_of(rows.begin(), rows.end(),
                             [i](const auto& row) { return row.second == i; }))
                continue;
            const ArrayVariable& of = p_.arrays[static_cast<size_t>(write.array)];
            const int k = out_.add_variable("k", DType::int64);
            const int old = out_.add_variable("old", of.dtype);
            Block body = {
                Statement::take(old, logs_->of.at(-1 - write.array), write.line),
                Statement::write(Kind::store, write.array, {read(k)}, read(old), write.line)};
            out.push_back(over_elements(write.array, k, std::move(body), true, write.line));
            continue;
        }
        const ArrayVariable known = p_.arrays[static_cast<size_t>(write.array)];
        std::vector<Expr> index = write.index;
        if (!index_made_again(p_, part, i, assigned, assignments_)) {
            const int place = out_.add_variable("place", DType::int64);
            out.push_back(Statement::take(place, logs_->places.at(-1 - write.array), write.line));
            index = {read(place)};
        }
        const int old = out_.add_variable(known.name + "_old", known.dtype);
        out.push_back(Statement::take(old, logs_->of.at(-1 - write.array), write.line));
        out.push_back(Statement::write(Kind::store, write.array, index, read(old), write.line));
    }
    const std::vector<int>& before = pushed.before;
    for (size_t i = before.size(); i-- > 0;)
        out.push_back(Statement::take(before[i], log_of(before[i]), part[0].line));
    std::map<int, int> saved;
    for (const int variable : before)
        if (!is_put_back(part, variable))
            saved[variable] = copy_of(variable, "_before", out, part[0].line);
    std::vector<Record> records;
    Block others;
    for (size_t i = 0; i < part.size(); ++i)
        if (!makers.contains(i)) others.push_back(part[i]);
    const Block own = without_assertions(others);
    Block again = forward(own, records);
    std::erase_if(again, [&](const Statement& each) {
        return is_assignment(each) && is_there(pushed, part, each.variable);
    });
    out.insert(out.end(), again.begin(), again.end());
    backward(own, records, out, zeros);
    for (const auto& [variable, copy] : saved)
        out.push_back(Statement::assign(variable, read(copy), part[0].line));
}

bool LoggedLoops::is_overwriting(const Statement& statement) const {
    return is_write(statement) && changing_.contains(statement.array) &&
           (statement.kind != Kind::add || !logs_->summed.contains(statement.array));
}

bool LoggedLoops::is_put_back(const Block& block, int variable) const {
    if (static_cast<size_t>(variable) < p_.parameters) return true;
    const int all = assignments_.at(variable);
    return std::all_of(block.begin(), block.end(), [&](const Statement& each) {
        if (each.kind == Kind::branch)
            return is_put_back(each.body, variable) && is_put_back(each.otherwise, variable);
        const auto within = assignments_in({each});
        const auto found = within.find(variable);
        if (found == within.end()) return true;
        return each.kind == Kind::loop ? found->second < all : all > 1;
    });
}

}  // namespace composit::ir::procedure
