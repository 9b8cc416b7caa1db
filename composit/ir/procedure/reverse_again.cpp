// The derivative of a derivative in reverse, by way of the function's tangent.
#include "composit/ir/procedure/reverse_again.h"

#include "composit/ir/procedure/structure.h"
#include "composit/ir/scalar/function.h"

#include <algorithm>
#include <numeric>

namespace composit::ir::procedure {
namespace {

using Role = ArrayVariable::Role;

// The places from `first` on, `count` of them, move in front of the `others` that stand before.
void move_before(std::vector<size_t>& order, size_t first, size_t count, size_t others) {
    const auto from = order.begin() + static_cast<std::ptrdiff_t>(first);
    std::rotate(from - static_cast<std::ptrdiff_t>(others), from,
                from + static_cast<std::ptrdiff_t>(count));
}

void renumber_arrays(Block& block, const std::vector<int>& numbers) {
    for (Statement& statement : block) {
        if (statement.array >= 0) statement.array = numbers[static_cast<size_t>(statement.array)];
        for (Block* inner : {&statement.first, &statement.body, &statement.otherwise})
            renumber_arrays(*inner, numbers);
    }
}

// The procedure, whose variables and arrays stand in another order: the old number of each.
void put_in_order(Procedure& procedure, const std::vector<size_t>& variables,
                  const std::vector<size_t>& arrays) {
    const Procedure old = procedure;
    std::vector<Expr> by(old.variables.size());
    for (size_t i = 0; i < variables.size(); ++i) {
        procedure.variables[i] = old.variables[variables[i]];
        by[variables[i]] = procedure.variable(i);
    }
    std::vector<int> numbers(old.arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
        numbers[arrays[i]] = static_cast<int>(i);
        procedure.arrays[i] = old.arrays[arrays[i]];
        auto& shape = procedure.arrays[i].shape;
        if (!shape.empty()) shape = scalar::substitute(shape, by);
    }
    replace_variables(procedure.body, by, true);
    renumber_arrays(procedure.body, numbers);
}

// Without the results from `first` on, `count` of them.
void drop_results(Procedure& procedure, size_t first, size_t count) {
    const auto drop = [&](auto& all) {
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
        all.erase(from, from + static_cast<std::ptrdiff_t>(count));
    };
    drop(procedure.results);
    drop(procedure.body.back().values);  // the only statement that leaves
}

size_t count_of_floats(const Procedure& procedure) {
    const auto begin = procedure.variables.begin();
    return static_cast<size_t>(
        std::count_if(begin, begin + static_cast<std::ptrdiff_t>(procedure.parameters),
                      [](const Variable& each) { return is_floating(each.dtype); }));
}

int place_of(const std::vector<int>& all, int wanted) {
    return static_cast<int>(std::find(all.begin(), all.end(), wanted) - all.begin());
}

}  // namespace

bool keeps_tapes(const Procedure& procedure) {
    return procedure.reverse_of &&
           std::any_of(procedure.arrays.begin(), procedure.arrays.end(),
                       [](const ArrayVariable& each) { return each.grows; });
}

Procedure reverse_again(const Procedure& procedure) {
    const Procedure& function = *procedure.reverse_of;
    Procedure made = reverse_with_results(jvp(function));
    made.name = procedure.name + "_vjp";
    // What comes in is x, v, w; what goes out is for x, for v, which is of no interest, and J v.
    const size_t numbers = count_of_floats(function), own = function.parameters;
    std::vector<size_t> variables(made.variables.size());
    std::iota(variables.begin(), variables.end(), 0);
    move_before(variables, own + numbers, procedure.parameters - own, numbers);
    drop_results(made, numbers, numbers);
    const std::vector<int> outputs = made.arrays_of(Role::output);
    const size_t gradients = procedure.arrays_of(Role::output).size();
    for (size_t i = gradients; i < 2 * gradients; ++i)
        made.arrays[static_cast<size_t>(outputs[i])].role = Role::local;
    std::vector<size_t> arrays, others;
    for (size_t i = 0; i < made.arrays.size(); ++i)
        (made.arrays[i].role == Role::input ? arrays : others).push_back(i);
    const std::vector<int> places = procedure.arrays_of(Role::input);
    const size_t first = function.arrays_of(Role::input).size(), inputs = places.size();
    move_before(arrays, first + gradients, inputs - first, gradients);
    const size_t received = arrays.size() - inputs;
    arrays.insert(arrays.end(), others.begin(), others.end());
    put_in_order(made, variables, arrays);
    made.head.clear();
    if (procedure.head.empty()) return without_dead_code(std::move(made));
    for (const int each : procedure.head)
        made.head.push_back(each >= 0 ? each : -1 - place_of(places, -1 - each));
    for (size_t i = procedure.parameters; i < made.parameters; ++i)
        made.head.push_back(static_cast<int>(i));
    for (size_t i = 0; i < received; ++i) made.head.push_back(-1 - static_cast<int>(inputs + i));
    return without_dead_code(std::move(made));
}

}  // namespace composit::ir::procedure
