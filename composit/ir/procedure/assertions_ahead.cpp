// with_assertions_ahead: loops without exits, whose assertions hold before they begin.
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

bool is_straight(const Block& body) {
    return std::all_of(body.begin(), body.end(), [](const Statement& statement) {
        return statement.kind == Kind::assign || statement.kind == Kind::load ||
               statement.kind == Kind::store || statement.kind == Kind::add ||
               statement.kind == Kind::expect;
    });
}

class Splitter {
  public:
    explicit Splitter(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        split(p_.body);
        return std::move(p_);
    }

  private:
    // Loops within others are left as they are: they may be short, and run again and again.
    void split(Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
            if (block[i].kind != Kind::loop) {
                split(block[i].body);
                split(block[i].otherwise);
                continue;
            }
            std::optional<Statement> ahead = assertions_of(block[i]);
            if (!ahead) continue;
            std::erase_if(block[i].body,
                          [](const Statement& inner) { return inner.kind == Kind::expect; });
            block.insert(block.begin() + static_cast<std::ptrdiff_t>(i), std::move(*ahead));
            ++i;
        }
    }

    // A loop of the assertions alone and of what they read, in variables of its own; none where
    // that is changed by the rest or by iterations before.
    std::optional<Statement> assertions_of(const Statement& loop) {
        if (!count_of(loop) || !is_straight(loop.body)) return {};
        std::set<int> needed, written;
        for (const Statement& statement : loop.body)
            if (is_write(statement)) written.insert(statement.array);
        Block kept;
        bool has_assertion = false;
        for (size_t i = loop.body.size(); i-- > 0;) {
            const Statement& statement = loop.body[i];
            const bool is_assertion = statement.kind == Kind::expect;
            if (!is_assertion && (is_write(statement) || !needed.contains(statement.variable)))
                continue;
            if (statement.kind == Kind::load && written.contains(statement.array)) return {};
            has_assertion |= is_assertion;
            for (const int variable : variables_in(expressions_of(p_, statement)))
                needed.insert(variable);
            kept.push_back(statement);
        }
        if (!has_assertion) return {};
        std::reverse(kept.begin(), kept.end());
        Statement ahead = loop;
        ahead.body = std::move(kept);
        const std::map<int, int> inside = assignments_in({ahead});
        for (const int variable : exposed_in(p_, ahead.body))
            if (assignments_in(loop.body).contains(variable)) return {};
        std::vector<Expr> by = all_variables(p_);
        for (const auto& [variable, times] : inside) {
            const auto place = static_cast<size_t>(variable);
            p_.variables.push_back(p_.variables[place]);
            by[place] = p_.variable(p_.variables.size() - 1);
        }
        Block one{std::move(ahead)};
        replace_variables(one, by, true);
        return std::move(one[0]);
    }

    Procedure p_;
};

}  // namespace

Procedure with_assertions_ahead(Procedure procedure) {
    return Splitter(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
