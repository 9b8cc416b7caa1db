// Groups of parameters of composit.torch's optimisers, what is kept of each parameter, and both as
// dictionaries that can be saved.
#include "aten_numbers.h"
#include "composit/aten/loss_scaling.h"
#include "composit/base/error.h"
#include "composit/eager/recording.h"
#include "content.h"
#include "flags.h"
#include "location.h"
#include "optimizers.h"
#include "provided.h"
#include "shown.h"
#include "torch_objects.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

PyObject* name_object(const char* text) {
    PyObject* const made = PyUnicode_InternFromString(text);
    if (!made) throw nb::python_error();
    return made;
}

// The tensors that others have of a state's numbers, each with its version when it was written
// last; not valid where nobody has one.
nb::object shown_in(nb::handle state) {
    static PyObject* const name = name_object("_shown");
    nb::object shown = nb::steal(PyObject_GetAttr(state.ptr(), name));
    if (!shown.is_valid()) PyErr_Clear();
    return shown;
}

nb::object versioned(nb::handle tensor) {
    const auto& counter = as_tensor(tensor)->counter;
    return nb::make_tuple(tensor, counter ? counter->version() : 0);
}

bool is_kept_number(nb::handle value) {
    return reinterpret_cast<PyObject*>(Py_TYPE(value.ptr())) == provided("optimizer_number").ptr();
}

bool is_written_since(nb::handle shown) {
    const auto& counter = as_tensor(nb::handle(PyTuple_GET_ITEM(shown.ptr(), 0)))->counter;
    const long long version = PyLong_AsLongLong(PyTuple_GET_ITEM(shown.ptr(), 1));
    return (counter ? counter->version() : 0) != version;
}

double number_in(nb::handle tensor) { return nb::cast<double>(nb::float_(tensor.attr("item")())); }

// The tensor of a state's number, which others see; one for all who ask.
nb::object show_number(nb::handle state, nb::handle name, nb::handle value) {
    nb::object shown = shown_in(state);
    if (!shown.is_valid()) {
        shown = nb::dict();
        state.attr("_shown") = shown;
        state.type().attr("is_touched") = true;
    }
    if (PyObject* const held = PyDict_GetItemWithError(shown.ptr(), name.ptr()))
        return nb::borrow(PyTuple_GET_ITEM(held, 0));
    const nb::object made = provided("optimizer_number_as_tensor")(value);
    put_item(shown, name, versioned(made));
    return made;
}

// Numbers are what others wrote into their tensors, or put in their places.
void take_numbers(nb::handle state, nb::handle names) {
    for (nb::handle name : names) {
        PyObject* const value = PyDict_GetItemWithError(state.ptr(), name.ptr());
        if (!value || value == Py_None) continue;
        if (is_kept_number(value)) {
            const nb::object shown = shown_in(state);
            PyObject* const held =
                shown.is_valid() ? PyDict_GetItemWithError(shown.ptr(), name.ptr()) : nullptr;
            if (held && is_written_since(held))
                put_item(state, name, kept_number(number_in(PyTuple_GET_ITEM(held, 0))));
        } else if (is_tensor_of_torch(value)) {
            const nb::object put = nb::borrow(value);
            show_number(state, name, kept_number(0));
            put_item(shown_in(state), name, versioned(put));
            put_item(state, name, kept_number(number_in(put)));
        } else {
            put_item(state, name, kept_number(number_from(value)));
        }
    }
}

// An ordinary dictionary of a state, in which numbers that nobody looked at are tensors of their
// own.
nb::dict snapshot(nb::handle state) {
    const nb::object shown = shown_in(state);
    nb::dict made;
    for (auto [name, value] : nb::borrow<nb::dict>(state)) {
        if (!is_kept_number(value))
            made[name] = value;
        else if (PyObject* const held =
                     shown.is_valid() ? PyDict_GetItemWithError(shown.ptr(), name.ptr()) : nullptr)
            made[name] = nb::handle(PyTuple_GET_ITEM(held, 0));
        else
            made[name] = provided("optimizer_number_as_tensor")(value);
    }
    return made;
}

// ----- groups

nb::list parameters_of(nb::handle group) { return nb::list(nb::object(group["params"])); }

