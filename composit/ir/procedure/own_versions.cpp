#include "composit/ir/procedure/own_versions.h"

#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

class VersionMaker {
  public:
    explicit VersionMaker(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        for (const ArrayVariable& array : p_.arrays)
            for (const int variable : variables_in(array.shape)) extents_.insert(variable);
        part(p_.body, true);
        return std::move(p_);
    }

  private:
    static bool gives(const Statement& statement, int variable) {
        return (statement.kind == Kind::assign || statement.kind == Kind::load) &&
               statement.variable == variable;
    }

    void part(Block& block, bool is_whole) {
        for (Statement& statement : block) {
            part(statement.body, false);
            if (statement.kind == Kind::branch) part(statement.otherwise, false);
        }
        for (size_t i = 0; i < block.size(); ++i) {
            const int variable = block[i].variable;
            const bool is_plain = block[i].kind == Kind::assign || block[i].kind == Kind::load;
            if (!is_plain || extents_.contains(variable)) continue;
            const size_t end = end_of(block, i, variable);
            const bool is_parameter = static_cast<size_t>(variable) < p_.parameters;
            if (end < block.size() || (is_whole && is_parameter)) rename(block, i, end);
        }
    }

    // Where the block itself gives the variable its next value; its size where it does not, or
    // other ways lead there, or elsewhere.
    static size_t end_of(const Block& block, size_t place, int variable) {
        for (size_t k = place + 1; k < block.size(); ++k) {
            if (gives(block[k], variable)) return k;
            const Block one{block[k]};
            if (may_exit(one) || assignments_in(one).contains(variable)) break;
        }
        return block.size();
    }

    // From the statement at a place to the reads of the one at the end.
    void rename(Block& block, size_t place, size_t end) {
        const auto variable = static_cast<size_t>(block[place].variable);
        std::vector<Expr> by = all_variables(p_);
        p_.variables.push_back(p_.variables[variable]);
        by[variable] = p_.variable(p_.variables.size() - 1);
        block[place].variable = by[variable].index();
        for (size_t k = place + 1; k < std::min(end + 1, block.size()); ++k) {
            Block one{std::move(block[k])};
            replace_variables(one, by, k != end);
            block[k] = std::move(one[0]);
        }
    }

    Procedure p_;
    std::set<int> extents_;
};

}  // namespace

Procedure with_own_versions(Procedure procedure) {
    return VersionMaker(std::move(procedure)).run();
}

}  // namespace composit::ir::procedure
