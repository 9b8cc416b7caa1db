// jvp, vjp, slope: a procedure whose variables carry their tangents along.
#include "composit/base/error.h"
#include "composit/ir/procedure/given_derivative.h"
#include "composit/ir/procedure/poles.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/reverse_parts.h"
#include "composit/ir/procedure/shared_extremes.h"
#include "composit/ir/procedure/stand_ins.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/procedure/tangent_rules.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/slopes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <type_traits>

namespace composit::ir::procedure {
namespace {

using Kind = Statement::Kind;
using scalar::Op;

// What is derived for: where tangents start, and how they are called.
struct Direction {
    std::string suffix;
    std::vector<Expr> seeds;  // of parameters; empty: zero
};

// What becomes of a return: the tangents of each value in each direction, and whether those may be
// infinite -> the new results.
using Finish = std::function<std::vector<Expr>(const std::vector<std::vector<Expr>>& tangents,
                                               const std::vector<bool>& may_be_infinite)>;

class Carrier {
  public:
    // `out` has the variables of `procedure` already, with more parameters behind its own:
    // moved(i) is its variable i.
    Carrier(const Procedure& procedure, Procedure& out, std::vector<Direction> directions,
            Finish finish)
        : procedure_(procedure),
          out_(out),
          added_(out.parameters - procedure.parameters),
          directions_(std::move(directions)),
          finish_(std::move(finish)),
          has_several_(procedure.arrays.empty() && has_several_floats(procedure)),
          tangents_(directions_.size()),
          infinite_(infinite_tangents(procedure.body)) {
        for (const int each : infinite_)
            if (each >= 0)
                moved_infinite_.insert(static_cast<int>(moved(static_cast<size_t>(each))));
        for (size_t i = 0; i < procedure.variables.size(); ++i)
            renumbered_.push_back(out.variable(moved(i)));
        add_arrays();
        for (size_t d = 0; d < directions_.size(); ++d) find_active(d);
    }

    void run() {
        Block starts;
        for (size_t d = 0; d < directions_.size(); ++d)
            for (size_t i = 0; i < procedure_.parameters; ++i)
                if (variables_[d].contains(i)) {
                    const Expr& seed = directions_[d].seeds[i];
                    const Expr none = zero(procedure_.variables[i].dtype);
                    starts.push_back(Statement::assign(variables_[d].at(i), seed ? seed : none,
                                                       procedure_.line));
                }
        out_.body = carried(procedure_.body);
        out_.body.insert(out_.body.begin(), starts.begin(), starts.end());
        set_sweep(out_.body, Sweep::tangent);
    }

    // Of the procedure's arrays; -1: an array has none.
    const std::vector<int>& array_tangents() const { return array_tangents_; }

  private:
    static bool has_several_floats(const Procedure& procedure) {
        size_t count = 0;
        for (size_t i = 0; i < procedure.parameters; ++i)
            count += is_floating(procedure.variables[i].dtype);
        return count > 1;
    }

    size_t moved(size_t variable) const {
        return variable < procedure_.parameters ? variable : variable + added_;
    }
    // The arrays, then a tangent for each floating one that depends on what is derived for; outputs
    // are those of tangents only.
    void add_arrays() {
        using Role = ArrayVariable::Role;
        for (const ArrayVariable& array : procedure_.arrays) {
            ArrayVariable copy = array;
            for (Expr& extent : copy.shape) extent = renumbered(extent);
            if (copy.role == Role::output) copy.role = Role::local;
            out_.arrays.push_back(std::move(copy));
        }
        const std::set<int> varied = varied_in(procedure_, procedure_.body);
        for (size_t i = 0; i < procedure_.arrays.size(); ++i) {
            ArrayVariable tangent = out_.arrays[i];
            tangent.role = procedure_.arrays[i].role;
            const bool has_tangent =
                is_floating(tangent.dtype) &&
                (tangent.role != Role::local || varied.contains(-1 - static_cast<int>(i)));
            array_tangents_.push_back(has_tangent ? out_.add_array("d" + tangent.name, tangent)
                                                  : -1);
        }
    }

