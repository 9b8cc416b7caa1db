// Finding the block of each variable; leaving out assignments that nothing reads.
#include "composit/backends/c_family/procedure_variables.h"

#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::c_family {

using ir::procedure::Block;
using ir::procedure::is_variable;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;
using ir::scalar::Op;
using Kind = Statement::Kind;

std::set<int> read_by(const std::vector<Expr>& values) {
    std::set<int> variables;
    for (const Expr& expr : ir::scalar::topological_order(values))
        if (expr.op() == Op::argument) variables.insert(expr.index());
    return variables;
}

Mentioned mentioned_in(const Procedure& procedure) {
    Mentioned found;
    for (const Statement* statement : ir::procedure::all_statements(procedure.body)) {
        for (int number : read_by(ir::procedure::expressions_of(procedure, *statement)))
            found.variables.insert(number);
        if (statement->variable >= 0) found.variables.insert(statement->variable);
        if (statement->kind != Kind::allocate || statement->is_zeroed)
            found.arrays.insert(statement->array);
    }
    return found;
}

Homes::Homes(const Procedure& procedure)
    : procedure_(procedure), homes_(procedure.variables.size() + procedure.arrays.size()) {
    walk(procedure.body);
    for (size_t i = 0; i < homes_.size(); ++i) find(i);
}

void Homes::mention(const Statement& statement) {
    for (int variable : read_by(ir::procedure::expressions_of(procedure_, statement)))
        mentions_[variable].push_back(path_);
    if (statement.array >= 0) {
        const size_t place = procedure_.variables.size() + static_cast<size_t>(statement.array);
        mentions_[static_cast<int>(place)].push_back(path_);
        if (statement.kind == Kind::allocate) ++homes_[place].assignments;
    }
    if (statement.variable < 0) return;
    mentions_[statement.variable].push_back(path_);
    ++homes_[static_cast<size_t>(statement.variable)].assignments;
}

void Homes::walk(const Block& block) {
    path_.emplace_back(&block, 0);
    for (const Statement& statement : block) {
        spans_[&statement].begin = order_++;
        mention(statement);
        // The head of a loop belongs to where the loop stands.
        if (statement.kind == Kind::loop)
            for (const Block* head : {&statement.first, &statement.otherwise})
                for (const Statement& inner : *head) mention(inner);
        else
            walk(statement.otherwise);
        walk(statement.body);
        ++path_.back().second;
        spans_[&statement].end = order_;
    }
    ends_[&block] = order_;
    path_.pop_back();
}

Scope Homes::scope_of(size_t place) const {
    const Home& home = homes_[place];
    const bool is_parameter = place < procedure_.parameters ||
                              (place >= count() && procedure_.arrays[place - count()].role !=
                                                       ir::procedure::ArrayVariable::Role::local);
    if (is_parameter || !home.block) return {0, is_parameter ? order_ + 1 : 0};
    const Statement& first = (*home.block)[home.first];
    // What a loop's head declares is known in the loop.
    const Scope& span = spans_.at(&first);
    if (place < count() && is_of_loop(static_cast<int>(place))) return span;
    return {span.begin, ends_.at(home.block)};
}

bool Homes::begins_with(const Block& block, size_t index, int variable) const {
    const Statement& loop = block[index];
    return loop.kind == Kind::loop && loop.first.size() == 1 &&
           loop.first[0].variable == variable && of(variable).block == &block &&
           of(variable).first == index && variable >= static_cast<int>(procedure_.parameters) &&
           !reads(loop.first[0]).contains(variable);
}

int Homes::counter_of(const Block& block, size_t index) const {
    const Statement& loop = block[index];
    if (loop.kind != Kind::loop || loop.first.size() != 1) return -1;
    const int number = loop.first[0].variable;
    const bool is_declared = number >= static_cast<int>(procedure_.parameters) &&
                             of(number).block == &block && of(number).first == index;
    return is_declared && is_of_loop(number) ? number : -1;
}

