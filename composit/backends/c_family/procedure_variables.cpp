// Finding the block of each variable; leaving out assignments that nothing reads.
#include "composit/backends/c_family/procedure_variables.h"

#include "composit/backends/c_family/procedure_printer.h"

#include <algorithm>

namespace composit::c_family {

using ir::procedure::Block;
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

Homes::Homes(const Procedure& procedure) : homes_(procedure.variables.size()) {
    walk(procedure.body);
    for (size_t i = 0; i < homes_.size(); ++i) find(i);
}

void Homes::mention(const Statement& statement) {
    for (int variable : read_by(statement.values)) mentions_[variable].push_back(path_);
    if (statement.kind != Kind::assign) return;
    mentions_[statement.variable].push_back(path_);
    ++homes_[static_cast<size_t>(statement.variable)].assignments;
}

void Homes::walk(const Block& block) {
    path_.emplace_back(&block, 0);
    for (const Statement& statement : block) {
        mention(statement);
        // The head of a loop belongs to where the loop stands.
        if (statement.kind == Kind::loop)
            for (const Block* head : {&statement.first, &statement.otherwise})
                for (const Statement& inner : *head) mention(inner);
        else
            walk(statement.otherwise);
        walk(statement.body);
        ++path_.back().second;
    }
    path_.pop_back();
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
        return statement.kind == Kind::assign && !read.contains(statement.variable);
    });
}

}  // namespace

Procedure without_unread(Procedure procedure) {
    for (size_t before = 0;;) {
        std::set<int> read;
        const auto all = ir::procedure::all_statements(procedure.body);
        if (all.size() == before) return procedure;
        before = all.size();
        for (const Statement* statement : all) {
            std::set<int> own = read_by(statement->values);
            // What only its own next value reads is not read.
            if (statement->kind == Kind::assign) own.erase(statement->variable);
            read.insert(own.begin(), own.end());
        }
        drop(procedure.body, read);
    }
}

}  // namespace composit::c_family