    Expr renumbered(const Expr& value) const { return scalar::substitute({value}, renumbered_)[0]; }

    Expr derived(const Statement& statement, const Expr& value, size_t direction,
                 const Expr& known = {}) const {
        try {
            const Expr made =
                tangent_of(value, tangents_[direction], known, has_several_, moved_infinite_);
            return made ? scalar::simplify({made})[0] : made;
        } catch (const Error& error) {
            fail<NotSupported>(procedure_.name, ": ", error.what(), " [", procedure_.file, ":",
                               statement.line, "]");
        }
    }

    // Variables that ever have a tangent; parameters that are never assigned keep their seed.
    void find_active(size_t d) {
        std::vector<Expr>& tangents = tangents_[d];
        tangents.resize(out_.variables.size());
        std::set<size_t> assigned;
        const auto all = all_statements(procedure_.body);
        for (const Statement* statement : all)
            if (is_assignment(*statement))
                assigned.insert(static_cast<size_t>(statement->variable));
        variables_.emplace_back();
        for (size_t i = 0; i < procedure_.parameters; ++i) {
            if (!directions_[d].seeds[i]) continue;
            if (assigned.contains(i))
                make_tangent(d, i);
            else
                tangents[i] = directions_[d].seeds[i];
        }
        for (bool grew = true; grew;) {
            grew = false;
            for (const Statement* statement : all) {
                if (!is_assignment(*statement)) continue;
                const bool is_load = statement->kind != Kind::assign;
                const auto variable = static_cast<size_t>(statement->variable);
                if (variables_[d].contains(variable)) continue;
                if (is_load && tangent_array(*statement) < 0) continue;
                if (!is_load && !derived(*statement, renumbered(statement->values[0]), d)) continue;
                make_tangent(d, variable);
                grew = true;
            }
        }
    }

    void make_tangent(size_t d, size_t variable) {
        const Variable& own = procedure_.variables[variable];
        const int made = out_.add_variable("d" + own.name + directions_[d].suffix, own.dtype);
        variables_[d][variable] = made;
        tangents_[d].resize(out_.variables.size());
        for (auto& tangents : tangents_) tangents.resize(out_.variables.size());
        tangents_[d][moved(variable)] = out_.variable(static_cast<size_t>(made));
    }

    Block carried(const Block& block) {
        Block out;
        for (const Statement& statement : block) carry(statement, out);
        return out;
    }

    void carry(const Statement& statement, Block& out) {
        Statement copy = statement;
        for (Expr& value : copy.values) value = renumbered(value);
        for (Expr& index : copy.index) index = renumbered(index);
        switch (statement.kind) {
            case Kind::assign: return carry_assignment(statement, std::move(copy), out);
            case Kind::leave: {
                std::vector<std::vector<Expr>> tangents;
                std::vector<bool> may_be_infinite;
                for (const Expr& value : statement.values)
                    may_be_infinite.push_back(is_infinite(value));
                for (const Expr& value : copy.values) {
                    tangents.emplace_back();
                    for (size_t d = 0; d < directions_.size(); ++d)
                        tangents.back().push_back(derived(statement, value, d));
                }
                copy.values = finish_(tangents, may_be_infinite);
                break;
            }
            case Kind::load:
            case Kind::store:
            case Kind::add:
            case Kind::append:
            case Kind::take:
            case Kind::allocate: return carry_element(statement, std::move(copy), out);
            case Kind::branch:
            case Kind::loop:
            case Kind::stop:
            case Kind::go_on:
            case Kind::expect:
                copy.first = carried(statement.first);
                copy.body = carried(statement.body);
                copy.otherwise = carried(statement.otherwise);
                break;
        }
        out.push_back(std::move(copy));
    }

    bool is_infinite(const Expr& value) const {
        const std::vector<int> from = derived_from({value});
        return passes_pole(value) || std::any_of(from.begin(), from.end(), [&](int each) {
                   return infinite_.contains(each);
               });
    }