bool Homes::is_of_loop(int variable) const {
    const Home& home = of(variable);
    if (!home.block) return false;
    const Statement& first = (*home.block)[home.first];
    if (first.kind != Kind::loop || first.first.size() != 1 || first.first[0].variable != variable)
        return false;
    const auto& all = mentions_.at(variable);
    return std::all_of(all.begin(), all.end(), [&](const Path& path) {
        for (const auto& [block, index] : path)
            if (block == home.block) return index == home.first;
        return false;
    });
}

std::set<int> Homes::reads(const Statement& statement) const {
    return read_by(ir::procedure::expressions_of(procedure_, statement));
}

bool Homes::is_read_in_place(const Block& block, size_t index) const {
    const Statement& load = block[index];
    const Home& home = of(load.variable);
    if (static_cast<size_t>(load.variable) < procedure_.parameters || home.assignments != 1 ||
        home.block != &block || home.first != index)
        return false;
    const std::set<int> place = reads(load);
    if (load.kind == Kind::take) return is_taken_in_place(block, index);
    bool may_change = false;
    int uses = 0;
    for (size_t i = index + 1; i < block.size(); ++i) {
        const Statement& statement = block[i];
        const bool is_nested = !statement.body.empty() || !statement.otherwise.empty();
        const bool is_used = reads(statement).contains(load.variable);
        if (is_used && (may_change || statement.kind == Kind::loop || ++uses > 2)) return false;
        if (is_nested && mentions_within(statement, load.variable)) return false;
        const Block one{statement};
        for (const Statement* each : ir::procedure::all_statements(one))
            may_change |= place.contains(each->variable) ||
                          (each->array == load.array && each->kind != Kind::load);
    }
    return true;
}

// In the one statement that reads it, the next one.
bool Homes::is_taken_in_place(const Block& block, size_t index) const {
    if (of(block[index].variable).mentions != 2 || index + 1 >= block.size()) return false;
    const Statement& user = block[index + 1];
    return user.kind == Kind::store && is_variable(user.values[0], block[index].variable);
}

bool Homes::is_exchanged_in_place(const Block& block, size_t index) const {
    const Statement& load = block[index];
    const Home& home = of(load.variable);
    const bool is_own = static_cast<size_t>(load.variable) >= procedure_.parameters &&
                        home.assignments == 1 && home.mentions == 2 && home.block == &block;
    size_t place = index + 2;
    // Which of two exchanges of one array comes first is not said by what they stand in.
    while (is_exchange_at(block, place) && block[place].array != load.array) place += 2;
    if (!is_own || place >= block.size() || is_exchange_at(block, place)) return false;
    const Statement& user = block[place];
    const bool is_plain = user.kind == Kind::assign || ir::procedure::is_write(user);
    if (!is_plain || user.array == load.array || !reads(user).contains(load.variable)) return false;
    int times = 0;
    for (const Expr& expr : ir::scalar::topological_order(user.values)) {
        const auto is_it = [&](const Expr& x) { return is_variable(x, load.variable); };
        times +=
            static_cast<int>(std::count_if(expr.operands().begin(), expr.operands().end(), is_it));
        if (expr.op() == Op::select) return false;  // which may not compute it
    }
    for (const Expr& value : user.values) times += is_variable(value, load.variable);
    return times == 1;
}

std::optional<size_t> Homes::index_of(const Block& block, size_t place) const {
    const Statement& made = block[place];
    const int number = made.variable;
    const bool is_load = made.kind == Kind::load;
    if (number < static_cast<int>(procedure_.parameters) || (!is_load && made.kind != Kind::assign))
        return {};
    const Home& home = of(number);
    if (home.block != &block || home.first != place || home.mentions != 2) return {};
    const std::set<int> read = reads(made);
    for (size_t k = place + 1; k < block.size(); ++k) {
        const auto index = index_at(block, k);
        if (index && is_variable(index->from, number)) return k;
        const Block one{block[k]};
        for (const Statement* between : ir::procedure::all_statements(one))
            if (read.contains(between->variable) ||
                (is_load && between->array == made.array && between->kind != Kind::load))
                return {};
    }
    return {};
}

