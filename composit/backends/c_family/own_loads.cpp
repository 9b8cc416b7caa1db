// Loading elements again where another function reads them.
#include "composit/backends/c_family/own_loads.h"

#include "composit/backends/c_family/procedure_variables.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace composit::c_family {
namespace {

using ir::procedure::Block;
using ir::procedure::InlinedCall;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::procedure::Sweep;
using ir::scalar::Expr;
using Kind = Statement::Kind;

// The outermost call of a function of the library that a statement is of.
const InlinedCall* library_call_of(const Statement& statement) {
    const InlinedCall* found = nullptr;
    for (const InlinedCall* each = statement.line.call.get(); each; each = each->around.get())
        if (each->is_of_library) found = each;
    return found;
}

class OwnLoads {
  public:
    explicit OwnLoads(Procedure procedure)
        : p_(std::move(procedure)), assignments_(ir::procedure::assignments_in(p_.body)) {}

    Procedure run() {
        look(p_.body);
        return std::move(p_);
    }

  private:
    void look(Block& block) {
        for (Statement& each : block) {
            look(each.body);
            if (each.kind == Kind::branch) look(each.otherwise);
        }
        for (size_t i = 0; i < block.size(); ++i)
            if (const size_t place = reader_behind(block, i)) load_again(block, i, place);
    }

    // The place of the first statement of the backward sweep of its call that reads what is loaded,
    // if it would load the same; 0: there is none.
    size_t reader_behind(const Block& block, size_t i) const {
        const Statement& load = block[i];
        const InlinedCall* call = library_call_of(load);
        const bool is_fit = load.kind == Kind::load && call && load.line.sweep == Sweep::value &&
                            static_cast<size_t>(load.variable) >= p_.parameters &&
                            assignments_.at(load.variable) == 1;
        if (!is_fit) return 0;
        const std::set<int> place = read_by(ir::procedure::expressions_of(p_, load));
        for (size_t k = i + 1; k < block.size(); ++k) {
            const Block one{block[k]};
            if (is_of_backward_sweep(block[k], call) && reads(one, load.variable)) return k;
            for (const Statement* each : ir::procedure::all_statements(one)) {
                const bool changes = each->array == load.array && each->kind != Kind::load;
                if (changes || place.contains(each->variable)) return 0;
            }
        }
        return 0;
    }

    static bool is_of_backward_sweep(const Statement& statement, const InlinedCall* call) {
        return statement.line.sweep == Sweep::gradient && library_call_of(statement) == call;
    }

    bool reads(const Block& block, int variable) const {
        return ir::procedure::mentions_in(p_, block).contains(variable);
    }

    void load_again(Block& block, size_t i, size_t place) {
        Statement again = block[i];
        const InlinedCall* call = library_call_of(again);
        const ir::procedure::Variable known = p_.variables[static_cast<size_t>(again.variable)];
        std::vector<Expr> by = ir::procedure::all_variables(p_);
        const int own = p_.add_variable(known.name, known.dtype);
        by[static_cast<size_t>(again.variable)] = p_.variable(static_cast<size_t>(own));
        for (size_t k = place; k < block.size(); ++k) {
            if (!is_of_backward_sweep(block[k], call)) continue;
            Block one{std::move(block[k])};
            ir::procedure::replace_variables(one, by, false);
            block[k] = std::move(one[0]);
        }
        again.variable = own;
        again.line = block[place].line;
        assignments_[own] = 1;
        block.insert(block.begin() + static_cast<std::ptrdiff_t>(place), std::move(again));
    }

    Procedure p_;
    std::map<int, int> assignments_;
};

}  // namespace

Procedure with_own_loads(Procedure procedure) { return OwnLoads(std::move(procedure)).run(); }

}  // namespace composit::c_family