    int tangent_array(const Statement& statement) const {
        return array_tangents_[static_cast<size_t>(statement.array)];
    }

    // The same for the tangent, before what it reads may change.
    void carry_element(const Statement& statement, Statement copy, Block& out) {
        if (is_assignment(statement))
            copy.variable = static_cast<int>(moved(static_cast<size_t>(statement.variable)));
        Statement tangent = copy;
        tangent.array = tangent_array(statement);
        if (tangent.array >= 0) {
            if (is_assignment(statement)) {
                const auto variable = static_cast<size_t>(statement.variable);
                tangent.variable = variables_[0].at(variable);
            } else if (statement.kind != Kind::allocate) {
                const Expr made = derived(statement, copy.values[0], 0);
                tangent.values = {made ? made : zero(copy.values[0].dtype())};
            }
            out.push_back(std::move(tangent));
        } else if (is_assignment(statement)) {
            const auto own = variables_[0].find(static_cast<size_t>(statement.variable));
            if (own != variables_[0].end()) {
                const ir::DType dtype = out_.variables[static_cast<size_t>(own->second)].dtype;
                out.push_back(Statement::assign(own->second, zero(dtype), statement.line));
            }
        }
        out.push_back(std::move(copy));
    }

    // The value first, so that tangents can use it, unless it overwrites what they need.
    void carry_assignment(const Statement& statement, Statement copy, Block& out) {
        const auto variable = static_cast<size_t>(statement.variable);
        const Expr value = copy.values[0];
        copy.variable = static_cast<int>(moved(variable));
        bool reads_itself = false;
        for (const Expr& expr : scalar::topological_order({value}))
            reads_itself |= is_variable(expr, copy.variable);
        Expr known;
        if (!reads_itself) {
            out.push_back(copy);
            if (scalar::arity_of(value.op()) != 0) known = out_.variable(moved(variable));
        }
        for (size_t d = 0; d < directions_.size(); ++d) {
            const auto own = variables_[d].find(variable);
            if (own == variables_[d].end()) continue;
            const Expr made = derived(statement, value, d, known);
            out.push_back(
                Statement::assign(own->second, made ? made : zero(value.dtype()), statement.line));
        }
        if (reads_itself) out.push_back(std::move(copy));
    }