void add_group(nb::handle optimizer, nb::dict group, nb::handle required) {
    const nb::object given = group["params"];
    nb::list params;
    user_check<TypeError>(!PySet_Check(given.ptr()),
                          "optimizer parameters need to be organized in ordered collections, but "
                          "the ordering of tensors in sets will change between runs. Please use a "
                          "list instead.");
    if (is_tensor_of_torch(given))
        params.append(given);
    else
        params = nb::list(given);
    const auto named = std::count_if(params.begin(), params.end(), [](nb::handle x) {
        return static_cast<bool>(PyTuple_Check(x.ptr()));
    });
    const bool is_named = named > 0;
    user_check(!is_named || static_cast<size_t>(named) == nb::len(params),
               "all optimizer params should be with/without names. Some param names are missing");
    if (is_named) {
        nb::list names, tensors;
        for (nb::handle x : params) {
            names.append(nb::object(x[0]));
            tensors.append(nb::object(x[1]));
        }
        group["param_names"] = names;
        params = tensors;
    }
    std::unordered_set<PyObject*> known;
    const nb::list groups = nb::borrow<nb::list>(optimizer.attr("param_groups"));
    for (nb::handle each : groups)
        for (nb::handle x : parameters_of(each)) known.insert(x.ptr());
    for (nb::handle x : params) {
        user_check<TypeError>(is_tensor_of_torch(x),
                              "optimizer can only optimize Tensors, but one of the params is ",
                              KindOf{x});
        user_check(truth_of(x.attr("is_leaf")), "can't optimize a non-leaf Tensor");
        user_check(!known.contains(x.ptr()),
                   "some parameters appear in more than one parameter group");
    }
    for (auto [name, value] : nb::borrow<nb::dict>(optimizer.attr("defaults"))) {
        if (group.contains(name)) continue;
        user_check(!value.is(required),
                   "parameter group didn't specify a value of required optimization parameter ",
                   Said{name});
        group[name] = value;
    }
    group["params"] = params;
    append(groups.ptr(), group);
}

void zero_gradients(nb::handle groups, bool set_to_none) {
    for (nb::handle group : groups)
        for (nb::handle x : parameters_of(group)) {
            PyObject*& gradient = as_tensor(x)->grad;
            if (set_to_none)
                drop(gradient);
            else if (is_there(gradient))
                put(gradient, nb::handle(gradient).attr("detach")() * nb::int_(0));
        }
}

nb::dict without_parameters(nb::handle group) {
    nb::dict made;
    for (auto [name, value] : nb::borrow<nb::dict>(group))
        if (!name.equal(nb::str("params"))) made[name] = value;
    return made;
}

// {"state": by the numbers of parameters, "param_groups": options and numbers}.
nb::dict state_dictionary(nb::handle groups, nb::handle states) {
    nb::dict numbers, state;
    nb::list packed;
    const auto number_of = [&](nb::handle x) {
        return nb::object(numbers[nb::steal(PyLong_FromVoidPtr(x.ptr()))]);
    };
    for (nb::handle group : groups) {
        nb::list own;
        for (nb::handle x : parameters_of(group)) {
            const nb::object key = nb::steal(PyLong_FromVoidPtr(x.ptr()));
            if (!numbers.contains(key)) numbers[key] = nb::len(numbers);
            own.append(number_of(x));
        }
        nb::dict options = without_parameters(group);
        options["params"] = own;
        packed.append(options);
    }
    for (auto [x, kept] : nb::borrow<nb::dict>(states)) {
        const nb::object key = is_tensor_of_torch(x) ? number_of(x) : nb::borrow(x);
        const bool is_own = kept.type().is(provided("optimizer_state"));
        state[key] = is_own ? nb::object(snapshot(kept)) : nb::borrow(kept);
    }
    nb::dict made;
    made["state"] = state;
    made["param_groups"] = packed;
    return made;
}