std::map<int, int> Homes::nameless() const {
    std::map<int, int> found;
    const auto look = [&](const auto& self, const Block& block) -> void {
        for (size_t i = 0; i < block.size(); ++i) {
            if (const auto index = index_of(block, i)) {
                const Statement &from = block[i], &made = block[*index];
                const bool is_named = made.line != 0 && made.line != from.line;
                found[from.variable] = is_named ? made.variable : -1;
            }
            self(self, block[i].body);
            self(self, block[i].otherwise);
        }
    };
    look(look, procedure_.body);
    return found;
}

bool Homes::mentions_within(const Statement& statement, int variable) const {
    for (const Block* block : {&statement.first, &statement.body, &statement.otherwise})
        for (const Statement* inner : ir::procedure::all_statements(*block))
            if (inner->variable == variable || reads(*inner).contains(variable)) return true;
    return false;
}

void Homes::find(size_t variable) {
    const auto found = mentions_.find(static_cast<int>(variable));
    if (found == mentions_.end()) return;
    const std::vector<Path>& paths = found->second;
    size_t depth = 0;
    for (;; ++depth) {
        const bool goes_on = std::all_of(paths.begin(), paths.end(), [&](const Path& path) {
            return path.size() > depth + 1 && path[depth] == paths[0][depth] &&
                   path[depth + 1].first == paths[0][depth + 1].first;
        });
        if (!goes_on) break;
    }
    Home& home = homes_[variable];
    home.mentions = static_cast<int>(paths.size());
    home.block = paths[0][depth].first;
    home.first = paths[0][depth].second;
    for (const Path& path : paths) home.first = std::min(home.first, path[depth].second);
}

namespace {

void drop(Block& block, const std::set<int>& read) {
    for (Statement& statement : block) {
        drop(statement.first, read);
        drop(statement.body, read);
        drop(statement.otherwise, read);
    }
    std::erase_if(block, [&](const Statement& statement) {
        return statement.variable >= 0 && statement.kind != Kind::take &&
               !read.contains(statement.variable);
    });
}

}  // namespace

Procedure without_unread(Procedure procedure) {
    if (!procedure.arrays.empty()) procedure = with_checks_ahead(std::move(procedure));
    for (size_t before = 0;;) {
        std::set<int> read;
        const auto all = ir::procedure::all_statements(procedure.body);
        if (all.size() == before) return procedure;
        before = all.size();
        for (const Statement* statement : all) {
            std::set<int> own = read_by(ir::procedure::expressions_of(procedure, *statement));
            // What only its own next value reads is not read.
            if (statement->kind == Kind::assign) own.erase(statement->variable);
            read.insert(own.begin(), own.end());
        }
        drop(procedure.body, read);
    }
}

std::vector<Expr> expressions_of(const Procedure& procedure) {
    std::vector<Expr> all;
    if (procedure.arrays.empty()) all = ir::procedure::flatten(procedure);
    for (const Statement* statement : ir::procedure::all_statements(procedure.body)) {
        const std::vector<Expr> own = ir::procedure::expressions_of(procedure, *statement);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

void clear_unmentioned(const Procedure& procedure, std::vector<std::string>& names,
                       std::vector<std::string>& arrays) {
    const Mentioned used = mentioned_in(procedure);
    for (size_t i = 0; i < arrays.size(); ++i)
        if (!used.arrays.contains(static_cast<int>(i))) arrays[i].clear();
    for (size_t i = 0; i < procedure.parameters; ++i)
        if (!used.variables.contains(static_cast<int>(i))) names[i].clear();
}

}  // namespace composit::c_family
