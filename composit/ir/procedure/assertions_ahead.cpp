// with_assertions_ahead: loops without exits, whose assertions hold before they begin.
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

bool is_straight(const Block& body) {
    return std::all_of(body.begin(), body.end(), [](const Statement& statement) {
        return statement.kind == Kind::assign || statement.kind == Kind::load ||
               statement.kind == Kind::store || statement.kind == Kind::add ||
               statement.kind == Kind::expect;
    });
}

// Whether the value may be computed anywhere: it costs little, and is undefined nowhere.
bool is_harmless(const Expr& value) {
    const std::vector<Expr> all = scalar::topological_order({value});
    return std::all_of(all.begin(), all.end(), [](const Expr& each) {
        switch (each.op()) {
            case Op::constant:
            case Op::argument:
            case Op::add:
            case Op::subtract:
            case Op::multiply:
            case Op::negate:
            case Op::equal:
            case Op::not_equal:
            case Op::less:
            case Op::less_equal:
            case Op::greater:
            case Op::greater_equal:
            case Op::bit_and:
            case Op::bit_or:
            case Op::bit_not:
            case Op::select: return true;
            default: return false;
        }
    });
}

// if (c) assert(x) to assert(!c | x): a branch that processors guess wrong takes longer than the
// assertion. What the branch computes for it alone is computed anyway.
class BranchesToAssert {
  public:
    explicit BranchesToAssert(const Procedure& procedure)
        : procedure_(procedure), mentions_(mentions_in(procedure, procedure.body)) {}

    void leave_out(Block& block) const {
        for (size_t i = 0; i < block.size(); ++i) {
            leave_out(block[i].body);
            leave_out(block[i].otherwise);
            if (block[i].kind != Kind::branch || !only_asserts(block[i])) continue;
            const Expr fails = ~block[i].values[0];
            Block inside = std::move(block[i].body);
            for (Statement& each : inside)
                if (each.kind == Kind::expect) each.values[0] = fails | each.values[0];
            const auto place = block.begin() + static_cast<std::ptrdiff_t>(i);
            const size_t more = inside.size() - 1;
            block.insert(block.erase(place), std::make_move_iterator(inside.begin()),
                         std::make_move_iterator(inside.end()));
            i += more;
        }
    }

  private:
    bool only_asserts(const Statement& branch) const {
        if (!branch.otherwise.empty() || branch.body.empty()) return false;
        const Block whole{branch};
        const std::map<int, int> inside = mentions_in(procedure_, whole);
        return std::all_of(branch.body.begin(), branch.body.end(), [&](const Statement& each) {
            const bool is_own = each.kind == Kind::assign &&
                                inside.at(each.variable) == mentions_.at(each.variable);
            return (each.kind == Kind::expect || is_own) && is_harmless(each.values[0]);
        });
    }

    const Procedure& procedure_;
    const std::map<int, int> mentions_;
};

class Splitter {
  public:
    explicit Splitter(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        Block body = p_.body;
        BranchesToAssert(p_).leave_out(body);
        p_.body = std::move(body);
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