// A copy of what a state has, tensors of PyTorch's as composit's. Floats get the dtype of the
// parameter that they belong to.
nb::object copied(nb::handle value, nb::handle like) {
    if (PyDict_Check(value.ptr())) {
        nb::dict made;
        for (auto [key, item] : nb::borrow<nb::dict>(value)) made[key] = copied(item, like);
        return made;
    }
    if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
        nb::list items;
        for (nb::handle item : value) items.append(copied(item, like));
        return value.type()(items);
    }
    const nb::object as_tensor_of = provided("torch_tensor");
    nb::object made;
    if (is_tensor_of_torch(value))
        made = value.attr("detach")().attr("clone")();
    else if (has_attribute(value, "detach"))
        made = as_tensor_of(value.attr("detach")().attr("cpu")().attr("numpy")());
    else if (nb::isinstance(value, numpy_attribute("ndarray")))
        made = as_tensor_of(value);
    else
        return nb::borrow(value);
    if (like.is_none()) return made;
    const bool is_cast =
        truth_of(like.attr("is_floating_point")()) && truth_of(made.attr("is_floating_point")());
    return made.attr("to")(
        nb::arg("device") = like.attr("device"),
        nb::arg("dtype") = is_cast ? nb::object(like.attr("dtype")) : nb::object(nb::none()));
}

// The groups' options, and the states by parameter, of a dictionary that was saved.
void load_state(nb::handle optimizer, nb::handle saved) {
    const nb::object loaded = saved["param_groups"], own = optimizer.attr("param_groups");
    user_check(nb::len(loaded) == nb::len(own),
               "loaded state dict has a different number of parameter groups");
    nb::dict parameters;
    for (size_t i = 0; i < nb::len(own); ++i) {
        const nb::object group = own[i], given = loaded[i];
        const nb::list held = parameters_of(group), numbers = nb::list(nb::object(given["params"]));
        user_check(nb::len(held) == nb::len(numbers),
                   "loaded state dict contains a parameter group that doesn't match the size of "
                   "optimizer's group");
        for (size_t j = 0; j < nb::len(held); ++j) parameters[numbers[j]] = held[j];
        group.attr("update")(copied(without_parameters(given), nb::none()));
    }
    const nb::object make = provided("optimizer_state");
    const nb::object states = provided("optimizer_states")();
    optimizer.attr("state") = states;
    for (auto [number, kept] : nb::borrow<nb::dict>(saved["state"])) {
        if (!parameters.contains(number)) {
            states[number] = copied(kept, nb::none());
            continue;
        }
        const nb::object parameter = parameters[number], state = make();
        states[parameter] = state;
        for (auto [name, value] : nb::borrow<nb::dict>(kept)) {
            const bool is_count = name.equal(nb::str("step"));
            put_item(state, name, copied(value, is_count ? nb::object(nb::none()) : parameter));
        }
        take_numbers(state, optimizer.attr("kept_numbers"));
    }
}

nb::list all_parameters(nb::handle groups) {
    nb::list found;
    for (nb::handle group : groups)
        for (nb::handle x : parameters_of(group)) found.append(x);
    return found;
}

// Gradients of torch's tensors, each times a factor in place; whether all are finite.
bool scale_gradients(nb::handle parameters, double factor) {
    std::vector<ir::Tensor> scaled;
    {
        const eager::NoGrad scope;
        for (nb::handle parameter : parameters) {
            const nb::object gradient = nb::object(parameter.attr("grad"));
            if (gradient.is_none()) continue;
            gradient.attr("mul_")(factor);
            scaled.push_back(tensor_from(lazy_of(gradient)));
        }
    }
    return nb::cast<bool>(tensor_of(aten::all_finite(scaled)).attr("item")());
}

void check_matrices(nb::handle groups) {
    for (nb::handle x : all_parameters(groups)) {
        const ir::TensorType type = type_seen(x);
        user_check(type.shape.size() == 2,
                   "Muon only supports 2D parameters whereas we found a parameter with size: ",
                   Said{nb::object(x.attr("shape"))});
    }
}

// The value, or what hooks(owner, value) return in its place.
nb::object through_hooks(nb::handle hooks, nb::handle owner, nb::object value) {
    for (nb::handle hook : nb::list(nb::object(hooks.attr("values")()))) {
        const nb::object changed = hook(owner, value);
        if (!changed.is_none()) value = changed;
    }
    return value;
}

