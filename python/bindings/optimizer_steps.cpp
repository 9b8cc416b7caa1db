// Steps of composit.torch's optimisers: with nodes, or as the end of a trace
// (composit/torch/steps.py), of which one program computes what lives, the new parameters and the
// new state.
#include "aten_numbers.h"
#include "composit/base/error.h"
#include "composit/execute/devices.h"
#include "composit/ir/body.h"
#include "composit/numpy/creation.h"
#include "content.h"
#include "following.h"
#include "held.h"
#include "location.h"
#include "materializing.h"
#include "optimizers.h"
#include "provided.h"
#include "tape.h"
#include "torch_objects.h"
#include "trace_keys.h"
#include "writing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using aten::KeptNumbers;
using aten::Number;
using aten::Numbers;
using aten::Rule;
using aten::State;

PyObject* attribute_name(const char* text) {
    PyObject* const made = PyUnicode_InternFromString(text);
    if (!made) throw nb::python_error();
    return made;
}

nb::object attribute(nb::handle object, PyObject* name) {
    nb::object found = nb::steal(PyObject_GetAttr(object.ptr(), name));
    if (!found.is_valid()) throw nb::python_error();
    return found;
}

// The groups and their parameters as sequences that may be walked quickly.
nb::object sequence(nb::object value) {
    if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) return value;
    return nb::list(value);
}

nb::object groups_of(nb::handle optimizer) {
    static PyObject* const name = attribute_name("param_groups");
    return sequence(attribute(optimizer, name));
}

nb::object parameters_in(nb::handle group) {
    PyObject* const found = held_item(group, "params");
    user_check<KeyError>(found != nullptr, "params");
    return sequence(nb::borrow(found));
}

bool is_true(nb::handle optimizer, const char* name) {
    return attribute(optimizer, interned_name(name)).ptr() == Py_True;
}

// visit(group, rule, parameter) for each parameter that has a gradient.
template <class Visit>
void for_each_parameter(nb::handle optimizer, Visit&& visit) {
    for (nb::handle group : groups_of(optimizer)) {
        nb::object held;
        const Rule* rule = nullptr;
        for (nb::handle parameter : parameters_in(group)) {
            if (!is_there(as_tensor(parameter)->grad)) continue;
            if (!rule) rule = &rule_of(optimizer, group, held);
            visit(group, *rule, parameter);
        }
    }
}

// The numbers of the next step. What is kept is read from the state, and counted on there.
Numbers next_numbers(const Rule& rule, const Number& rate, nb::handle state) {
    KeptNumbers kept;
    for (const std::string& name : rule.kept_names)
        if (PyObject* const found = PyDict_GetItem(state.ptr(), interned_name(name)))
            kept.insert_or_assign(name, step_number(found));
    Numbers made = rule.numbers(rate, kept);
    for (const std::string& name : rule.kept_names) {
        const Number& value = kept.at(name);
        put_item(state, interned_name(name),
                 value.is_known() ? kept_number(value.value()) : nb::cast(value.operand()));
    }
    return made;
}

// What a state's tensors hold, or stand for, by name.
template <class Content>
State tensors_in(nb::handle state, Content&& content) {
    State found;
    for (auto [name, value] : nb::borrow<nb::dict>(state))
        if (PyUnicode_Check(name.ptr()) && is_tensor_of_torch(value))
            found.emplace(nb::cast<std::string>(name), content(value));
    return found;
}

ir::Tensor held_by(nb::handle tensor) { return tensor_from(lazy_of(tensor)); }

// ----- with nodes

void keep(const Rule& rule, nb::handle state, const State& before, const State& after,
          const ir::Tensor& parameter) {
    for (const std::string& name : rule.state_names) {
        const auto value = after.find(name), was = before.find(name);
        if (value == after.end()) continue;
        if (was == before.end())
            put_item(state, interned_name(name),
                     tensor_of(execute::beside(value->second, parameter)));
        else if (!(was->second == value->second))
            overwrite(nb::borrow(held_item(state, name.c_str())), value->second);
    }
}

