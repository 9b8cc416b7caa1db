// with_values_once: what was computed already, of values that are the same, is not computed again.
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

class Numbering {
  public:
    Numbering(Procedure procedure, const std::set<std::string>& names)
        : p_(std::move(procedure)), names_(names) {}

    Procedure run() {
        uses_ = mentions_in(p_, p_.body);
        assignments_ = assignments_in(p_.body);
        Known known;
        walk(p_.body, known);
        return std::move(p_);
    }

  private:
    // Variables by the hash of what they were given, whose operands have not changed since.
    using Known = std::unordered_map<uint64_t, std::vector<std::pair<int, Expr>>>;

    void walk(Block& block, Known& known) {
        for (size_t i = 0; i < block.size(); ++i) {
            Statement& statement = block[i];
            switch (statement.kind) {
                case Kind::assign: {
                    const std::vector<int> holders = holders_of(statement, known);
                    if (std::find(holders.begin(), holders.end(), statement.variable) !=
                        holders.end()) {
                        for (const int read : variables_in(statement.values)) --uses_[read];
                        --uses_[statement.variable];
                        --assignments_[statement.variable];
                        block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
                        --i;
                        break;
                    }
                    if (!holders.empty() && may_stand_for(holders[0], block, i)) {
                        replace(holders[0], block, i);
                        --i;
                        break;
                    }
                    forget(known, {statement.variable});
                    remember(statement, known);
                    break;
                }
                case Kind::load:
                case Kind::take: forget(known, {statement.variable}); break;
                case Kind::branch: {
                    Known body = known, otherwise = known;
                    walk(statement.body, body);
                    walk(statement.otherwise, otherwise);
                    forget(known, assigned_in(statement));
                    break;
                }
                case Kind::loop: {
                    forget(known, assigned_in(statement));
                    Known within = known;
                    walk(statement.body, within);
                    break;
                }
                default: break;
            }
        }
    }

    static std::set<int> assigned_in(const Statement& statement) {
        std::set<int> found;
        for (const auto& [variable, times] : assignments_in({statement})) found.insert(variable);
        return found;
    }

    static void forget(Known& known, const std::set<int>& changed) {
        for (auto& [hash, all] : known)
            std::erase_if(all, [&](const auto& each) {
                const std::set<int> read = variables_in({each.second});
                return changed.contains(each.first) ||
                       std::any_of(read.begin(), read.end(),
                                   [&](int variable) { return changed.contains(variable); });
            });
    }

    void remember(const Statement& statement, Known& known) const {
        const Expr& value = statement.values[0];
        const bool is_own = variables_in(statement.values).contains(statement.variable);
        if (scalar::arity_of(value.op()) == 0 || is_own) return;
        known[scalar::structural_hash(statement.values)].push_back({statement.variable, value});
    }

    // Variables that have the statement's value already.
    static std::vector<int> holders_of(const Statement& statement, const Known& known) {
        std::vector<int> found;
        const auto all = known.find(scalar::structural_hash(statement.values));
        if (all == known.end()) return found;
        for (const auto& [variable, value] : all->second)
            if (scalar::structurally_equal({value}, statement.values)) found.push_back(variable);
        return found;
    }

    // Whether the first variable may stand for the one that is assigned in a place: nothing but
    // what follows there reads that, and nothing there changes either. Of the function's own names
    // those of floats stay.
    bool may_stand_for(int first, const Block& block, size_t place) {
        const int variable = block[place].variable;
        const auto number = static_cast<size_t>(variable);
        const bool is_kept =
            names_.contains(p_.variables[number].name) && is_floating(p_.variables[number].dtype);
        if (number < p_.parameters || assignments_[variable] != 1 || is_kept) return false;
        const Block rest(block.begin() + static_cast<std::ptrdiff_t>(place) + 1, block.end());
        return mentions_in(p_, rest)[variable] == uses_[variable] - 1 &&
               !assignments_in(rest).contains(first);
    }

    void replace(int first, Block& block, size_t place) {
        const int variable = block[place].variable;
        std::vector<Expr> by = all_variables(p_);
        by[static_cast<size_t>(variable)] = p_.variable(static_cast<size_t>(first));
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(place));
        Block rest(block.begin() + static_cast<std::ptrdiff_t>(place), block.end());
        replace_variables(rest, by, false);
        for (ArrayVariable& array : p_.arrays)
            if (!array.shape.empty()) array.shape = scalar::substitute(array.shape, by);
        std::move(rest.begin(), rest.end(), block.begin() + static_cast<std::ptrdiff_t>(place));
        uses_[first] += uses_[variable] - 1;
        uses_[variable] = 0;
        assignments_[variable] = 0;
    }

    Procedure p_;
    const std::set<std::string>& names_;
    std::map<int, int> uses_, assignments_;
};

}  // namespace

Procedure with_values_once(Procedure procedure, const std::set<std::string>& names) {
    return Numbering(std::move(procedure), names).run();
}

}  // namespace composit::ir::procedure