// A step with the hooks of all optimisers and its own, which steps within it do not call.
nb::object step_with_hooks(nb::handle step, nb::handle optimizer, nb::tuple given, nb::dict named,
                           nb::handle all_pre, nb::handle all_post) {
    struct Stepping {
        explicit Stepping(nb::handle of) : own(nb::borrow<nb::dict>(of.attr("__dict__"))) {
            own["_is_stepping"] = true;
        }
        ~Stepping() { PyDict_SetItemString(own.ptr(), "_is_stepping", Py_False); }
        nb::dict own;
    };
    const Stepping scope(optimizer);
    nb::tuple args(nb::make_tuple(optimizer) + given);
    const auto hooks_of = [](nb::handle hooks) {
        return nb::list(nb::object(hooks.attr("values")()));
    };
    const nb::object own_pre = scope.own["_optimizer_step_pre_hooks"];
    for (nb::handle hook : hooks_of(all_pre) + hooks_of(own_pre)) {
        const nb::object changed = hook(optimizer, args, named);
        if (changed.is_none()) continue;
        user_check<RuntimeError>(
            PyTuple_Check(changed.ptr()) && PyTuple_GET_SIZE(changed.ptr()) == 2, Said{hook},
            " must return None or a tuple of (new_args, new_kwargs), but got ", Said{changed}, ".");
        args = nb::tuple(nb::object(changed[0]));
        named = nb::borrow<nb::dict>(nb::object(changed[1]));
    }
    const nb::object result = nb::steal(PyObject_Call(step.ptr(), args.ptr(), named.ptr()));
    if (!result.is_valid()) throw nb::python_error();
    const nb::object own_post = scope.own["_optimizer_step_post_hooks"];
    for (nb::handle hook : hooks_of(own_post) + hooks_of(all_post)) hook(optimizer, args, named);
    return result;
}

nb::str text_of_groups(const std::string& name, nb::handle groups) {
    std::string made = name + " (\n";
    size_t number = 0;
    for (nb::handle group : groups) {
        made += "Parameter Group " + std::to_string(number++) + "\n";
        const nb::list names = nb::list(group);
        names.attr("sort")();
        for (nb::handle each : names) {
            if (each.equal(nb::str("params"))) continue;
            const nb::object value = group[each];
            made += std::string("    ") + nb::str(each).c_str() + ": " +
                    nb::steal<nb::str>(PyObject_Str(value.ptr())).c_str() + "\n";
        }
    }
    return nb::str((made + ")").c_str());
}

// The groups of parameters that an optimiser is given: tensors, or dictionaries of groups.
nb::list given_groups(nb::handle params) {
    if (is_tensor_of_torch(params))
        fail<TypeError>(
            "params argument given to the optimizer should be an iterable of Tensors "
            "or dicts, but got ",
            Said{params.attr("type")()});
    const nb::list given{nb::borrow(params)};
    user_check<ValueError>(nb::len(given) > 0, "optimizer got an empty parameter list");
    nb::list groups;
    if (!PyDict_Check(nb::object(given[0]).ptr())) {
        nb::dict group;
        group["params"] = given;
        groups.append(group);
        return groups;
    }
    for (nb::handle group : given) groups.append(group.attr("copy")());
    return groups;
}

}  // namespace

PyObject* interned_name(const std::string& name) {
    static std::unordered_map<std::string, PyObject*> known;
    PyObject*& held = known[name];
    if (!held) held = name_object(name.c_str());
    return held;
}

PyObject* held_item(nb::handle dictionary, const char* name) {
    return PyDict_GetItemWithError(dictionary.ptr(), interned_name(name));
}

void put_item(nb::handle dictionary, nb::handle name, nb::handle value) {
    if (PyDict_SetItem(dictionary.ptr(), name.ptr(), value.ptr()) < 0) throw nb::python_error();
}

nb::object kept_number(double value) { return provided("optimizer_number")(value); }

