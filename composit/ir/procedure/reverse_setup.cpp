// Making the derivative's parameters, its adjoints, and a body without early returns.
#include "composit/ir/procedure/reverse_setup.h"

#include "composit/base/error.h"
#include "composit/ir/procedure/additions.h"
#include "composit/ir/procedure/can_be_logged.h"
#include "composit/ir/procedure/own_versions.h"
#include "composit/ir/procedure/parts_once.h"
#include "composit/ir/procedure/poles.h"
#include "composit/ir/procedure/returns_in_loops.h"
#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/searches.h"
#include "composit/ir/procedure/shared_extremes.h"
#include "composit/ir/procedure/tangent_rules.h"
#include "composit/ir/procedure/undo.h"

#include <algorithm>

namespace composit::ir::procedure {

using Kind = Statement::Kind;
using Role = ArrayVariable::Role;

ReverseSetup::ReverseSetup(const Procedure& procedure)
    : p_(with_parts_once(with_elements_read_once(with_values_once(
                             with_own_versions(with_own_variables(with_additions(
                                 with_extremes_shared(with_parameters_for_copies(procedure))))),
                             names_in(procedure))),
                         true)) {
    out_.name = procedure.name + "_vjp";
    out_.file = procedure.file;
    out_.line = procedure.line;
    names_ = names_in(procedure);
    changing_ = ArrayUse(p_).changing();
    for (const int array : remade_in(p_)) changing_.insert(array);
    p_.body = without_remaking(p_, p_.body, changing_);
    make_before_loops(p_, changing_, false);
    add_parameters();
    keep_products(p_, changing_, kept_);
    keep_arrays(p_, changing_, kept_);
    make_before_loops(p_, changing_, true);
    out_.variables = p_.variables;
    out_.arrays = p_.arrays;
    end_early_returns();
    p_.variables = out_.variables;
    keep_values(out_, body_, ArrayUse(p_, changing_), changing_, kept_);
    p_.variables = out_.variables;
    p_.arrays = out_.arrays;
    use_ = std::make_unique<ArrayUse>(p_, changing_);
    mentions_ = mentions_in(p_, body_);
    assignments_ = assignments_in(body_);
    active_ = active_in(p_, body_, results_);
    infinite_ = infinite_adjoints(body_);
    add_adjoints();
}

size_t ReverseSetup::moved(size_t variable) const {
    return variable < p_.parameters ? variable : variable + added_;
}

void ReverseSetup::add_parameters() {
    const auto own = static_cast<std::ptrdiff_t>(p_.parameters);
    std::vector<Variable> locals(p_.variables.begin() + own, p_.variables.end());
    out_.variables.assign(p_.variables.begin(), p_.variables.begin() + own);
    const auto is_taken = [&](const std::string& name) {
        for (const Variable& each : locals)
            if (each.name == name) return true;
        for (const ArrayVariable& each : p_.arrays)
            if (each.name == name) return true;
        return false;
    };
    for (const Variable& result : p_.results) {
        if (!is_floating(result.dtype)) continue;
        std::string wanted = p_.results.size() == 1 ? "dy" : "d" + result.name;
        while (is_taken(wanted)) wanted += "_";
        received_.push_back(static_cast<size_t>(out_.add_variable(wanted, result.dtype)));
    }
    added_ = received_.size();
    out_.parameters = out_.variables.size();
    out_.variables.insert(out_.variables.end(), locals.begin(), locals.end());
    std::vector<Expr> renumbered;
    for (size_t i = 0; i < p_.variables.size(); ++i) renumbered.push_back(out_.variable(moved(i)));
    for (ArrayVariable& array : p_.arrays)
        if (!array.shape.empty()) array.shape = scalar::substitute(array.shape, renumbered);
    replace_variables(p_.body, renumbered, true);
    p_.variables = out_.variables;  // everything below speaks of the new numbers
    out_.arrays = p_.arrays;
    out_.head = p_.head;
}

void ReverseSetup::end_early_returns() {
    for (const Variable& result : p_.results)
        results_.push_back(out_.add_variable(result.name, result.dtype));
    p_.body = without_returns_in_loops(p_.body, out_, results_);
    p_.variables = out_.variables;
    body_ = structured(p_.body, [this](const Statement& statement) -> std::optional<Block> {
        if (statement.kind != Kind::leave) return {};
        Block made;
        for (size_t i = 0; i < statement.values.size(); ++i) {
            const Expr& value = statement.values[i];
            if (is_variable(value, results_[i])) continue;
            made.push_back(Statement::assign(results_[i], value, statement.line));
        }
        return made;
    });
    body_ = with_searches_apart(body_, out_);
    name_calls(body_, out_);
    p_.variables = out_.variables;
}

int ReverseSetup::copy_of(int variable, const std::string& suffix, Block& out,
                          const SourceLine& line) {
    const Variable own = out_.variables[static_cast<size_t>(variable)];
    const int made = out_.add_variable(own.name + suffix, own.dtype);
    out.push_back(Statement::assign(made, out_.variable(static_cast<size_t>(variable)), line));
    return made;
}

void ReverseSetup::refuse(const Statement& statement, const std::string& why) const {
    fail<NotSupported>(p_.name, ": ", why, " [", p_.file, ":", statement.line, "]");
}

void ReverseSetup::add_adjoints() {
    for (const int each : active_) {
        if (each < 0 || !is_floating(p_.variables[static_cast<size_t>(each)].dtype)) continue;
        const Variable& variable = p_.variables[static_cast<size_t>(each)];
        adjoints_[each] = out_.add_variable("d" + variable.name, variable.dtype);
        is_adjoint_.insert(adjoints_[each]);
    }
    for (size_t i = 0; i < p_.arrays.size(); ++i) add_array_adjoint(static_cast<int>(i));
    if (out_.arrays.empty()) return;  // the order is that of the parameters
    for (size_t i = p_.parameters; i < out_.parameters; ++i)
        out_.head.push_back(static_cast<int>(i));
    for (const int input : out_.arrays_of(Role::input))
        if (static_cast<size_t>(input) >= p_.arrays.size()) out_.head.push_back(-1 - input);
}

void ReverseSetup::add_array_adjoint(int number) {
    ArrayVariable array = p_.arrays[static_cast<size_t>(number)];
    if (!is_floating(array.dtype)) {
        if (array.role == Role::output) out_.arrays[static_cast<size_t>(number)].role = Role::local;
        return;
    }
    const bool is_active = active_.contains(-1 - number);
    const Role role = array.role;
    const std::string name = array.name;
    if (role == Role::input) {
        array.role = Role::output;
        const int made = out_.add_array("d" + name, array);
        array_adjoints_[number] = made;
        start_.push_back(Statement::allocate(made, true, p_.line));
        return;
    }
    if (role == Role::output) {
        out_.arrays[static_cast<size_t>(number)].role = Role::local;
        array.role = Role::input;
        const int received = out_.add_array("d" + name, array);
        if (!is_active) return;
        if (use_->is_written_once(number) && !is_loaded(number)) {
            array_adjoints_[number] = received;
            return;
        }
        array.role = Role::local;
        array_adjoints_[number] = out_.add_array("d" + name + "_rest", array);
        copy_all(received, array_adjoints_[number], "received", start_);
    } else if (is_active) {
        if (const auto own = kept_.lives.find(number); own != kept_.lives.end())
            array.shape.erase(array.shape.begin(), array.shape.begin() + own->second.axes);
        array_adjoints_[number] = out_.add_array("d" + name, array);
    }
}

bool ReverseSetup::is_loaded(int array) const {
    for (const Statement* statement : all_statements(body_))
        if (statement->kind == Kind::load && statement->array == array) return true;
    return false;
}

void ReverseSetup::copy_all(int from, int to, const std::string& by, Block& out) {
    const ArrayVariable& array = out_.arrays[static_cast<size_t>(to)];
    const int k = out_.add_variable("k", DType::int64);
    const int value = out_.add_variable(by, array.dtype);
    const Expr here = out_.variable(static_cast<size_t>(k));
    const Block body = {Statement::load(value, from, {here}, p_.line),
                        Statement::write(Kind::store, to, {here},
                                         out_.variable(static_cast<size_t>(value)), p_.line)};
    out.push_back(Statement::allocate(to, false, p_.line));
    out.push_back(counting_up(here, integer(0), element_count(array.shape), body, p_.line));
}

std::vector<int> ReverseSetup::copy_results(Block& out) {
    std::vector<int> copies;
    for (size_t i = 0; i < p_.results.size(); ++i) {
        const Variable& result = p_.results[i];
        if (!is_floating(result.dtype)) continue;
        copies.push_back(out_.add_variable(result.name + "_returned", result.dtype));
        out.push_back(Statement::assign(copies.back(),
                                        out_.variable(static_cast<size_t>(results_[i])), p_.line));
    }
    for (const int output : p_.arrays_of(Role::output)) {
        const ArrayVariable& array = p_.arrays[static_cast<size_t>(output)];
        if (is_floating(array.dtype))
            copy_all(output, out_.add_array(array.name + "_returned", array), "value", out);
    }
    return copies;
}

bool ReverseSetup::loads_stored(const Block& block, const Statement& made, Block& out) const {
    const auto all = scalar::topological_order(made.values);
    if (is_there_.empty() || assignments_.at(made.variable) != 1 ||
        static_cast<size_t>(made.variable) < p_.parameters ||
        std::none_of(all.begin(), all.end(), is_named_call))
        return false;
    std::set<int> changed;
    bool is_behind = false;
    for (const Statement& next : block) {
        if (&next == &made) is_behind = true;
        if (!is_behind) continue;
        const bool is_it = next.kind == Kind::store && is_there_.contains(next.array) &&
                           use_->is_written_once(next.array) &&
                           is_variable(next.values[0], made.variable);
        if (is_it) {
            const std::set<int> read = variables_in(next.index);
            if (std::any_of(read.begin(), read.end(),
                            [&](int variable) { return changed.contains(variable); }))
                return false;
            out.push_back(Statement::load(made.variable, next.array, next.index, made.line));
            return true;
        }
        for (const auto& [variable, times] : assignments_in({next})) changed.insert(variable);
    }
    return false;
}

std::set<int> ReverseSetup::found_written_by(const Statement& loop, bool is_logged) const {
    const bool is_outermost = std::any_of(body_.begin(), body_.end(),
                                          [&](const Statement& each) { return &each == &loop; });
    std::set<int> found;
    for (size_t i = 0; i < p_.arrays.size(); ++i) {
        const int array = static_cast<int>(i);
        if (use_->is_recurrence(loop, array) || (is_outermost && !is_logged && stays(array)))
            found.insert(array);
    }
    return found;
}

bool ReverseSetup::stays(int array) const {
    if (changing_.contains(array) || !use_->is_written_once(array)) return false;
    size_t stores = 0;
    for (const Statement* each : all_statements(body_)) {
        if (each->array != array) continue;
        if (each->kind == Kind::add) return false;
        stores += each->kind == Kind::store;
    }
    return stores == 1 && std::any_of(body_.begin(), body_.end(), [&](const Statement& each) {
               return each.kind == Kind::allocate && each.array == array;
           });
}

void ReverseSetup::restore(int variable, int saved, Block& out, const SourceLine& line) const {
    if (saved >= 0)
        out.push_back(Statement::assign(variable, out_.variable(static_cast<size_t>(saved)), line));
}

void ReverseSetup::clear(int variable, Block& out, const SourceLine& line) const {
    const DType dtype = out_.variables[static_cast<size_t>(variable)].dtype;
    out.push_back(Statement::assign(variable, zero(dtype), line));
}

Expr ReverseSetup::adjoint(int variable) const {
    return out_.variable(static_cast<size_t>(adjoints_.at(variable)));
}

}  // namespace composit::ir::procedure