void step_parameter(nb::handle optimizer, nb::handle group, const Rule& rule, nb::handle parameter,
                    bool counts_apart) {
    nb::object state = parameter_state(optimizer, parameter);
    const ir::Tensor x = held_by(parameter), gradient = held_by(as_tensor(parameter)->grad);
    user_check<RuntimeError>(gradient.dtype() == x.dtype(), "a gradient of ", gradient.dtype(),
                             " for a parameter of ", x.dtype());
    const State before = tensors_in(state, held_by);
    State after = before;
    const Numbers numbers = next_numbers(rule, rate_of(group), state);
    if (counts_apart) count_step(state);
    const ir::Tensor made = rule.update(x, gradient, after, numbers);
    if (twin_of(as_tensor(parameter)).is_valid()) {
        overwrite(parameter, made);
    } else {
        const nb::object lazy = lazy_of(parameter);
        content_of<LazyTensor>(lazy).replace(execute::beside(made, x));
        counter_of(as_tensor(parameter))->count();
        enter(parameter);
    }
    as_tensor(parameter)->is_pending = 1;
    keep(rule, state, before, after, x);
    if (PyDict_GET_SIZE(state.ptr()) > 0 && !kept_state(optimizer, parameter))
        optimizer.attr("state")[parameter] = state;
    give_numbers(state);
}

void step(nb::handle optimizer) {
    const bool counts_apart = is_true(optimizer, "counts_apart");
    for_each_parameter(optimizer, [&](nb::handle group, const Rule& rule, nb::handle parameter) {
        step_parameter(optimizer, group, rule, parameter, counts_apart);
    });
}

// ----- as the end of a trace

bool is_option(nb::handle value) {
    const PyTypeObject* const type = Py_TYPE(value.ptr());
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
           type == &PyUnicode_Type || value.is_none() || type == &PyTuple_Type;
}

// Whether an option may change from step to step without a change of the program.
bool changes_freely(nb::handle name) {
    static const std::array<PyObject*, 4> names = {
        attribute_name("params"), attribute_name("param_names"), attribute_name("lr"),
        attribute_name("initial_lr")};
    return std::any_of(names.begin(), names.end(), [&](PyObject* each) {
        return each == name.ptr() || PyUnicode_Compare(each, name.ptr()) == 0;
    });
}

void append_state(nb::handle optimizer, nb::handle parameter, nb::list& found) {
    PyObject* kept = kept_state(optimizer, parameter);
    if (!kept || PyObject_Size(kept) <= 0) return;
    nb::object state = nb::borrow(kept);
    if (are_states_touched() || !state.type().is(provided("optimizer_state")))
        state = parameter_state(optimizer, parameter);
    for (auto [name, value] : nb::borrow<nb::dict>(state)) {
        found.append(name);
        if (is_tensor_of_torch(value)) found.append(value);
    }
}

// All that the step depends on, but for numbers that are inputs of its program: options, and of
// each parameter itself, its gradient and its state. Not valid where that is no structure.
nb::object arguments_of(nb::handle optimizer) {
    nb::list found;
    for (nb::handle group : groups_of(optimizer)) {
        for (auto [name, value] : nb::borrow<nb::dict>(group)) {
            if (changes_freely(name)) continue;
            if (!is_option(value)) return {};
            found.append(name);
            found.append(value);
        }
        PyObject* const rate = held_item(group, "lr");
        found.append(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(rate ? rate : Py_None))));
        for (nb::handle parameter : parameters_in(group)) {
            PyObject* const gradient = as_tensor(parameter)->grad;
            if (!is_there(gradient)) {
                found.append(nb::none());
                continue;
            }
            // In memory of another tensor, whose gradients may go on.
            if (twin_of(as_tensor(parameter)).is_valid()) return {};
            found.append(parameter);
            found.append(nb::handle(gradient));
            append_state(optimizer, parameter, found);
        }
    }
    return nb::tuple(found);
}

std::vector<int64_t> integers_in(nb::handle list) {
    std::vector<int64_t> found;
    for (nb::handle each : list) found.push_back(PyLong_AsLongLong(each.ptr()));
    return found;
}