PyObject* kept_state(nb::handle optimizer, nb::handle parameter) {
    static PyObject* const name = name_object("state");
    const nb::object states = nb::steal(PyObject_GetAttr(optimizer.ptr(), name));
    if (!states.is_valid()) throw nb::python_error();
    if (!PyDict_Check(states.ptr())) fail<TypeError>("an optimizer's state is no dictionary");
    PyObject* const found = PyDict_GetItemWithError(states.ptr(), parameter.ptr());
    if (!found && PyErr_Occurred()) throw nb::python_error();
    return found;
}

nb::object parameter_state(nb::handle optimizer, nb::handle parameter) {
    const nb::object type = provided("optimizer_state");
    PyObject* const kept = kept_state(optimizer, parameter);
    nb::object state = kept ? nb::borrow(kept) : type();
    if (!state.type().is(type)) {  // an ordinary dictionary that was put there
        state = type(state);
        optimizer.attr("state")[parameter] = state;
    }
    take_numbers(state, optimizer.attr("kept_numbers"));
    return state;
}

bool are_states_touched() {
    static PyObject* const name = name_object("is_touched");
    const nb::object touched = nb::steal(PyObject_GetAttr(provided("optimizer_state").ptr(), name));
    return touched.ptr() == Py_True;
}

void give_numbers(nb::handle state) {
    const nb::object shown = shown_in(state);
    if (!shown.is_valid()) return;
    for (nb::handle name : nb::list(nb::borrow<nb::dict>(shown).keys())) {
        PyObject* const value = PyDict_GetItemWithError(state.ptr(), name.ptr());
        if (!value || !is_kept_number(value)) continue;
        const nb::object held =
            nb::borrow(PyTuple_GET_ITEM(PyDict_GetItemWithError(shown.ptr(), name.ptr()), 0));
        const eager::NoGrad scope;
        held.attr("fill_")(PyFloat_AS_DOUBLE(value));
        put_item(shown, name, versioned(held));
    }
}

void count_step(nb::handle state) {
    PyObject* const before = held_item(state, "step");
    const double count = before ? std::trunc(number_from(before)) + 1 : 1;
    put_item(state, interned_name("step"), kept_number(count));
}

void bind_optimizer_states(nb::module_& module) {
    module.def("show_number", show_number, nb::arg("state"), nb::arg("name"), nb::arg("value"),
               "The tensor of a state's number, which is written at each step.");
    module.def("snapshot", snapshot, nb::arg("state"),
               "An ordinary dictionary of a state, with tensors in its numbers' places.");
    module.def("given_groups", given_groups, nb::arg("params").none(),
               "The groups of parameters that an optimiser is given.");
    module.def("add_group", add_group, nb::arg("optimizer"), nb::arg("group"), nb::arg("required"),
               "Adds parameters with options of their own. TypeError, ValueError, PyTorch's words, "
               "for what are no leaves or are there already, and for options that are missing.");
    module.def("zero_gradients", zero_gradients, nb::arg("groups"), nb::arg("set_to_none"),
               "Forgets the gradients of parameters, or makes them zeros.");
    module.def("state_dictionary", state_dictionary, nb::arg("groups"), nb::arg("states"),
               "States by the numbers of parameters, and the groups' options.");
    module.def("load_state", load_state, nb::arg("optimizer"), nb::arg("saved"),
               "Goes on from a dictionary that was saved. ValueError for one of other groups.");
    module.def("all_parameters", all_parameters, nb::arg("groups"), "Of all groups, in order.");
    module.def("check_matrices", check_matrices, nb::arg("groups"),
               "ValueError, PyTorch's words, for a parameter that is no matrix.");
    module.def("scale_gradients", scale_gradients, nb::arg("parameters"), nb::arg("factor"),
               nb::call_guard<Located>(),
               "Gradients of parameters, each times a factor in place; whether all are finite.");
    module.def("through_hooks", through_hooks, nb::arg("hooks"), nb::arg("owner"), nb::arg("value"),
               "The value, or what hooks(owner, value) return in its place.");
    module.def("step_with_hooks", step_with_hooks, nb::arg("step"), nb::arg("optimizer"),
               nb::arg("args"), nb::arg("named"), nb::arg("all_pre"), nb::arg("all_post"),
               "A step with the hooks of all optimisers and its own.");
    module.def("text_of_groups", text_of_groups, nb::arg("name"), nb::arg("groups"));
}

}  // namespace composit::python
