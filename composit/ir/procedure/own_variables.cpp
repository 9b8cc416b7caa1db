// with_own_variables: variables that loops, and sides of branches, share by accident are several.
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <map>
#include <set>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;

// Whether it, or a block of it, breaks or continues a loop around it.
bool jumps(const Statement& statement) {
    const Block one{statement};
    return has_own(one, Kind::stop) || has_own(one, Kind::go_on);
}

class Separator {
  public:
    explicit Separator(Procedure procedure) : p_(std::move(procedure)) {}

    Procedure run() {
        // Extents speak of variables by their numbers.
        for (const ArrayVariable& array : p_.arrays)
            for (const int variable : variables_in(array.shape)) extents_.insert(variable);
        separate(p_.body, extents_, {});
        return std::move(p_);
    }

  private:
    // New variables for those of `inside` that are none of `others`.
    std::vector<Expr> own_variables(const std::map<int, int>& inside, const std::set<int>& others) {
        std::vector<Expr> by = all_variables(p_);
        bool is_changed = false;
        for (const auto& [variable, times] : inside) {
            const auto place = static_cast<size_t>(variable);
            if (others.contains(variable) || place < p_.parameters) continue;
            p_.variables.push_back(p_.variables[place]);
            by[place] = p_.variable(p_.variables.size() - 1);
            is_changed = true;
        }
        return is_changed ? by : std::vector<Expr>();
    }

    // Variables of both sides of a branch, of which neither takes the value from before or leaves
    // it to what is `behind`, or to where its jumps lead, are two.
    void separate_sides(Statement& branch, const std::set<int>& behind) {
        std::set<int> others = exposed_in(p_, {branch});
        others.insert(behind.begin(), behind.end());
        const std::map<int, int> there = mentions_in(p_, branch.otherwise);
        std::map<int, int> both = assignments_in(branch.body);
        std::erase_if(both, [&](const auto& each) { return !there.contains(each.first); });
        const std::vector<Expr> by = own_variables(both, others);
        if (!by.empty()) replace_variables(branch.body, by, true);
    }

    // Variables whose values a loop neither takes from before nor leaves behind become its own.
    // `behind` are those that are read behind the block, `jumped` those that are read where its
    // breaks and continues lead.
    void separate(Block& block, const std::set<int>& behind, const std::set<int>& jumped) {
        std::set<int> later = behind;
        for (size_t i = block.size(); i-- > 0;) {
            Statement& statement = block[i];
            const bool is_way_out = jumps(statement);
            if (statement.kind == Kind::loop) {
                const std::map<int, int> inside = assignments_in({statement});
                std::set<int> others = exposed_in(p_, {statement});
                others.insert(later.begin(), later.end());
                const std::vector<Expr> by = own_variables(inside, others);
                if (!by.empty()) {
                    Block one{std::move(statement)};
                    replace_variables(one, by, true);
                    statement = std::move(one[0]);
                }
                std::set<int> inner = later;
                for (const Block& part : {statement.body, statement.otherwise})
                    for (const int variable : exposed_in(p_, part)) inner.insert(variable);
                for (const int variable : variables_in(statement.values)) inner.insert(variable);
                separate(statement.body, inner, inner);
            } else {
                std::set<int> left = later;
                if (is_way_out) left.insert(jumped.begin(), jumped.end());
                if (statement.kind == Kind::branch) separate_sides(statement, left);
                separate(statement.body, later, jumped);
                separate(statement.otherwise, later, jumped);
            }
            const Block one{statement};
            if (is_way_out) later.insert(jumped.begin(), jumped.end());
            if (is_assignment(statement) && !extents_.contains(statement.variable))
                later.erase(statement.variable);
            for (const int variable : exposed_in(p_, one)) later.insert(variable);
        }
    }

    Procedure p_;
    std::set<int> extents_;
};

}  // namespace

Procedure with_own_variables(Procedure procedure) { return Separator(std::move(procedure)).run(); }

}  // namespace composit::ir::procedure