// The step over placeholders; None where its next one is made otherwise.
nb::object learnt_step(nb::handle trace, nb::handle optimizer) {
    const nb::object state = provided("new_trace_state")();
    provided("meet_leaves")(trace, state);
    const nb::list symbols(trace.attr("symbols")() + nb::object(state.attr("stands")));
    const auto symbol = [&](nb::handle tensor) {
        return tensor_from(symbols[static_cast<size_t>(as_tensor(tensor)->place)]);
    };
    nb::list inputs, results, targets;
    bool is_known = true;
    for_each_parameter(optimizer, [&](nb::handle group, const Rule& rule, nb::handle parameter) {
        if (!is_known) return;
        PyObject* const found = kept_state(optimizer, parameter);
        const nb::dict kept = found ? nb::borrow<nb::dict>(found) : nb::dict();
        const ir::Tensor x = symbol(parameter), gradient = symbol(as_tensor(parameter)->grad);
        const State before = tensors_in(kept, symbol);
        const nb::dict counted = nb::steal<nb::dict>(PyDict_Copy(kept.ptr()));
        Numbers numbers;
        is_known = gradient.dtype() == x.dtype() && ir::is_floating(x.dtype());
        if (is_known) numbers = next_numbers(rule, rate_of(group), counted);
        for (const Number& number : numbers) is_known = is_known && number.is_known();
        if (!is_known) return;
        Numbers given;
        for (size_t i = 0; i < numbers.size(); ++i) {
            const ir::Tensor input = ir::input(rule.names[i], x.dtype(), {});
            inputs.append(wrap_array(input));
            given.emplace_back(input);
        }
        State after = before;
        results.append(wrap(execute::beside(rule.update(x, gradient, after, given), x)));
        targets.append(as_tensor(parameter)->place);
        for (const std::string& name : rule.state_names) {
            const auto value = after.find(name);
            if (value == after.end()) continue;
            is_known = is_known && before.contains(name);  // else it is made by this step
            if (!is_known) return;
            results.append(wrap(execute::beside(value->second, x)));
            targets.append(as_tensor(held_item(kept, name.c_str()))->place);
        }
    });
    if (!is_known) return nb::none();
    const std::vector<int64_t> bound = integers_in(trace.attr("bound_places"));
    nb::list leaves;
    for (const int64_t target : integers_in(targets)) {
        const auto place = std::find(bound.begin(), bound.end(), target);
        if (place == bound.end()) return nb::none();  // an operation of this trace made it
        leaves.append(place - bound.begin());
    }
    state.attr("numbers") = inputs;
    state.attr("results") = results;
    state.attr("targets") = targets;
    state.attr("leaves") = leaves;
    return state;
}

// The state after the step, found by its key; it is learnt where there is none, for the next step.
nb::object known_step(nb::handle trace, nb::handle optimizer, const nb::tuple& arguments) {
    const size_t known = nb::len(trace.attr("symbols")());
    nb::list key, operands;
    key.append(optimizer.type());
    key.append(nb::handle(PyList_GET_ITEM(world().defaults->ptr(), 0)));
    const nb::object line = nb::int_(reinterpret_cast<uintptr_t>(user_location()));
    key.append(line);
    for (nb::handle value : arguments) {
        if (PyType_Check(value.ptr()))
            key.append(value);
        else if (!encode(trace, value, key, operands))
            return nb::none();
    }
    const nb::tuple whole(key);
    const nb::object from = trace.attr("state");
    const nb::dict ways = nb::borrow<nb::dict>(from.attr("ways"));
    if (ways.contains(whole)) {
        const bool is_built = reinterpret_cast<TraceObject*>(trace.ptr())->is_built;
        return is_built ? nb::object(nb::none()) : nb::object(ways[whole]);
    }
    const nb::object made =
        provided("learn_way")(from, whole, optimizer.type(),
                              nb::cpp_function([&] { return learnt_step(trace, optimizer); }));
    if (!made.is_none()) {
        const nb::tuple checks =
            checks_of(trace, static_cast<int64_t>(known), arguments, nb::none()).first;
        from.attr("patterns")
            .attr("append")(
                pattern_of(optimizer.type(), false, key[1], line, checks, nb::dict(), made));
    }
    return nb::none();
}

// Constants, of which a step makes the same ones again and again. One takes about 2 KiB, and Adam
// makes two new ones in each step.
nb::object constant_of(double value, ir::DType dtype) {
    constexpr size_t most = 64;  // more than a step has
    using Key = std::pair<uint64_t, ir::DType>;
    static auto* const known = new std::map<Key, std::shared_ptr<nb::object>>;
    const Key key{std::bit_cast<uint64_t>(value), dtype};
    if (const auto found = known->find(key); found != known->end() && found->second->is_valid())
        return *found->second;
    if (known->size() > most) known->clear();
    nb::object made = wrap_array(numpy::scalar(dtype, value));
    known->insert_or_assign(key, held(made));
    return made;
}