    const Procedure& procedure_;
    Procedure& out_;
    const size_t added_;
    std::vector<Direction> directions_;
    Finish finish_;
    const bool has_several_;  // whichever parameters this is along: all tangents have the same bits
    std::vector<Expr> renumbered_;
    std::vector<std::vector<Expr>> tangents_;       // by direction and variable of `out`
    std::vector<std::map<size_t, int>> variables_;  // by direction: variable -> its tangent's
    std::vector<int> array_tangents_;               // of each array of `procedure`; -1: none
    std::set<int> infinite_, moved_infinite_;       // variables whose tangents may be: poles.h
};

// A procedure with the variables of another one and more parameters.
Procedure begun(const Procedure& procedure, const std::string& name,
                const std::vector<Variable>& more) {
    Procedure out;
    out.name = name;
    out.file = procedure.file;
    out.line = procedure.line;
    out.as_written = procedure.as_written;
    const auto own = static_cast<std::ptrdiff_t>(procedure.parameters);
    out.variables.assign(procedure.variables.begin(), procedure.variables.begin() + own);
    std::vector<Variable> locals(procedure.variables.begin() + own, procedure.variables.end());
    // A parameter may take the name that a variable has: all names must differ.
    for (const Variable& variable : more) {
        std::string wanted = variable.name;
        const auto is_taken = [&] {
            for (const Variable& local : locals)
                if (local.name == wanted) return true;
            return false;
        };
        while (is_taken()) wanted += "_";
        (void)out.add_variable(wanted, variable.dtype);
    }
    out.parameters = out.variables.size();
    out.variables.insert(out.variables.end(), locals.begin(), locals.end());
    return out;
}

std::vector<size_t> floating(const std::vector<Variable>& variables, size_t count) {
    std::vector<size_t> found;
    for (size_t i = 0; i < count; ++i)
        if (is_floating(variables[i].dtype)) found.push_back(i);
    return found;
}

// Directions along parameters, each with the seed 1.
std::vector<Direction> along(const Procedure& procedure, const std::vector<size_t>& parameters) {
    std::vector<Direction> directions;
    for (const size_t parameter : parameters) {
        const Variable& variable = procedure.variables[parameter];
        Direction direction{"_d" + variable.name, std::vector<Expr>(procedure.parameters)};
        direction.seeds[parameter] = Expr::constant(variable.dtype, 1);
        directions.push_back(std::move(direction));
    }
    return directions;
}

Procedure pulled_back(const Procedure& procedure, const std::string& name,
                      const std::vector<size_t>& results, const std::vector<size_t>& parameters) {
    std::vector<Variable> gradients;
    for (const size_t result : results)
        gradients.push_back(
            {procedure.results.size() == 1 ? "dy" : "d" + procedure.results[result].name,
             procedure.results[result].dtype});
    Procedure out = begun(procedure, name, gradients);
    for (const size_t parameter : parameters) {
        const Variable& variable = procedure.variables[parameter];
        out.results.push_back({"d" + variable.name, variable.dtype});
    }
    std::vector<Expr> received;
    for (size_t i = procedure.parameters; i < out.parameters; ++i)
        received.push_back(out.variable(i));
    const auto finish = [&](const std::vector<std::vector<Expr>>& tangents,
                            const std::vector<bool>& is_infinite) {
        std::vector<Expr> values;
        for (size_t d = 0; d < parameters.size(); ++d) {
            Expr total;
            for (size_t r = 0; r < results.size(); ++r)
                if (const Expr& tangent = tangents[results[r]][d])
                    total = sum(total,
                                is_infinite[results[r]]
                                    ? Expr::product_with(received[r], times(received[r], tangent))
                                    : scalar::times_slope(received[r], tangent));
            values.push_back(total ? total : zero(procedure.variables[parameters[d]].dtype));
        }
        return values;
    };
    Carrier(procedure, out, along(procedure, parameters), finish).run();
    return out;
}

// Whether its derivative in reverse is shorter: to carry a tangent along for each of many
// parameters costs the function as many times. Loops would have to keep their states.
bool is_of_many(const Procedure& procedure) {
    constexpr size_t few = 4;
    if (!procedure.arrays.empty() ||
        floating(procedure.variables, procedure.parameters).size() <= few)
        return false;
    const auto all = all_statements(procedure.body);
    return std::none_of(all.begin(), all.end(),
                        [](const Statement* each) { return each->kind == Kind::loop; });
}

// The procedure with some of its results: those of the numbers.
Procedure with_results(Procedure procedure, const std::vector<size_t>& numbers) {
    const auto chosen = [&](const auto& all) {
        std::remove_cvref_t<decltype(all)> some;
        for (const size_t number : numbers) some.push_back(all[number]);
        return some;
    };
    const std::function<void(Block&)> leave = [&](Block& block) {
        for (Statement& statement : block) {
            if (statement.kind == Kind::leave) statement.values = chosen(statement.values);
            leave(statement.body);
            leave(statement.otherwise);
        }
    };
    leave(procedure.body);
    procedure.results = chosen(procedure.results);
    return without_dead_code(std::move(procedure));
}

// Along one direction alone each array has one tangent.
void check_has_no_arrays(const Procedure& procedure, const char* what) {
    user_check<NotSupported>(procedure.arrays.empty(), procedure.name, ": ", what,
                             " carries a tangent for each parameter, and it has ",
                             procedure.arrays.size(), " arrays. `reverse` or `jvp` is required. [",
                             procedure.file, ":", procedure.line, "]");
}

}  // namespace

Procedure jvp(const Procedure& given) {
    if (given.of_each_row) return over_rows(jvp(*given.of_each_row));
    if (given.derivative) return given_jvp(given);
    if (given.for_derivatives) return jvp(*given.for_derivatives);
    Procedure procedure = given;
    if (!given.arrays.empty()) {
        procedure = with_elements_read_once(with_extremes_shared(given));
        name_calls(procedure.body, procedure);
    }
    std::vector<Variable> seeds;
    const std::vector<size_t> parameters = floating(procedure.variables, procedure.parameters);
    for (const size_t parameter : parameters)
        seeds.push_back(
            {"d" + procedure.variables[parameter].name, procedure.variables[parameter].dtype});
    Procedure out = begun(procedure, procedure.name + "_jvp", seeds);
    Direction direction{"", std::vector<Expr>(procedure.parameters)};
    for (size_t i = 0; i < parameters.size(); ++i)
        direction.seeds[parameters[i]] = out.variable(procedure.parameters + i);
    const std::vector<size_t> results = floating(procedure.results, procedure.results.size());
    for (const size_t result : results)
        out.results.push_back(
            {procedure.results.size() == 1 ? "dy" : "d" + procedure.results[result].name,
             procedure.results[result].dtype});
    const auto finish = [&](const std::vector<std::vector<Expr>>& tangents,
                            const std::vector<bool>&) {
        std::vector<Expr> values;
        for (const size_t result : results)
            values.push_back(tangents[result][0] ? tangents[result][0]
                                                 : zero(procedure.results[result].dtype));
        return values;
    };
    Carrier carrier(procedure, out, {direction}, finish);
    carrier.run();
    if (procedure.arrays.empty()) return out;
    with_values_alone(out);
    out.head = procedure.head;
    size_t variable = procedure.parameters;
    for (const int each : procedure.head) {
        if (each >= 0) {
            if (!is_floating(procedure.variables[static_cast<size_t>(each)].dtype)) continue;
            out.head.push_back(static_cast<int>(variable++));
            continue;
        }
        const auto own = static_cast<size_t>(-1 - each);
        if (!is_floating(procedure.arrays[own].dtype)) continue;
        out.head.push_back(-1 - carrier.array_tangents()[own]);
    }
    std::set<std::string> names = names_in(given);
    for (const std::string& each : names_in(given)) names.insert("d" + each);
    return tidied(without_dead_code(std::move(out)), names);
}

Procedure vjp(const Procedure& procedure) {
    if (procedure.derivative) return given_vjp(procedure);
    check_has_no_arrays(procedure, "vjp");
    if (is_of_many(procedure)) return reverse(procedure);
    return pulled_back(procedure, procedure.name + "_vjp",
                       floating(procedure.results, procedure.results.size()),
                       floating(procedure.variables, procedure.parameters));
}

Procedure vjp_of(const Procedure& procedure, size_t result, size_t parameter) {
    if (procedure.derivative) return given_vjp_of(procedure, result, parameter);
    check_has_no_arrays(procedure, "vjp_of");
    const std::string name = procedure.name + "_vjp_" + procedure.variables[parameter].name;
    if (!is_of_many(procedure)) return pulled_back(procedure, name, {result}, {parameter});
    const std::vector<size_t> all = floating(procedure.variables, procedure.parameters);
    const auto place = std::find(all.begin(), all.end(), parameter) - all.begin();
    Procedure made =
        with_results(reverse(with_results(procedure, {result})), {static_cast<size_t>(place)});
    made.name = name;
    return made;
}

Procedure slope(const Procedure& procedure, size_t result, size_t parameter) {
    if (procedure.derivative) return given_slope(procedure, result, parameter);
    check_has_no_arrays(procedure, "slope");
    const Variable& variable = procedure.variables[parameter];
    Procedure out = begun(procedure, procedure.name + "_d" + variable.name, {});
    out.results = {{"d" + procedure.results[result].name, procedure.results[result].dtype}};
    const auto finish = [&](const std::vector<std::vector<Expr>>& tangents,
                            const std::vector<bool>&) {
        const Expr& tangent = tangents[result][0];
        return std::vector<Expr>{tangent ? tangent : zero(procedure.results[result].dtype)};
    };
    Carrier(procedure, out, along(procedure, {parameter}), finish).run();
    return out;
}

}  // namespace composit::ir::procedure