// The step's own numbers, as constants in the order of the program's inputs.
nb::object constants_of_step(nb::handle optimizer, nb::handle state) {
    const bool is_of_groups = is_true(optimizer, "numbers_are_of_groups");
    nb::list given;
    for (nb::handle group : groups_of(optimizer)) {
        nb::object held;
        const Rule& rule = rule_of(optimizer, group, held);
        const Number rate = rate_of(group);
        std::optional<Numbers> shared;
        if (is_of_groups) shared = next_numbers(rule, rate, nb::dict());
        for (nb::handle parameter : parameters_in(group)) {
            if (!is_there(as_tensor(parameter)->grad)) continue;
            PyObject* const kept = shared ? nullptr : kept_state(optimizer, parameter);
            const nb::object state_of = kept ? nb::borrow(kept) : nb::dict();
            const Numbers own = shared ? *shared : next_numbers(rule, rate, state_of);
            for (const Number& number : own) given.append(number.value());
        }
    }
    if (state.attr("given").equal(given)) return state.attr("constants");
    const nb::list inputs = nb::borrow<nb::list>(state.attr("numbers"));
    nb::list constants;
    for (size_t i = 0; i < nb::len(given); ++i)
        constants.append(constant_of(nb::cast<double>(given[i]),
                                     content_of<LazyTensor>(inputs[i]).type().dtype));
    state.attr("given") = given;
    state.attr("constants") = constants;
    return constants;
}

void run_step(nb::handle trace, nb::handle optimizer, nb::handle state, const Wanted& wanted,
              nb::handle program) {
    auto* const fields = reinterpret_cast<TraceObject*>(trace.ptr());
    const nb::object leaves = nb::handle(fields->bound) + constants_of_step(optimizer, state);
    const std::vector<nb::object> values = run_program(program, leaves);
    fields->is_open = 0;
    write_step(trace, values, wanted.places.size(), integers_in(state.attr("targets")),
               integers_in(state.attr("leaves")));
    set_values(trace, wanted, values);
    const bool counts_apart = is_true(optimizer, "counts_apart"), is_touched = are_states_touched();
    if (counts_apart || is_touched)
        for_each_parameter(optimizer, [&](nb::handle, const Rule&, nb::handle parameter) {
            PyObject* const kept = kept_state(optimizer, parameter);
            if (kept && counts_apart) count_step(kept);
            if (kept && is_touched) give_numbers(kept);
        });
    restart_trace();
}

// Does the step, where one of that structure was done before; False where it was not.
bool step_by_structure(nb::handle optimizer) {
    if (!is_recorded_here()) return false;
    const nb::object trace = nb::borrow(reinterpret_cast<PyObject*>(world().trace_of_now()));
    if (!world().trace_of_now()->is_open) return false;
    const nb::object arguments = arguments_of(optimizer);
    if (!arguments.is_valid()) return false;
    const auto given = nb::borrow<nb::tuple>(arguments);
    nb::object state = match_step(optimizer.type(), given);
    if (state.is_none()) state = known_step(trace, optimizer, given);
    if (state.is_none()) return false;
    const std::optional<Wanted> wanted =
        wanted_of(reinterpret_cast<TraceObject*>(trace.ptr()), false);
    if (!wanted) return false;
    const nb::object program =
        program_of_trace(trace, tuple_of(wanted->places), state, nb::object(state.attr("numbers")));
    if (program.is_none()) return false;
    run_step(trace, optimizer, state, *wanted, program);
    return true;
}

}  // namespace

nb::object tensor_of(const ir::Tensor& value) {
    nb::object made = new_tensor();
    made.attr("_lazy") = wrap_copy(value);
    enter(made);
    return made;
}

const Rule& rule_of(nb::handle optimizer, nb::handle group, nb::object& held) {
    static PyObject* const name = attribute_name("_rule");
    held = attribute(optimizer, name)(group);
    return nb::cast<const Rule&>(held);
}

Number rate_of(nb::handle group) {
    PyObject* const rate = held_item(group, "lr");
    user_check<KeyError>(rate != nullptr, "lr");
    return is_tensor_of_torch(rate) ? Number(held_by(rate)) : step_number(rate);
}

void bind_optimizer_steps(nb::module_& module) {
    module.def("step", step, nb::arg("optimizer"), nb::call_guard<Located>(),
               "What becomes of all parameters that have gradients, and of what is kept of them.");
    module.def("step_by_structure", step_by_structure, nb::arg("optimizer"),
               nb::call_guard<Located>(),
               "Does the step, where one of that structure was done before; False where it was "
               "not.");
}

}  // namespace composit::python
